"""One adapted module: what it is, and how wide it is on both sides.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (_get_in_out_features)
"""

from __future__ import annotations

from math import prod

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.modules import Module
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from weighbridge.core.tree import Row


GROUPED = frozenset(("squeezebert", "regnet", "mgp-str", "zaya", "encodec", "mimi", "musicgen", "musicgen_melody", "dac", "clvp"))
UNTOLD = (
    r"pos_conv_embed|upsampl|upscale|fpn\d|resize|compress_vit|encoder_conv|hifi_gan|vocoder|seanet"
    r"|transposed|sampling_layers|convt_pre|(^|\.)ups\.|encoder\.conv\.conv"
)
"""Types and modules whose convolutions are in groups or transposed, which a tree does not say."""


OF_ONE_CHANNEL = r"patch_embed|(^|\.)feature_extractor\.conv_layers\.0\.conv$"
"""Convolutions over an image or a wave itself, which are in no groups: where they read one channel, there is but one."""

OF_EACH_CHANNEL = r"dw_?conv|depth_?wise"
"""Convolutions of one filter for each channel, by their names."""
WITHOUT_TRANSPOSED = frozenset(("cvt", "mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2"))
"""Types of which every convolution with one input is of that sort, or looks at an image of one channel."""

BY_WEIGHT = ("LOHA", "LOKR")
"""Methods that take a convolution's sizes from its weight, so that its groups do not matter."""

BASE = "base"
"""The element type of a tensor that stays in the base's own."""


class Site(NamedTuple):
    """A module that is adapted.

    Attributes:
        path: Its name, or that of a parameter.
        kind: ``linear``, ``conv1d`` (a linear layer stored as ``[inputs, outputs]``), ``embedding``, ``convolution``,
            ``multihead_attention``, ``norm``, ``parameter`` or ``other``.
        inputs, outputs: Its features; of a table its rows and its width.
        shape: Of its weight.
        biased: Whether it has a bias.
        module: The module itself.
    """

    path: str
    kind: str
    inputs: int
    outputs: int
    shape: tuple[int, ...]
    biased: bool
    module: Module

    @property
    def kernel(self) -> int:
        """Elements of a convolution's kernel, 1 for anything else."""
        size = 1
        for side in self.shape[2:] if self.kind == "convolution" else ():
            size *= side
        return size


class AddedTensor(NamedTuple):
    """A tensor that an adapter brings along.

    Attributes:
        name: Its name.
        shape: Its sizes.
        trainable: Whether it is trained, if it is a parameter at all.
        parameter: Whether it is a parameter; a buffer is not counted in any total.
        saved: Whether it is saved with the adapter.
        dtype: Its element type, where it is not the adapter's own; ``base`` is the base model's.
    """

    name: str
    shape: tuple[int, ...]
    trainable: bool = True
    parameter: bool = True
    saved: bool = True
    dtype: str | None = None

    @property
    def count(self) -> int:  # type: ignore[override]
        """Its elements."""
        return prod(self.shape)


def site(base: Base, module: Module, method: str = "") -> Site:
    """Look at a module that is to be adapted by a method.

    Raises:
        UsageError: The tree does not tell what it is.
    """
    tensors, kind = module.tensors, module.kind
    if kind == "linear" and len(tensors) == 1 and len(shape := tensors[0].shape) == 2 and tensors[0].name.endswith(".weight"):
        return _make(Site, (module.path, kind, shape[1], shape[0], shape, False, module))  # as most are in a file of very many
    own = {row.name[row.name.rfind(".") + 1 :]: row for row in tensors}
    biased = "bias" in own
    if "in_proj_weight" in own:
        shape = _ints(own["in_proj_weight"])
        return Site(module.path, "multihead_attention", shape[1], shape[0], shape, "in_proj_bias" in own, module)
    weight = own.get("weight")
    if weight is None:
        return Site(module.path, "other", 0, 0, (), biased, module)
    shape = _ints(weight)
    if module.kind in ("linear", "conv1d") and len(shape) == 2:
        inputs, outputs = shape if module.kind == "conv1d" else shape[::-1]
        return Site(module.path, module.kind, inputs, outputs, shape, biased, module)
    if module.kind == "embedding" and len(shape) == 2:
        return Site(module.path, "embedding", *shape, shape, biased, module)
    if module.kind == "convolution" and len(shape) in (3, 4, 5):
        import re

        told = method in BY_WEIGHT and (base.model_type in WITHOUT_TRANSPOSED or re.search(OF_EACH_CHANNEL, module.path))
        if (
            (shape[1] == 1 and shape[0] > 1 and not told and not re.search(OF_ONE_CHANNEL, module.path))
            or base.model_type in GROUPED
            or re.search(UNTOLD, module.path)
        ):
            raise UsageError(
                Text(
                    "{path}: a convolution of shape {shape} may be transposed or grouped; which one is not recorded",
                    path=module.path,
                    shape=list(shape),
                )
            )
        return Site(module.path, "convolution", shape[1], shape[0], shape, biased, module)
    return Site(module.path, "norm" if "norm" in module.kind else "other", 0, 0, shape, biased, module)


_make = tuple.__new__
"""What a named tuple's constructor ends in."""


def _ints(row: Row) -> tuple[int, ...]:
    for size in row.shape:
        assert isinstance(size, int)
    return row.shape  # type: ignore[return-value]
