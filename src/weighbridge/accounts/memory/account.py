"""The bytes of a model at work, by what they are for."""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import refuse_failing
from weighbridge.accounts.inputs import truth_value
from weighbridge.accounts.memory.activations import Activations, Pass, activations
from weighbridge.accounts.memory.backward import backward_peak
from weighbridge.accounts.memory.forward_pass import HANDED
from weighbridge.accounts.memory.optimizers import check_optimizer, count_trainable, optimizer_bytes
from weighbridge.accounts.memory.peak import (
    FROM_THE_START,
    ONLY_USED,
    bias_bytes,
    input_bytes,
    mask_bytes,
    position_bytes,
    prune_unreached,
    step_peak,
    unreached_elements,
)
from weighbridge.accounts.memory.quantization import PUBLISHED, quantization_of
from weighbridge.accounts.memory.weights import (
    PARTLY_IN_FLOAT32,
    buffer_bytes,
    dtype_name,
    element_bytes,
    file_bytes,
    file_type,
    is_unpacked,
    weight_bytes,
)
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, join_with_or
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.accounts.inputs import Inputs
    from weighbridge.accounts.memory.tape import LowRank, Place
    from weighbridge.value import ModelValue

ATTENTION = ("eager", "sdpa", "flash")
CHECKPOINTING = ("none", "selective", "full")
DEVICES = ("cpu", "cuda")
RECIPES = {
    "pure": "parameters, gradients and states in the type of the weights",
    "amp": "autocast: parameters, gradients and states in float32 (PyTorch's torch.amp recipe)",
    "mixed": "weights and gradients in 16 bits, a float32 copy of the weights and float32 states: 16 bytes a parameter under Adam"
    " (arXiv 1910.02054, section 3.1)",
    "megatron": "the same with gradients added up in float32: 18 bytes a parameter under Adam (Megatron-LM, docs/source/api-guide/dist_optimizer)",
}
"""How training mixes types, and where that is defined."""


class Settings(NamedTuple):
    """How a model is run. Make it with :func:`settings`, which checks the words.

    Attributes:
        dtype: The type of the weights.
        quantization: The scheme by which the matrices of layers are packed, if any.
        optimizer: By which optimizer it is trained.
        precision: One of :data:`RECIPES`.
        attention: By which kernel it attends.
        checkpointing: Which activations are computed again.
        dropout: Whether elements are dropped, where the config says so.
        loss: Whether the loss is a part of the forward.
        device: Whose kernels run.
    """

    dtype: str = "float32"
    quantization: str | None = None
    optimizer: str = "adamw"
    precision: str = "pure"
    attention: str = "sdpa"
    checkpointing: str = "none"
    dropout: bool = False
    loss: bool = False
    device: str = "cpu"


class Memory(NamedTuple):
    """Bytes of a model at work.

    Attributes:
        weights: Of the parameters.
        buffers: Of what is saved and not learned.
        gradients, master, optimizer: In training: one gradient per parameter, float32 master copies, the optimizer's states.
        activations: What a forward pass keeps for backward; None where that is not described.
        total: All of them; None without activations.
        peak: The most that one step holds at once, with the gradients that flow and what the optimizer makes new; None without activations.
        trust: By the name of each: ``exact``, ``bound`` or ``estimate``.
        kept: The activations by module.
        refused: Why there are no activations.
    """

    weights: int
    buffers: int
    gradients: int
    master: int
    optimizer: int
    activations: int | None
    total: int | None
    peak: int | None
    trust: dict[str, str]
    kept: Activations | None
    refused: str


def settings(**said: object) -> Settings:
    """Check the words that say how a model is run.

    Raises:
        UsageError: A word that is not known.

    >>> settings(attention="flash").attention
    'flash'
    """
    given = {name: value for name, value in said.items() if value is not None}
    for name, known in (("attention", ATTENTION), ("checkpointing", CHECKPOINTING), ("device", DEVICES), ("precision", tuple(RECIPES))):
        if name in given and given[name] not in known:
            raise UsageError(
                Text("{name}: expected one of {known}, found {given!r:.40}", name=name, known=", ".join(known), given=given[name])
            )
    if "dtype" in given:
        given["dtype"] = dtype_name(given["dtype"])
    if given.get("attention") == "flash" and given.get("device") == "cuda" and given.get("dtype", "float32") not in ("bfloat16", "float16"):
        raise UsageError(
            Text("attention: the flash kernels of a GPU take bfloat16 or float16; found {dtype}", dtype=given.get("dtype", "float32"))
        )
    for name in ("dropout", "loss"):
        given[name] = truth_value(given.get(name, False), name)
    return Settings(**given)  # type: ignore[arg-type]


