"""DeepSeek-VL and LFM2-VL: SigLIP's vision tower in front of a language model.

Source: arXiv 2403.05525 (DeepSeek-VL), 2511.23404 (LFM2); names as in transformers 5.23.0,
models/deepseek_vl/modeling_deepseek_vl.py and models/lfm2_vl/modeling_lfm2_vl.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import patch_tokens, per_image
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Node, Part

TIED = switch("tied", "tie_word_embeddings", True)
DEEPSEEK = (model_config("vision", "vision_config", "siglip_vision_model"), model_config("text", "text_config", "llama"), TIED)
LFM2 = (
    model_config("vision", "vision_config", "siglip2_vision_model"),
    model_config("text", "text_config", "lfm2"),
    size("inside", "projector_hidden_size", 2560, "E", "inner width of the projector"),
    switch("bias", "projector_bias", True),
    switch("normed", "projector_use_layernorm", True),
    size("factor", "downsample_factor", 2, "F", "patches merged along an axis"),
    switch("tied", "tie_word_embeddings", True, "tie_embedding"),
)
CUT = unknown("images are cut into patches beforehand, and the config does not say into how many")


def deepseek(c: Config) -> tuple[Node, ...]:
    """Describe DeepSeek-VL: the tower, two linear layers, the text."""
    tower = submodel(c.vision)
    linears = linear("linear1", c.vision.hidden, c.text.hidden), linear("linear2", c.text.hidden, c.text.hidden)
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(part("aligner", *linears, kind="projector", stream=patch_tokens(tower))),
        as_child("language_model", submodel(c.text)),
    )


def lfm2_projector(c: Config, tower: Part) -> Part:
    """Describe LFM2-VL's projector: a norm and two linear layers over squares of patches."""
    wide = c.vision.hidden * c.factor * c.factor
    return part(
        "multi_modal_projector",
        *((layer_norm("layer_norm", wide),) if c.normed else ()),
        linear("linear_1", wide, c.inside, bias=c.bias),
        linear("linear_2", c.inside, c.text.hidden, bias=c.bias),
        kind="projector",
        stream=CUT,
    )


FAMILIES = {
    "deepseek_vl": family_of("deepseek_vl", "DeepseekVL", DEEPSEEK, deepseek),
    "lfm2_vl": family_of("lfm2_vl", "Lfm2Vl", LFM2, lambda c: body(c, lfm2_projector)),
}
