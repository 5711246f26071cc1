"""PP-FormulaNet: Segment Anything's image encoder, and mBART's decoder, which writes a formula.

Source: Liu et al. 2025, arXiv 2503.18382; names as in transformers 5.23.0, models/pp_formulanet/modeling_pp_formulanet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection import sam_vision
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.multimodal.got_ocr2 import half_side
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, POSITIONS, VOCAB, Config, constant, derived, size, variant
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

VISION = (
    *variant(
        tuple(field for field in sam_vision.FIELDS if field.word not in ("ratio", "frequencies", "kinds")),
        constant("kinds", sam_vision.kinds),
        mlp=size("mlp", "mlp_dim", 3072, "I", "intermediate size"),
        image=512,
    ),
    size("post_in", "post_conv_in_channels", 256, "C_in", "channels before the projector"),
    size("post_mid", "post_conv_mid_channels", 512, "C_mid", "channels inside the projector"),
    size("post_out", "post_conv_out_channels", 1024, "C_out", "channels after the projector's convolutions"),
    size("decoder_hidden", "decoder_hidden_size", 512, "H_dec", "hidden size of the decoder"),
)
TEXT = (
    VOCAB.with_default(50000),
    POSITIONS.with_default(2560),
    D_MODEL.with_default(512),
    size("layers", "decoder_layers", 8, "L", "decoder layers"),
    size("mlp", "decoder_ffn_dim", 2048, "I", "intermediate size of the decoder"),
    size("heads", "decoder_attention_heads", 16, "A", "attention heads of the decoder"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "d_model", "decoder_attention_heads"),
)
WHOLE = (
    model_config("text", "text_config", "pp_formulanet_text", fixed=True),
    model_config("vision", "vision_config", "pp_formulanet_vision", fixed=True),
)


def vision(c: Config) -> Part:
    """Describe PPFormulaNetVisionModel: the encoder, two convolutions that halve its map, and two linear layers."""
    inner, once = sam_vision.encoder(c), half_side(sam_vision.side(c))
    places = half_side(once) * half_side(once)
    projector = part(
        "multi_modal_projector",
        conv2d("conv1", c.post_in, c.post_mid, 3, bias=False, stream=once * once),
        conv2d("conv2", c.post_mid, c.post_out, 3, bias=False),
        linear("linear_1", c.post_out, c.post_out),
        linear("linear_2", c.post_out, c.decoder_hidden),
        kind="projector",
        stream=places,
    )
    return replace(inner, children=(*inner.children, projector))


def text(c: Config) -> Part:
    """Describe PPFormulaNetTextModel, which attends to an image if it is given one."""
    H = c.hidden
    layer = part(
        "layers",
        fairseq_attention("self_attn", H, c.heads, c.head_dim, causal=True),
        layer_norm("self_attn_layer_norm", H),
        replace(fairseq_attention("encoder_attn", H, c.heads, c.head_dim, keys="encoder"), requires="encoder"),
        layer_norm("encoder_attn_layer_norm", H, requires="encoder"),
        linear("fc1", H, c.mlp),
        linear("fc2", c.mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    tables = embedding("embed_tokens", c.vocab, H), embedding("embed_positions", c.positions + 2, H)
    return part("", *tables, layer, layer_norm("layernorm_embedding", H), layer_norm("layer_norm", H), kind="model")


def body(c: Config) -> tuple[Part, Part]:
    """Describe the decoder, and the encoder whose places it attends to."""
    once = half_side(sam_vision.side(c.vision))
    places = half_side(once) * half_side(once)
    writer = without_condition(as_child("decoder", submodel(c.text), streams={"seq": "decoder", "encoder": places}))
    return replace(writer, stream="decoder"), as_child("encoder", submodel(c.vision))


def without_condition(node: Part) -> Part:
    """Say of a decoder's parts that they always run: there is always an image."""
    inner = tuple(without_condition(child) if isinstance(child, Part) else child for child in node.children)
    return replace(node, children=inner, requires=None)


def generation(c: Config) -> Part:
    """Describe PPFormulaNetForConditionalGeneration, whose head is not tied."""
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=False, stream="decoder")
    return part("", part("model", *body(c), kind="backbone"), head, kind="model")


CLASSES = {"PPFormulaNetModel": lambda c: part("", *body(c), kind="model"), "PPFormulaNetForConditionalGeneration": generation}
TEXT_KEYS = frozenset(
    """activation_function decoder_layerdrop decoder_start_token_id encoder_attention_heads encoder_layers forced_eos_token_id init_std
    num_attention_heads num_hidden_layers scale_embedding tie_word_embeddings""".split()
)
FAMILIES = {
    "pp_formulanet": Family("pp_formulanet", WHOLE, CLASSES, "PPFormulaNetModel", frozenset(("tie_word_embeddings",))),
    "pp_formulanet_text": Family("pp_formulanet_text", TEXT, {"PPFormulaNetTextModel": text}, "PPFormulaNetTextModel", TEXT_KEYS),
    "pp_formulanet_vision": Family("pp_formulanet_vision", VISION, {"PPFormulaNetVisionModel": vision}, "PPFormulaNetVisionModel"),
}
