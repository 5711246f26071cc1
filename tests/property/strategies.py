"""What Hypothesis draws for the laws: sizes, lengths, blueprints that turn sizes into a tree, listings of tensors, configs, plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from weighbridge.core.formula import Symbol
from weighbridge.core.length import Stream, length, product_of, sum_of
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Attend, Matmul, Node, Part, State, Tensor

LETTERS = ("H", "I", "L", "V", "A")
STREAMS = ("seq", "decoder", "encoder", "images", "one")
SYMBOLS: dict[str, Size] = {letter: Symbol(letter, order=order) for order, letter in enumerate(LETTERS)}
LENGTHS: dict[str, Size] = {name: Symbol(name, order=20 + order) for order, name in enumerate(STREAMS[:4])}
BATCH = Symbol("B", order=30)

Sizes = Mapping[str, Size]
Made = Callable[[Sizes], Any]
"""A value of a tree as a function of its sizes: the same function makes ints, symbols and columns of it."""

numbers = st.fixed_dictionaries({letter: st.integers(1, 40) for letter in LETTERS})
"""A number for each letter."""

tokens = st.fixed_dictionaries({name: st.integers(1, 50) for name in STREAMS[:4]})
"""A number for each length that can be put in."""


def _constant(value: Any) -> Made:
    return lambda sizes: value


sizes: st.SearchStrategy[Made] = st.recursive(
    st.integers(0, 9).map(_constant) | st.sampled_from(LETTERS).map(lambda letter: lambda sizes: sizes[letter]),
    lambda inner: st.tuples(inner, inner, st.sampled_from("+*")).map(
        lambda found: lambda sizes: found[0](sizes) + found[1](sizes) if found[2] == "+" else found[0](sizes) * found[1](sizes)
    ),
    max_leaves=4,
)
"""Sizes as sums and products of letters and constants."""

roles = st.sampled_from(["weight", "bias", "gain", "shift", "embedding", "buffer"])

streams: st.SearchStrategy[Stream] = st.recursive(
    st.sampled_from(STREAMS) | st.integers(0, 9),
    lambda inner: (
        st.tuples(inner, inner).map(lambda pair: length(pair[0]) + pair[1])
        | st.tuples(inner, inner).map(lambda pair: length(pair[0]) * pair[1])
        | st.lists(inner, min_size=1, max_size=3).map(lambda found: sum_of(*found))
        | st.lists(inner, min_size=1, max_size=3).map(lambda found: product_of(*found))
    ),
    max_leaves=4,
)
"""Lengths as sums and products of named lengths and constants; what rounds is tested with numbers alone."""


@st.composite
def tensors(draw: st.DrawFn) -> Made:
    """Draw a tensor; a frozen one and a tied one now and then."""
    shape = draw(st.lists(sizes, max_size=3))
    role, tied, frozen = draw(roles), draw(st.sampled_from([None, None, None, "owner"])), draw(st.integers(0, 3)) == 0
    name = draw(st.sampled_from(["weight", "bias", "table"]))
    return lambda found: Tensor(name, tuple(size(found) for size in shape), role, tied, frozen=frozen)


@st.composite
def operations(draw: st.DrawFn) -> Made:
    """Draw attention, products of matrices or a state."""
    queries, keys, groups = draw(st.none() | streams), draw(st.none() | streams), draw(streams)
    heads, width, value = draw(sizes), draw(sizes), draw(sizes)
    kind = draw(st.sampled_from(["attend", "matmul", "state"]))
    if kind == "attend":
        return lambda found: Attend("attend", heads(found), heads(found), width(found), value(found), queries, keys, groups)
    if kind == "state":
        return lambda found: State("state", width(found))
    return lambda found: Matmul("products", ((heads(found), groups), (value(found), "seq", "seq")))


@st.composite
def blueprints(draw: st.DrawFn, depth: int = 3) -> Made:
    """Draw a function from sizes to a tree: parts in parts, some repeated, some with experts, some that do not always run."""
    children: list[Made] = draw(st.lists(tensors() | operations(), max_size=3))
    if depth:
        children += draw(st.lists(blueprints(depth=depth - 1), max_size=2))
    repeat = draw(st.none() | sizes)
    stream = draw(st.none() | streams)
    requires = draw(st.sampled_from([None, None, "encoder", "images", "audios"]))
    executions = draw(st.sampled_from([None, None, None, "images", 5]))
    experts = draw(st.sampled_from([None, None, (8, 2), (4, 4), (6, 1)]))

    def made(found: Sizes) -> Part:
        inside: tuple[Node, ...] = tuple(child(found) for child in children)
        copies = None if repeat is None else repeat(found)
        if experts is None:
            return Part("part", inside, "block", copies, executions, stream=stream, requires=requires)
        held, active = experts
        inner = Part("experts", inside, "experts", held, experts=held, active=active, stream=stream, requires=requires)
        return Part("part", (inner,), "block", copies)

    return made


expressions: st.SearchStrategy[Size] = st.recursive(
    st.one_of(st.sampled_from(list(SYMBOLS.values())), st.integers(-9, 99)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] - pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
    ),
    max_leaves=12,
)
"""Formulas as sums, differences and products of letters and constants."""

large_numbers = st.fixed_dictionaries({letter: st.integers(1, 10**6) for letter in LETTERS})
"""A number for each letter, as large as a vocabulary."""

tensor_names = st.lists(
    st.sampled_from(
        ["0", "1", "2", "3", "10", "01", "", "layer", "h", "attn", "norm", "w", "weight", "bias", "é", "embed", "4294967296000"]
    ),
    min_size=1,
    max_size=7,
).map(".".join)
"""Dotted names, most of whose pieces return, numbers among them in every spelling."""

torch_names = st.lists(st.sampled_from(["a", "b", "0", "1", "7", "layer", "weight"]), min_size=1, max_size=5).map(".".join)
"""Dotted names as PyTorch makes them: no number begins with a zero."""

tensor_shapes: st.SearchStrategy[tuple[int, ...]] = st.sampled_from([(), (0,), (2,), (2, 3), (2, 3, 4)])

listings = st.dictionaries(tensor_names, st.tuples(tensor_shapes, st.sampled_from(["weight", "bias", "gain", "embedding"])), max_size=40)
"""Tensors by name: their shapes and roles."""

any_names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(lambda name: name != "__metadata__")
"""Names that a safetensors header may have."""

any_shapes: st.SearchStrategy[tuple[int, ...]] = st.lists(st.integers(0, 4), max_size=4).map(tuple)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
"""Whatever JSON can say."""


@st.composite
def bert_configs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw small configs of BERT, decoders with cross-attention among them."""
    heads = draw(st.integers(1, 4))
    decoder = st.sampled_from(({}, {"is_decoder": True}, {"is_decoder": True, "add_cross_attention": True}))
    return {
        "model_type": "bert",
        "vocab_size": draw(st.integers(1, 60)),
        "hidden_size": heads * draw(st.integers(1, 9)),
        "num_attention_heads": heads,
        "num_hidden_layers": draw(st.integers(1, 5)),
        "intermediate_size": draw(st.integers(1, 99)),
        "max_position_embeddings": draw(st.integers(1, 50)),
        "type_vocab_size": draw(st.integers(1, 3)),
        "tie_word_embeddings": draw(st.booleans()),
        **draw(decoder),
    }
