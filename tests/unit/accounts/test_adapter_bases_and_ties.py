"""What an adapter does to ties, experts, vocabularies and modules of the base that are trained with it."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.core.errors import UsageError

LLAMA = {
    "model_type": "llama",
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 50,
}


def test_a_module_inside_a_copied_one_is_copied_once_more_and_trained_there() -> None:
    """Held to PEFT 0.21.2: the outer copy keeps its part frozen, the file holds each tensor once."""
    base = model(LLAMA, "LlamaForCausalLM")
    mlp, both = (base.adapters({"modules_to_save": names, "target_modules": ["q_proj"]}) for names in (["mlp"], ["mlp", "up_proj"]))
    assert (both.trainable, both.saved) == (mlp.trainable, mlp.saved)
    assert both.total - mlp.total == sum(row.count for row in base.tensors() if row.name.endswith("up_proj.weight"))


TIED = {**LLAMA, "tie_word_embeddings": True}


def test_rows_of_a_table_beside_an_adapted_head_that_is_tied_to_it() -> None:
    """Held to PEFT 0.21.2: the head's adapter stays, and the rows stand at the table alone."""
    found = model(
        {**TIED, "hidden_size": 24, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 50}, "LlamaForCausalLM"
    ).adapters({"r": 8, "target_modules": ["q_proj", "lm_head"], "trainable_token_indices": [1]})
    assert (found.trainable, found.saved) == (1384, 1384)


