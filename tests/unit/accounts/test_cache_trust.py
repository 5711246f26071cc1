"""What a cache's figure may be called."""

import pytest

from weighbridge import model


def test_only_what_is_held_to_a_live_class_is_exact() -> None:
    assert model("llama-3.2-1b").cache(seq=64).trust == "exact"
    assert model("mimo-7b-base").cache(seq=64).trust == "estimate"
    assert model("llama-3.2-1b").cache(seq=64, engine="vllm").trust == "bound"


def test_halves_of_a_batch_are_xlnet_s_alone() -> None:
    """With ``bi_data`` XLNet takes a batch in two halves, which an odd one has not; other types know no such key."""
    trusts = {
        (name, batch): model({"model_type": name, "bi_data": True}).cache(batch=batch, seq=8).trust
        for name in ("xlnet", "gpt2")
        for batch in (2, 3)
    }
    assert trusts == {("xlnet", 2): "exact", ("xlnet", 3): "estimate", ("gpt2", 2): "exact", ("gpt2", 3): "exact"}


def test_what_is_kept_of_each_token_is_a_memory_or_of_a_window() -> None:
    assert {layer.kind for layer in model({"model_type": "reformer"}).cache(seq=64).layers} == {"memory"}
    assert {layer.kind for layer in model({"model_type": "xlnet", "mem_len": 8}).cache(seq=64).layers} == {"window"}


@pytest.mark.parametrize(("kinds", "expected"), [(["local"], 6_080), (["lsh"], 6_720), (["local", "lsh"], 12_800)])
@pytest.mark.parametrize("class_name", ["ReformerModel", "ReformerModelWithLMHead"])
def test_reformer_keeps_what_went_into_its_layers_under_a_head_too(class_name: str, kinds: list[str], expected: int) -> None:
    """Bytes of ``past_buckets_states`` after a forward of live classes in float32: states of each layer, and buckets where tokens are hashed."""
    config = {
        "model_type": "reformer",
        "hidden_size": 19,
        "num_attention_heads": 1,
        "attention_head_size": 8,
        "attn_layers": kinds,
        "num_hashes": 1,
        "axial_pos_embds_dim": [7, 12],
        "axial_pos_shape": [8, 8],
        "num_buckets": 4,
        "lsh_attn_chunk_length": 16,
        "local_attn_chunk_length": 8,
        "is_decoder": True,
    }
    assert model(config, class_name).cache(batch=2, seq=40, dtype="float32").bytes == expected


def test_bamba_s_layers_have_no_window_whatever_its_config_says_beside_them() -> None:
    """Its class works out the kinds of its layers: live, 25 tokens of one layer of attention keep 2 × 2 × 25 × 16 numbers."""
    config = {
        "model_type": "bamba",
        "hidden_size": 24,
        "num_hidden_layers": 1,
        "num_attention_heads": 6,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "attn_layer_indices": [0],
        "mamba_n_heads": 2,
        "mamba_n_groups": 2,
        "mamba_expand": 1,
        "attention_chunk_size": 6,
    }
    assert model(config, "BambaForCausalLM").cache(batch=2, seq=25, dtype="float32").bytes == 6_400


QWEN4 = {
    "model_type": "qwen4_exp_text",
    "vocab_size": 51,
    "hidden_size": 8,
    "num_hidden_layers": 4,
    "head_dim": 16,
    "moe_intermediate_size": 20,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 24,
    "indexer_budget": 8,
    "indexer_compress_ratio": 2,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
TABLES = {
    "ple_layer_ids": [1, 3],
    "ngram_vocab_size_base": 50,
    "make_ngram_vocab_size_divisible_by": 8,
    "heads_per_ngram": 2,
    "ple_embed_dim": 16,
    "eos_token_id": 2,
}


@pytest.mark.parametrize(
    ("more", "batch", "seq", "expected"),
    [({}, 2, 7, 17_552), ({}, 1, 33, 18_552), ({"num_hidden_layers": 8}, 2, 7, 34_768), (TABLES, 2, 7, 22_224), (TABLES, 1, 33, 20_888)],
)
def test_an_indexer_keeps_its_keys_and_one_layer_the_positions(more: dict[str, object], batch: int, seq: int, expected: int) -> None:
    """Bytes of all tensors in ``past_key_values`` of the live Qwen4ExpTextModel (transformers 5.23.0, 2026-11-23)."""
    assert model({**QWEN4, **more}).cache(batch=batch, seq=seq, dtype="float32").bytes == expected
