"""What an adapter adds to a model: trainable, total and saved elements, of every method of the PEFT library.

A module for each family of methods; :mod:`~weighbridge.accounts.adapters.account` puts them together.

Source: huggingface/peft 0.21.2
"""
