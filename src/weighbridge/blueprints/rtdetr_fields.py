"""The fields of RT-DETR and its second version.

Source: names as in transformers 5.23.0, models/rt_detr/configuration_rt_detr.py and models/rt_detr_v2/configuration_rt_detr_v2.py.
The config states no image: ``image_size`` may be set beside its fields, and is 640 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.backbones import backbone
from weighbridge.blueprints.grids import image
from weighbridge.blueprints.staged import number, numbers, ratio, scaled
from weighbridge.config.fields import LABELS, TIED, fact, size, switch, told, variant

FIELDS = (
    size("hidden", "d_model", 256, "H", "hidden size", "hidden_size"),
    size("encoder_hidden", "encoder_hidden_dim", 256, "H_e", "hidden size of the encoder"),
    size("encoder_layers", "encoder_layers", 1, "L_e", "encoder layers", minimum=0),
    size("encoder_mlp", "encoder_ffn_dim", 1024, "I_e", "intermediate size of the encoder"),
    size("encoder_heads", "encoder_attention_heads", 8, "A_e", "attention heads of the encoder", "num_attention_heads"),
    size("decoder_layers", "decoder_layers", 6, "L_d", "decoder layers"),
    size("decoder_mlp", "decoder_ffn_dim", 1024, "I_d", "intermediate size of the decoder"),
    size("decoder_heads", "decoder_attention_heads", 8, "A_d", "attention heads of the decoder"),
    size("points", "decoder_n_points", 4, "P", "points that a head looks at"),
    size("queries", "num_queries", 300, "Q", "object queries"),
    number("levels", "num_feature_levels", 3),
    told("attended", lambda c: c.levels),
    numbers("in_widths", "encoder_in_channels", (512, 1024, 2048)),
    numbers("strides", "feat_strides", (8, 16, 32)),
    numbers("projected", "encode_proj_layers", (2,), minimum=0),
    numbers("out_widths", "decoder_in_channels", (256, 256, 256)),
    ratio("expansion", "hidden_expansion", 1.0),
    told("widened", lambda c: scaled(c.encoder_hidden, c.expansion) != c.encoder_hidden),
    told("alike", lambda c: all(width == c.encoder_hidden for width in c.out_widths)),
    number("denoised", "num_denoising", 100, minimum=0),
    switch("learned", "learn_initial_query", False),
    switch("settled", "freeze_backbone_batch_norms", True),
    backbone("rt_detr_resnet hgnet_v2 resnet", {"model_type": "rt_detr_resnet", "out_indices": [2, 3, 4]}),
    image(640, silent=True),
    fact("second", False),
    LABELS,
)

SECOND = variant(
    FIELDS,
    TIED,
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    attended=size("attended", "decoder_n_levels", 3, "M", "maps that a head looks at"),
    second=True,
)

SKIPPED = frozenset(
    """activation_function anchor_image_size auxiliary_loss batch_norm_eps box_noise_scale decoder_activation_function decoder_method
    decoder_offset_scale disable_custom_kernels encoder_activation_function eos_coefficient eval_size focal_loss_alpha focal_loss_gamma
    initializer_bias_prior_prob label_noise_ratio matcher_alpha matcher_bbox_cost matcher_class_cost matcher_gamma matcher_giou_cost
    normalize_before positional_encoding_temperature use_focal_loss weight_loss_bbox weight_loss_giou weight_loss_vfl with_box_refine
    backbone backbone_kwargs use_timm_backbone use_pretrained_backbone""".split()
)
