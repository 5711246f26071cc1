"""A model taken apart for a reader: its modules with their tensors, in ints and in symbols side by side.

The tree says what is where; this says what it is for (attention, feed-forward, norm, head), which is
what derivations are divided by and what counting conventions leave out.
"""

from __future__ import annotations

from functools import lru_cache

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.formula import Expression, Number, Product, Symbol, letters, times, total
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Part, Tensor, positions
from weighbridge.explain.part_titles import topic_of_name
from weighbridge.explain.symbolic import symbolic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.value import ModelValue

TOPICS = {
    "attention": "attention",
    "self_attention": "attention",
    "cross_attention": "cross_attention",
    "latent_attention": "latent_attention",
    "linear_attention": "mixer",
    "state_space": "mixer",
    "ssm": "mixer",
    "mamba": "mixer",
    "mixer": "mixer",
    "recurrent": "mixer",
    "recurrence": "mixer",
    "time_mixing": "mixer",
    "fourier": "mixer",
    "convolution": "convolution",
    "conv_module": "convolution",
    "feed_forward": "feed_forward",
    "mlp": "feed_forward",
    "experts": "experts",
    "expert": "experts",
    "mixture": "experts",
    "moe": "experts",
    "router": "experts",
    "projector": "projector",
}
"""From the kind of a part to what it is for; kinds not named here take it from the parts around them."""
STRUCTURAL = frozenset(TOPICS.values())
NORMS = frozenset({"layer_norm", "rms_norm", "group_norm", "batch_norm", "instance_norm", "norm", "scale", "layer_scale"})
TRANSPARENT = frozenset({"model", "backbone"})
HEADS = frozenset({"head", "lm_head", "classifier"})
HEAD_NAMES = frozenset(
    """lm_head generator_lm_head classifier class_labels_classifier pre_classifier qa_outputs score embed_out output_projection
    seq_relationship vocab_transform vocab_projector""".split()
)
"""Linear maps that are a head by themselves, known by their names."""
TOP_HEADS = frozenset(
    """proj_out output_layer head head_dist output decoder fc lm_loss logits_proj logits_dense
    audio_lm_head codec_head""".split()
)
"""Linear maps that are a head where they stand beside the backbone, not inside it."""
PROJECTIONS = frozenset({"visual_projection", "text_projection", "audio_projection"})
"""Linear maps from a tower into a space that others share."""


class Pair(NamedTuple):
    """A part in ints, and the same part in symbols."""

    part: Part
    symbolic: Part

    def children(self) -> list[Pair]:
        """Pair up the parts inside; where the forms differ, as of a stack that is written out for its ties, numbers stand for both."""
        if self.part is self.symbolic:
            return [Pair(node, node) for node in self.part.children if type(node) is Part]
        ours = [node for node in self.part.children if isinstance(node, Part)]
        theirs = [node for node in self.symbolic.children if isinstance(node, Part)]
        if len(ours) != len(theirs):
            return [Pair(node, node) for node in ours]
        return [Pair(a, b) for a, b in zip(ours, theirs, strict=True)]

    def tensors(self) -> list[tuple[Tensor, Tensor]]:
        """Pair up the tensors of its own, buffers left out."""
        if self.part is self.symbolic:
            return [(node, node) for node in self.part.children if type(node) is Tensor and node.role != "buffer"]
        ours = (node for node in self.part.children if isinstance(node, Tensor))
        theirs = (node for node in self.symbolic.children if isinstance(node, Tensor))
        return [(a, b) for a, b in zip(ours, theirs, strict=True) if a.role != "buffer"]

    @property
    def has_tensors(self) -> bool:
        """Whether any tensor of its own is there, buffers left out."""
        for node in self.part.children:  # noqa: SIM110  # as below
            if type(node) is Tensor and node.role != "buffer":
                return True
        return False

    @property
    def repeated(self) -> bool:
        """Whether it stands for several copies (one copy of a fixed number is none)."""
        return self.part.repeat is not None and (self.part.repeat != 1 or isinstance(self.symbolic.repeat, Symbol))


