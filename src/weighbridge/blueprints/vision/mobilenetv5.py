"""MobileNetV5, the image encoder of Gemma 3n: inverted bottlenecks, attention with one head of keys, and two maps fused at the end.

Source: Qin et al. 2024, arXiv 2404.10518 (MobileNetV4, whose blocks these are); timm 1.0.31, timm/models/mobilenetv5.py, behind
transformers 5.23.0, models/timm_wrapper/modeling_timm_wrapper.py. The name alone says what is built; images have 768 pixels a side.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.bind import say_value
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, choice, computed
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, part, replace, rms_norm, stack
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any, NoReturn

NAME = "mobilenetv5_300m_enc"
SIDE = 768
WIDTH = 2048
"""Channels of the fused map."""
FUSED_SIDE = 16


def _only_value(key: str) -> Any:
    def refuse(value: Any) -> NoReturn:
        hint = Text("only the text model is counted: --class Gemma3nForCausalLM")
        raise ConfigError(
            Text("only timm's {name} is described here, not {what}", name=NAME, what=say_value(value)), key=key, value=value, hint=hint
        )

    def read(value: Any) -> Any:
        if key == "architecture":
            return value if value in (NAME, None) else refuse(value)
        return refuse(value) if value else None

    return read


FIELDS = (
    choice("architecture", "architecture", NAME, read=_only_value("architecture")),
    replace(choice("arguments", "model_args", None, read=_only_value("model_args"), report_default=False), nullable=True),
    HIDDEN.with_default(WIDTH),
    computed("fits", lambda c: c.hidden == WIDTH),
)


def edge(inputs: int, outputs: int, places: int) -> tuple[Node, ...]:
    """Describe a fused inverted bottleneck: a convolution that widens and halves the map, and one that narrows."""
    inner = 4 * inputs
    return (
        conv2d("conv_exp", inputs, inner, 3, bias=False, stream=places),
        rms_norm("bn1", inner, stream=places),
        conv2d("conv_pwl", inner, outputs, 1, bias=False, stream=places),
        rms_norm("bn2", outputs, stream=places),
    )


def conv_norm(name: str, inputs: int, outputs: int, kernel: int, places: int, *, groups: int = 1) -> Part:
    """Describe a convolution and its norm."""
    return part(
        name, conv2d("conv", inputs, outputs, kernel, groups=groups, bias=False), rms_norm("bn", outputs), kind="convolution", stream=places
    )


def layer_scale(width: int) -> Part:
    """Describe the factors of a block's channels."""
    return part("layer_scale", Tensor("gamma", (width,), "gain"), kind="layer_scale")


def inverted_bottleneck(inputs: int, outputs: int, ratio: int, kernels: tuple[int, int], before: int, after: int) -> tuple[Node, ...]:
    """Describe a universal inverted bottleneck: wide in the middle, with convolutions of each channel before and there, or without."""
    inner, (first, middle) = ratio * inputs, kernels
    return (
        *((conv_norm("dw_start", inputs, inputs, first, before, groups=inputs),) if first else ()),
        conv_norm("pw_exp", inputs, inner, 1, before),
        *((conv_norm("dw_mid", inner, inner, middle, after, groups=inner),) if middle else ()),
        conv_norm("pw_proj", inner, outputs, 1, after),
        layer_scale(outputs),
    )


def attention(width: int, heads: int, head_dim: int, places: int, keys: int) -> tuple[Node, ...]:
    """Describe attention of all heads to one head of keys and values, over a map that is halved first where it is large."""

    def shared_projection(name: str) -> Part:
        down = conv2d("down_conv", width, width, 3, groups=width, bias=False), rms_norm("norm", width)
        return part(name, *(down if keys < places else ()), conv2d("proj", width, head_dim, 1, bias=False), stream=keys)

    maps = (
        part("query", conv2d("proj", width, heads * head_dim, 1, bias=False)),
        shared_projection("key"),
        shared_projection("value"),
        part("output", conv2d("proj", heads * head_dim, width, 1, bias=False)),
        attend(heads=heads, kv_heads=1, head_dim=head_dim, queries=places, keys=keys),
    )
    return rms_norm("norm", width), part("attn", *maps, kind="self_attention", stream=places), layer_scale(width)


def block(spec: tuple[Any, ...]) -> tuple[Node, ...]:
    """Describe one block of a stage."""
    described: dict[str, Callable[..., tuple[Node, ...]]] = {"edge": edge, "inverted": inverted_bottleneck, "attention": attention}
    return described[spec[0]](*spec[1:])


def stages() -> list[list[tuple[Any, ...]]]:
    """List the blocks of the four stages, with what each is described by."""
    first, second, third, fourth = ((SIDE // 2**halvings) ** 2 for halvings in (2, 3, 4, 5))
    return [
        [("edge", 64, 128, first), *[("edge", 128, 128, first)] * 2],
        [
            ("inverted", 128, 256, 6, (3, 5), first, second),
            *(("inverted", 256, 256, 4, (kernel, 0), second, second) for kernel in (5, 3, 5, 3)),
        ],
        [
            ("inverted", 256, 640, 6, (5, 5), second, third),
            *[("inverted", 640, 640, 4, (5, 0), third, third)] * 7,
            ("inverted", 640, 640, 1, (0, 0), third, third),
            *[("attention", 640, 12, 64, third, fourth), ("inverted", 640, 640, 2, (0, 0), third, third)] * 14,
        ],
        [
            ("inverted", 640, 1280, 6, (5, 5), third, fourth),
            *[("attention", 1280, 16, 96, fourth, fourth), ("inverted", 1280, 1280, 2, (0, 0), fourth, fourth)] * 19,
        ],
    ]


def encoder(c: Config) -> Part:
    """Describe TimmWrapperModel around MobileNetV5Encoder."""
    halved, fused = (SIDE // 2) ** 2, (SIDE // 16) ** 2
    ffn = part("ffn", conv_norm("pw_exp", 1920, 3840, 1, fused), conv_norm("pw_proj", 3840, WIDTH, 1, fused), kind="feed_forward")
    body = part(
        "timm_model",
        part("conv_stem", conv2d("conv", 3, 64, 3), rms_norm("bn", 64), kind="convolution", stream=halved),
        part("blocks", *(part(str(index), *stack("", specs, len(specs), block), kind="stage") for index, specs in enumerate(stages()))),
        part("msfa", ffn, rms_norm("norm", WIDTH), kind="projector"),
        kind="encoder",
    )
    return part("", body, kind="vision", stream=FUSED_SIDE**2)


IGNORED_KEYS = frozenset("do_pooling label_names num_classes rms_norm_eps vocab_offset vocab_size".split())
FAMILIES = {
    "gemma3n_vision": Family("gemma3n_vision", FIELDS, {"TimmWrapperModel": encoder}, "TimmWrapperModel", IGNORED_KEYS),
}
