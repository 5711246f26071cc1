"""Floating-point operations of one forward pass, by module; a multiply-add is two.

Matrix arithmetic is what PyTorch's ``FlopCounterMode`` counts: products with weights and attention.
A look-up costs nothing, a tied head costs as much as any other. Attention is counted in full;
a causal mask halves none of it, as the reference computes the whole square.
"""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import as_examples, refuse_impossible
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry, Rule, ledger
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.length import Stream, evaluate, grows_with_batch
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Attend, Matmul, Operation, Part, State, Tensor
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Flops(NamedTuple):
    """The arithmetic of one pass, in FLOPs (a multiply-add is two).

    Attributes:
        forward_matmul: Products of matrices in a forward pass, as ``FlopCounterMode`` counts them.
        forward: The same and the arithmetic of every bias, gain and shift: one FLOP per element and
            token. Softmax, activations and the statistics of norms are not counted.
        backward: Products of matrices in a backward pass: two for each one forward.
        ledger: *forward_matmul* by module.
    """

    forward_matmul: Size
    forward: Size
    backward: Size
    ledger: Entry


def flops(tree: Part, lengths: Mapping[str, Size], batch: Size = 1) -> Flops:
    """Count the arithmetic of one pass over *tree*.

    Args:
        tree: A model. Its sizes may be ints, symbols or columns.
        lengths: Tokens per example of each named stream; ``one`` is always 1, and ``batch`` the other examples an
            example is compared with, itself among them. A part that *requires* a length which is missing here does not run.
        batch: Examples.

    Raises:
        UsageError: The tree sees a stream whose length is not given.

    >>> from weighbridge.core.parts import linear
    >>> flops(Part("", (linear("dense", 768, 768),)), {"seq": 128}).forward_matmul
    150994944
    """
    products = matmuls(tree, lengths, batch)
    affine = work(tree, lengths, batch, lambda part, node, amount: amount if is_affine(node) else 0).amount
    return Flops(products.amount, products.amount + affine, 2 * products.amount, products)


def matmuls(tree: Part, lengths: Mapping[str, Size], batch: Size = 1) -> Entry:
    """Sum the products of matrices in one forward pass, by module; the arguments are those of :func:`flops`.

    >>> from weighbridge.core.parts import linear
    >>> matmuls(Part("", (linear("dense", 768, 768),)), {"seq": 128}).amount
    150994944
    """
    return work(tree, lengths, batch, lambda part, node, amount: 2 * amount if not isinstance(node, Tensor) or node.role == "weight" else 0)


def is_affine(node: Tensor | Operation) -> bool:
    """Tell whether a tensor is added to, or multiplied with, each token elementwise: a bias, a gain, a shift."""
    return isinstance(node, Tensor) and node.role in ("bias", "gain", "shift")


def work(tree: Part, lengths: Mapping[str, Size], batch: Size, cost: Callable[[Part, Tensor | Operation, Size], Size]) -> Entry:
    """Sum what every tensor and operation costs in one pass, in any way of counting.

    Args:
        tree, lengths, batch: As for :func:`flops`.
        cost: Given a part, one of its tensors or operations, and its multiply-adds (of a tensor: elements times the
            tokens that go through the part), returns what is added.
    """
    known = {"one": 1, "batch": batch, **lengths}

    def measure(part: Part, node: Tensor | Operation, stream: Stream) -> Size:
        if not isinstance(node, Tensor):
            return cost(part, node, _examples(stream, batch) * _multiply_adds(node, stream, known))
        if node.role not in ("weight", "bias", "gain", "shift"):
            return 0
        return cost(part, node, product(node.shape) * _tokens(stream, known, batch))

    return _run_through(tree, known, measure)


def _run_through(tree: Part, known: Mapping[str, Size], measure: Callable[[Part, Tensor | Operation, Stream], Size]) -> Entry:
    """Sum a measure over the parts that run, each as often as it runs; a part whose required length is not given does not run."""

    def multiplicity(part: Part) -> Size:
        return evaluate(part.executions, known) if part.executions is not None else part.repeat if part.repeat is not None else 1

    def is_included(part: Part) -> bool:
        return part.requires is None or part.requires in known

    return ledger(tree, Rule(measure, multiplicity, active_only=True, included=is_included))


