"""Widths of printed modules against each other: all that reads or writes a layer's vectors has one width, whatever the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.modules import PrintedModule, printed_models
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import LEAST_SHARING
from weighbridge.core.messages import mark

_READS = frozenset(
    """q_proj k_proj v_proj query key value query_key_value qkv qkv_proj c_attn W_pack gate_proj up_proj gate_up_proj dense_h_to_4h c_fc fc1
    lm_head output_layer""".split()
)
"""Modules that read a layer's vectors."""
_WRITES = frozenset(
    "o_proj out_proj down_proj dense_4h_to_h fc2 embed_tokens wte wpe word_embeddings position_embeddings token_type_embeddings".split()
)
"""Modules that write them."""
_BOTH = frozenset("input_layernorm post_attention_layernorm final_layernorm ln_1 ln_2 ln_f LayerNorm norm norm1 norm2".split())
_BETWEEN = {"gate_proj": "outer", "up_proj": "outer", "down_proj": "inner"}
"""Modules of a gated layer, and which of their sizes is the width between: two of them are multiplied, the third reads what comes of that."""
_STEP = 32
"""A width is a multiple of it; a slip of the keys seldom is."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check that the modules of a printed model that share a width have the same."""
    for block in printed_models(scene):
        yield from _odd(scene, _modules_of_stream(block), LEAST_SHARING)
        yield from _beside(scene, block)
        yield from _odd(scene, [(one, getattr(one, _BETWEEN[one.name])) for one in block if one.name in _BETWEEN], len(_BETWEEN) - 1)
        yield from _mistyped_pairs(scene, block)


def _modules_of_stream(block: Sequence[PrintedModule]) -> list[tuple[PrintedModule, int]]:
    """Return the modules of a printed model that read or write a layer's vectors, each with that width."""
    reads = [(one, one.inner) for one in block if one.name in _READS | _BOTH]
    return [*reads, *((one, one.outer) for one in block if one.name in _WRITES)]


def _odd(scene: Scene, said: Sequence[tuple[PrintedModule, int]], least: int) -> Iterator[Claim]:
    """Confirm the width that is shared, and say which one module has another."""
    widths = Counter(width for _, width in said).most_common(2)
    if not widths or widths[0][1] < least:
        return
    right, rest = widths[0][0], len(said) - widths[0][1]
    for one, width in said if rest <= 1 else ():
        if width != right and _is_mistaken(width, right):
            yield _wrong(scene, one, width, right)


def _wrong(scene: Scene, one: PrintedModule, width: int, right: int) -> Claim:
    token = Token("num", "", one.line, one.start, one.end)
    reason = because(mark("should be {right}"), right=right) + because(mark("the modules beside it have this width"))
    facts: dict[str, object] = {"value": width, "expected": right, "difference": width - right, "reason": reason}
    return claim(scene.lines, token, token, "component", "wrong", **facts)


def _beside(scene: Scene, block: Sequence[PrintedModule]) -> Iterator[Claim]:
    """Check the modules that keep a layer's width under another name: one whose sides are alike but for a slip, and one of them shared."""
    shared = Counter(width for _, width in _modules_of_stream(block)).most_common(1)
    for one in block if shared and shared[0][1] >= LEAST_SHARING else ():
        right = shared[0][0]
        if one.name not in _READS | _WRITES | _BOTH and right in one.sizes and len(one.sizes) == 2:
            other = one.sizes[0] if one.sizes[1] == right else one.sizes[1]
            if _is_uneven(other, right):
                yield _wrong(scene, one, other, right)


def _mistyped_pairs(scene: Scene, block: Sequence[PrintedModule]) -> Iterator[Claim]:
    """Check the two tables of words, and the two maps of a feed-forward network, against each other: of two numbers but for a slip alike, the uneven one."""
    rows = [(one, one.inner) for one in block if one.name in _TABLES]
    heads = [(one, one.outer) for one in block if one.name in _HEADS]
    wide = [(one, one.outer) for one in block if one.name == "dense_h_to_4h"]
    between = [(one, one.inner) for one in block if one.name == "dense_4h_to_h"]
    for first, second in ((rows, heads), (wide, between)):
        if len(first) != 1 or len(second) != 1:
            continue
        (one, size), (other, same) = first[0], second[0]
        for times in (1, 2):
            if size != same * times and _is_uneven(size, same * times):
                yield _wrong(scene, one, size, same * times)
            elif size != same * times and size % times == 0 and _is_uneven(same, size // times):
                yield _wrong(scene, other, same, size // times)


def _is_uneven(size: int, right: int) -> bool:
    return is_slip(str(size), str(right)) and size % _STEP != 0 and right % _STEP == 0


_TABLES = frozenset("embed_tokens word_embeddings wte".split())
_HEADS = frozenset("lm_head output_layer".split())


def _is_mistaken(width: int, right: int) -> bool:
    """Tell whether a width is another mistyped, and no width of its own."""
    same = sorted(str(width)) == sorted(str(right))
    return is_slip(str(width), str(right)) or same or (width % _STEP != 0 and right % _STEP == 0)
