"""What parts are called: one title for each kind, never for one model.

A kind or a name that is not listed here is shown by its own name; nothing breaks, it only reads less well.
"""

from __future__ import annotations

from weighbridge.core.messages import mark

SECTIONS: dict[str, str] = {
    "embedding": mark("Embeddings"),
    "table": mark("Embeddings"),
    "encoder": mark("Encoder"),
    "decoder": mark("Decoder"),
    "stack": mark("Transformer layers"),
    "layer": mark("Transformer layers"),
    "attention": mark("Multi-head self-attention"),
    "cross_attention": mark("Cross-attention"),
    "latent_attention": mark("Multi-head latent attention"),
    "feed_forward": mark("Feed-forward network"),
    "experts": mark("Mixture of experts"),
    "mixer": mark("Sequence mixer"),
    "convolution": mark("Convolution"),
    "norm": mark("Norms"),
    "pooler": mark("Pooler"),
    "head": mark("Output head"),
    "transform": mark("Transform before the output"),
    "group": mark("Group of layers"),
    "expert": mark("One expert"),
    "vision": mark("Vision tower"),
    "audio": mark("Audio tower"),
    "text": mark("Text tower"),
    "projector": mark("Projector"),
    "stage": mark("Stage"),
    "other": mark("Other parameters"),
    "maps": mark("Linear maps and other parameters"),
}
"""The titles of sections, by topic or by the kind of a part."""

STACKS = {"encoder": mark("Encoder layers"), "decoder": mark("Decoder layers")}
"""The titles of a stack that is all its encoder, or decoder, has."""

NAMED_SECTIONS = {("vision", "backbone"): mark("Backbone"), ("convolution", "downsampling_layer"): mark("Downsampling"),
                  **dict.fromkeys((("stage", "mid_block"), ("stage", "middle_block")), mark("Middle block"))}  # fmt: skip
"""The titles of sections whose own name says more than their kind or topic."""

_INTO, _BLOCKS = mark("Input projection"), mark("Blocks")
PARTS: dict[str, str] = {
    "downsample": mark("Downsampling"), "feature_extractor": mark("Feature extractor"), "feature_projection": mark("Feature projection"),
    "pos_conv_embed": mark("Convolutional position embedding"), **dict.fromkeys(("quantizer", "quantizers", "quantize"), mark("Quantizer")),
    **dict.fromkeys(("neck", "tracker_neck", "high_res_vision_neck"), mark("Neck")),
    "norm_out": mark("Norm before the output"), "patch_embeddings": mark("Patch embedding"), "hidden_states_norms": mark("Norms of the feature maps"),
    "fpn_blocks": mark("Feature pyramid, from the top down"), "pan_blocks": mark("Path aggregation, from the bottom up"),
    "down_blocks": mark("Downsampling blocks"), **dict.fromkeys(("up_blocks", "upscale_block"), mark("Upsampling blocks")), "qformer": mark("Q-Former"),
    "perceiver_resampler": mark("Perceiver resampler"), "adapter": mark("Adapter"), "vocoder": mark("Vocoder"), "flows": mark("Flows"),
    "semantic_residual_vector_quantizer": mark("Semantic quantizer"), "acoustic_residual_vector_quantizer": mark("Acoustic quantizer"),
    "lm_heads": mark("Vocabulary heads"), "final_projection": mark("Final projection"), "stages": mark("Stages"),
    **dict.fromkeys(("block", "blocks"), _BLOCKS), **dict.fromkeys(("conv", "convs", "conv_layers", "conv_blocks", "conv_stem"), mark("Convolutions")),
    **dict.fromkeys(("encoder_input_proj", "decoder_input_proj", "input_proj", "input_proj_vision", "input_projections"), _INTO),
    **dict.fromkeys(("subsampling", "subsampler", "subsample_conv_projection"), mark("Subsampling")), "upsample": mark("Upsampling"),
    "mask_downsampler": mark("Downsampling of the mask"), "res_units": mark("Residual units"), "wavenet": mark("WaveNet"), "hifi_gan": mark("HiFi-GAN"),
    **dict.fromkeys(("time_embed", "time_embedding"), mark("Time embedding")), "pos_embed": mark("Position embeddings"),
    **dict.fromkeys(("duration_predictor", "dur_predictor"), mark("Duration predictor")),
    "layers": mark("Stages"), "convolution": mark("Convolution"), "layer": mark("Convolutions"), "layer_norm": mark("Norms"),
    **dict.fromkeys(("adapter_1", "layer_1", "post_csp_pan", "bridge"), mark("Neck")), "channel_projector": mark("Channel projection"),
    "fusion_stage": mark("Fusion stage"), "refinement_layer": mark("Refinement layers"), "reduces": mark("Reductions"), "loss_weighting": mark("Loss weighting"),
    **dict.fromkeys(("fpn1", "fpn2"), mark("Feature pyramid")), "char_a3_module": mark("A³ module of characters"),
    "bpe_a3_module": mark("A³ module of BPE tokens"), "wp_a3_module": mark("A³ module of WordPiece tokens"),
    "resnet_head": mark("Stem"), **dict.fromkeys(("resnet_down", "embedder", "conv_dds", "post_conv_dds"), mark("Convolutions")),
    "post_flows": mark("Flows"), "semantic_adapter": mark("Semantic adapter"),
    "down_block": mark("Downsampling blocks"),
    "up_block": mark("Upsampling blocks"), "time_res_stack": mark("Residual blocks over time"),
    "prior_net": mark("Residual blocks before the transformer"), "post_net": mark("Residual blocks after the transformer"),
    "cross_modal_text_link_tower": mark("Links into the text layers"), "cross_modal_image_link_tower": mark("Links into the image layers"),
    "conditioning_encoder": mark("Conditioning encoder"), "adaln_single": mark("Adaptive layer norm"), "spatial_perceiver": mark("Spatial perceiver"),
    "altup_projections": mark("AltUp projections"), "altup_unembed_projections": mark("AltUp output projections"), "text_model": mark("Text model"),
    **dict.fromkeys(("decoder_class_head", "class_embed"), mark("Class head")), "decoder_order_head": mark("Reading-order head"),
    **dict.fromkeys(("single_stream_modulation", "double_stream_modulation_img", "double_stream_modulation_txt"), mark("Modulation")),
}  # fmt: skip
"""The titles of sections that no kind tells apart, by the names that several architectures give them."""

