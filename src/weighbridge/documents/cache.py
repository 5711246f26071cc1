"""What a model keeps between tokens as a report and as JSON."""

from __future__ import annotations

from weighbridge.accounts.cache import cache_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Block, Column, Document, Row, Table, notes
from weighbridge.documents.element_types import default_type_lines, stated_type
from weighbridge.documents.given import beyond_positions, describe_inputs
from weighbridge.documents.headline import headline
from weighbridge.documents.human import CERTAINTY, memory_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from weighbridge.accounts.cache import CacheSize, LayerCache
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.value import ModelValue

if TYPE_CHECKING:
    Derive: TypeAlias = Callable[[ModelValue, Inputs, str, str, Say], Iterator[Block]]

REASONS = {
    mark("attention"): mark("The key and the value of every token are kept: key-value heads × (width of a key + width of a value)."),
    mark("window"): mark("A query sees {window} tokens, so the keys and values of the last {less} are kept for the next one."),
    mark("memory"): mark("Kept for each of these tokens, in addition to keys and values or instead of them."),
    mark("cross attention"): mark("The keys and values of the encoder's tokens are computed once and kept."),
    mark("state"): mark("A recurrence keeps a state of fixed size, whatever the length."),
}
"""Why each kind of layer keeps what it keeps."""

LATENT = mark("One vector per token is kept for all heads: its compressed keys and values, and the rotary part of its key.")
"""The same of latent attention."""


def as_json(model: ModelValue, given: Inputs, dtype: str, engine: str, *, assumed: bool = False) -> dict[str, Any]:
    """Return the answer of ``weigh cache --json``; *assumed* if nobody named the type.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> as_json(model("llama-3.2-1b"), Inputs(seq=1024), "float16", "reference")["per_token"]
    32768
    """
    found = cache_of(model, given, dtype, engine)
    asked = {"batch": given.batch, "seq": given.seq, "decoder_seq": given.decoder_seq, "dtype": dtype, "engine": engine}
    asked |= {"dtype_from": "default" if assumed else "option", "config_dtype": stated_type(model)}
    answer: dict[str, Any] = {"source": model.source, "class": model.class_name or None, **asked}
    answer |= {"bytes": found.bytes, "per_token": found.per_token, "fixed": found.fixed, "trust": found.trust}
    return answer | {"layers": [layer._asdict() for layer in found.layers]}


def document(
    model: ModelValue, given: Inputs, dtype: str, engine: str, *, assumed: bool = False, derive: Derive | None = None, lang: str = "en"
) -> Document:
    """Return the document of ``weigh cache``: what each kind of layer keeps, and, with *derive*, why it is as much; *assumed* if nobody named the type."""
    say = translator(lang)
    found = cache_of(model, given, dtype, engine)
    blocks: list[Block] = [_layers(found.layers, say)] if found.layers else []
    if derive is not None:
        blocks += derive(model, given, dtype, engine, say)
    figure = say("{total} bytes").format(total=f"{found.bytes:,}")
    types = default_type_lines(model, dtype, "cache", say) if assumed and found.layers else []
    return Document(headline(model, say), figure, (*blocks, *notes([*_remarks(model, found, given, dtype, say), *types])), lang)


def _layers(layers: tuple[LayerCache, ...], say: Say) -> Table:
    kinds = {kept.kind == "state" for kept in layers}
    elements = say(ELEMENTS[0 if kinds == {False} else 1 if kinds == {True} else 2])
    numbers = (say("layers"), say("tokens"), elements, say("window"), say("bytes"))
    columns = (Column(say("module")), Column(say("kept")), *(Column(title, "integer") for title in numbers))
    rows = (
        (kept.module, say(kept.kind), kept.layers, None if kept.kind == "state" else kept.tokens, kept.elements, kept.window, kept.bytes)
        for kept in layers
    )
    return Table(columns, tuple(map(Row, rows)))


ELEMENTS = (mark("elements per token"), mark("elements per state"), mark("elements per token or state"))
"""What the elements of a row are those of: a token's keys and values, or a state, which has no number of tokens."""


ENGINE_NAMES = {"reference": mark("the reference library"), "llama.cpp": mark("llama.cpp"), "vllm": mark("vllm"), "sglang": mark("sglang")}
"""Whose rules a cache follows; Chinese sets a Latin name off by spaces."""


def _remarks(model: ModelValue, found: CacheSize, given: Inputs, dtype: str, say: Say) -> list[str]:
    if not found.layers:
        return [say("This model keeps no cache, so batch and length cost nothing here.")]
    what = say("{size} for {given} in {dtype}, by the rules of {engine} ({trust}).").format(
        size=memory_size(found.bytes, say),
        given=describe_inputs(model, given, say),
        dtype=dtype,
        engine=say(ENGINE_NAMES[found.engine]),
        trust=say(CERTAINTY[found.trust]),
    )
    return [say("{one} {other}").format(one=what, other=_growth(found, given, say)), *beyond_positions(model, given, say)]


def _growth(found: CacheSize, given: Inputs, say: Say) -> str:
    """Say what one more token adds, and what does not grow."""
    figures = {"per_token": f"{found.per_token:,}", "fixed": f"{found.fixed:,}"}
    if not found.per_token:
        return say("Its size does not depend on the number of tokens.")
    both = given.decoder_seq is None and any(kept.kind == "cross attention" and kept.tokens == given.seq for kept in found.layers)
    if both:
        return say("Each further token of every example, in encoder and decoder alike, adds {per_token} bytes.").format(**figures)
    if not found.fixed:
        return say("Each further token of every example adds {per_token} bytes.").format(**figures)
    return say("Each further token of every example adds {per_token} bytes; {fixed} bytes are of fixed size.").format(**figures)
