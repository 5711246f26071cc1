"""Accounts that need more than a tree: arithmetic over a number of tokens, caches, bytes; each made for :func:`weighbridge.columns.measure`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weighbridge.accounts.cache import bytes_per_token
from weighbridge.accounts.flops import matmuls
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import settings, static_bytes
from weighbridge.accounts.memory.weights import bits
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part


def forward_flops(seq: int = 128, batch: int = 1) -> Callable[[Part], Size]:
    """Make the account of a forward pass: what FlopCounterMode counts.

    >>> from weighbridge import model
    >>> forward_flops(128)(model("bert-base-uncased").tree)
    22348431360
    """
    given = Inputs(batch=batch, seq=seq)
    return lambda tree: matmuls(tree, given.lengths(), given.batch).amount


def cache_per_token(seq: int = 4096, dtype: str = "bfloat16") -> Callable[[Part], Size]:
    """Make the account of the cache: bytes that one more token adds after *seq* of them, in the reference.

    >>> from weighbridge import model
    >>> cache_per_token()(model("llama-3.2-1b").tree)
    32768
    """
    size = bits(dtype) // 8
    return lambda tree: bytes_per_token(tree, Inputs(seq=seq), size)


def memory(*, training: bool = False, **words: Any) -> Callable[[Part], Size]:
    """Make the account of bytes that do not depend on tokens: weights and buffers, in training gradients, copies and optimizer states too.

    Args:
        training: Whether the model is trained.
        words: As for :meth:`weighbridge.Model.memory`: ``dtype``, ``optimizer``, ``precision``, ``quantization``.

    >>> from weighbridge import model
    >>> memory(dtype="bfloat16")(model("bert-base-uncased").tree)
    218964480
    """
    how = settings(**words)
    return lambda tree: static_bytes(tree, how, training=training)
