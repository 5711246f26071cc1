"""Forward FLOPs of a live class, as PyTorch's counter sees them on the meta device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from truth.live import RefusedError
from truth.recipes import recipe_inputs, recipe_passes
from weighbridge.accounts.inputs import Inputs
from weighbridge.blueprints import MODULES

Pass: TypeAlias = Inputs
"""What goes into one forward pass."""

PASSES = (Pass(1, 16), Pass(2, 7, 5), Pass(3, 12, 9, 11))
"""What FLOPs are compared at: one example; several of another length; and with states to attend to."""


def passes(model: Any, few: bool = False) -> list[Pass]:
    """Return the passes that a live model can make: states to attend to only where it has cross-attention.

    A large model makes a *few*: on the meta device each operation takes its time, whatever its size.
    """
    if few:
        return [PASSES[0]]
    crossed = "encoder_hidden_states" in inspect.signature(model.forward).parameters and getattr(model.config, "add_cross_attention", False)
    further = recipe_passes(MODULES.get(model.config.model_type, ""))
    return [*(lengths for lengths in PASSES if lengths.encoder_seq is None or crossed), *(further(model) if further else ())]


def flops(model: Any, lengths: Pass) -> dict[str, int]:
    """Count the products of matrices in one forward pass with ``FlopCounterMode``: by module, the whole under the empty name.

    Of several implementations that do the same products, one that runs without data is taken: chosen experts
    by batched products; eager attention, a mask of ones or no cache where the plain call reads values.

    Raises:
        RefusedError: The forward does not run on the model's device, or takes inputs we do not know.
    """
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("batched_mm")
    refusal = RefusedError("no way to call it")
    for position, way in enumerate(WAYS):
        try:
            return _flops(model, lengths, way)
        except RefusedError as error:
            refusal = refusal if position else error
    raise refusal


def runners(model: Any, valued: Callable[[], Any]) -> list[Any]:
    """Return the models to run for a count: of a small one, first the same with values, on the processor.

    There the kernels are compiled, and a forward that reads values runs; the products are the same.

    Args:
        model: A live model on the meta device.
        valued: Builds the same model with values.
    """
    if sum(tensor.numel() for tensor in model.parameters()) > SMALL:
        return [model]
    try:
        real = valued()
        real.set_attn_implementation("eager")
    except (RefusedError, ValueError):
        return [model]
    return [real, model]


def count_first(models: list[Any], lengths: Pass) -> dict[str, int]:
    """Count as :func:`flops` does, with the first of *models* that runs.

    Raises:
        RefusedError: None runs; the reason is the first one's.
    """
    reasons = []
    for model in models:
        try:
            return flops(model, lengths)
        except RefusedError as error:
            reasons.append(error)
    raise reasons[0]


SMALL = 2_000_000
"""Parameters up to which a model is built with values."""

WAYS: tuple[frozenset[str], ...] = (frozenset(), frozenset({"mask"}), frozenset({"eager"}), frozenset({"eager", "mask", "no cache"}))
"""How a forward is called, the plain way first."""


def _flops(model: Any, lengths: Pass, way: frozenset[str]) -> dict[str, int]:
    torch = import_module("torch")
    counting = import_module("torch.utils.flop_counter")

    def count_attention(query: Any, key: Any, value: Any, *rest: Any, **more: Any) -> Any:  # the counter forgets this one
        return counting.sdpa_flop(query, key, value)

    counter = counting.FlopCounterMode(
        display=False, custom_mapping={torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: count_attention}
    )
    try:
        if "eager" in way:
            model.set_attn_implementation("eager")
        with model.device, torch.no_grad():
            made = call_words(model, lengths, way)
            with _freeze(model), counter:
                model(**made)
    except RefusedError:
        raise
    except Exception as error:  # whatever does not run without data
        raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
    counts = {name: sum(amounts.values()) for name, amounts in counter.get_flop_counts().items() if name != "Global"}
    return {"": int(counter.get_total_flops()), **{name.partition(".")[2]: int(amount) for name, amount in counts.items() if "." in name}}


def call_words(model: Any, lengths: Pass, way: frozenset[str]) -> dict[str, Any]:
    """Make what a model is called with in one of the :data:`WAYS`.

    Raises:
        RefusedError: It takes no inputs that we know.
    """
    taken, made = inspect.signature(model.forward).parameters, inputs(model, lengths)
    if "mask" in way and "attention_mask" in taken and "input_ids" in made:
        made["attention_mask"] = import_module("torch").ones_like(made["input_ids"])
    if "no cache" in way and "use_cache" in taken:
        made["use_cache"] = False
    return made


@contextmanager
def _freeze(model: Any) -> Iterator[None]:
    """Let no parameter ask for a gradient: the counter follows those of what a module puts out, and a view of a parameter has none."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in learned:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in learned:
            parameter.requires_grad_(True)


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make a model's inputs, by what it calls its main one.

    Raises:
        RefusedError: It takes none that we know.
    """
    if set(inspect.signature(model.forward).parameters) <= {"args", "kwargs"} and hasattr(model, "decoder"):
        return inputs(model.decoder, lengths)  # a wrapper passes on what it is given
    own = recipe_inputs(MODULES.get(model.config.model_type, ""))
    return plain(model, lengths) if own is None else own(model, lengths)


def plain(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make the inputs of a model that needs nothing of its own.

    Raises:
        RefusedError: It takes none that we know.
    """
    torch = import_module("torch")
    taken = inspect.signature(model.forward).parameters
    name = model.main_input_name
    if name not in taken and "hidden_states" in taken:  # layers by themselves
        return {"hidden_states": torch.zeros(lengths.batch, lengths.seq, model.config.hidden_size)}
    if name not in taken:
        raise RefusedError(f"forward does not take {name}")
    made = {name: _main(model, name, lengths)}
    if "decoder_input_ids" in taken and model.config.is_encoder_decoder:
        made["decoder_input_ids"] = torch.zeros(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=torch.long)
    if lengths.encoder_seq is not None and "encoder_hidden_states" in taken:
        made["encoder_hidden_states"] = torch.zeros(lengths.batch, lengths.encoder_seq, model.config.hidden_size)
    return made


def _main(model: Any, name: str, lengths: Pass) -> Any:
    torch = import_module("torch")
    if name == "input_ids":
        multiple = type(model).__name__.endswith("ForMultipleChoice")
        shape = (lengths.batch, 1, lengths.seq) if multiple else (lengths.batch, lengths.seq)
        tokens = torch.full(shape, 3, dtype=torch.long)
        end = getattr(model.config, "eos_token_id", None)
        if isinstance(end, int) and 0 <= end < getattr(model.config, "vocab_size", 0):
            tokens[..., -1] = end  # some heads look for the end of the text
        return tokens
    if name == "pixel_values":
        vision = getattr(model.config, "vision_config", model.config)
        side = getattr(vision, "image_size", 224)  # a convolutional network takes images of any size
        height, width = side if isinstance(side, (list, tuple)) else (side, side)
        return torch.zeros(lengths.batch, getattr(vision, "num_channels", 3), height, width)
    if name == "input_values":
        return torch.zeros(lengths.batch, lengths.seq)
    raise RefusedError(f"no input {name} known here")
