"""CLVP: a decoder that writes speech tokens (the autoregressive half of Tortoise), and encoders that compare speech with text.

Source: arXiv 2305.07243; class and tensor names as in transformers 5.23.0, models/clvp/modeling_clvp.py. The MLP is GPT-2's, with
matrices stored as ``[inputs, outputs]``.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gpt2 import dense
from weighbridge.blueprints.modules.bert_family import summary
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    MLP,
    N_INNER,
    POSITIONS,
    PROJECTION_DIM,
    VOCAB,
    Config,
    choice,
    computed,
    constant,
    derived,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv1d, embedding, layer_norm, linear, part, rms_norm
from weighbridge.core.sizes import exact, is_some
from weighbridge.core.tree import Node, Part, Tensor


def clvp(c: Config) -> tuple[Node, ...]:
    """Describe tokens and positions, layers with a norm before each half, and a last norm."""
    H = c.hidden
    attention = part(
        "attn",
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "kvq"),
        linear("out_proj", H, H),
        attend(causal=True, heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        layer_norm("input_layernorm", H),
        attention,
        layer_norm("post_attention_layernorm", H),
        part("mlp", dense(c, "c_fc", H, c.mlp), dense(c, "c_proj", c.mlp, H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )
    tables = (embedding("input_embeds_layer", c.vocab, H), embedding("position_embeds_layer", c.positions, H))
    return (*tables, layer, layer_norm("layer_norm", H))


def named_body(c: Config) -> Part:
    """Describe the body by its name."""
    return part("decoder", *clvp(c), kind="decoder")


def causal_lm(c: Config) -> Part:
    """Describe ClvpForCausalLM: one norm more, and a head of its own."""
    head = (layer_norm("final_norm", c.hidden), linear("lm_head", c.hidden, c.vocab))
    return part("", part("model", named_body(c), kind="backbone"), *head, kind="model")


def encoder(c: Config) -> Part:
    """Describe ClvpEncoder: layers with a gated network, the mean of their states, and a map of it into the shared space."""
    H = c.hidden
    waves = (part("rotary_pos_emb", Tensor("inv_freq", (c.waves,), "buffer"), kind="embeddings"),) if c.rotary else ()
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "kvq"),
        linear("out_proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = part("mlp", part("fc1", linear("proj", H, 2 * c.mlp)), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = rms_norm("input_rmsnorm", H), rms_norm("post_attention_rmsnorm", H)
    layer = part("layers", attention, mlp, *norms, kind="layer", repeat=c.layers)
    last = layer_norm("final_layer_norm", H), linear("projection", H, c.projected, bias=False, stream="one" if c.fits else UNFIT)
    return part("", embedding("token_embedding", c.vocab, H), *waves, layer, *summary(c), *last, kind="model")


def conditioning_encoder(c: Config) -> Part:
    """Describe what makes a vector of a voice, by attention among its mel frames, and puts it in front of the text's words."""
    H, inner = c.decoder.hidden, c.decoder
    attention = part(
        "mel_attn_blocks",
        *(linear(f"{name}_proj", H, H, bias=inner.qkv_bias) for name in "kvq"),
        linear("out_proj", H, H),
        attend(heads=inner.heads, head_dim=inner.head_dim),
        kind="self_attention",
        repeat=inner.voice_layers,
    )
    tables = embedding("text_token_embedding", c.text.vocab, H), embedding("text_position_embedding", inner.text_positions, H)
    frames = conv1d("mel_conv", inner.mels, H, 1)
    return part("conditioning_encoder", *tables, frames, group_norm("group_norms", H, repeat=inner.voice_layers), attention, stream=VOICE)


def clvp_model(c: Config) -> Part:
    """Describe ClvpModelForConditionalGeneration."""
    return part(
        "",
        Tensor("logit_scale", (), "gain"),
        conditioning_encoder(c),
        as_child("speech_decoder_model", submodel(c.decoder, "ForCausalLM"), streams={"seq": VOICE}),
        as_child("text_encoder_model", submodel(c.text)),
        as_child("speech_encoder_model", submodel(c.speech), streams={"seq": VOICE}),
        kind="model",
    )


