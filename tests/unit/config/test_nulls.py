"""An explicit null is what the reference takes it for, and older names of a key are read like the key."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import count, model
from weighbridge.config.bind import bind
from weighbridge.config.check import missing_fields
from weighbridge.config.fields import TIED
from weighbridge.core.errors import ConfigError


def test_a_null_switch_is_off_whatever_its_default() -> None:
    assert bind((TIED,), {}).tied
    assert not bind((TIED,), {"tie_word_embeddings": None}).tied
    assert missing_fields((TIED,), {"tie_word_embeddings": None}) == {}


@pytest.mark.parametrize(
    ("null", "said"),
    [
        ({"model_type": "bert", "add_pooling_layer": None}, {"model_type": "bert", "add_pooling_layer": False}),
        ({"model_type": "falcon", "multi_query": None}, {"model_type": "falcon", "multi_query": False}),
        ({"model_type": "ernie4_5", "head_dim": None}, {"model_type": "ernie4_5", "head_dim": 64}),
        ({"model_type": "internlm3", "head_dim": None}, {"model_type": "internlm3", "head_dim": 4096 // 32}),
        ({"model_type": "gemma4_text", "per_layer_config": None}, {"model_type": "gemma4_text", "per_layer_config": {}}),
        ({"model_type": "step3p5", "per_layer_config": None}, {"model_type": "step3p5", "per_layer_config": {}}),
        ({"model_type": "convnext", "num_hidden_layers": 4}, {"model_type": "convnext", "num_stages": 4}),
        ({"model_type": "patchtst", "hidden_size": 64}, {"model_type": "patchtst", "d_model": 64}),
        ({"model_type": "fsmt", "vocab_size": 64}, {"model_type": "fsmt", "tgt_vocab_size": 64}),
        ({"model_type": "glm4_moe_lite", "head_dim": 32}, {"model_type": "glm4_moe_lite", "qk_rope_head_dim": 32}),
    ],
)
def test_nulls_and_older_names_are_read_as_the_reference_does(null: dict[str, Any], said: dict[str, Any]) -> None:
    assert count(null) == count(said)


@pytest.mark.parametrize(
    ("model_type", "key", "tensor", "width"),
    [
        ("jamba", "head_dim", "layers.4.self_attn.q_proj.weight", 32 * 48),
        ("jina_embeddings_v3", "head_dim", "layers.0.self_attn.q_proj.weight", 16 * 48),
        ("moonshine", "head_dim", "decoder.layers.0.encoder_attn.q_proj.weight", 8 * 48),
        ("sew-d", "attention_head_size", "encoder.encoder.layer.0.attention.self.query_proj.weight", 12 * 48),
    ],
)
def test_a_width_of_heads_that_no_config_class_names_is_read(model_type: str, key: str, tensor: str, width: int) -> None:
    rows = {row.name: row.shape for row in model({"model_type": model_type, key: 48}).tensors()}
    assert rows[tensor][0] == width


def test_a_null_puts_off_what_other_keys_put_on() -> None:
    gated = {"model_type": "t5", "feed_forward_proj": "gated-gelu"}
    assert count({**gated, "is_gated_act": None}) == count({"model_type": "t5"})
    assert count({**gated, "is_gated_act": True}) == count(gated)
    assert count({"model_type": "t5", "is_gated_act": None}) == count({"model_type": "t5"})


def test_layers_with_sizes_of_their_own_are_refused() -> None:
    said = {"0": {"intermediate_size": 24}}
    with pytest.raises(
        ConfigError, match=r"^text_config.per_layer_config: layers that each have sizes of their own are not described for this type$"
    ):
        count({"model_type": "llava", "text_config": {"model_type": "llama", "per_layer_config": said}})
    assert count({"model_type": "llama", "per_layer_config": {}}) == count({"model_type": "llama"})


def test_a_neck_has_as_many_widths_as_its_backbone_has_stages() -> None:
    stages = {"blocks_per_stage": [1, 2, 3], "embed_dim_per_stage": [8, 16, 32], "num_attention_heads_per_stage": [1, 2, 4]}
    backbone = {"model_type": "sam2_hiera_det_model", "window_size_per_stage": [8, 4, 14], **stages}
    with pytest.raises(ConfigError, match="4 widths, and the backbone has 3 stages"):
        count({"model_type": "sam2_vision_model", "backbone_config": backbone, "backbone_channel_list": None})
