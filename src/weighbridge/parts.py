"""The shared vocabulary of blueprints: the modules that every architecture is made of.

Each function returns a :class:`~weighbridge.tree.Part` with the tensor names that PyTorch's
module of that kind has, so that blueprints read like ``print(model)``.
"""

from __future__ import annotations

from weighbridge.sizes import Size
from weighbridge.tree import Op, Part, Stream, Tensor


def linear(name: str, inputs: Size, outputs: Size, *, bias: bool = True, tied_to: str | None = None, stream: Stream | None = None) -> Part:
    """Describe ``y = x W^T + b``: a weight of shape ``[outputs, inputs]`` and a bias of ``[outputs]``.

    >>> linear("query", 768, 768).children[0].shape
    (768, 768)
    """
    weight = Tensor("weight", (outputs, inputs), "weight", tied_to)
    return Part(name, (weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,), "linear", stream=stream)


def embedding(name: str, rows: Size, width: Size, *, tied_to: str | None = None) -> Part:
    """Describe a table of ``[rows, width]`` that is looked up, at no arithmetic.

    >>> embedding("word_embeddings", 30522, 768).kind
    'embedding'
    """
    return Part(name, (Tensor("weight", (rows, width), "embedding", tied_to),), "embedding")


def layer_norm(name: str, width: Size, *, bias: bool = True) -> Part:
    """Describe layer normalisation: a gain and a shift of ``[width]``, named weight and bias.

    >>> [tensor.role for tensor in layer_norm("LayerNorm", 768).children]
    ['gain', 'shift']
    """
    gain = Tensor("weight", (width,), "gain")
    return Part(name, (gain, Tensor("bias", (width,), "shift")) if bias else (gain,), "layer_norm")


def rms_norm(name: str, width: Size) -> Part:
    """Describe root-mean-square normalisation: a gain of ``[width]`` and no shift.

    >>> rms_norm("norm", 4096).children
    (Tensor(name='weight', shape=(4096,), role='gain', tied_to=None, dtype=None, frozen=False),)
    """
    return Part(name, (Tensor("weight", (width,), "gain"),), "rms_norm")


def attend(
    *,
    heads: Size,
    head_dim: Size,
    kv_heads: Size | None = None,
    value_dim: Size | None = None,
    queries: Stream | None = None,
    keys: Stream | None = None,
    window: Size | None = None,
    groups: Stream = 1,
    cache: Size | None = None,
) -> Op:
    """Describe scaled dot-product attention: no parameters, two products of matrices.

    >>> attend(heads=12, head_dim=64).value_dim
    64
    """
    return Op("attend", "attend", heads, heads if kv_heads is None else kv_heads, head_dim,
              head_dim if value_dim is None else value_dim, queries, keys, window, groups, cache)  # fmt: skip


def matmul(name: str, *products: tuple[Stream, ...]) -> Op:
    """Describe products of matrices without parameters, each as its factors of multiply-adds per example.

    >>> matmul("mix", (2, "seq", "seq", 64)).products
    ((2, 'seq', 'seq', 64),)
    """
    return Op(name, "matmul", products=products)
