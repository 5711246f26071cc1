"""The names of published files, as they lie on the Hub, and such files verified."""

from __future__ import annotations

import pytest

import weighbridge
from weighbridge.core.errors import UsageError
from weighbridge.readers import Listing, StoredTensor
from weighbridge.verification import save_conversions as steps_back
from weighbridge.verification.verify import verify

PUBLISHED = {
    ("llava", "LlavaForConditionalGeneration"): (
        "language_model.lm_head.weight",
        "language_model.model.embed_tokens.weight",
        "multi_modal_projector.linear_1.weight",
        "vision_tower.vision_model.embeddings.patch_embedding.weight",
    ),
    ("paligemma", "PaliGemmaForConditionalGeneration"): (
        "language_model.model.layers.0.mlp.down_proj.weight",
        "vision_tower.vision_model.post_layernorm.bias",
    ),
    ("qwen2_vl", "Qwen2VLForConditionalGeneration"): (
        "lm_head.weight",
        "model.layers.0.self_attn.q_proj.bias",
        "visual.merger.ln_q.weight",
    ),
    ("mllama", "MllamaForConditionalGeneration"): (
        "language_model.model.layers.3.cross_attn.q_proj.weight",
        "vision_model.class_embedding",
        "multi_modal_projector.weight",
    ),
    ("clip", "CLIPModel"): ("text_model.embeddings.token_embedding.weight", "vision_model.embeddings.class_embedding", "logit_scale"),
    ("clip_text_model", "CLIPTextModel"): ("text_model.embeddings.token_embedding.weight",),
    ("siglip_vision_model", "SiglipVisionModel"): ("vision_model.embeddings.patch_embedding.weight",),
    ("vit", "ViTForImageClassification"): (
        "vit.encoder.layer.0.attention.attention.query.weight",
        "vit.encoder.layer.0.intermediate.dense.bias",
    ),
    ("qwen3_moe", "Qwen3MoeForCausalLM"): ("model.layers.0.mlp.experts.127.gate_proj.weight",),
    ("luke", "LukeForMaskedLM"): ("lm_head.decoder.bias",),
}


def names(model: weighbridge.Model) -> list[str]:
    return [row.name for row in model.tensors("checkpoint") if row.tied_to is None]


@pytest.mark.parametrize(("model_type", "class_name"), PUBLISHED)
def test_names_are_those_of_the_published_file(model_type: str, class_name: str) -> None:
    ours = names(weighbridge.model({"model_type": model_type}, class_name))
    assert not set(PUBLISHED[model_type, class_name]) - set(ours)
    assert len(ours) == len(set(ours))


@pytest.mark.parametrize(("model_type", "class_name"), PUBLISHED)
def test_the_published_file_verifies_whole(model_type: str, class_name: str) -> None:
    model = weighbridge.model({"model_type": model_type}, class_name)
    rows = [row for row in model.tensors("checkpoint") if row.tied_to is None]
    listing = Listing("saved", tuple(StoredTensor(row.name, "F32", row.shape, 0, role=row.role) for row in rows))  # type: ignore[arg-type]
    found = verify(model, listing)
    assert found.holds
    assert found.residual == 0
    assert found.matched == len([row for row in model.tensors() if row.tied_to is None and row.role != "buffer"])
    assert not verify(model, listing._replace(tensors=listing.tensors[1:])).holds


def test_a_tower_takes_the_names_of_the_type_that_the_config_says() -> None:
    config = {"model_type": "llava", "text_config": {"model_type": "qwen3_moe", "num_experts": 4, "num_hidden_layers": 1}}
    found = names(weighbridge.model(config, "LlavaForConditionalGeneration"))
    assert "language_model.model.layers.0.mlp.experts.3.up_proj.weight" in found


def test_what_is_tied_names_what_the_file_has() -> None:
    rows = {row.name: row for row in weighbridge.model("bert-base-uncased", "BertForMaskedLM").tensors("checkpoint")}
    assert rows["cls.predictions.decoder.weight"].tied_to == "bert.embeddings.word_embeddings.weight"
    rows = {row.name: row for row in weighbridge.model({"model_type": "luke"}, "LukeForMaskedLM").tensors("checkpoint")}
    assert (rows["lm_head.bias"].tied_to, rows["lm_head.decoder.bias"].tied_to) == ("lm_head.decoder.bias", None)


def test_tables_that_are_not_saved_are_left_out() -> None:
    assert "model.encoder.embed_positions.weight" not in names(weighbridge.model({"model_type": "marian"}, "MarianMTModel"))


def test_a_remote_class_has_the_names_of_its_own_files() -> None:
    model = weighbridge.model("baichuan-7b")
    assert model.tensors("checkpoint") == model.tensors()


def test_a_type_whose_files_are_not_recorded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_back, "_types", lambda: frozenset({"llava"}))
    with pytest.raises(UsageError, match="files of clip_vision_model"):
        weighbridge.model({"model_type": "llava"}, "LlavaForConditionalGeneration").tensors("checkpoint")
