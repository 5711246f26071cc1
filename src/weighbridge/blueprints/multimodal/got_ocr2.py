"""GOT-OCR 2 and PP-Chart2Table: Segment Anything's image encoder in front of a language model.

Source: arXiv 2409.01704; names as in transformers 5.23.0, models/got_ocr2/modeling_got_ocr2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import FIELDS, encoder
from weighbridge.blueprints.detection.sam_vision import side as sam_side
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import MLP_DIM, Config, switch
from weighbridge.core.parts import conv2d, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

VISION = (
    *(field for field in FIELDS if field.word not in ("ratio", "mlp", "frequencies")),
    MLP_DIM.with_default(3072),
)
QWEN = {
    "hidden_size": 1024,
    "intermediate_size": 2816,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "vocab_size": 151860,
    "tie_word_embeddings": True,
}
BOTH = (
    model_config("vision", "vision_config", "got_ocr2_vision", fixed=True),
    model_config("text", "text_config", "qwen2 llama", absent=QWEN),
    switch("tied", "tie_word_embeddings", True),
)


def half_side(side: Size) -> Size:
    """Return the side of a map after a convolution that takes every second place."""
    result: Size = (side + 1) // 2
    return result


def projector(c: Config, tower: Part) -> Part:
    """Describe two convolutions, each of which halves the sides of the map, and a linear layer."""
    outputs, H = c.vision.outputs, c.text.hidden
    once = half_side(sam_side(c.vision))
    twice = half_side(once)
    return part(
        "multi_modal_projector",
        conv2d("conv_upsampler1", outputs, 2 * outputs, 3, stream=once * once, bias=False),
        conv2d("conv_upsampler2", 2 * outputs, H, 3, bias=False),
        linear("multimodal_projector", H, H),
        kind="projector",
        stream=twice * twice,
    )


def got_ocr2(c: Config) -> tuple[Node, ...]:
    """Describe the encoder, the projector and the text."""
    return body(c, projector)


TOWER = "GotOcr2VisionEncoder"
WRITER = "GotOcr2ForConditionalGeneration"
FAMILIES = {
    "got_ocr2": family_of("got_ocr2", "GotOcr2", BOTH, got_ocr2),
    "got_ocr2_vision": Family("got_ocr2_vision", VISION, {TOWER: encoder}, TOWER),
    "pp_chart2table": Family("pp_chart2table", BOTH, {WRITER: with_lm_head(got_ocr2)}, WRITER, IGNORED_KEYS),
}