class Leaf(NamedTuple):
    """A part that owns tensors, with the parts around it.

    Attributes:
        path: Its dotted path from where the walk began; repeats are folded.
        pair: The part itself.
        around: The parts it stands in, outermost first.
        kinds: Their kinds.
        is_repeated: Whether it or a part around it has a repeat, be it of one.
    """

    path: str
    pair: Pair
    around: tuple[Pair, ...]
    kinds: tuple[str, ...]
    is_repeated: bool

    @property
    def topic(self) -> str:
        """What it is for: a topic of :data:`TOPICS`, or ``norm``, ``embedding``, ``pooler``, ``head``, ``other``."""
        found = _topic(self.pair.part, self.kinds)
        return topic_of_name(self.pair.part.name) or found if found == "other" and self.in_layer else found

    @property
    def copies(self) -> Size:
        """How many copies of it are stored, counting the repeats around it."""
        return product(pair.part.repeat for pair in (*self.around, self.pair) if pair.part.repeat is not None)

    @property
    def in_layer(self) -> bool:
        """Whether it is in a repeated part."""
        return self.is_repeated and any(pair.repeated for pair in (*self.around, self.pair))


def topic(part: Part, around: tuple[Part, ...]) -> str:
    """Tell what a part is for from its own kind and the parts around it, outermost first.

    >>> topic(Part("dense", kind="linear"), (Part("layer", kind="layer"), Part("attention", kind="self_attention")))
    'attention'
    """
    return _topic(part, tuple([outer.kind for outer in around]))


def _topic(part: Part, around: tuple[str, ...]) -> str:
    """Tell what a part is for from its kind and name and the kinds around it."""
    if part.kind in NORMS:
        return "norm"
    found = _topic_of_kinds((*around, part.kind))
    if found in STRUCTURAL or found == "head":
        return found
    if part.name in HEAD_NAMES or (part.name in TOP_HEADS and part.kind == "linear" and len(around) == 1):
        return "head"
    if part.name == "pooler":
        return "pooler"
    return "projector" if found == "other" and part.name in PROJECTIONS else found


@lru_cache(maxsize=4096)
def _topic_of_kinds(kinds: tuple[str, ...]) -> str:
    """Tell what a part is for from its kind and those around it, outermost first, as far as they tell it; few differ in a file."""
    topics = [TOPICS[kind] for kind in kinds if kind in TOPICS]
    if topics:
        return "experts" if "experts" in topics else topics[0]
    if not HEADS.isdisjoint(kinds):
        return "head"
    if "pooler" in kinds:
        return "pooler"
    return "embedding" if "embeddings" in kinds or kinds[-1] == "embedding" else "other"


def pair(model: ModelValue) -> tuple[Pair, dict[str, Symbol], dict[str, int]]:
    """Return a model's trees side by side, its symbols and their values; a checkpoint has only numbers."""
    if model.description is None:
        return Pair(model.tree, model.tree), {}, {}
    tree, table, values = symbolic(model)
    return Pair(model.tree, tree), table, values


@lru_cache(maxsize=2)
def leaves_of(model: ModelValue) -> tuple[Leaf, ...]:
    """List the parts of a model that own tensors, once for all accounts of one file."""
    return tuple(leaves(pair(model)[0]))


def leaves(root: Pair, path: str = "", around: tuple[Pair, ...] = ()) -> list[Leaf]:
    """List every part that owns tensors, in the reference's order."""
    found: list[Leaf] = []
    _collect_leaves(leaf_at(path, root, around), found)
    return found


def leaf_at(path: str, pair: Pair, around: tuple[Pair, ...]) -> Leaf:
    """Return a part with what stands around it."""
    kinds = tuple([outer.part.kind for outer in around])
    return Leaf(path, pair, around, kinds, any(outer.part.repeat is not None for outer in (*around, pair)))


def _collect_leaves(here: Leaf, found: list[Leaf]) -> None:
    """Add a part, if it owns tensors, and those in it; what stands around them is put together once for all of them."""
    path, root, around, kinds, is_repeated = here
    if root.has_tensors:
        found.append(here)
    around, kinds = (*around, root), (*kinds, root.part.kind)
    for child in root.children():
        repeated = is_repeated or child.part.repeat is not None
        _collect_leaves(Leaf(join_path(path, child.part.name), child, around, kinds, repeated), found)


def join_path(path: str, name: str) -> str:
    """Put a dotted path together; the empty name adds nothing.

    >>> join_path("encoder", "layer"), join_path("", "encoder")
    ('encoder.layer', 'encoder')
    """
    return f"{path}.{name}" if path and name else path or name


class Place(NamedTuple):
    """Where a path leads.

    Attributes:
        pair: The part there; of a path that ends in an index, one copy.
        around: The parts around it, outermost first.
        path: The path with the index of the first copy wherever it had none.
    """

    pair: Pair
    around: tuple[Pair, ...]
    path: str


