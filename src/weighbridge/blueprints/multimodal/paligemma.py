"""PaliGemma, Gemma 3 and ShieldGemma 2: Gemma with SigLIP's tower, joined by one matrix.

Source: arXiv 2407.07726 (PaliGemma), 2503.19786 (Gemma 3); names as in transformers 5.23.0,
models/paligemma/modeling_paligemma.py and models/gemma3/modeling_gemma3.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import composed, under
from weighbridge.blueprints.modules.vlm_common import NEUTRAL, generation, tied, tokens
from weighbridge.blueprints.multimodal.llava import body, kin
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Field, Sizes, size, switch, told
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4096,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "patch_size": 14,
    "image_size": 224,
    "vision_use_head": False,
}
GEMMA = {
    "hidden_size": 2048,
    "intermediate_size": 16384,
    "num_hidden_layers": 18,
    "num_attention_heads": 8,
    "num_key_value_heads": 1,
    "vocab_size": 257152,
}
PALIGEMMA = (
    composed("vision", "vision_config", "siglip_vision_model clip_vision_model", absent=SIGLIP, neutral="vocab_size num_image_tokens"),
    composed("text", "text_config", "gemma gemma2", absent=GEMMA, neutral="num_image_tokens use_bidirectional_attention"),
    size("projected", "projection_dim", 2048, "E", "width behind the projection"),
    switch("tied", "tie_word_embeddings", True),
)
GEMMA3 = (
    composed("text", "text_config", "gemma3_text", fixed=True, neutral="use_bidirectional_attention"),
    composed("vision", "vision_config", "siglip_vision_model"),
    Field("image_tokens", "mm_tokens_per_image", 256, "choice"),
    told("soft", lambda c: soft(c)),
    switch("tied", "tie_word_embeddings", True),
    LABELS,
)


SHIELD = (composed("text", "text_config", "gemma3_text"), *GEMMA3[1:4], *tied())


def soft(c: Sizes) -> int | None:
    """Count the tokens that an image becomes: patches pooled by squares; None where no square fits."""
    across = int(c.vision.image) // int(c.vision.patch)
    pooled = across // int(c.image_tokens**0.5)
    return (across // pooled) ** 2 if pooled else None


def paligemma_projector(c: Sizes, tower: Part) -> Part:
    """Describe PaliGemma's: one linear layer over all patches."""
    return part("multi_modal_projector", linear("linear", c.vision.hidden, c.projected), kind="projector", stream=tokens(tower))


def gemma3_projector(c: Sizes, tower: Part) -> Part:
    """Describe Gemma 3's: patches are pooled, normed and multiplied with one matrix."""
    stream: Stream = unknown("there are fewer patches than tokens to pool them to") if c.soft is None else c.soft
    matrix = Tensor("mm_input_projection_weight", (c.vision.hidden, c.text.hidden), "weight")
    return part("multi_modal_projector", matrix, rms_norm("mm_soft_emb_norm", c.vision.hidden), kind="projector", stream=stream)


def gemma3(c: Sizes) -> tuple[Node, ...]:
    """Describe the tower, the matrix and the text."""
    return body(c, gemma3_projector)


def classification(c: Sizes) -> Part:
    """Describe Gemma3ForSequenceClassification: one output per label on every token, of which one is read."""
    return part("", part("model", *gemma3(c), kind="backbone"), linear("score", c.text.hidden, c.labels, bias=False), kind="model")


def shield(c: Sizes) -> Part:
    """Describe ShieldGemma2ForImageClassification: Gemma 3 whole, of whose words two are read."""
    return part("", under("model", generation(gemma3)(c)), kind="model")


def _gemma3() -> Family:
    family = kin("gemma3", "Gemma3", GEMMA3, gemma3)
    return replace(family, classes={**family.classes, "Gemma3ForSequenceClassification": classification})


SHIELD_CLASSES = {"ShieldGemma2ForImageClassification": shield, "Gemma3ForConditionalGeneration": generation(gemma3)}
FAMILIES = {
    "paligemma": kin("paligemma", "PaliGemma", PALIGEMMA, lambda c: body(c, paligemma_projector), "hidden_size vocab_size"),
    "gemma3": _gemma3(),
    "shieldgemma2": Family("shieldgemma2", SHIELD, SHIELD_CLASSES, "ShieldGemma2ForImageClassification", NEUTRAL),
}
