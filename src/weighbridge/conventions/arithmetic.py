"""One pass's arithmetic, in the conventions of the tools and papers that print it; a table, and what explains a published figure.

A multiply-add is two FLOPs for some and one for others; some count norms, some leave attention out, some mean a training step, some
one token. Each convention says what it counts, in which unit, and where it is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.accepted_inputs import as_examples, refuse_impossible
from weighbridge.accounts.flops import work
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.conventions.atoms import parts_of
from weighbridge.conventions.pieces import Piece
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.core.tree import Attend, Operation, Part, Tensor

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
    pieces = tuple(custom.pieces(default_pass(model, given)))
    return Arithmetic(custom, sum(piece.amount for piece in pieces), pieces)


def default_pass(model: ModelValue, given: Inputs) -> Pass:
    """Return a pass whose inputs the model takes; images of a model that sees nothing else are examples."""
    if model.description is None:
        raise UsageError(Text("{source}: the arithmetic needs a config; this has only tensors", source=model.source))
    given = as_examples(model, given)
    if given.seq == Inputs().seq:  # nobody asked for it
        given = given._replace(seq=context_length(model) or given.seq)
    refuse_impossible(model, given)
    return Pass(model, given)


def context_length(model: ModelValue) -> int | None:
    """Return how many tokens OpenCLIP fills every text up to; of its text towers from the Hub, as many as they have positions for, or else 77.

    >>> from weighbridge import model
    >>> [context_length(model(name)) for name in ("open_clip/ViT-B-16-SigLIP", "open_clip/mt5-base-ViT-B-32", "bert-base-uncased")]
    [64, 77, None]
    """
    text = getattr(model.description.sizes, "text", None) if model.description and model.model_type == "open_clip" else None
    if text is None:
        return None
    tokens = getattr(text, "context", None) or getattr(text, "positions", None)
    return tokens if isinstance(tokens, int) else DEFAULT_CONTEXT_LENGTH


DEFAULT_CONTEXT_LENGTH = 77
"""Tokens of a text where nothing says how many (open_clip/tokenizer.py)."""


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


WITH_WEIGHTS = mark("products with weights")
BETWEEN = mark("products between activations")
IN_NORMS = mark("norms")
CONVOLUTION_BIASES = mark("biases of convolutions")


def _multiply_adds(of: Pass, times: int = 1) -> Iterator[Piece]:
    yield Piece(WITH_WEIGHTS, times * of.sum(weights))
    yield Piece(BETWEEN, times * of.sum(products))


def _torch(of: Pass) -> Iterator[Piece]:
    return _multiply_adds(of, 2)


def _fvcore(of: Pass) -> Iterator[Piece]:
    yield from _multiply_adds(of)
    yield Piece(IN_NORMS, of.sum(norms))


def _mmcv(of: Pass) -> Iterator[Piece]:
    if of.model.model_type not in OF_PLAIN_MODULES or not of.model.class_name.endswith("ForImageClassification"):
        types = ", ".join(OF_PLAIN_MODULES)
        raise UsageError(
            Text("mmcv counts ReLUs and pools as well, which are not described here; it counts image classifiers of {types}", types=types)
        )
    yield Piece(WITH_WEIGHTS, of.sum(weights))
    yield Piece(CONVOLUTION_BIASES, of.sum(convolution_biases))
    yield Piece(IN_NORMS, of.sum(doubled_norms))
    if of.model.model_type == "swin":
        backbone = next(child for child in of.ledger(doubled_norms).children if child.part.name == "swin")
        last = next(child.amount for child in backbone.children if child.part.name == "layernorm")
        assert isinstance(last, int)
        yield Piece(mark("pool over the last map"), last // 2)


OF_PLAIN_MODULES = ("beit", "deit", "dinov2", "segformer", "swin", "vit")
"""Types whose classifiers are made of modules that mmcv knows, and of these only of what is described here; compared with mmcv 2.2.0."""


def convolution_biases(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return one for each output of a convolution that has a bias."""
    return amount if isinstance(node, Tensor) and node.role == "bias" and part.kind == "convolution" else 0


def doubled_norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return what mmcv counts for norms: two for each element."""
    return 2 * amount if isinstance(node, Tensor) and node.role == "gain" and part.kind in NORMS else 0


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


def _six_per_parameter(of: Pass) -> Iterator[Piece]:
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
    FlopsConvention("mmcv", MULTIPLY_ADDS, mark("products with weights, biases of convolutions, and 2 for each element of a norm; attention is left out"),
           mark("get_model_complexity_info of mmcv (mmcv/cnn/utils/flops_counter.py); mmpretrain's figures of Swin"), _mmcv),
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
           mark("Kaplan et al. 2020 (arXiv 2001.08361), section 2.1, whose N leaves out embeddings; Hoffmann et al. 2022 (arXiv 2203.15556)"), _six_per_parameter),
)  # fmt: skip