def find(root: Pair, path: str) -> list[Place]:
    """Return all parts that a dotted path names: several where layers of unlike runs share a name and the path has no index.

    An index (``layers.5``) picks the run in which it stands, and ``layers[3]`` the whole run that begins there. The name of a part that only
    wraps others (``bert``) may be left out.

    >>> from weighbridge import model
    >>> top, _, _ = pair(model("deepseek-v3"))
    >>> [place.path for place in find(top, "model.layers.mlp")], [place.path for place in find(top, "layers.5.mlp")], find(top, "layers.61")
    (['model.layers.0.mlp', 'model.layers.3.mlp'], ['model.layers.5.mlp'], [])
    """
    return list(_find(Place(root, (), ""), path))


def _find(place: Place, path: str) -> Iterator[Place]:
    if not path:
        yield place
        return
    found = False
    for child in place.pair.children():
        for copy, number, rest in _step(child, path):
            around = (*place.around, place.pair)
            inner = join_path(join_path(place.path, child.part.name), number)
            for deeper in _find(Place(copy, around, inner), rest):
                found = True
                yield deeper
    if not found:
        for child in place.pair.children():
            if child.part.kind in TRANSPARENT:
                yield from _find(Place(child, (*place.around, place.pair), join_path(place.path, child.part.name)), path)


def _step(child: Pair, path: str) -> Iterator[tuple[Pair, str, str]]:
    """Yield how a path may go on inside a child: the child or one copy of it, the number of the copy, and the rest of the path."""
    name, repeat = child.part.name, child.part.repeat
    if not path.startswith(name):
        return
    rest = path[len(name) :]
    if repeat is None:
        if not name or not rest or rest[0] == ".":
            yield child, "", rest.removeprefix(".") if name else rest
        return
    at = positions(child.part)
    if rest.startswith("["):
        number, _, behind = rest[1:].partition("]")
        if number.isdecimal() and len(at) and at[0] == int(number):
            yield child, number, behind.removeprefix(".")
        return
    if name and rest and rest[0] != ".":
        return
    first, _, behind = rest.removeprefix(".").partition(".")
    if not first.isdecimal():
        yield child, str(next(iter(at), 0)), rest.removeprefix(".")
    elif int(first) in at:
        yield (child if behind else Pair(*(part._replace(repeat=1, indices=(int(first),)) for part in child))), first, behind


def elements(shape: tuple[Size, ...]) -> Expression:
    """Write a shape as a product, kept as it is: ``768 × 768`` stays two factors.

    >>> str(elements((3, 4)))
    '3*4'
    """
    if len(shape) > 1 and all(isinstance(size, int) for size in shape):
        return Product(tuple(Number(size) for size in shape if isinstance(size, int)))
    return times(shape)


def cancel(size: Size) -> Size:
    """Write a size without the letters that cancel out in it, ``A * (H / A)`` as ``H``; any other stays as it is.

    >>> from weighbridge.core.sizes import exact
    >>> H, A = Symbol("H"), Symbol("A")
    >>> str(cancel(A * exact(H, A))), str(cancel(A * exact(H, Symbol("K"))))
    ('H', 'A*(H/K)')
    """
    if not isinstance(size, Expression):
        return size
    collected = polynomial(size)
    return collected.expression() if letters(size) - collected.letters() else size


def owned_size(tensors: list[tuple[Tensor, Tensor]]) -> Expression:
    """Write what the tensors hold that are no other's storage, equal terms collected; of stacked experts one, times their number."""
    shapes = [tuple(map(cancel, theirs.shape)) for ours, theirs in tensors if ours.tied_to is None]
    experts = shapes[0][0] if shapes and len(shapes[0]) > 2 else None
    if isinstance(experts, Symbol) and experts.word == "experts" and len(shapes) > 1 and all(shape[0] == experts for shape in shapes):
        return scale(experts, _collect([shape[1:] for shape in shapes]))
    return _collect(shapes)


def _collect(shapes: list[tuple[Size, ...]]) -> Expression:
    counts: dict[object, tuple[Expression, int]] = {}
    for shape in shapes:
        term = elements(shape)
        key = polynomial(term)
        if letters(term) - key.letters():  # A × (H / A) is H
            term = key.expression()
        counts[key] = (term, counts.get(key, (term, 0))[1] + 1)
    return total(term if many == 1 else scale(many, term) for term, many in counts.values())


def scale(many: Size, term: Expression) -> Expression:
    """Write ``n × term`` without multiplying it out; once is the term itself.

    >>> str(scale(4, Symbol("H") * Symbol("H") + Symbol("H")))
    '4*(H^2 + H)'
    """
    if isinstance(many, int) and many == 1:
        return term
    return Product((many if isinstance(many, Expression) else Number(int(str(many))), term))
