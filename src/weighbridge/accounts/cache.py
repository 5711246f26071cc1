"""The size of the key-value cache, and of all else that a model keeps between tokens: the states of its recurrences.

In the reference that is what a forward over a prompt leaves in ``past_key_values`` (transformers 5.23.0, cache_utils.py): causal
attention keeps its keys and values for each token, in a window of W the last W - 1; attention to an encoder keeps the encoder's;
latent attention keeps its compressed vectors; a recurrence keeps a state of one size, whatever the length. Inference engines round
up in their own ways (:mod:`weighbridge.accounts.cache_engines`).
"""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import refuse_failing, without_decoder
from weighbridge.accounts.cache_engines import COMPUTED, ENGINES, ElementType, Engine, element_types
from weighbridge.accounts.cache_windows import WHOLE, Limit, limit_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.weights import dtype_name
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.length import Stream, evaluate
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import Size
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Attend, Node, Part, State, Tensor, positions, walk
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias


SEQ, DTYPE = 4096, "bfloat16"
"""Tokens of the prompt by default, in models that take so many."""


class LayerCache(NamedTuple):
    """What the layers of one kind keep in the cache.

    Attributes:
        module: The part that keeps it.
        kind: ``attention``, ``window``, ``cross attention``, ``memory`` (other elements of each token) or ``state``.
        layers: How many layers there are of that kind.
        tokens: How many tokens of an example a layer keeps; 1 for a state.
        elements: Elements that a layer keeps of a token, or of the state.
        window: How many keys a query sees at most, if that is limited.
        element_bytes: Bytes of an element; of a packed type the mean, with its scales.
        bytes: Bytes of all these layers, for all examples.
    """

    module: str
    kind: str
    layers: int
    tokens: int
    elements: int
    window: int | None
    element_bytes: float
    bytes: int


class CacheSize(NamedTuple):
    """The size of a model's cache.

    Attributes:
        bytes: All of it, for all examples.
        per_token: Bytes that one more token of every example adds at this length; once every window is full, only
            layers without a window add any.
        fixed: Bytes that do not grow: full windows, states, the keys and values of an encoder.
        layers: The same by kind of layer.
        engine: By whose rules it is counted: a key of :data:`~weighbridge.accounts.cache_engines.ENGINES`.
        trust: ``exact``, ``bound`` or ``estimate`` (docs/costs.md); always ``estimate`` for a class whose code comes with
            its checkpoint, not with the reference library, and for XLNet's odd batches.
        idle: Inputs that were given and change nothing: ``decoder_seq`` of a model without a decoder beside an encoder.
    """

    bytes: int
    per_token: int
    fixed: int
    layers: tuple[LayerCache, ...]
    engine: str
    trust: str
    idle: tuple[str, ...] = ()


STATES = {"float32": 4, "bfloat16": 2, "float16": 2, "int64": 8}
"""Bytes of an element of a state whose type is always the same."""


