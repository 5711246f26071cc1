"""Adapters beside a base whose matrices are packed: which methods the library has there, and in which type it keeps them.

By itself the library keeps an adapter in float32, whatever the base. Without that (``autocast_adapter_dtype=False``) an adapter takes the type of
its module's weight, if that is a float, or the one in which the module computes (``compute_dtype``, here the base's); beside integers it stays in float32.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (_get_base_layer_device_and_dtype, _move_adapter_to_device_of_base_layer); held to the live
library beside bitsandbytes 0.50 in 8 and 4 bits.
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import ROUTERS, Base
from weighbridge.accounts.adapters.checkpoint import count_elements
from weighbridge.accounts.adapters.partial import PARTIAL
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from weighbridge.accounts.adapters.sites import AddedTensor, Site

APART = frozenset((*PROMPTS, *PARTIAL, "LN_TUNING", "TRAINABLE_TOKENS", "BEFT"))
"""Methods that adapt no matrix."""

BITSANDBYTES = frozenset(
    (
        *APART,
        *"ADALORA BOFT C3A FOURIERFT GRALORA HIRA HRA IA3 LILY LOKR LORA MISS OFT PEANUT POLY PVERA RANDLORA ROAD SHIRA VBLORA VERA WAVEFT".split(),
    )
)
"""Methods that count beside bitsandbytes as beside floats; the others the library refuses there, or they take their sizes from what is packed."""

OTHERS = frozenset((*APART, "LORA"))
"""Methods that the library has beside every other scheme."""

OWN_TYPE = frozenset((*APART, *"ADALORA BOFT FOURIERFT HRA IA3 LOKR LORA MISS OFT RANDLORA ROAD VERA".split()))
"""Methods whose type without autocast was seen to follow the rule above."""

INTEGERS = ("bnb-8bit", "gptq-", "awq-", "w4a16", "w8a8")
COMPUTED = ("bnb-4bit", "hqq-")
"""Schemes whose modules hold integers, and those whose modules say in which type they compute."""


def refuse_beside(method: str, scheme: str, autocast: bool) -> None:
    """Refuse a method that is not counted beside a scheme.

    Raises:
        UsageError: It is not.

    >>> refuse_beside("LOHA", "bnb-4bit", True)
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: loha: not counted beside bnb-4bit, where the library refuses it or takes sizes from what is packed
    """
    if method not in (BITSANDBYTES if scheme.startswith("bnb-") else OTHERS):
        raise UsageError(
            Text(
                "{method}: not counted beside {scheme}, where the library refuses it or takes sizes from what is packed",
                method=method.lower(),
                scheme=scheme,
            )
        )
    if not autocast and (method not in OWN_TYPE or not scheme.startswith((*INTEGERS, *COMPUTED))):
        raise UsageError(
            Text("autocast: in which type {method} is kept beside {scheme} without it is not known", method=method.lower(), scheme=scheme)
        )


def padding_elements(base: Base) -> int:
    """Return the elements that the library counts too much beside 4 bits: it takes two for each byte, and a matrix of an odd number has one byte more."""
    weights = (module.weight for path, module in base.modules.items() if module.kind == "linear" and _is_in_layers(path))
    return sum(count_elements((weight,)) % 2 for weight in weights if weight is not None)


def _is_in_layers(path: str) -> bool:
    *outer, name = path.split(".")
    return name not in ROUTERS and any(piece.isdecimal() for piece in outer)


def in_float32(tensors: tuple[AddedTensor, ...]) -> tuple[AddedTensor, ...]:
    """Return the tensors with those in float32 that would take the base's type; AdaLoRA's rank is cast to nothing, and so stays frozen."""
    return tuple(
        tensor if tensor.dtype else tensor._replace(dtype="float32", trainable=tensor.trainable and not tensor.name.endswith(".ranknum"))
        for tensor in tensors
    )


def holds_integers(place: Site) -> bool:
    """Tell whether a scheme that packs the matrices of layers packs this one.

    Raises:
        UsageError: A linear layer outside of the layers: loaders differ in whether they pack it.
    """
    if place.kind not in ("linear", "conv1d"):
        return False
    if not any(piece.isdecimal() for piece in place.path.split(".")[:-1]):
        raise UsageError(Text("autocast: whether {path} is packed is not known, and so the type of its adapter", path=place.path))
    return _is_in_layers(place.path)