def outputs_of(model: ModelValue, given: Inputs) -> int:
    """Count the elements that convolutions and products of matrices output: the "activations" of timm's tables, as fvcore counts them.

    >>> from weighbridge import model
    >>> outputs_of(model("vit-base-patch16-224"), Inputs())
    23895544
    """
    given = _accepted_inputs(model, given)
    known = {"one": 1, "batch": given.batch, **given.lengths()}

    def count_outputs(part: Part, node: Tensor | Operation, stream: Stream) -> Size:
        if isinstance(node, Tensor):
            return (
                _outputs_per_token(part, node) * _tokens(stream, known, given.batch) if node.role == "weight" and len(node.shape) > 1 else 0
            )
        examples = _examples(stream, given.batch)
        if isinstance(node, Attend):
            queries = evaluate(stream if node.queries is None else node.queries, known)
            keys = evaluate(stream if node.keys is None else node.keys, known)
            return examples * evaluate(node.groups, known) * node.heads * queries * (keys + node.value_dim)
        products = node.products if isinstance(node, Matmul) else ()
        return examples * sum(product(evaluate(factor, known) for factor in factors[:-1]) for factors in products)

    outputs = _run_through(model.tree, known, count_outputs).amount
    assert isinstance(outputs, int), "the sizes of a model are ints"
    return outputs


def _outputs_per_token(part: Part, weight: Tensor) -> Size:
    """Return how many elements a weight puts out for a token or pixel: the length of its bias, or without one the first of its sizes.

    Fused experts, whose first size is their number, all put out; where their matrices are inputs × outputs, the last size is the outputs.
    """
    if part.kind == "experts":
        if not weight.inputs_first:
            return product(weight.shape[:-1])
        many = weight.shape[0] if len(weight.shape) > 2 or part.experts is None else part.experts
        return many * weight.shape[-1]
    bias = next((node for node in part.children if isinstance(node, Tensor) and node.role == "bias" and len(node.shape) == 1), None)
    return weight.shape[0] if bias is None else bias.shape[0]


def flops_of(model: ModelValue, given: Inputs) -> Flops:
    """Count the arithmetic of one pass of a model.

    Raises:
        UsageError: The model was not made from a config, or something is put in that it does not take.

    >>> from weighbridge import model
    >>> flops_of(model("bert-base-uncased"), Inputs(seq=128)).forward_matmul
    22348431360
    """
    given = _accepted_inputs(model, given)
    return flops(model.tree, given.lengths(), given.batch)


def _accepted_inputs(model: ModelValue, given: Inputs) -> Inputs:
    """Return what is put in as the model takes it, or refuse."""
    if model.description is None:
        # Tensors alone do not say what attends to what, how often a part runs, or how many tokens it sees.
        raise UsageError(Text("{source}: the arithmetic needs a config; this has only tensors", source=model.source))
    given = as_examples(model, given)
    refuse_impossible(model, given)
    return given


def depends_on_length(model: ModelValue, given: Inputs) -> bool:
    """Tell whether the arithmetic of a pass depends on the number of tokens: that of an image classifier does not.

    >>> from weighbridge import model
    >>> depends_on_length(model("bert-base-uncased"), Inputs()), depends_on_length(model("vit-base-patch16-224"), Inputs())
    (True, False)
    """
    for seq in (2 * given.seq, given.seq + 1, given.seq - 1):  # a stride may swallow one sample more or less
        try:
            return bool(flops_of(model, given._replace(seq=seq)).forward != flops_of(model, given).forward)
        except UsageError:
            continue  # a length that the model does not take
    return True


def _examples(stream: Stream, batch: Size) -> Size:
    """Return how often a part runs for a batch: once if its stream is shared by all examples."""
    return batch if grows_with_batch(stream) else 1


def _tokens(stream: Stream, lengths: Mapping[str, Size], batch: Size) -> Size:
    """Return the tokens of a stream in the whole batch."""
    return _examples(stream, batch) * evaluate(stream, lengths)


def _multiply_adds(operation: Operation, stream: Stream, lengths: Mapping[str, Size]) -> Size:
    """Count the multiply-adds of an operation for one example."""
    match operation:
        case Attend():
            queries = evaluate(stream if operation.queries is None else operation.queries, lengths)
            keys = evaluate(stream if operation.keys is None else operation.keys, lengths)
            widths = operation.head_dim + operation.value_dim
            return evaluate(operation.groups, lengths) * operation.heads * queries * keys * widths
        case Matmul():
            result: Size = 0
            for factors in operation.products:
                result = result + product(evaluate(factor, lengths) for factor in factors)
            return result
        case State():
            return 0
