"""One pass's arithmetic, in the conventions of the tools and papers that print it; a table, and what explains a published figure.

A multiply-add is two FLOPs for some and one for others; some count norms, some leave attention out, some mean a training step, some
one token. Each convention says what it counts, in which unit, and where it is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.flops import work
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.accounts.possible import as_examples, refuse_impossible
from weighbridge.conventions.atoms import parts_of
from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.rounding import readings
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Attend, Operation, Part, Tensor
from weighbridge.explain.semantic_tree import HEAD_NAMES, HEADS, TOP_HEADS

if TYPE_CHECKING:
    from weighbridge.core.sizes import Size
    from weighbridge.value import ModelValue


class Pass(NamedTuple):
    """A model and what is put into it."""

    model: ModelValue
    given: Inputs

    def sum(self, cost: Callable[[Part, Tensor | Operation, Size], Size]) -> int:
        """Sum what tensors and operations cost in one forward pass."""
        amount = self.ledger(cost).amount
        assert isinstance(amount, int)
        return amount

    def ledger(self, cost: Callable[[Part, Tensor | Operation, Size], Size]) -> Entry:
        """Return what each module costs in one forward pass."""
        return work(self.model.tree, self.given.lengths(), self.given.batch, cost)

    @property
    def tokens(self) -> int:
        """Tokens of all examples."""
        return self.given.batch * self.given.seq


class FlopsConvention(NamedTuple):
    """A way of counting arithmetic that a tool or a paper has.

    Attributes:
        key: What one types after ``--convention``.
        unit: What its number counts.
        definition: What is counted.
        source: Where the convention is found.
        pieces: What the number is made of; they add up to it.
    """

    key: str
    unit: str
    definition: str
    source: str
    pieces: Callable[[Pass], Iterator[Piece]]


class Arithmetic(NamedTuple):
    """A model's arithmetic by one convention.

    Attributes:
        custom: The convention.
        value: The number, in the convention's unit.
        pieces: What it is made of; they add up to *value*.
    """

    custom: FlopsConvention
    value: int
    pieces: tuple[Piece, ...]


def count_arithmetic(model: ModelValue, given: Inputs, key: str) -> Arithmetic:
    """Count one pass of *model* by the convention called *key*.

    Raises:
        UsageError: No such convention, or the model's arithmetic is not known.

    >>> from weighbridge import model
    >>> count_arithmetic(model("vit-base-patch16-224"), Inputs(images=1), "fvcore").value
    17582740224
    >>> count_arithmetic(model("bert-base-uncased"), Inputs(seq=128), "torch").value
    22348431360
    """
    custom = next((custom for custom in CUSTOMS if custom.key == key), None)
    if custom is None:
        raise UsageError(
            Text("convention {key!r}: expected one of {customs}", key=key, customs=", ".join(custom.key for custom in CUSTOMS))
        )
    pieces = tuple(custom.pieces(one_pass(model, given)))
    return Arithmetic(custom, sum(piece.amount for piece in pieces), pieces)


def one_pass(model: ModelValue, given: Inputs) -> Pass:
    """Return a pass whose inputs the model takes; images of a model that sees nothing else are examples."""
    if model.description is None:
        raise UsageError(Text("{source}: the arithmetic needs a config; this has only tensors", source=model.source))
    given = as_examples(model, given)
    if given.seq == Inputs().seq:  # nobody asked for it
        given = given._replace(seq=context_length(model) or given.seq)
    refuse_impossible(model, given)
    return Pass(model, given)


def context_length(model: ModelValue) -> int | None:
    """Return how many tokens OpenCLIP fills every text up to; of its text towers from the Hub, as many as they have positions for.

    >>> from weighbridge import model
    >>> context_length(model("open_clip/ViT-B-16-SigLIP")), context_length(model("bert-base-uncased"))
    (64, None)
    """
    text = getattr(model.description.sizes, "text", None) if model.description and model.model_type == "open_clip" else None
    tokens = getattr(text, "context", None) or getattr(text, "positions", None)
    return tokens if isinstance(tokens, int) else None


NORMS = {"layer_norm": 5, "group_norm": 5, "instance_norm": 5, "batch_norm": 2}
"""What fvcore counts for each element that goes through an affine norm (fvcore/nn/jit_handles.py: ``norm_flop_counter``, ``batchnorm_flop_jit``).

RMS norms are made of operations that it does not count."""


def weights(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return the multiply-adds of products with weights."""
    return amount if isinstance(node, Tensor) and node.role == "weight" else 0


