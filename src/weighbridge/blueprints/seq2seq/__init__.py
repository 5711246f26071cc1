"""Encoder-decoder models of text."""