def cache_of(model: ModelValue, given: Inputs, dtype: str = "bfloat16", engine: str = "reference") -> CacheSize:
    """Return the size of the cache after a prompt.

    Args:
        model: A model that was made from a config.
        given: Examples and tokens.
        dtype: The type of keys and values; of llama.cpp also ``q8_0`` and its like, or one type for keys and one for values: ``q8_0+float16``.
        engine: One of :data:`~weighbridge.accounts.cache_engines.ENGINES`.

    Raises:
        UsageError: The model was not made from a config, the dtype or engine is not known, or the cache is not described.

    >>> from weighbridge import model
    >>> cache_of(model("llama-3.2-1b"), Inputs(seq=1024)).bytes // 2**20
    32
    """
    near = did_you_mean(engine, ENGINES) if isinstance(engine, str) and engine not in ENGINES else ""
    if near:
        raise UsageError(Text("{name}: no {value!r}; {hint}", name="engine", value=engine[:40], hint=near))
    if engine not in ENGINES:
        raise UsageError(Text("engine: expected one of {engines}, found {engine!r:.40}", engines=", ".join(ENGINES), engine=engine))
    types = element_types(dtype, engine)
    if model.description is None:
        raise UsageError(Text("{source}: a cache needs a config; this has only tensors", source=model.source))
    why = UNKNOWN.get(model.model_type or "")
    if why is not None:
        raise UsageError(Text("{class_name}: {why}", class_name=model.class_name, why=Text(why)))
    asked, given = given, without_decoder(model, given)
    idle = () if given == asked else ("decoder_seq",)
    refuse_failing(model, given)
    tree = _limit_windows(model) if engine == "reference" else model.tree
    layers = _merge(list_caches(tree, given, types, ENGINES[engine]))
    for entry in layers:
        if entry.window is not None and entry.window < 1:
            raise UsageError(Text("{module}: a window of {window} tokens; expected one or more", module=entry.module, window=entry.window))
    total = sum(entry.bytes for entry in layers)
    per_token = _growth_without_rounding(layers)
    if engine == "reference":
        grown = bytes_per_token(tree, given, types[0].bytes)
        assert isinstance(grown, int)
        per_token = grown
    tokens = given.seq if given.decoder_seq is None else given.decoder_seq
    trust = ENGINES[engine].trust if _is_checked(model, given) and (engine != "reference" or dtype_name(dtype) in COMPUTED) else "estimate"
    return CacheSize(total, per_token, total - per_token * tokens, layers, engine, trust, idle)


def _merge(layers: tuple[LayerCache, ...]) -> tuple[LayerCache, ...]:
    """Put layers of one name that keep the same into one row: T5's first stands apart in its tree, for its table of positions alone."""
    found: dict[tuple[object, ...], LayerCache] = {}
    for entry in layers:
        like = entry._replace(layers=0, bytes=0)
        first = found.get(like)
        found[like] = entry if first is None else entry._replace(layers=first.layers + entry.layers, bytes=first.bytes + entry.bytes)
    return tuple(found.values())


def _is_checked(model: ModelValue, given: Inputs) -> bool:
    """Tell whether the reference keeps the same bytes, as far as we held it to that."""
    assert model.description is not None
    if model.class_name in model.description.family.remote:
        return False
    # with bi_data XLNet takes a batch in two halves: of one example it keeps nothing past the first layer, and three do not run
    return not (model.model_type == "xlnet" and model.description.raw.get("bi_data") and given.batch % 2)


HYBRID = mark("what its attention and its state spaces keep is not held to a live class")
UNKNOWN = dict.fromkeys(
    ("nemotron_asr_streaming", "nemotron_asr_streaming_encoder"),
    mark("it keeps keys, values and the edges of its convolutions of the chunks that sound comes in, which no length of a text says"),
) | {
    "hymba": HYBRID,
    "phi4flash": HYBRID,
    "voxtral_realtime": mark(
        "beside its text it keeps what its encoder heard, as many frames as the stream has brought, which no length of a text says"
    ),
}
"""Model types whose caches are refused, and why."""


def _limit_windows(model: ModelValue) -> Part:
    """Return the tree with the window that the reference's cache takes from the config, where the blueprint has none.

    A hybrid with recurrent layers is left as it is: its config names the kind of every layer.
    """
    assert model.description is not None
    if model.description.family.model_type in WHOLE:
        return _without_window(model.tree)
    limit = limit_of(model)
    if limit is None or any(isinstance(node, State) and not node.per_token for _, part in walk(model.tree) for node in part.children):
        return model.tree
    return _with_window(model.tree, limit, _limited_layers(model.tree, limit))


def _without_window(part: Part) -> Part:
    """Return a part whose attention keeps all tokens."""

    def drop_window(node: Node) -> Node:
        if isinstance(node, Part):
            return _without_window(node)
        return node._replace(window=None, windowed=None) if isinstance(node, Attend) else node

    return part._replace(children=tuple(drop_window(node) for node in part.children))


