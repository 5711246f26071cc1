"""The fields of Grounding DINO: those of Deformable DETR without timm, and a text.

Source: names as in transformers 5.23.0, models/grounding_dino/configuration_grounding_dino.py.
"""

from __future__ import annotations

from weighbridge.blueprints.backbones import backbone
from weighbridge.blueprints.composite import composed
from weighbridge.blueprints.deformable_fields import TABLE
from weighbridge.blueprints.detections import SKIPPED
from weighbridge.blueprints.staged import number
from weighbridge.config.fields import fact, size, switch, told, variant

GONE = "backbone_name backbone_kwargs timm dilated staged proposals refined fits channels".split()

FIELDS = variant(
    tuple(field for field in TABLE if field.word not in GONE),
    switch("staged", "two_stage", True),
    switch("targets", "embedding_init_target", True),
    number("coordinates", "query_dim", 4, minimum=0),
    size("longest", "max_text_len", 256, "T", "longest text"),
    switch("boxes_shared", "decoder_bbox_embed_share", True),
    fact("words_shared", False),
    told("fits", lambda c: c.hidden % 32 == 0),
    composed("text", "text_config", "bert roberta"),
    fact("second", False),
    queries=900,
    encoder_mlp=2048,
    decoder_mlp=2048,
    backbone=backbone("swin resnet convnext", {"model_type": "swin", "out_indices": [2, 3, 4]}),
)

SECOND = variant(FIELDS, second=True, words_shared=switch("words_shared", "decoder_cls_embed_share", True))

NEUTRAL = SKIPPED | frozenset(
    """disable_custom_kernels focal_alpha fusion_dropout fusion_droppath positional_embedding_temperature text_enhancer_dropout
    two_stage_bbox_embed_share""".split()
)