def products(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return the multiply-adds of products between activations, attention above all."""
    return 0 if isinstance(node, Tensor) else amount


def norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return what fvcore and DeepSpeed count for norms."""
    return amount * NORMS.get(part.kind, 0) if isinstance(node, Tensor) and node.role == "gain" else 0


def convolution_biases(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return one for each output of a convolution that has a bias."""
    return amount if isinstance(node, Tensor) and node.role == "bias" and part.kind == "convolution" else 0


def training_norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return what fvcore counts for norms of a model in training mode, where a batch norm is like any other."""
    return 5 * amount if isinstance(node, Tensor) and node.role == "gain" and part.kind in NORMS else 0


def batch_norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return one for each element that goes through a batch norm."""
    return amount if isinstance(node, Tensor) and node.role == "gain" and part.kind == "batch_norm" else 0


def pooled_elements(entry: Entry) -> int:
    """Return the elements of feature maps of which means are taken: before each gate (squeeze and excitation), and of the last map.

    Args:
        entry: A model, with what goes through each of its batch norms.
    """
    return _before_gates(entry) + _last_map(entry)


def _before_gates(entry: Entry) -> int:
    total = sum(_before_gates(child) for child in entry.children)
    for before, child in zip(entry.children, entry.children[1:], strict=False):
        if child.part.kind == "gate":
            total += _int(before.amount)
    return total * _int(entry.times)


def _last_map(entry: Entry) -> int:
    for child in reversed(entry.children):
        found = _int(child.amount) if child.part.kind == "batch_norm" else _last_map(child)
        if found:
            return found
    return 0


def _int(amount: Size) -> int:
    assert isinstance(amount, int)
    return amount


WITH_WEIGHTS = mark("products with weights")
BETWEEN = mark("products between activations")
IN_NORMS = mark("norms")


def _multiply_adds(of: Pass, times: int = 1) -> Iterator[Piece]:
    yield Piece(WITH_WEIGHTS, times * of.sum(weights))
    yield Piece(BETWEEN, times * of.sum(products))


def _torch(of: Pass) -> Iterator[Piece]:
    return _multiply_adds(of, 2)


def _fvcore(of: Pass) -> Iterator[Piece]:
    yield from _multiply_adds(of)
    yield Piece(IN_NORMS, of.sum(norms))


def _palm(of: Pass) -> Iterator[Piece]:
    yield Piece(mark("6 for each parameter"), 6 * of.tokens * unique_of(of.model))
    yield Piece(mark("12 L H Q T for attention"), 6 * of.sum(products))


def _megatron(of: Pass) -> Iterator[Piece]:
    return _multiply_adds(of, 6)


def _torchtitan(of: Pass) -> Iterator[Piece]:
    tally = tally_of(of.model)
    assert isinstance(tally.active, int)
    yield Piece(
        mark("6 for each active parameter outside the word table"),
        6 * of.given.batch * of.given.seq * (tally.active - _word_table_elements(of.model)),
    )
    yield Piece(mark("attention, forward and backward"), 6 * bounded_attention(of.ledger(products), of.given.seq))


def _six(of: Pass) -> Iterator[Piece]:
    yield Piece(mark("6 for each parameter"), 6 * of.tokens * unique_of(of.model))


def bounded_attention(entry: Entry, seq: int, copies: int = 1) -> int:
    """Return the multiply-adds of attention in a ledger of products, where windows bound the keys that a query sees.

    Args:
        entry: A part, with what its operations cost in full.
        seq: Tokens of an example.
        copies: Copies of the repeated part that *entry* stands in; a window says in how many of them it holds.
    """
    repeat = entry.part.repeat
    copies = repeat if isinstance(repeat, int) else copies
    each = sum(bounded_attention(child, seq, copies) for child in entry.children)
    for line in entry.lines:
        if isinstance(line.node, Attend):
            assert isinstance(line.amount, int)
            window = line.node.window if isinstance(line.node.window, int) else seq
            bounded = line.node.windowed if isinstance(line.node.windowed, int) else copies
            keys = bounded * min(window, seq) + (copies - bounded) * seq
            each += line.amount * keys // (copies * seq)
    assert isinstance(entry.times, int)
    return entry.times * each


def _word_table_elements(model: ModelValue) -> int:
    """Return the elements of word tables, which are looked up; a tied one serves as the head too, and is left out once."""
    return sum(atom.total for atom in parts_of(model).atoms if atom.component == "word")


MULTIPLY_ADDS = mark("multiply-adds of a forward pass")
FORWARD = mark("FLOPs of a forward pass")
TRAINING = mark("FLOPs of a forward and a backward pass")

CUSTOMS = (
    FlopsConvention("torch", FORWARD, mark("two for each multiply-add of a product with weights or of attention; nothing else"),
           mark("torch.utils.flop_counter.FlopCounterMode"), _torch),
    FlopsConvention("fvcore", MULTIPLY_ADDS, mark("products, attention, and 5 for each element of a layer norm (2 of a batch norm); printed as FLOPs by many that use it"),
           mark("fvcore.nn.FlopCountAnalysis (fvcore/nn/jit_handles.py); mmpretrain's get_flops.py, which leaves the classifier out"), _fvcore),
    FlopsConvention("timm", MULTIPLY_ADDS, mark("as fvcore, with the classifier; printed as GMACs"),
           mark("benchmark.py of pytorch-image-models, which asks fvcore"), _fvcore),
    FlopsConvention("deepspeed", MULTIPLY_ADDS, mark("products and attention; its column of MACs"),
           mark("deepspeed.profiling.flops_profiler; releases before 0.15 leave out fused attention"), _multiply_adds),
    FlopsConvention("calflops", MULTIPLY_ADDS, mark("products and attention; its column of MACs"),
           mark("calflops.calculate_flops; its FLOPs are twice that and the element-wise work"), _multiply_adds),
    FlopsConvention("palm", TRAINING, mark("6N + 12LHQT for each token: N all parameters, attention in full"),
           mark("PaLM (arXiv 2204.02311), appendix B; nanoGPT's estimate_mfu"), _palm),
    FlopsConvention("megatron", TRAINING, mark("three times the forward products, logits and full attention included: 72Bslh²(1 + s/6h + V/12lh)"),
           mark("Narayanan et al. 2021 (arXiv 2104.04473), equation 3, without recomputation"), _megatron),
    FlopsConvention("torchtitan", TRAINING, mark("6 for each active parameter outside the word table and 12LHQT, a window bounding the keys"),
           mark("get_nparams_and_flops in torchtitan; nothing for a window until pull request 4300"), _torchtitan),
    FlopsConvention("6n", TRAINING, mark("6ND: six for each parameter and token, attention left out"),
           mark("Kaplan et al. 2020 (arXiv 2001.08361), section 2.1, whose N leaves out embeddings; Hoffmann et al. 2022 (arXiv 2203.15556)"), _six),
)  # fmt: skip


class FlopsMatch(NamedTuple):
    """A way of counting arithmetic that gives a number.

    Attributes:
        key: The convention.
        how: ``exact``, ``rounded`` and so on, as for parameters.
        value: What it gives.
        unit: What it counts.
        steps: What it comes about from; the pieces add up to *value*.
        cost: How far-fetched it is.
    """

    key: str
    how: str
    value: int
    unit: str
    steps: tuple[Piece, ...]
    cost: int


class FlopsReconciliation(NamedTuple):
    """What explains a number of FLOPs: the ways that give it, simplest first; or the nearest."""

    number: str
    class_name: str
    forward_matmul: int
    matches: tuple[FlopsMatch, ...]
    nearest: FlopsMatch | None
    residual: int


def explain_flops(model: ModelValue, given: Inputs, number: str | int) -> FlopsReconciliation:
    """Find the conventions in which one pass of *model* costs *number*.

    Args:
        model: A model made from a config.
        given: What is put into it.
        number: An int, or text such as ``17581972224`` or ``17.58G``.

    Raises:
        UsageError: *number* is no number, or the model's arithmetic is not known.

    >>> from weighbridge import model
    >>> found = explain_flops(model("vit-base-patch16-224"), Inputs(images=1), 17581972224).matches[0]
    >>> found.key, [tuple(step) for step in found.steps]
    ('fvcore', [('products with weights', 16848500736), ('products between activations', 715327488), ('norms', 18912000), ('output head, left out', -768000)])
    """
    of = one_pass(model, given)
    ways = sorted(_ways(of), key=lambda way: way.cost)
    found: dict[int, FlopsMatch] = {}
    meanings = readings(str(number))
    for reading in meanings:
        least = 99
        for way in ways:
            if reading.low <= way.value <= reading.high and (reading.how == "exact" or way.cost <= min(least, ROUNDED)):
                least = min(least, way.cost)
                found.setdefault(way.value, way._replace(how=reading.how))
    matches = tuple(sorted(found.values(), key=lambda way: way.cost))[:MOST]
    wanted = round(meanings[0].value)
    nearest = None if matches else min(ways, key=lambda way: (abs(way.value - wanted), way.cost), default=None)
    torch = 2 * (of.sum(weights) + of.sum(products))
    return FlopsReconciliation(str(number), model.class_name, torch, matches, nearest, wanted - nearest.value if nearest else 0)


ROUNDED = 1
"""A rounded number is held only against ways of this cost."""
MOST = 6
HEAD_LEFT_OUT = mark("output head, left out")
OF_CONVOLUTIONS = mark("biases of convolutions, in place of norms")
"""What mmpretrain's figures of ConvNeXt hold: one for each output of a convolution with a bias, and nothing for its norms over channels."""
ATTENTION_LEFT_OUT = mark("attention, left out")
IN_TRAINING_NORMS = mark("norms in training mode")
IN_MEANS = mark("means over feature maps")


def _ways(of: Pass) -> Iterator[FlopsMatch]:
    """Yield what people count: each convention whole, without head, without attention; the other unit; one token of many."""
    head = _head_work(of)
    for order, custom in enumerate(CUSTOMS):
        pieces = tuple(piece for piece in custom.pieces(of) if piece.amount)
        each = sum(piece.amount for piece in pieces if piece.what == WITH_WEIGHTS) // max(of.sum(weights), 1)
        variants = [(pieces, 0)]
        if head and each:
            variants.append(((*pieces, Piece(HEAD_LEFT_OUT, -each * head)), 1))
        between = sum(piece.amount for piece in pieces if piece.what == BETWEEN)
        if between:
            variants += [((*steps, Piece(ATTENTION_LEFT_OUT, -between)), cost + 1) for steps, cost in tuple(variants)]
        biases = of.sum(convolution_biases) if custom.key == "fvcore" else 0
        if biases:
            plain = (*(piece for piece in pieces if piece.what != IN_NORMS), Piece(OF_CONVOLUTIONS, biases))
            variants += [(plain, 2), *([((*plain, Piece(HEAD_LEFT_OUT, -each * head)), 2)] if head else [])]
        if custom.key == "fvcore":
            variants += [(steps, cost) for steps, cost in _in_training(of, pieces, head)]
        for steps, cost in variants:
            yield from _units(of, custom, steps, cost, order)


def _in_training(of: Pass, pieces: tuple[Piece, ...], head: int) -> Iterator[tuple[tuple[Piece, ...], int]]:
    """Yield fvcore's count of a convolutional network in training mode, as mmpretrain's figures of EfficientNet are: 5 an element of a batch norm, 1 of a mean."""
    batch = of.ledger(batch_norms)
    if batch.amount:
        products = (piece for piece in pieces if piece.what != IN_NORMS)
        steps = (*products, Piece(IN_TRAINING_NORMS, of.sum(training_norms)), Piece(IN_MEANS, pooled_elements(batch)))
        yield steps, 2
        yield (*steps, Piece(HEAD_LEFT_OUT, -head)), 2


def _units(of: Pass, custom: FlopsConvention, steps: tuple[Piece, ...], cost: int, order: int) -> Iterator[FlopsMatch]:
    value = sum(piece.amount for piece in steps)
    yield FlopsMatch(custom.key, "exact", value, custom.unit, steps, cost)
    if custom.unit == MULTIPLY_ADDS:
        doubled = tuple(Piece(piece.what, 2 * piece.amount) for piece in steps)
        yield FlopsMatch(custom.key, "exact", 2 * value, FORWARD, doubled, cost + 1)
    if custom.unit == TRAINING and of.tokens > 1 and value % of.tokens == 0:
        shared = tuple(Piece(piece.what, piece.amount // of.tokens) for piece in steps)
        yield FlopsMatch(custom.key, "exact", value // of.tokens, TRAINING_TOKEN, shared, cost)


TRAINING_TOKEN = mark("FLOPs of a forward and a backward pass, for each token")


def _head_work(of: Pass) -> int:
    """Return the multiply-adds of output heads."""
    entry = of.ledger(weights)
    top = [child for child in entry.children if child.part.name in TOP_HEADS and child.part.kind == "linear"]
    inner = [found for child in entry.children if child not in top for _, found in _outermost_heads(child)]
    return sum(found.amount for found in (*top, *inner) if isinstance(found.amount, int))


def _outermost_heads(entry: Entry) -> Iterator[tuple[str, Entry]]:
    if entry.part.kind in HEADS or entry.part.name in HEAD_NAMES or entry.part.name.endswith("classifier"):
        yield entry.name, entry
        return
    for child in entry.children:
        yield from _outermost_heads(child)
