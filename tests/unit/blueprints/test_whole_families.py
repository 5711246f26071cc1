"""Whole models whose parts were described before they were: what each has that no part tells."""

import pytest

import weighbridge
from weighbridge.core.errors import ConfigError

WORDS = {"<|extra_200|>": 7, "<image>": 5}


def test_emu3_has_its_tokenizer_of_images_and_needs_the_words_of_codes() -> None:
    whole = weighbridge.model({"model_type": "emu3", "vocabulary_map": WORDS}, "Emu3ForConditionalGeneration")
    parts = weighbridge.model({"model_type": "emu3_vqgan"}).count().unique
    text = weighbridge.model({"model_type": "emu3_text_model"}, "Emu3ForCausalLM").count().unique
    assert parts == 270_740_287 and whole.count().unique == parts + text
    with pytest.raises(ConfigError, match="vocabulary_map"):
        weighbridge.model({"model_type": "emu3"})
    with pytest.raises(ConfigError, match="cannot be normed in 32 groups"):
        weighbridge.model({"model_type": "emu3_vqgan", "base_channels": 20})


def test_perception_encoders_share_their_towers_unless_nothing_is_tied() -> None:
    few = {"num_hidden_layers": 1}
    towers: dict[str, dict[str, object]] = {"audio": dict(few), "video": {**few, "vision_config": {"model_args": {"depth": 1}}}}
    both: dict[str, object] = {**few, **{f"{kind}_config": inner for kind, inner in towers.items()}}
    raw = {"model_type": "pe_audio_video", "text_config": few, "audio_video_config": both}
    tied, loose = (weighbridge.model(raw | {"tie_word_embeddings": answer}) for answer in (True, False))
    text = weighbridge.model({"model_type": "modernbert", "hidden_size": 1024, "intermediate_size": 2624, "num_attention_heads": 16, **few})
    shared = [
        2 * text.count().unique,
        *(weighbridge.model({"model_type": f"pe_{kind}_encoder", **towers[kind]}).count().unique for kind in towers),
    ]
    assert loose.count().unique - tied.count().unique == sum(shared)
    assert len(tied.tensors()) == len(loose.tensors())


PLAIN = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0, "num_hidden_layers": 4}


def test_drafting_models_of_gemma_make_no_keys() -> None:
    found = weighbridge.model({"model_type": "gemma4_assistant", "text_config": PLAIN, "use_ordered_embeddings": True})
    names = {row.name: row for row in found.tensors()}
    assert not any("k_proj" in name or "v_proj" in name for name in names)
    assert names["lm_head.weight"].tied_to == "model.embed_tokens.weight" and names["masked_embedding.token_ordering"].role == "buffer"
    assert any("refuses a model all of whose layers reuse keys" in note for note in found.notes)


@pytest.mark.parametrize(
    ("key", "value"), [("hidden_size_per_layer_input", 256), ("use_double_wide_mlp", True), ("num_kv_shared_layers", 2)]
)
def test_drafting_models_of_gemma_are_plain(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        weighbridge.model({"model_type": "gemma4_assistant", "text_config": PLAIN | {key: value}})


def test_a_unified_drafting_model_may_make_some_keys() -> None:
    text = {"num_hidden_layers": 4, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2}
    names = [row.name for row in weighbridge.model({"model_type": "gemma4_unified_assistant", "text_config": text}).tensors()]
    assert sum(name.endswith("k_proj.weight") for name in names) == 2


def test_bigvgan_has_blocks_for_rates_that_no_kernel_is_given_for() -> None:
    found = weighbridge.model({"model_type": "qwen2_5_omni_bigvgan", "upsample_kernel_sizes": [11], "upsample_initial_channel": 64})
    names = {row.name for row in found.tensors()}
    assert "ups.0.0.weight" in names and "ups.1.0.weight" not in names and "resblocks.17.convs1.0.weight" in names


def test_older_rotary_keys_of_cosmos_are_read() -> None:
    raw = {"model_type": "cosmos3_edge_text", "head_dim": 8, "rope_parameters": None, "rope_scaling": {"mrope_section": [2, 1, 1]}}
    assert weighbridge.model(raw).count().unique


def test_an_argument_in_a_file_is_said_to_be_one() -> None:
    notes = weighbridge.model({"model_type": "bert", "add_pooling_layer": False}).notes
    assert any("an argument of BertModel" in note for note in notes)
    assert not any(
        "an argument of" in note for note in weighbridge.model({"model_type": "bert"}, overrides={"add_pooling_layer": False}).notes
    )


def test_fast_vlm_has_timms_fastvit_folded_or_in_branches() -> None:
    assert weighbridge.model({"model_type": "fast_vlm"}, "FastVlmModel").count().unique == 7_217_424_992
    tower = {"architecture": "fastvit_mci3", "hidden_size": 3072}
    names = [row.name for row in weighbridge.model({"model_type": "fast_vlm", "vision_config": tower}).tensors()]
    assert "vision_tower.timm_model.stem.0.conv_kxk.0.conv.weight" in names
    with pytest.raises(ConfigError, match="hidden_size"):
        weighbridge.model({"model_type": "fast_vlm", "vision_config": {"architecture": "fastvit_mci3"}})
    with pytest.raises(ConfigError, match="vision_feature_layer"):
        weighbridge.model({"model_type": "fast_vlm", "vision_feature_layer": -2})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("embed_dims", [64, 96, 256, 512]),
        ("token_mixers", ["pool"] * 4),
        ("token_mixers", ["repmixer"]),
        ("embed_dims", [48, 96, 192, 384]),
    ],
)
def test_fastvit_refuses_what_does_not_fit(key: str, value: object) -> None:
    arguments = {"token_mixers": ["attention"] * 4} if value == [48, 96, 192, 384] else {}
    with pytest.raises(ConfigError, match=key):
        weighbridge.model({"architecture": "fastvit_t8", "num_features": 1, "model_args": {**arguments, key: value}})