@pytest.mark.parametrize(
    ("config", "class_name", "targets", "expected"),
    [
        ({"model_type": "gpt2", "n_embd": 24, "n_layer": 2, "n_head": 4}, "GPT2LMHeadModel", ["lm_head", "wte"], (2, 3)),
        ({"model_type": "opt", "hidden_size": 24, "word_embed_proj_dim": 24, "ffn_dim": 20, "num_hidden_layers": 2, "num_attention_heads": 2}, "OPTForCausalLM", ["lm_head", "embed_tokens"], (2, 3)),
        ({"model_type": "t5", "d_model": 24, "d_ff": 20, "num_layers": 1, "num_heads": 2, "d_kv": 4, "tie_word_embeddings": False}, "T5ForConditionalGeneration", ["shared", "embed_tokens"], (3, 6)),
        ({"model_type": "bart", "d_model": 24, "encoder_attention_heads": 2, "decoder_attention_heads": 2}, "BartForConditionalGeneration", ["shared", "lm_head", "embed_tokens"], (4, 7)),
        ({"model_type": "prophetnet", "hidden_size": 24, "num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2}, "ProphetNetModel", ["word_embeddings"], (3, 5)),
    ],
)  # fmt: skip
def test_rows_of_tables_that_are_tied_and_named_as_well(
    config: dict[str, Any], class_name: str, targets: list[str], expected: tuple[int, int]
) -> None:
    """Held to PEFT 0.21.2: each table that is named trains its own rows, and each that is tied to the first saves them once more."""
    found = model(config, class_name).adapters({"peft_type": "TRAINABLE_TOKENS", "token_indices": [1, 2], "target_modules": targets})
    assert (found.trainable, found.saved) == (expected[0] * 2 * 24, expected[1] * 2 * 24)


def test_a_base_in_sixteen_bits_keeps_the_adapter_in_thirty_two() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    plain = base.adapters("lora:r=4")
    wide = base.adapters("lora:r=4", dtype="bfloat16")
    narrow = base.adapters("lora:r=4", dtype="bfloat16", autocast=False)
    assert plain.saved_bytes == wide.saved_bytes == 4 * plain.saved == 2 * narrow.saved_bytes


def test_a_resized_vocabulary_saves_its_tables() -> None:
    base = model(LLAMA, "LlamaForCausalLM")
    plain, resized = base.adapters("lora:r=4"), base.adapters("lora:r=4", resized=True)
    assert resized.saved - plain.saved == 2 * 50 * 24
    assert resized.trainable == plain.trainable


@pytest.mark.parametrize("tied", [False, True])
def test_a_prompt_for_a_resized_vocabulary_saves_its_tables_too(tied: bool) -> None:
    """``get_peft_model_state_dict(model, save_embedding_layers=True)`` of PEFT 0.21.2 has 72 + 2 × 50 × 24 elements, tied or not."""
    base = model({**LLAMA, "tie_word_embeddings": tied}, "LlamaForCausalLM")
    prompt = {"peft_type": "PROMPT_TUNING", "task_type": "CAUSAL_LM", "num_virtual_tokens": 3}
    assert (base.adapters(prompt).saved, base.adapters(prompt, resized=True).saved) == (72, 2472)


def test_parts_of_a_model_are_trained() -> None:
    """BERT-base: 8,448 biases and shifts a layer; Houlsby's 64-wide bottlenecks add 2 x (2 x 768 x 64 + 768 + 64) a layer."""
    base = model("bert-base-uncased")
    whole = base.count().unique
    bitfit = base.adapters("bitfit")
    assert (bitfit.trainable, bitfit.total) == (12 * 8448 + 768 + 768, whole)
    houlsby = base.adapters("houlsby:bottleneck=64,norms=false")
    assert houlsby.trainable == houlsby.saved == 12 * 2 * (2 * 768 * 64 + 768 + 64)
    assert base.adapters("houlsby").trainable == houlsby.trainable + 25 * 2 * 768
    last = base.adapters({"peft_type": "FREEZE", "train": ["layer.11", "pooler"]})
    rest = base.adapters({"peft_type": "FREEZE", "freeze": ["layer.11", "pooler"]})
    assert last.trainable == 7_087_872 + 590_592
    assert last.trainable + rest.trainable == whole
    head = model({"model_type": "bert"}, "BertForSequenceClassification").adapters(
        {"peft_type": "BITFIT", "modules_to_save": ["classifier"]}
    )
    assert head.trainable == bitfit.trainable + 2 * 769
    with pytest.raises(UsageError, match="no module of the base model is named nothing"):
        base.adapters({"peft_type": "FREEZE", "train": ["nothing"]})


@pytest.mark.parametrize("pattern", [r".*\.experts\.w2", r"model\.layers\.0\..*w2"])
def test_a_pattern_means_experts_by_the_names_of_published_files(pattern: str) -> None:
    """Mixtral's files hold each expert's w2; the class holds all of them in one parameter, which is adapted."""
    config = {**LLAMA, "model_type": "mixtral", "num_key_value_heads": 2, "num_local_experts": 3, "num_hidden_layers": 1}
    base = model(config, "MixtralForCausalLM")
    found = base.adapters({"peft_type": "LORA", "r": 2, "target_modules": pattern})
    assert [site.path for site, _ in found.sites] == ["model.layers.0.mlp.experts.down_proj"]
    assert found.trainable == 2 * 3 * (24 + 40)


def test_a_module_to_save_is_not_also_the_adapters_own() -> None:
    """In peft 0.21.2 DeLoRA's norms are saved twice more where ``norm`` is named; its other containers, and LoRA's, raise a TypeError."""
    llama = model({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 32})
    delora = {"peft_type": "DELORA", "target_modules": ["v_proj"]}
    plain, norm = llama.adapters(delora), llama.adapters({**delora, "modules_to_save": ["norm"]})
    assert norm.saved - plain.saved == 3 * 16 + 2 * 16, "the copies of three norms, and twice the norms of the columns"
    with pytest.raises(UsageError, match=r"^modules_to_save: dropout is the end of lora_dropout too, which the adapter itself adds; "):
        llama.adapters({"peft_type": "LORA", "target_modules": ["v_proj"], "modules_to_save": ["dropout"]})


def test_what_is_frozen_is_frozen_under_all_its_names() -> None:
    """Held to live models with requires_grad False on the modules that are named (transformers 5.23.0)."""
    llama = model(
        {
            "model_type": "llama",
            "hidden_size": 16,
            "num_attention_heads": 2,
            "num_hidden_layers": 1,
            "intermediate_size": 24,
            "vocab_size": 32,
            "tie_word_embeddings": True,
        },
        "LlamaForCausalLM",
    )
    assert llama.adapters({"peft_type": "FREEZE", "freeze": ["embed_tokens", "layers"]}).trainable == 16
    assert llama.adapters({"peft_type": "FREEZE", "train": ["lm_head"]}).trainable == 32 * 16
    whisper = model("whisper-tiny")
    assert whisper.adapters({"peft_type": "FREEZE", "freeze": ["decoder"]}).trainable == 7_632_384, "without the encoder's sinusoids"
