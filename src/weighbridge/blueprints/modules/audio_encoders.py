"""The encoders of GLM-ASR, Voxtral Realtime and Qwen3-ASR: Whisper's, with rotary positions, causal convolutions, or windows.

Source: names as in transformers 5.23.0, models/glmasr/modeling_glmasr.py, models/voxtral_realtime and models/qwen3_asr. ``seq`` counts
mel frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.fields import HEAD_DIM, KV_HEADS, MEL_BINS, Config, Field, size
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.parts import attend, conv1d, conv2d, fairseq_attention, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part

CUT = unknown("frames are cut into windows as long as their mask says")


def fields(mels: int, hidden: int, mlp: int, layers: int, heads: int, *names: str, more: tuple[str, ...] = ()) -> tuple[Field, ...]:
    """List the fields of an encoder; *names* are older keys of width, layers, heads and inner width, *more* further keys of the heads."""
    older = names or ("",) * 4
    return (
        MEL_BINS.with_default(mels),
        size("hidden", "hidden_size", hidden, "H", "hidden size", *filter(None, older[:1])),
        size("mlp", "intermediate_size", mlp, "I", "intermediate size", *filter(None, older[3:])),
        size("layers", "num_hidden_layers", layers, "L", "layers", *filter(None, older[1:2])),
        size("heads", "num_attention_heads", heads, "A", "attention heads", *filter(None, older[2:3]), *more),
    )


def under_older_names(declared: tuple[Field, ...]) -> tuple[Field, ...]:
    """Declare fields whose class has the older names as its attributes, and maps the others to them: those win where both are given."""
    return tuple(replace(field, key=field.aliases[0], aliases=(field.key,)) if field.aliases else field for field in declared)


FAIRSEQ = ("d_model", "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim")
GLM = (
    *fields(128, 1280, 5120, 32, 20),
    KV_HEADS.with_default(lambda c: c.heads),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
)
VOXTRAL = (
    *fields(128, 1280, 5120, 32, 32, *FAIRSEQ, more=("num_key_value_heads",)),
    size("head_dim", "head_dim", 64, "D", "head dimension", null=lambda c: c.hidden // c.heads),
    window(default=750),
)
QWEN = (
    *under_older_names(fields(128, 1024, 4096, 24, 16, *FAIRSEQ)),
    size("channels", "downsample_hidden_size", 480, "C", "channels of the convolutions"),
    size("out", "output_dim", 3584, "O", "output width"),
)


def attention(c: Config, kv_heads: Size, *, causal: bool = False, window: Size | None = None) -> Part:
    """Describe attention whose keys have no bias; what streams keeps them, within a window."""
    H, wide, K = c.hidden, c.heads * c.head_dim, kv_heads * c.head_dim
    maps = (linear("q_proj", H, wide), linear("k_proj", H, K, bias=False), linear("v_proj", H, K), linear("o_proj", wide, H))
    return part(
        "self_attn",
        *maps,
        attend(heads=c.heads, kv_heads=kv_heads, head_dim=c.head_dim, causal=causal, window=window),
        kind="self_attention",
    )


def glm(c: Config) -> Part:
    """Describe GLM-ASR's encoder: Whisper's convolutions, then layers with rotary positions."""
    H, half = c.hidden, (length("seq") - 1) // 2 + 1
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = (layer_norm(name, H) for name in ("input_layernorm", "post_attention_layernorm"))
    return part(
        "",
        conv1d_same("conv1", c.mels, H, 3),
        conv1d("conv2", H, H, 3, stride=2, padding=1),
        part("layers", attention(c, c.kv_heads), mlp, *norms, kind="layer", repeat=c.layers, stream=half),
        layer_norm("norm", H, stream=half),
        kind="model",
    )


def voxtral(c: Config) -> Part:
    """Describe Voxtral Realtime's encoder: causal convolutions, then layers with a gated MLP."""
    H, half = c.hidden, (length("seq") - 2) // 2 + 1  # padded in front only
    mlp = (linear("gate_proj", H, c.mlp, bias=False), linear("up_proj", H, c.mlp, bias=False), linear("down_proj", c.mlp, H))
    layer = (
        attention(c, c.heads, causal=True, window=c.window),
        rms_norm("self_attn_layer_norm", H),
        rms_norm("final_layer_norm", H),
        part("mlp", *mlp, kind="feed_forward"),
    )
    return part(
        "",
        part("embedder", conv1d_same("conv1", c.mels, H, 3), replace(conv1d_same("conv2", H, H, 3), stream=half), kind="convolutions"),
        part("layers", *layer, kind="layer", repeat=c.layers, stream=half),
        rms_norm("norm", H, stream=half),
        kind="model",
    )


def qwen_layer(c: Config, stream: Stream | None) -> Part:
    """Describe a layer of Qwen's audio encoders: Whisper's, with a bias on keys too."""
    H = c.hidden
    own = (fairseq_attention("self_attn", H, c.heads, exact(c.hidden, c.heads)), layer_norm("self_attn_layer_norm", H))
    return part(
        "layers",
        *own,
        linear("fc1", H, c.mlp),
        linear("fc2", c.mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
        stream=stream,
    )


def eighth(mels: Size) -> Size:
    """Return how many rows three convolutions that halve leave of the mel bins."""
    return (((mels + 1) // 2 + 1) // 2 + 1) // 2


def conv_stem(c: Config) -> tuple[Part, ...]:
    """Describe the convolutions that halve frames and mel bins three times."""
    C = c.channels
    convs = (conv2d(f"conv2d{index}", 1 if index == 1 else C, C, 3, stream=CUT) for index in (1, 2, 3))
    return (*convs, linear("conv_out", C * eighth(c.mels), c.hidden, bias=False, stream=CUT))


def qwen(c: Config) -> Part:
    """Describe Qwen3-ASR's encoder."""
    return part("", qwen_layer(c, CUT), layer_norm("ln_post", c.hidden, stream=CUT), *conv_stem(c), kind="model")
