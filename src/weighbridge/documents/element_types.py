"""The dtype that is assumed where no ``--dtype`` is given, why, and what the config says."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import Say, mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

WHY = {
    "weights": mark("No --dtype is given: weights are taken in {dtype}, the type in which PyTorch makes them."),
    "mixed": mark("No --dtype is given: weights are taken in {dtype}, one of the two types in which this recipe keeps them."),
    "cache": mark("No --dtype is given: the cache is taken in {dtype}, the type in which most models are served."),
}
"""What stands for a type that nobody named, by what it is the type of."""

AS_STATED = mark("No --dtype is given: {dtype} is also what the config says.")
OTHERWISE = mark("The config says {stated}: --dtype {stated} takes that.")
OF_FILE = mark("Each tensor counts in the type that the file has it in.")
TRAINED = mark("No --dtype is given: weights are taken in {dtype}, as the file has them.")
NAMED = ("float32", "bfloat16", "float16")


def stated_type(model: ModelValue) -> str | None:
    """Return the type that the config names for the weights, its own or that of its language model.

    >>> from weighbridge import model
    >>> stated_type(model({"model_type": "llama", "torch_dtype": "bfloat16"}))
    'bfloat16'
    """
    raw = model.description.raw if model.description is not None else {}
    nested = raw.get("text_config")
    for config in (raw, nested if isinstance(nested, dict) else {}):
        for key in ("dtype", "torch_dtype"):
            said = config.get(key)
            if isinstance(said, str) and said.removeprefix("torch.") in NAMED:
                return said.removeprefix("torch.")
    return None


def default_type_lines(model: ModelValue, dtype: str, what: str, say: Say) -> list[str]:
    """Say which dtype was assumed, and which one the config names.

    Args:
        dtype: The type that was taken.
        what: Of what: ``weights``, those of a ``mixed`` recipe, or ``cache``.
    """
    stated = stated_type(model)
    if stated == dtype:
        return [say(AS_STATED).format(dtype=dtype)]
    first = say(WHY[what]).format(dtype=dtype)
    return [first] if stated is None else [say("{one} {other}").format(one=first, other=say(OTHERWISE).format(stated=stated))]