def _with_window(part: Part, limit: Limit, counts: Mapping[str, int], path: str = "") -> Part:
    """Return a part whose attention has the window of *limit*, where it has none of its own.

    Args:
        part: A part.
        limit: The window, and which layers have it.
        counts: Of the layers of each path, how many have it; none where all have it.
        path: Of the part.
    """

    def limit_node(node: Node) -> Node:
        if isinstance(node, Part):
            return _with_window(node, limit, counts, _child_path(path, node))
        unlimited = isinstance(node, Attend) and (node.window is None or node.windowed == 0)
        if isinstance(node, Attend) and (unlimited or (node.windowed is None and limit.layers is not None)):
            # where it has a window of its own, a list says which layers have it
            window = limit.window if unlimited else node.window
            return node._replace(window=window, windowed=counts.get(path, limit.layers))
        if isinstance(node, State) and node.window is None:
            return node._replace(window=limit.window, windowed=counts.get(_below_state(path, node), limit.layers))
        return node

    return part._replace(children=tuple(limit_node(node) for node in part.children))


def _limited_layers(tree: Part, limit: Limit) -> dict[str, int]:
    """Count the layers of each path that have the window of *limit*: those at its places, or, of layers that run several times, the next of it."""
    counts: dict[str, int] = {}
    left = limit.layers or 0

    def count(part: Part, path: str, layer: Part | None) -> None:
        nonlocal left
        layer = part if layer is None and part.repeat is not None else layer  # T5's blocks have numbered halves inside
        for node in part.children:
            if isinstance(node, Part):
                count(node, _child_path(path, node), layer)
            elif layer is not None and (_is_kept(node) or (isinstance(node, Attend) and node.keys is not None)):
                where = _below_state(path, node) if isinstance(node, State) else path
                if layer.executions is None:
                    taken = len(limit.places.intersection(positions(layer)))
                else:
                    taken = min(left, layer.executions) if isinstance(layer.executions, int) else left
                    left -= taken
                counts[where] = counts.get(where, 0) + taken

    if limit.layers is not None:
        count(tree, "", None)
    return counts


def _child_path(path: str, part: Part) -> str:
    return f"{path}.{part.name}" if path and part.name else path or part.name


def _below_state(path: str, state: State) -> str:
    return f"{path}.{state.name}" if path else state.name


def _is_kept(node: Node) -> bool:
    """Tell whether a node keeps something of every token of a decoder."""
    return node.causal if isinstance(node, Attend) else isinstance(node, State) and node.per_token


def bytes_per_token(tree: Part, given: Inputs, size: int = 2) -> Size:
    """Return the bytes that one more token of every example adds in the reference.

    Args:
        tree: A model. Its sizes may be columns where no layer has a window, or all have.
        given: Examples and tokens.
        size: Bytes of an element of keys and values.

    >>> from weighbridge import model
    >>> bytes_per_token(model("llama-3.2-1b").tree, Inputs(seq=1024)), bytes_per_token(model("bert-tiny").tree, Inputs(seq=128))
    (32768, 0)
    """
    engine = ENGINES["reference"]
    types = (ElementType(size), ElementType(size))
    later, now = _list_layers(tree, _one_more(given), types, engine), _list_layers(tree, given, types, engine)
    total: Size = 0
    for entry in later:
        total = total + entry.bytes
    for entry in now:
        total = total - entry.bytes
    return total


def _one_more(given: Inputs) -> Inputs:
    """Return the inputs with one token more: of the decoder, in an encoder-decoder."""
    if given.decoder_seq is None:
        return given._replace(seq=given.seq + 1, decoder_seq=given.seq + 1)
    return given._replace(decoder_seq=given.decoder_seq + 1)


