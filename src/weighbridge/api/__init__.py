"""The public interface: a model with a method for every account (``model.py``), and the public functions.

Functions and methods import most of what they need when they are called. Only ``weighbridge/__init__.py``, the commands and the page
import this room; what is done stands in a lower one, as a function of a :class:`~weighbridge.value.ModelValue`.
"""