def norm_groups(c: Config) -> int:
    """Return into how many groups the norms over a voice split the channels; the reference refuses two and fewer."""
    width = c.decoder.hidden
    groups = 8 if width <= 16 else 16 if width <= 64 else 32
    while groups > 2 and width % groups:
        groups //= 2
    if groups <= 2:
        raise ConfigError("its norms need channels that divide into 4 groups or more", key="decoder_config.hidden_size", value=width)
    return int(groups)


UNFIT = unknown("the summary has one output for each label, but the map after it expects the hidden size")
VOICE = unknown("the lengths of voice and speech depend on the input")
FIELDS = (
    VOCAB.with_default(8194),
    POSITIONS.with_default(608),
    HIDDEN.with_default(1024),
    N_INNER.with_default(lambda c: 4 * c.hidden),
    LAYERS.with_default(30),
    HEADS.with_default(16),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    switch("qkv_bias", "use_attention_bias", True),
    constant("transposed", True),
)
ENCODER = (
    VOCAB.with_default(256),
    HIDDEN.with_default(768),
    MLP.with_default(1536),
    PROJECTION_DIM.with_default(768),
    LAYERS.with_default(20),
    HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    switch("qkv_bias", "use_attention_bias", False),
    switch("rotary", "use_rotary_embedding", True),
    LABELS,
    choice("summary", "summary_type", "mean", read=one_of("summary_type", "last", "first", "mean", "cls_index")),
    switch("summarized", "summary_use_proj", False),
    switch("to_labels", "summary_proj_to_labels", False),
    computed("fits", lambda c: not (c.summarized and c.to_labels and is_some(c.labels) and c.labels != c.hidden)),
    computed("waves", lambda c: (max(c.projected // (2 * c.heads), 32) + 1) // 2),
)
VOICE_FIELDS = (
    size("text_positions", "max_text_tokens", 404, "S_tex", "positions of the text"),
    size("mels", "feature_size", 80, "M", "mel bins"),
    size("voice_layers", "num_mel_attn_blocks", 6, "L_voi", "layers of attention among mel frames", minimum=0),
)
WHOLE = (
    model_config("text", "text_config", "clvp_encoder", fixed=True),
    model_config("speech", "speech_config", "clvp_encoder", fixed=True),
    model_config("decoder", "decoder_config", "clvp_decoder", fixed=True, more=VOICE_FIELDS),
    computed("groups", norm_groups),
)
CLASSES = {
    "ClvpDecoder": lambda c: part("", *clvp(c), kind="model"),
    "ClvpModel": lambda c: part("", named_body(c), kind="model"),
    "ClvpForCausalLM": causal_lm,
}
MORE_IGNORED_KEYS = frozenset(
    """activation_function add_cross_attention decoder_fixing_codes feature_size max_text_tokens num_mel_attn_blocks summary_activation
    summary_first_dropout summary_proj_to_labels summary_type summary_use_proj""".split()
)
ENCODER_IGNORED_KEYS = frozenset(("summary_activation", "summary_first_dropout", "summary_last_dropout"))
WHOLE_IGNORED_KEYS = frozenset(("logit_scale_init_value", "projection_dim"))
WHOLE_CLASSES = {"ClvpModelForConditionalGeneration": clvp_model}
FAMILIES = {
    "clvp": Family("clvp", WHOLE, WHOLE_CLASSES, "ClvpModelForConditionalGeneration", WHOLE_IGNORED_KEYS),
    "clvp_decoder": Family("clvp_decoder", FIELDS, CLASSES, "ClvpForCausalLM", MORE_IGNORED_KEYS),
    "clvp_encoder": Family("clvp_encoder", ENCODER, {"ClvpEncoder": encoder}, "ClvpEncoder", ENCODER_IGNORED_KEYS),
}