LINES: dict[str, str] = {
    "linear": mark("Linear map"),
    "embedding": mark("Embedding table"),
    "layer_norm": mark("Layer normalization"),
    "rms_norm": mark("RMS normalization"),
    "group_norm": mark("Group normalization"),
    "batch_norm": mark("Batch normalization"),
    "conv": mark("Convolution"),
    "experts": mark("All experts, fused"),
    "bias": mark("Bias"),
    "vector": mark("Learned vectors"),
    "weight_norm": mark("Weight, as lengths and directions"),
    "other": mark("Parameters"),
}
"""The titles of modules that own tensors, by their kind."""

_QUERY, _KEY, _VALUE, _OUTPUT = mark("query"), mark("key"), mark("value"), mark("output")
_QKV = mark("query, key and value in one")
UP, DOWN, _GATE = mark("up"), mark("down"), mark("gate")
_ATTENTION = {
    **dict.fromkeys(("query", "q_proj", "q", "q_lin", "wq", "to_q", "query_proj", "linear_q", "q_head"), _QUERY),
    **dict.fromkeys(("key", "k_proj", "k", "k_lin", "wk", "to_k", "key_proj", "linear_k", "k_head"), _KEY),
    **dict.fromkeys(("value", "v_proj", "v", "v_lin", "wv", "to_v", "value_proj", "linear_v", "v_head"), _VALUE),
    "query_global": mark("global query"),
    "key_global": mark("global key"),
    "value_global": mark("global value"),
    **dict.fromkeys(
        (
            "dense",
            "o_proj",
            "out_proj",
            "o",
            "out_lin",
            "wo",
            "c_proj",
            "proj",
            "to_out",
            "projection",
            "linear_out",
            "post_proj",
            "output_proj",
            "Wo",
        ),
        _OUTPUT,
    ),
    **dict.fromkeys(("qkv", "c_attn", "query_key_value", "qkv_proj", "Wqkv", "in_proj", "Wqkv_proj"), _QKV),
    **dict.fromkeys(("relative_attention_bias", "relative_position_bias_table", "relative_position_bias"), mark("relative position bias")),
    **dict.fromkeys(("q_norm", "query_norm", "q_layernorm"), mark("query norm")),
    **dict.fromkeys(("k_norm", "key_norm", "k_layernorm"), mark("key norm")),
    "distance_embedding": mark("embeddings of the distance"),
    "sinks": mark("attention sinks"),
    **dict.fromkeys(("r", "r_kernel", "relative_k_proj", "linear_pos"), mark("relative positions")),
    **dict.fromkeys(("r_w_bias", "bias_u", "pos_bias_u"), mark("bias of the query against contents")),
    **dict.fromkeys(("r_r_bias", "bias_v", "pos_bias_v"), mark("bias of the query against positions")),
    "r_s_bias": mark("bias of the query against segments"),
    "seg_embed": mark("segment embeddings"),
    "sampling_offsets": mark("sampling offsets"),
    "attention_weights": mark("attention weights"),
    "q_a_proj": mark("query, compressed"),
    "q_b_proj": mark("query, expanded"),
    **dict.fromkeys(("kv_a_proj_with_mqa", "kv_a_proj"), mark("key and value, compressed")),
    "kv_b_proj": mark("key and value, expanded"),
}
VOCABULARY_HEAD = mark("Vocabulary head")
WORD_EMBEDDINGS = mark("Word embeddings")
_MIX = mark("mix with the previous token")
_SHIFT = {
    **dict.fromkeys(("time_mix_key", "time_mix_value", "time_mix_receptance", "time_mix_gate", "x_k"), _MIX),
    "receptance": mark("receptance"),
}
"""RWKV's own words, in its two halves of a layer."""
_FEED_FORWARD = {
    **dict.fromkeys(("intermediate", "up_proj", "fc1", "c_fc", "wi", "wi_1", "lin1", "dense_h_to_4h", "fc_in", "w3", "linear1", "intermediate_dense", "ffn", "proj_up", "w_1", "fc_1", "dense1", "linear_fc1", "layer_1"), UP),
    **dict.fromkeys(("output", "down_proj", "fc2", "c_proj", "wo", "lin2", "dense_4h_to_h", "fc_out", "w2", "linear2", "output_dense", "proj_down", "w_out", "ffn_output", "fc_2", "dense2", "linear_fc2", "Wo", "layer_2"), DOWN),
    **dict.fromkeys(("gate_proj", "wi_0", "w1", "w_0", "proj_up_gate"), _GATE),
    **dict.fromkeys(("gate_up_proj", "up_gate_proj", "Wi"), mark("gate and up in one")),
    **_SHIFT, "key": _KEY, "value": _VALUE,
}  # fmt: skip
_LAYER_SCALES = "layer_scale_parameter layer_scale layer_scale1 layer_scale2 layer_scale_1 layer_scale_2 self_attn_layer_scale mlp_layer_scale ffn_gamma".split()
NAMES: dict[str, dict[str, str]] = {
    "attention": _ATTENTION,
    "cross_attention": _ATTENTION,
    "latent_attention": _ATTENTION,
    "feed_forward": _FEED_FORWARD,
    "experts": {**_FEED_FORWARD, **dict.fromkeys(("router", "gate"), mark("router")), "shared_expert_gate": mark("gate of the shared expert")},
    "embedding": {
        **dict.fromkeys(("word_embeddings", "embed_tokens", "wte", "shared", "tok_embeddings", "word_embedding", "token_embedding", "embed_in", "tokens_embed"), WORD_EMBEDDINGS),
        **dict.fromkeys(("position_embeddings", "wpe", "embed_positions", "position_embedding", "embed_position", "positions_embed", "pos_embed", "pos_embedding"), mark("Position embeddings")),
        **dict.fromkeys(("token_type_embeddings", "token_type_embedding"), mark("Token type embeddings")),
        **dict.fromkeys(("patch_embeddings", "patch_embedding", "patch_embed"), mark("Patch embedding")),
        **dict.fromkeys(("cls_token", "class_embedding"), mark("Class token")),
        **dict.fromkeys(("x_position_embeddings", "y_position_embeddings", "h_position_embeddings", "w_position_embeddings"), mark("Page-layout embeddings")),
        "distillation_token": mark("Distillation token"), "mask_token": mark("Mask token"), "register_tokens": mark("Register tokens"),
        "masked_spec_embed": mark("Vector for masked frames"), "mask_emb": mark("Vector for tokens to be predicted"),
        "rel_embeddings": mark("Relative position embeddings"), "query_position_embeddings": mark("Object queries"),
    },
    "head": {
        **dict.fromkeys(("lm_head", "decoder", "embed_out", "output_projection", "proj_out", "output_layer"), VOCABULARY_HEAD),
        **dict.fromkeys(("classifier", "score", "out_proj", "class_labels_classifier"), mark("Classifier")),
        "qa_outputs": mark("Start and end of the answer"),
        "seq_relationship": mark("Next-sentence prediction"),
        "transform": mark("Transform"),
    },
    "mixer": {
        **{name: title for name, title in _ATTENTION.items() if title in (_QUERY, _KEY, _VALUE)}, **_SHIFT,
        **dict.fromkeys(("o_proj", "output"), _OUTPUT), "gate": _GATE,
        "time_decay": mark("decay rates"), "time_first": mark("extra weight of the current token"), "time_faaaa": mark("extra weight of the current token"),
        "in_proj_qkvz": mark("query, key, value and output gate in one"), "in_proj_qkv": _QKV, "in_proj_ba": mark("update rates and decays"),
        "in_proj_z": mark("output gate"), "in_proj_b": mark("update rates"), "in_proj_a": mark("decays"), "lstm": "LSTM",
        "in_proj": mark("input projection"), "out_proj": mark("output projection"), "conv1d": mark("short convolution"),
        "rg_lru": mark("gated recurrence (RG-LRU)"), **dict.fromkeys(("x_proj", "x_proj_weight"), mark("step Δ (compressed), B and C")), **dict.fromkeys(("dt_proj", "dt_proj_weight"), mark("step Δ, expanded")),
        "dt_norm_weight": mark("norm of the step Δ"), "B_norm_weight": mark("norm of B"), "C_norm_weight": mark("norm of C"),
        **dict.fromkeys(("dt_bias", "dt_proj_bias"), mark("bias of the step Δ")),
        "A_log": mark("decay rates, as logarithms"), "D": mark("skip weights"),
    },
    "pooler": {"probe": mark("Learned query (probe)")},
    "other": {"masked_spec_embed": mark("Vector for masked frames"), "logit_scale": mark("Scale of the logits"), "logit_bias": mark("Bias of the logits"),
              "query_tokens": mark("Learned queries"), "pwconv1": UP, "pwconv2": DOWN, "pointwise_conv1": UP, "pointwise_conv2": DOWN,
              **dict.fromkeys(_LAYER_SCALES, mark("Layer scale"))},
    "norm": {
        **dict.fromkeys(_LAYER_SCALES, mark("Layer scale")),
        **dict.fromkeys(("q_norm", "query_norm", "q_layernorm"), mark("query norm")),
        **dict.fromkeys(("k_norm", "key_norm", "k_layernorm"), mark("key norm")),
    },
}  # fmt: skip
"""What a module's own name says, by topic: the same role has many spellings."""
_LAYER_SCALE, _QUERY_SCALE, _POSITION_SCALE = mark("Layer scale"), mark("scale of the query"), mark("scale of the position embeddings")
_WEIGHTING = mark("shape of the weighting function")
ANYWHERE: dict[str, str] = {
    **dict.fromkeys("lambda_1 lambda_2 gamma_1 gamma_2 gamma gamma1 gamma2 gamma3 ls1 ls2 vision_param text_param".split(), _LAYER_SCALE),
    **dict.fromkeys(("in_proj_weight", "in_proj_bias"), _QKV), "temperature": mark("Temperature of the logits"),
    **dict.fromkeys("logit_scale_a logit_scale_t text_audio_logit_scale text_video_logit_scale audio_video_logit_scale text_audio_video_logit_scale audio_plus_text_logit_scale video_plus_text_logit_scale".split(), mark("Scale of the logits")),
    **dict.fromkeys(("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"), mark("vectors that set the weight of the second attention map")),
    **dict.fromkeys("time_maa_x time_maa_w time_maa_k time_maa_v time_maa_r time_maa_g time_maa_w1 time_maa_w2 x_r x_w x_k x_v x_a x_g".split(), _MIX),
    **dict.fromkeys(("time_decay", "time_decay_w1", "time_decay_w2"), mark("decay rates")), **dict.fromkeys(("k_k", "k_a"), mark("scales of the key")),
    **dict.fromkeys(("time_faaaa", "r_k"), mark("extra weight of the current token")),
    **dict.fromkeys(("alpha_n", "alpha_p"), mark("slopes of the xIELU activation")), "log_k": mark("strength of the asinh compression"),
    **dict.fromkeys(("alpha_cross_attn", "alpha_dense", "high_res_vision_alpha"), _GATE), "pos_emb_alpha": _POSITION_SCALE, "pos_emb_alpha_char": _POSITION_SCALE,
    **dict.fromkeys(("input_residual", "post_attention_residual", "lambdas"), mark("weights of the residual connection")),
    **dict.fromkeys(("residual_scale", "hidden_states_scale", "input_hidden_states_scale"), mark("scales of the residual stream")),
    **dict.fromkeys(("residual_bias", "hidden_states_bias", "input_hidden_states_bias"), mark("shifts of the residual stream")),
    **dict.fromkeys(("text_projection", "visual_projection", "audio_projection", "prompts_visual_projection"), mark("Projection")), "bin_score": mark("score of unmatched points"),
    "correct_output_scale": mark("scale of the corrected output"), "gru_rel_pos_const": mark("constant of the gate over relative positions"),
    "log_scale": mark("scales of the flow, as logarithms"), "translate": mark("shifts of the flow"), "reg_scale": _WEIGHTING, "w_g": mark("weights of the global query"),
    "q_weight": mark("query norm"), "k_weight": mark("key norm"), **dict.fromkeys(("activation", "activation_fn"), mark("slope of PReLU")),
    "latent_scaling_factor": mark("scale of the latents"), "latent_bias_factor": mark("shift of the latents"),
    **dict.fromkeys(("snake1", "snake2"), mark("Snake activation")), "grn": mark("Global response normalization"),
    **dict.fromkeys(("per_dim_scale", "scaling"), _QUERY_SCALE), "logit_scale": mark("scale of the scores"),
    **dict.fromkeys(("gate_attn", "gate_ffn", "gate_attention", "gate_ffw", "cross_attn_attn_gate", "cross_attn_mlp_gate", "gate"), _GATE),
    "mm_input_projection_weight": _INTO, "ctc_head": mark("CTC head"), "codebooks_head": mark("Codebook heads"), "lab": mark("Learnable affine block"),
}  # fmt: skip
"""What the last name of a path says where the topic's own names say nothing."""
_SNAKE = {"alpha": mark("frequencies of the Snake activation"), "beta": mark("magnitudes of the Snake activation")}
"""What SnakeBeta learns (Lee et al., BigVGAN, 2023), below the ``act`` that it is."""
_INDEXER = {
    **dict.fromkeys(("wq_b", "q_proj", "q_b_proj"), mark("query of the indexer")),
    **dict.fromkeys(("wk", "k_proj"), mark("key of the indexer")),
    "weights_proj": mark("head weights of the indexer"),
    "q_norm": mark("query norm of the indexer"),
    "k_norm": mark("key norm of the indexer"),
}
"""The names inside a sparse attention's indexer, which scores earlier tokens and has queries and keys of its own."""