def settings_of(model: ModelValue, training: bool = False, **said: object) -> Settings:
    """Check the words that say how a model is run; without a type or a scheme its weights are as its config has them published, or its file.

    Raises:
        UsageError: A word that is not known.

    >>> from weighbridge import model
    >>> settings_of(model("bert-base-uncased")).dtype
    'float32'
    """
    if training:
        said = said | {"dtype": _trained_type(model, said)}
    stated = quantization_of(model) if not training and said.get("dtype") is None and said.get("quantization") is None else None
    if stated is not None and stated.scheme is not None:
        said = said | {"dtype": stated.dtype, "quantization": stated.scheme}
    elif model.kind == "checkpoint" and said.get("dtype") is None and said.get("quantization") is None:
        said = said | {"dtype": file_type(model.tree)}
    return settings(**said)


def _trained_type(model: ModelValue, said: Mapping[str, object]) -> object:
    """Return the type of the weights in training: the one that is named, else what the recipe keeps them in; None where it keeps them in any.

    Raises:
        UsageError: The recipe keeps them in another, or a scheme packs them: what is packed has no gradient.
    """
    if said.get("quantization") is not None:
        raise UsageError(Text("quantization: packed weights are not trained; weigh adapters --quantization trains an adapter on them"))
    precision, dtype = said.get("precision"), said.get("dtype")
    if precision not in ("amp", "mixed", "megatron"):
        return dtype
    kept = ("float32",) if precision == "amp" else ("bfloat16", "float16")
    if dtype is None:
        from_file = file_type(model.tree) if model.kind == "checkpoint" else None
        return from_file if from_file in kept else kept[0]
    named = dtype_name(dtype)
    if named not in kept:
        raise UsageError(
            Text(
                "precision: {precision} keeps the weights in {kept}, found dtype {dtype}",
                precision=precision,
                kept=join_with_or(kept),
                dtype=named,
            )
        )
    return named


def memory_of(model: ModelValue, given: Inputs, how: Settings, *, training: bool = False) -> Memory:
    """Add up the bytes of a model at work.

    Args:
        model: A model; activations need one that was made from a config.
        given: What is put in.
        how: How it is run.
        training: Whether it is trained.

    Raises:
        UsageError: A type, scheme or optimizer that is not known, a batch that the positions do not hold.
    """
    # what is trained is loaded in one type
    as_stored = model.kind == "checkpoint" and how.quantization is None and not (training and is_unpacked(model.tree))
    stored = file_bytes(model.tree) if as_stored else None
    weights = _packed_weights(model, how) if stored is None else stored
    buffers = buffer_bytes(model.tree)
    exact = {"weights": _trust_of_weights(model, how), "buffers": "exact"}
    check_optimizer(how.optimizer)
    if not training:
        return Memory(weights, buffers, 0, 0, 0, 0, weights + buffers, None, exact | {"total": "bound"}, None, "")
    element_bytes(how.dtype)
    gradients, master, states = training_states(model.tree, how)
    kept, refused = forward_activations(model, given, how)
    total = None if kept is None else weights + buffers + gradients + master + states + kept.bytes
    # what nothing is put into has no gradient in torch, and no states: then both are the most they can be
    learned = "bound" if unreached_elements(model.tree, given.lengths()) else "exact"
    trust = exact | {"gradients": learned, "optimizer": learned, "total": "bound"}
    trust |= {} if kept is None else {"activations": kept.trust, "peak": "estimate"}
    peak = None if kept is None else weights + buffers + master + _peak_beside_weights(model, given, how, kept)
    return Memory(weights, buffers, gradients, master, states, None if kept is None else kept.bytes, total, peak, trust, kept, refused)


def _packed_weights(model: ModelValue, how: Settings) -> int:
    """Return the bytes of the weights in a type, packed by a scheme, or in the groups that the config says."""
    if how.quantization != PUBLISHED:
        return weight_bytes(model.tree, how.dtype, how.quantization)
    stated = quantization_of(model)
    if stated is None or stated.weights is None:
        raise UsageError(
            Text("quantization: the config of {source} states no quantization that is priced; name a scheme", source=model.source)
        )
    return stated.weights


