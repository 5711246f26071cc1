"""Fun-ASR-Nano: SenseVoice's encoder, whose attention remembers neighbours by a convolution, layers that adapt it, and Qwen3.

Source: arXiv 2509.12508 (Fun-ASR), 2006.01713 (SAN-M); names as in transformers 5.23.0, models/fun_asr_nano/modeling_fun_asr_nano.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import HEADS_DIVIDE, default_head_dim
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.blueprints.multimodal.glm_asr import HEARD
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MEL_BINS,
    MLP,
    Config,
    Field,
    choice,
    computed,
    constant,
    derived,
    nested,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, replace, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def layer(c: Config, inputs: Size, *, remembers: bool = True, normed: bool = False) -> tuple[Part, ...]:
    """Describe a layer; one that *remembers* adds to its attention a convolution of each channel of the values with itself."""
    H = c.hidden
    memory = part("conv", Tensor("weight", (H, 1, c.kernel)), kind="convolution") if remembers else None
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", inputs, H) for name in ("q", "k", "v")),
        linear("o_proj", H, H),
        *((part("fsmn", memory, kind="convolution"),) if memory else ()),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    return (
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("input_layernorm", inputs),
        layer_norm("post_attention_layernorm", H),
        *((layer_norm("final_layernorm", H),) if normed else ()),
    )


def encoder(c: Config) -> Part:
    """Describe the encoder: the first layer takes frames side by side, the last of each half ends with a norm."""

    def of_kind(kind: str) -> tuple[Part, ...]:
        return layer(c, c.mels * c.beside if "first" in kind else c.hidden, normed="normed" in kind)

    return part("", *stack("layers", c.kinds, c.layers, of_kind), kind="model")


def body(c: Config) -> tuple[Node, ...]:
    """Describe the encoder, the text, and the layers between them."""
    A = c.adaptor
    between = part(
        "multi_modal_projector",
        linear("linear_1", c.audio.hidden, A.inner),
        linear("linear_2", A.inner, A.hidden),
        part("layers", *layer(A, A.hidden, remembers=False), kind="layer", repeat=A.layers),
        kind="projector",
        requires="audios",
        executions="audios",
        stream=HEARD,
    )
    tower = as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios", streams={"seq": HEARD})
    return tower, as_child("language_model", submodel(c.text)), between


def _kinds(c: Config) -> list[str]:
    """Return which layer takes the frames, and which end with a norm: the last that transcribes, and the last of all."""
    last = c.layers - c.timed - 1, c.layers - 1
    return [("first " if index == 0 else "") + ("normed" if index in last else "plain") for index in layer_range(c.layers)]


def _refuse_mismatch(c: Config) -> bool:
    """Refuse layers in between that are not as wide as the text, or a quarter of it inside, as the class does."""
    for key, ours, theirs in (("hidden_size", c.text.hidden, c.adaptor.hidden), ("intermediate_size", c.text.hidden // 4, c.adaptor.mlp)):
        if ours != theirs:
            raise ConfigError(Text("the text asks for {ours}", ours=ours), key=f"adaptor_config.{key}", value=theirs)
    return True


HEAD_WIDTH = derived("head_dim", default_head_dim, "hidden_size", "num_attention_heads")
ENCODER = (
    replace(MEL_BINS, default=80, positive=True),
    HIDDEN.with_default(512),
    HEADS.with_default(4),
    MLP.with_default(2048),
    LAYERS.with_default(70),
    HEADS_DIVIDE,
    HEAD_WIDTH,
    size("beside", "num_stacked_frames", 7, "F", "frames side by side"),
    size("kernel", "fsmn_kernel_size", 11, "K", "kernel size of the neighbourhood memory"),
    choice("timed", "num_timestamp_prediction_layers", 20),
    constant("kinds", _kinds),
)
ADAPTOR: tuple[Field, ...] = (
    HIDDEN.with_default(1024),
    HEADS.with_default(8),
    MLP.with_default(256),
    LAYERS.with_default(2),
    HEADS_DIVIDE,
    HEAD_WIDTH,
    size("inner", "projector_hidden_size", 2048, "E", "inner width of the projector"),
)
QWEN = {
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "tie_word_embeddings": True,
}
WHOLE = (
    nested("adaptor", "adaptor_config", ADAPTOR),
    model_config("audio", "audio_config", "fun_asr_nano_encoder"),
    model_config("text", "text_config", "qwen3 llama", absent=QWEN),
    switch("tied", "tie_word_embeddings", True),
    computed("fits", _refuse_mismatch),
)
FAMILIES = {
    "fun_asr_nano_encoder": Family(
        "fun_asr_nano_encoder", ENCODER, {"FunAsrNanoEncoder": encoder}, "FunAsrNanoEncoder", frozenset(("max_position_embeddings",))
    ),
    "fun_asr_nano": Family(
        "fun_asr_nano",
        WHOLE,
        {"FunAsrNanoModel": without_head(body), "FunAsrNanoForConditionalGeneration": with_lm_head(body)},
        "FunAsrNanoModel",
        frozenset(("audio_token_id", "projector_hidden_act")),
    ),
}