def section_title(topic: str, kind: str = "", name: str = "") -> str:
    """Return the title of a section, by its kind if that is known, else by its topic, else its name.

    >>> section_title("attention"), section_title("other", "block", "hyena")
    ('Multi-head self-attention', 'hyena')
    """
    for key in ((kind, name), (topic, name)):
        if key in NAMED_SECTIONS:
            return NAMED_SECTIONS[key]
    if kind in SECTIONS:
        return SECTIONS[kind]
    if topic in SECTIONS and topic != "other":
        return SECTIONS[topic]
    return PARTS.get(name, name) or SECTIONS["other"]


def line_title(kind: str, roles: tuple[str, ...]) -> str:
    """Return the title of a module that owns tensors of these roles.

    >>> line_title("linear", ("weight",)), line_title("scale", ("bias",))
    ('Linear map', 'Bias')
    """
    if kind in LINES:
        return LINES[kind]
    if set(roles) == {"bias"}:
        return LINES["bias"]
    if kind.startswith("conv"):
        return LINES["conv"]
    return LINES["vector"] if set(roles) == {"embedding"} else LINES["other"]


def role_name(topic: str, path: str) -> str:
    """Return what a module's path says of its role, innermost name first, or the empty string.

    >>> role_name("feed_forward", "intermediate.dense"), role_name("attention", "self.query")
    ('up', 'query')
    """
    pieces = path.split(".")
    names = _INDEXER if "indexer" in pieces else NAMES.get(topic, {})
    if found := next((names[piece] for piece in reversed(pieces) if piece in names), ""):
        return found
    return _SNAKE.get(pieces[-1], "") if pieces[-2:-1] == ["act"] else ANYWHERE.get(pieces[-1], "")


def topic_of_name(name: str) -> str:
    """Return the topic that a module's own name tells, for layers that hold their linear maps without a part around them.

    >>> topic_of_name("fc1"), topic_of_name("q_proj"), topic_of_name("dense")
    ('feed_forward', 'attention', '')
    """
    if name in ("dense", "output", "proj", "gate"):
        return ""
    return next((topic for topic in ("feed_forward", "attention") if name in NAMES[topic]), "")
