"""PaliGemma, Gemma 3 and ShieldGemma 2: Gemma with SigLIP's vision tower and a linear projector.

Source: arXiv 2407.07726 (PaliGemma), 2503.19786 (Gemma 3); names as in transformers 5.23.0,
models/paligemma/modeling_paligemma.py and models/gemma3/modeling_gemma3.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, patch_tokens, tie_fields, with_lm_head
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, computed, size, switch
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
    model_config(
        "vision", "vision_config", "siglip_vision_model clip_vision_model", absent=SIGLIP, ignored_keys="vocab_size num_image_tokens"
    ),
    model_config("text", "text_config", "gemma gemma2", absent=GEMMA, ignored_keys="num_image_tokens use_bidirectional_attention"),
    size("projected", "projection_dim", 2048, "E", "width after the projection"),
    switch("tied", "tie_word_embeddings", True),
)
GEMMA3 = (
    model_config("text", "text_config", "gemma3_text", fixed=True),
    model_config("vision", "vision_config", "siglip_vision_model"),
    Field("image_tokens", "mm_tokens_per_image", 256, "choice"),
    computed("soft", lambda c: soft_tokens(c)),
    switch("tied", "tie_word_embeddings", True),
    LABELS,
)


SHIELD = (model_config("text", "text_config", "gemma3_text"), *GEMMA3[1:4], *tie_fields())


def soft_tokens(c: Config) -> int | None:
    """Count the tokens that an image becomes: patches pooled by squares; None where no square fits."""
    across = int(c.vision.image) // int(c.vision.patch)
    pooled = across // int(c.image_tokens**0.5)
    return (across // pooled) ** 2 if pooled else None


def paligemma_projector(c: Config, tower: Part) -> Part:
    """Describe PaliGemma's: one linear layer over all patches."""
    return part("multi_modal_projector", linear("linear", c.vision.hidden, c.projected), kind="projector", stream=patch_tokens(tower))


def gemma3_projector(c: Config, tower: Part) -> Part:
    """Describe Gemma 3's: patches are pooled, normed and multiplied with one matrix."""
    stream: Stream = unknown("there are fewer patches than tokens to pool them to") if c.soft is None else c.soft
    matrix = Tensor("mm_input_projection_weight", (c.vision.hidden, c.text.hidden), "weight")
    return part("multi_modal_projector", matrix, rms_norm("mm_soft_emb_norm", c.vision.hidden), kind="projector", stream=stream)


def gemma3(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the matrix and the text."""
    return body(c, gemma3_projector)


def classification(c: Config) -> Part:
    """Describe Gemma3ForSequenceClassification: one output per label on every token, of which one is read."""
    return part("", part("model", *gemma3(c), kind="backbone"), linear("score", c.text.hidden, c.labels, bias=False), kind="model")


def shield(c: Config) -> Part:
    """Describe ShieldGemma2ForImageClassification: Gemma 3 whole, of whose words two are read."""
    return part("", as_child("model", with_lm_head(gemma3)(c)), kind="model")


def _gemma3() -> Family:
    family = family_of("gemma3", "Gemma3", GEMMA3, gemma3)
    return replace(family, classes={**family.classes, "Gemma3ForSequenceClassification": classification})


SHIELD_CLASSES = {"ShieldGemma2ForImageClassification": shield, "Gemma3ForConditionalGeneration": with_lm_head(gemma3)}
FAMILIES = {
    "paligemma": family_of("paligemma", "PaliGemma", PALIGEMMA, lambda c: body(c, paligemma_projector), "hidden_size vocab_size"),
    "gemma3": _gemma3(),
    "shieldgemma2": Family("shieldgemma2", SHIELD, SHIELD_CLASSES, "ShieldGemma2ForImageClassification", IGNORED_KEYS),
}