PUBLISHED = {"architecture": "repvit_m1", "model_args": {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3]}}


def test_edgetam_has_repvit_where_its_files_say_so_and_resnet_where_nothing_does() -> None:
    raw = {
        "model_type": "edgetam_video",
        "vision_config": {"model_type": "edgetam_vision_model", "backbone_config": {"model_type": "timm_wrapper", **PUBLISHED}},
    }
    assert weighbridge.model(raw, "EdgeTamVideoModel").count().unique == 13_912_306
    assert weighbridge.model({"model_type": "edgetam_vision_model"}).count().unique == 8_728_640


@pytest.mark.parametrize("indices", [[4], [], "all", [True]])
def test_maps_are_asked_for_by_their_indices(indices: object) -> None:
    network = {**PUBLISHED, "model_args": {"features_only": True, "out_indices": indices}}
    with pytest.raises(ConfigError, match="out_indices"):
        weighbridge.model({"model_type": "timm_wrapper", **network})
    with pytest.raises(ConfigError, match="features_only"):
        weighbridge.model({"model_type": "timm_wrapper", **PUBLISHED}, "TimmWrapperForImageClassification")


@pytest.mark.parametrize("sizes", [[], "all", [[4, 4, 4]], [True], [[0, 4]]])
def test_edgetams_largest_map_has_two_sides(sizes: object) -> None:
    with pytest.raises(ConfigError, match="backbone_feature_sizes"):
        weighbridge.model({"model_type": "edgetam_vision_model", "backbone_feature_sizes": sizes})


@pytest.mark.parametrize(
    ("raw", "class_name", "key"),
    [
        ({"model_type": "distilbert", "num_labels": 3}, "DistilBertForQuestionAnswering", "num_labels"),
        ({"model_type": "xlnet", "d_head": 32}, "XLNetModel", "d_head"),
        ({"model_type": "dbrx", "ffn_config": {"ffn_act_fn": "silu"}, "attn_config": {"rope_theta": 10000}}, "DbrxModel", "ffn_act_fn"),
    ],
)
def test_what_the_class_refuses_is_refused(raw: dict[str, object], class_name: str, key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        weighbridge.model(raw, class_name)


@pytest.mark.parametrize(("name", "total"), [("fastvit_mci1", 84_969_729), ("fastvit_mci3", 248_885_953)])
def test_mobileclips_image_towers_are_timms(name: str, total: int) -> None:
    wide = name == "fastvit_mci3"  # MobileCLIP2-S3, beside MobileCLIP-S1
    text = {"context_length": 77, "vocab_size": 49408, "width": 768 if wide else 512, "heads": 12 if wide else 8, "layers": 12}
    tower = {"timm_model_name": name, "timm_pool": "avg", "timm_proj": None, "image_size": 256}
    raw = {"embed_dim": 768 if wide else 512, "vision_cfg": tower, "text_cfg": {**text, "no_causal_mask": not wide}, "custom_text": True}
    assert weighbridge.model(raw).count().unique == total


def test_a_drafting_model_may_state_its_layers_one_by_one() -> None:
    text = {
        **PLAIN,
        "num_kv_shared_layers": 4,
        "per_layer_config": {"3": {"head_dim": 64}},
        "layer_types": ["sliding_attention"] * 3 + ["full_attention"],
    }
    names = {row.name: row.shape for row in weighbridge.model({"model_type": "gemma4_assistant", "text_config": text}).tensors()}
    assert names["model.layers.3.self_attn.q_norm.weight"] == (64,)


def test_labels_of_timms_configs_are_as_many_as_they_say_whatever_names_there_are() -> None:
    raw = {"model_type": "timm_wrapper", "architecture": "resnet18", "num_classes": 9, "label_names": ["a", "b"], "num_labels": 3}
    rows = {row.name: row.shape for row in weighbridge.model(raw, "TimmWrapperForImageClassification").tensors()}
    assert rows["timm_model.fc.weight"] == (9, 512)


def test_beits_segmentation_takes_its_four_layers_by_name() -> None:
    """BeitForSemanticSegmentation of transformers 5.23.0, built on the meta device of ZoeDepth's default backbone and of a small one."""
    assert weighbridge.model({"model_type": "zoedepth"}, "BeitForSemanticSegmentation").count().unique == 439_533_060
    small = {"model_type": "beit", "num_hidden_layers": 4, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
    assert weighbridge.model(small, "BeitForSemanticSegmentation").count().unique == 105_647_876
    with pytest.raises(ConfigError, match="segmentation needs four layers"):
        weighbridge.model({**small, "out_features": ["stage1", "stage2"]}, "BeitForSemanticSegmentation")