def _trust_of_weights(model: ModelValue, how: Settings) -> str:
    """Return how far the bytes of the weights can be trusted: of some classes the reference keeps a part in float32 whatever type is asked for."""
    if how.quantization is not None:
        return "estimate"
    return "bound" if model.kind == "config" and model.model_type in PARTLY_IN_FLOAT32.get(how.dtype, ()) else "exact"


def _peak_beside_weights(model: ModelValue, given: Inputs, how: Settings, kept: Activations) -> int:
    """Return the most that states, activations and gradients take at once, in backward or while the optimizer steps."""
    full = how.checkpointing == "full"
    again = (
        kept if how.checkpointing == "none" else forward_activations(model, given, how._replace(checkpointing="none"), cached=not full)[0]
    )
    assert again is not None
    tree = prune_unreached(model.tree, given.lengths())
    gradients, _, states = training_states(tree, how)
    if how.optimizer in FROM_THE_START:
        states = training_states(model.tree, how)[2]
    learned = count_trainable(tree)
    state_size = element_bytes(how.dtype) if how.precision == "pure" else 4
    step = gradients + step_peak(tree, how.optimizer, state_size, together=how.device == "cuda")
    width, eager = element_bytes(how.dtype), how.attention == "eager"
    made = mask_bytes(tree, given, width, made=model.model_type not in ONLY_USED) if eager else 0
    handed = (mask_bytes(tree, given, width) if eager else 0) + bias_bytes(tree, given, width) if full else 0
    # what is kept of it already; what an encoder puts out is made again with the layers that keep it
    handed -= sum(row.bytes for row in kept.rows if row.call == HANDED)
    size = gradients // learned if learned else 0
    put_in = input_bytes(model.tree, given, width)
    put_in += position_bytes(model.tree)
    return states + put_in + max(step, backward_peak(kept, again, model.tree, size, lengths=given.lengths(), made=made, masks=handed))


def static_bytes(tree: Part, how: Settings, *, training: bool = False) -> Size:
    """Add up what does not depend on the tokens: weights and buffers, in training gradients, copies and states too.

    Args:
        tree: A model; its sizes may be columns.
        how: How it is run.
        training: Whether it is trained.

    >>> from weighbridge.core.parts import linear
    >>> static_bytes(Part("", (linear("dense", 8, 8),)), Settings(), training=True)
    1160
    """
    states = training_states(tree, how) if training else (0, 0, 0)
    return sum(states, weight_bytes(tree, how.dtype, how.quantization) + buffer_bytes(tree))


def training_states(tree: Part, how: Settings) -> tuple[int, int, int]:
    """Return the bytes of gradients, of float32 copies of the weights, and of the optimizer's states."""
    learned, size = count_trainable(tree), element_bytes(how.dtype)
    mixed = how.precision in ("mixed", "megatron")
    state_size = size if how.precision == "pure" else 4
    gradients = learned * (4 if how.precision in ("amp", "megatron") else size)
    return gradients, 4 * learned if mixed else 0, optimizer_bytes(tree, how.optimizer, state_size)


def forward_activations(
    model: ModelValue,
    given: Inputs,
    how: Settings,
    *,
    cached: bool = True,
    returns: bool = True,
    trained: frozenset[Place] | None = None,
    adapted: Mapping[tuple[int, int | None], LowRank] | None = None,
    compared: int | None = None,
) -> tuple[Activations | None, str]:
    """Return what a forward keeps, or why that is not known.

    Args:
        model: A model.
        given: What is put in.
        how: How it is run.
        cached: Whether it fills a cache too, if the config wants one.
        returns: Whether the calls of the way back are noted, which :func:`backward_peak` needs.
        trained: The tensors that are trained, if not all are.
        adapted: The low-rank products beside linear maps.
        compared: The tokens that positions and windows are compared with, where the length put in stands for any.
    """
    if model.description is None:
        return None, f"activations: {model.source} has only tensors; they need a config"
    if how.precision == "amp":
        return None, Text("activations: what autocast keeps, copies of weights in 16 bits among it, is not described")
    refuse_failing(model, given if compared is None else given._replace(seq=compared))
    asked = Pass(
        given.batch,
        given.seq,
        given.decoder_seq,
        element_bytes(how.dtype),
        how.attention,
        how.dropout,
        how.loss,
        how.checkpointing,
        how.device,
        cached,
        returns,
        trained,
        {} if adapted is None else adapted,
        compared,
    )
    try:
        return activations(model.model_type or "", model.class_name, model.tree, model.description.raw, asked), ""
    except UsageError as error:
        return None, error.args[0]
