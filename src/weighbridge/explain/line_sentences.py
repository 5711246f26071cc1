"""What a derivation says of one module in words: what its tensors are, and what the letters of its formula stand for.

Each sentence is chosen by the roles and shapes of the tensors, and is a claim that ``tests/property/sentence_checks.py`` recomputes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.core.formula import Expression, write
from weighbridge.core.messages import Text, mark
from weighbridge.core.notation import UNICODE
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Tensor
from weighbridge.explain.scope import letters_of

LEARNED_VECTORS = (mark("Learned vectors."), mark("A learned vector."))
"""What is said of loose vectors that have a name of their own, and of one."""


def line_sentences(kind: str, tensors: Sequence[tuple[Tensor, Tensor]]) -> tuple[str, ...]:
    """Return what is true of a module that owns these tensors.

    >>> line_sentences("linear", [(Tensor("weight", (3, 4)), Tensor("weight", (3, 4)))])[0]
    'Linear map without bias: inputs × outputs weights.'
    """
    roles = tuple(ours.role for ours, _ in tensors)
    found = list(_of_kind(kind, roles, tensors))
    if tensors and all(ours.frozen for ours, _ in tensors):
        found = [mark("Fixed values: stored and counted, but not trained.")]
    elif tensors and all(ours.tied_to is not None for ours, _ in tensors):
        found = []
    return tuple(found)


def _of_kind(kind: str, roles: tuple[str, ...], tensors: Sequence[tuple[Tensor, Tensor]]) -> Iterator[str]:
    # a table of cases, the first that holds: one sentence each, and no two of them share a condition
    shapes = {ours.role: ours.shape for ours, _ in tensors}
    if kind == "linear" and roles == ("weight",) and len(shapes["weight"]) == 2:
        yield mark("Linear map without bias: inputs × outputs weights.")
    elif kind == "linear" and set(roles) == {"weight", "bias"} and len(roles) == 2 and len(shapes["weight"]) == 2:
        yield mark("Linear map: inputs × outputs weights, and one bias for each output.")
    elif kind == "embedding" and roles == ("embedding",):
        yield mark("A table with one learned vector in each row.")
    elif kind in _NORM_NAMES and roles == ("gain", "shift"):
        yield mark("One gain γ and one shift β for each component.")
    elif kind in _NORM_NAMES and roles == ("gain",):
        yield mark("One gain γ for each component, no shift.")
    elif kind == "convolution" and roles == ("weight",):
        yield mark("Convolution without bias: output channels × input channels of a group × kernel.")
    elif kind == "convolution" and set(roles) == {"weight", "bias"} and len(roles) == 2 and shapes["bias"] != shapes["weight"][:1]:
        yield mark("Transposed convolution: input channels × output channels × kernel, and one bias for each output channel.")
    elif kind == "convolution" and set(roles) == {"weight", "bias"} and len(roles) == 2:
        yield mark("Convolution: output channels × input channels of a group × kernel, and one bias for each output channel.")
    elif kind == "experts" and set(roles) == {"weight"} and len(shapes["weight"]) == 2:
        yield mark("The matrices of all experts, one below another in one array; its first size is experts × inner size.")
    elif kind == "experts" and set(roles) == {"weight"}:
        yield mark("The matrices of all experts in one array; its first size is the number of experts.")
    elif set(roles) == {"embedding"} and _is_table_of_distances(tensors):
        yield mark("One learned number for each relative position and head.")
    elif set(roles) == {"embedding"} and not any(ours.frozen for ours, _ in tensors):
        yield LEARNED_VECTORS[len(tensors) == 1 and product(tensors[0][0].shape[:-1]) == 1]
    elif set(roles) == {"bias"} and {ours.name for ours, _ in tensors} == {"sinks"}:
        yield mark("One learned score for each head; it takes part in the softmax, but no value belongs to it.")
    elif set(roles) == {"bias"}:
        yield mark("Learned values that are added.")
    elif set(roles) == {"gain"} and not {ours.name for ours, _ in tensors} & _EXPONENTS:
        alone = len(tensors) == 1 and product(tensors[0][0].shape) == 1
        yield mark("A learned factor.") if alone else mark("Learned factors.")


def shape_sentence(kind: str, tensors: Sequence[tuple[Tensor, Tensor]]) -> str:
    """Say what the letters of a module's formula are: the inputs and outputs of a map, the rows of a table; empty where nothing helps.

    >>> from weighbridge.core.formula import Symbol
    >>> print(shape_sentence("linear", [(Tensor("weight", (3072, 768)), Tensor("weight", (Symbol("I"), Symbol("H"))))]))
    from H inputs to I outputs
    """
    own = [(ours, theirs) for ours, theirs in tensors if ours.tied_to is None]
    weights = [(ours, theirs) for ours, theirs in own if ours.role in ("weight", "embedding")]
    if len(weights) != 1 or not any(letters_of(size) for size in weights[0][1].shape):
        return ""
    ours, theirs = weights[0]
    shown = [min(_expressions(size), key=len) for size in theirs.shape]
    if kind == "linear" and len(shown) == 2:
        turned = [bias for bias, _ in own if bias.role == "bias" and bias.shape == ours.shape[1:] != ours.shape[:1]]
        into, out = shown if turned else reversed(shown)
        return Text(
            mark("from {into} inputs to 1 output") if out == "1" else mark("from {into} inputs to {out} outputs"), into=into, out=out
        )
    if kind == "embedding" and len(shown) == 2:
        return Text(mark("1 row of {width}") if shown[0] == "1" else mark("{rows} rows of {width}"), rows=shown[0], width=shown[1])
    transposed = any(bias.shape != ours.shape[:1] for bias, _ in own if bias.role == "bias")
    if kind == "convolution" and len(shown) > 2 and not transposed:
        text = mark("1 kernel of {size}") if shown[0] == "1" else mark("{number} kernels of {size}")
        return Text(text, number=shown[0], size=" × ".join(map(_in_brackets, shown[1:])))
    return ""


_EXPONENTS = frozenset({"A_log", "time_decay", "time_first", "decay", "w0"})
"""Gains that stand in an exponent and multiply nothing: decay rates, and RWKV-4's bonus of the current token."""
_NORM_NAMES = frozenset({"layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm"})


def _is_table_of_distances(tensors: Sequence[tuple[Tensor, Tensor]]) -> bool:
    return all(ours.name == "relative_position_bias_table" and len(ours.shape) == 2 and not ours.frozen for ours, _ in tensors)


def _in_brackets(text: str) -> str:
    return f"({text})" if " + " in text or " − " in text else text


def _expressions(size: Size) -> list[str]:
    """Write a size as it is built, and collected."""
    return [write(polynomial(size).expression(), UNICODE), *([write(size, UNICODE)] if isinstance(size, Expression) else [])]