def _growth_without_rounding(layers: tuple[LayerCache, ...]) -> int:
    """Return the bytes that one more token adds, as if an engine did not round lengths up to whole blocks."""
    return sum(entry.bytes // entry.tokens for entry in layers if entry.kind in ("attention", "memory"))


if TYPE_CHECKING:
    Types: TypeAlias = tuple[ElementType, ElementType]
    """How keys and how values are stored."""


def list_caches(tree: Part, given: Inputs, types: Types, engine: Engine) -> tuple[LayerCache, ...]:
    """Return one entry for each kind of layer that keeps something."""
    return tuple(entry for entry in _list_layers(tree, given, types, engine) if entry.bytes)


def _list_layers(tree: Part, given: Inputs, types: Types, engine: Engine) -> Iterator[LayerCache]:
    known = {"one": 1, "batch": given.batch, **given.lengths()}
    return _walk(tree, "", "seq", 1, False, _Walk(known, {}, given.batch, types, engine))


class _Walk(NamedTuple):
    """What stays the same throughout a walk: lengths by name, layers whose window is not yet given out by path, types of keys and values."""

    known: Mapping[str, int]
    left: dict[str, int]
    batch: int
    types: Types
    engine: Engine

    @property
    def size(self) -> int:
        """Bytes of an element of the type of keys, where that is not packed."""
        return self.types[0].bytes


def _walk(part: Part, path: str, stream: Stream, copies: Any, causal: bool, walk: _Walk) -> Iterator[LayerCache]:
    """Yield what *part* keeps; *causal* says whether a layer around it has causal attention."""
    if part.requires is not None and part.requires not in walk.known:
        return
    stream = stream if part.stream is None else part.stream
    often = evaluate(part.executions, walk.known) if part.executions is not None else 1 if part.repeat is None else part.repeat
    copies = copies * often
    # attention to an encoder is kept where the layer is a decoder's, that is, where it has causal attention too
    causal = causal if part.repeat is None else causal or _is_causal(part)
    for node in part.children:
        if isinstance(node, Attend) and (node.causal or (causal and node.keys is not None)):
            yield from _attention(node, path, stream, copies, walk)
        elif isinstance(node, State):
            yield from _memory(node, path, stream, copies, walk) if node.per_token else (_state(node, part, path, copies, walk),)
        elif isinstance(node, Part):
            yield from _walk(node, _child_path(path, node), stream, copies, causal, walk)


def _is_causal(part: Part) -> bool:
    """Tell whether a part has causal attention anywhere inside."""
    return any(node.causal if isinstance(node, Attend) else isinstance(node, Part) and _is_causal(node) for node in part.children)


def _attention(node: Attend, path: str, stream: Stream, copies: Any, walk: _Walk) -> Iterator[LayerCache]:
    """Yield what attention keeps: the layers without a window, and those with one."""
    if isinstance(node.cache, int) and not node.cache:
        return  # a State beside it says what is kept
    elements = _elements(node, walk.engine)
    kept = node.keys if node.kept is None else node.kept
    tokens = evaluate(stream if kept is None else kept, walk.known)
    assert isinstance(tokens, int), "lengths need ints"
    limited = 0 if node.window is None else copies if node.windowed is None else _share(node, path, copies, walk)
    if limited is not copies:
        kind = "attention" if node.causal else "cross attention"
        held = walk.engine.tokens(tokens, None) if node.causal else tokens
        yield _entry(path, kind, copies - limited, held, elements, None, node, walk)
    if node.window is not None and not (isinstance(limited, int) and limited == 0):
        assert isinstance(node.window, int), "windows need ints"
        yield _entry(path, "window", limited, walk.engine.tokens(tokens, node.window), elements, node.window, node, walk)


def _elements(node: Attend, engine: Engine) -> Size:
    """Return the elements kept per token.

    Some reference classes repeat the keys of grouped-query attention before they cache them; engines never do.
    """
    once = node.kv_heads * (node.head_dim + node.value_dim)
    if node.cache is None:
        return once
    repeated = engine.trust != "exact" and isinstance(node.cache, int) and isinstance(once, int) and node.cache > once
    return once if repeated else node.cache


def _share(node: Attend | State, path: str, copies: Any, walk: _Walk) -> int:
    """Return how many of these layers have a window: ``windowed`` counts those of the whole list, which layers of other kinds share."""
    assert isinstance(node.windowed, int)
    left = walk.left.setdefault(path, node.windowed)
    least = getattr(copies, "low", copies)
    assert copies is least or left <= least, "of a column of layers it must be certain how many have a window"
    taken = left if left < least else int(least)
    walk.left[path] -= taken
    return taken


def _entry(path: str, kind: str, copies: Any, tokens: int, elements: Any, window: int | None, node: Attend, walk: _Walk) -> LayerCache:
    keys, values = walk.types
    if keys.block == values.block == 1 and keys == values:
        total = walk.batch * copies * tokens * elements * keys.bytes
        return LayerCache(path, kind, copies, tokens, elements, window, keys.bytes, total)
    token = _packed_token(node, elements, walk.types)
    total = walk.batch * copies * tokens * token
    return LayerCache(path, kind, copies, tokens, elements, window, token / elements, total)


def _packed_token(node: Attend, elements: Any, types: Types) -> Any:
    """Return the bytes of a token's keys and values in llama.cpp's types; a latent vector is its key, and it has no value.

    Raises:
        UsageError: The width of a head is no multiple of the block.
    """
    latent = node.cache is not None and elements != node.kv_heads * (node.head_dim + node.value_dim)
    kept = (
        ((elements, elements),)
        if latent
        else ((node.kv_heads * node.head_dim, node.head_dim), (node.kv_heads * node.value_dim, node.value_dim))
    )
    total: Any = 0
    for (row, width), (size, block), name in zip(kept, types, ("K", "V"), strict=False):
        if width % block:
            raise UsageError(
                Text(
                    "dtype: {name} has heads of {width} elements, which blocks of {block} do not divide: llama.cpp refuses this",
                    name=name,
                    width=width,
                    block=block,
                )
            )
        total = total + row // block * size
    return total


def _memory(node: State, path: str, stream: Stream, copies: Any, walk: _Walk) -> Iterator[LayerCache]:
    """Yield what a state that is kept of each token of a stream holds: the layers without a window, and those with one."""
    where = _below_state(path, node)
    if walk.types[0] != walk.types[1] or walk.types[0].block > 1:
        raise UsageError(Text("dtype: how llama.cpp packs {module} is not known; expected float32, bfloat16 or float16", module=where))
    tokens = evaluate(stream if node.tokens is None else node.tokens, walk.known)
    assert isinstance(tokens, int), "lengths need ints"
    assert node.window is None or isinstance(node.window, int), "windows need ints"
    size = walk.size if node.dtype is None else STATES[node.dtype]
    limited = 0 if node.window is None else copies if node.windowed is None else _share(node, where, copies, walk)
    for kind, layers, window in (("memory", copies - limited, None), ("window", limited, node.window)):
        if not (isinstance(layers, int) and layers == 0):
            held = walk.engine.tokens(tokens, window)
            yield LayerCache(where, kind, layers, held, node.size, window, size, walk.batch * layers * held * node.size * size)  # type: ignore[arg-type]


def _state(node: State, part: Part, path: str, copies: Any, walk: _Walk) -> LayerCache:
    """Return the entry of a state that has one size, whatever the length; some engines keep one token less of a convolution."""
    elements: Any = node.size
    kernel = next((tensor.shape[-1] for tensor in part.children if isinstance(tensor, Tensor) and len(tensor.shape) == 3), None)
    if walk.engine.shorter and part.kind == "convolution" and isinstance(kernel, int):
        elements = elements // kernel * (kernel - 1)
    size = walk.size if node.dtype is None else STATES[node.dtype]
    size = walk.engine.state_bytes or size
    return LayerCache(f"{path}.{node.name}", "state", copies, 1, elements, None, size, walk.batch * copies * elements * size)
