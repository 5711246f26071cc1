"""What autograd keeps of a forward pass where only a part of a model is trained, or thin products beside its linear maps (LoRA).

A linear map whose weight is frozen keeps no input, a norm or an activation before all that is trained keeps nothing; LoRA keeps what its two
products are given, in float32 where the library holds them so. Held to ``saved_tensors_hooks`` over live classes and PEFT 0.21.2.
"""

from __future__ import annotations

from weighbridge.accounts.adapters.account import AdapterCount
from weighbridge.accounts.adapters.base import base, facts_of
from weighbridge.accounts.adapters.checkpoint import BYTES, owner
from weighbridge.accounts.adapters.partial import PARTIAL
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import Settings, forward_activations
from weighbridge.accounts.memory.activations import Activations
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.accounts.memory.tape import LowRank, Place
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.last import keep_last
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor, copy_name, positions
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIANTS = (
    "use_dora",
    "kasa_config",
    "velora_config",
    "monteclora_config",
    "use_bdlora",
    "arrow_config",
    "layer_replication",
    "modules_to_save",
    "target_parameters",
    "trainable_token_indices",
    "lora_bias",
)
NOT_KNOWN = mark("activations are worked out for plain LoRA on linear layers, for BitFit and for frozen modules")


class TrainedPlaces(NamedTuple):
    """Where a model is trained, on the tape of its forward.

    Attributes:
        trained: The tensors of its own that are trained.
        adapted: The low-rank products beside its linear maps.
    """

    trained: frozenset[Place]
    adapted: dict[tuple[int, int | None], LowRank]


def adapter_activations(
    model: ModelValue, config: Mapping[str, object], found: AdapterCount, given: Inputs, how: Settings
) -> tuple[Activations | None, str | Text]:
    """Return what a forward keeps with an adapter, or why that is not known.

    Args:
        model: The base.
        config: The adapter's config.
        found: The adapter, counted.
        given: What is put in.
        how: How the model is run.
    """
    if model.description is None:
        return forward_activations(model, given, how)
    where = trained_places(model, config, found, dropout=how.dropout)
    if not isinstance(where, TrainedPlaces):
        return None, where
    try:
        return forward_activations(model, given, how, trained=where.trained, adapted=where.adapted)
    except UsageError as error:
        if given.seq != Inputs().seq:
            raise
        return None, error.args[0]  # fewer positions than the tokens that are taken where nobody says how many


def trained_places(model: ModelValue, config: Mapping[str, object], found: AdapterCount, *, dropout: bool) -> TrainedPlaces | str | Text:
    """Return where a model is trained with an adapter, or why that is not worked out; with *dropout*, LoRA drops elements as its config says."""
    style = STYLES.get(model.model_type or "")
    if style is not None and style.shared:
        return mark("activations: layers that share their weights are not worked out with an adapter")
    if found.method in ("FREEZE", "BITFIT"):
        below = base(model.tree, model.model_type or "", facts_of(model))
        names = {owner(row) for row in PARTIAL[found.method].train(below, config)}
        return TrainedPlaces(frozenset(place for name, place, _ in _all_places(model.tree) if name in names), {})
    plain = found.method == "LORA" and not any(config.get(name) for name in VARIANTS) and config.get("bias", "none") == "none"
    if not plain or any(site.kind not in ("linear", "conv1d") for site, _ in found.sites):
        return NOT_KNOWN
    ranks = {site.path: min(tensor.shape[0] for tensor in tensors if "lora_A" in tensor.name) for site, tensors in found.sites}
    size, dropped = BYTES[found.added_sizes[0][1]], dropout and bool(config.get("lora_dropout"))
    products = {rank: LowRank(as_int(rank), size, dropped) for rank in set(ranks.values())}
    return TrainedPlaces(frozenset(), {place: products[ranks[path]] for path, place in _weights(model.tree) if path in ranks})


@keep_last
def _weights(tree: Part) -> tuple[tuple[str, tuple[int, int | None]], ...]:
    """Return each module that has a weight, with its place on the tape."""
    return tuple(_modules_with_weight(tree))


def _modules_with_weight(part: Part, prefix: str = "", layer: int | None = None) -> Iterator[tuple[str, tuple[int, int | None]]]:
    """Yield the modules of a part that have a weight, each by its whole name and its place: of layers, those of one are renamed for the others."""
    for node in part.children:
        if type(node) is Tensor:
            if node.name == "weight":
                yield prefix[:-1], (id(part), layer)
        elif type(node) is Part and node.repeat is None:
            yield from _modules_with_weight(node, f"{prefix}{node.name}." if node.name else prefix, layer)
        elif type(node) is Part:
            inside = tuple(_modules_with_weight(node))
            for index in positions(node):
                place = index if layer is None else layer
                first = f"{prefix}{copy_name(node.name, index)}"
                for name, (own, _) in inside:
                    yield f"{first}.{name}" if name else first, (own, place)


@keep_last
def _all_places(tree: Part) -> tuple[tuple[str, Place, str], ...]:
    """Return what :func:`_places` yields of a whole model."""
    return tuple(_places(tree))


def _places(part: Part, prefix: str = "", layer: int | None = None) -> Iterator[tuple[str, Place, str]]:
    """Yield each tensor's owner by its whole name, its place on the tape, and its own whole name."""
    for node in part.children:
        if isinstance(node, Tensor):
            name = prefix + node.name
            yield node.tied_to or name, (id(part), layer, node.name), name
        elif isinstance(node, Part) and node.repeat is None:
            yield from _places(node, f"{prefix}{node.name}." if node.name else prefix, layer)
        elif isinstance(node, Part):
            for index in positions(node):
                yield from _places(node, f"{prefix}{copy_name(node.name, index)}.", index if layer is None else layer)
