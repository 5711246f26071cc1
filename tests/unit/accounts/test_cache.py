"""Caches: what ours says is kept, held to what live classes kept, recorded, and to what engines print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import UsageError, flops_per_token, kv_bytes, model

RECORDED = Path(__file__).parents[2] / "costs" / "caches.jsonl"
CASES: list[list[Any]] = [json.loads(line) for line in RECORDED.read_text().splitlines()[1:]]
TYPES = sorted({case[0] for case in CASES})
assert len(TYPES) > 200
MIB = 2**20


@pytest.mark.parametrize("model_type", TYPES)
def test_a_cache_is_what_the_reference_kept(model_type: str) -> None:
    for _, class_name, config, lengths, how, expected in (case for case in CASES if case[0] == model_type):
        found = model(config, class_name).cache(**lengths, **how)
        assert found.bytes == expected == sum(layer.bytes for layer in found.layers), (class_name, config, lengths, how)
        assert found.trust == "exact"


@pytest.mark.parametrize(
    ("source", "seq", "mebibytes"),
    [
        ("llama-3.2-1b", 1024, 32),
        ("llama-3.2-1b", 4096, 128),
        ("qwen2.5-1.5b", 32768, 896),
        ("deepseek-v3", 32768, 2196),
        ("qwen3-8b", 131072, 18432),
    ],
)
def test_engines_print_the_same(source: str, seq: int, mebibytes: int) -> None:
    assert model(source).cache(seq=seq, dtype="float16", engine="llama.cpp").bytes == mebibytes * MIB


def test_llama_cpp_keeps_states_in_float32_and_one_token_less_of_convolutions() -> None:
    found = model("mamba-1.4b").cache(seq=512, dtype="float16", engine="llama.cpp")
    assert found.bytes * 100 == 1425 * MIB  # 14.25 MiB, as its log prints


def test_a_token_more_adds_what_is_said_per_token() -> None:
    gemma = model({"model_type": "gemma2", "sliding_window": 100, "num_hidden_layers": 4})
    short, full, longer = (gemma.cache(batch=3, seq=seq) for seq in (50, 2000, 2001))
    assert longer.bytes - full.bytes == full.per_token
    assert short.fixed == 0 and full.fixed == full.bytes - 2000 * full.per_token > 0


def test_an_encoder_keeps_nothing() -> None:
    assert model("bert-base-uncased").cache().bytes == 0


def test_a_window_of_one_is_cut_as_the_reference_cuts_it() -> None:
    mistral = {"model_type": "mistral", "num_hidden_layers": 1}
    assert model(mistral | {"sliding_window": 1}).cache(seq=9).bytes == model(mistral | {"sliding_window": None}).cache(seq=9).bytes


def test_engines_round_up() -> None:
    llama = model("llama-3.2-1b")
    exact, blocks, cells = (llama.cache(seq=1000, engine=engine).bytes for engine in ("reference", "vllm", "llama.cpp"))
    assert exact * 1008 == blocks * 1000 and exact * 1024 == cells * 1000


@pytest.mark.parametrize(
    ("dtype", "bytes_of_a_row"),
    [("q8_0", 34), ("q5_1", 24), ("q5_0", 22), ("q4_1", 20), ("q4_0", 18), ("iq4_nl", 18), ("float16", 64)],
)
def test_llama_cpp_keeps_blocks_of_32(dtype: str, bytes_of_a_row: int) -> None:
    qwen = model("qwen3-8b")
    whole, keys = (qwen.cache(seq=256, dtype=said, engine="llama.cpp").bytes for said in (dtype, f"{dtype}+float16"))
    assert whole == 36 * 256 * 2 * 1024 // 32 * bytes_of_a_row
    assert keys == 36 * 256 * (1024 // 32 * bytes_of_a_row + 2 * 1024)


def test_a_latent_vector_is_a_key_without_a_value() -> None:
    # llama.cpp's log: 2,470.50 MiB for 131,072 cells of 61 layers in q4_0
    assert model("deepseek-v3").cache(seq=131_072, dtype="q4_0+float16", engine="llama.cpp").bytes == 2470.5 * MIB


def test_the_reference_computes_in_no_type_of_8_bits() -> None:
    assert [model("gpt2").cache(dtype=dtype).trust for dtype in ("float16", "int8", "float8")] == ["exact", "estimate", "estimate"]


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"sliding_window": 0}, "model.layers.self_attn: a window of 0 tokens; expected one or more"),
        ({"sliding_window": -5}, "model.layers.self_attn: a window of -5 tokens; expected one or more"),
        (
            {"num_key_value_heads": 3},
            "LlamaForCausalLM: 32 attention heads cannot share 3 heads of keys and values evenly, so its forward pass fails",
        ),
    ],
)
def test_what_no_forward_pass_keeps_is_refused(config: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=f"^{why}$"):
        model("llama-3-8b", overrides=config).cache()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"dtype": "q8_0"}, "dtype: q8_0 is a type of the engine llama.cpp; found reference"),
        ({"dtype": "q8_0+q4_0", "engine": "vllm"}, "dtype: one type for keys and another for values is a setting of the engine llama.cpp"),
        ({"batch": 0}, "batch: expected a whole number from 1 to 999,999,999, found 0"),
        ({"engine": "tgi"}, "engine: expected one of reference, llama.cpp, vllm, sglang, found 'tgi'"),
        ({"dtype": "int4"}, "dtype: keys and values are not kept in int4"),
    ],
)
def test_words_and_numbers_are_refused_in_one_line(said: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match="^" + why):
        model("llama-3.2-1b").cache(**said)


def test_what_is_not_described_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"^VoxtralRealtimeModel: beside its text it keeps what its encoder heard"):
        model({"model_type": "voxtral_realtime"}, "VoxtralRealtimeModel").cache()


def test_xlstm_keeps_a_matrix_a_vector_and_a_number_a_head() -> None:
    # measured with transformers 5.23.0: (2, 4, 16, 16), (2, 4, 16) and (2, 4, 1) in each of two layers; it runs where keys are as wide as values
    config = {"model_type": "xlstm", "hidden_size": 64, "num_heads": 4, "num_blocks": 2, "qk_dim_factor": 1.0, "vocab_size": 50}
    assert model(config).cache(batch=2, seq=23, dtype="float32").bytes == 2 * 2 * 4 * (16 * 16 + 16 + 1) * 4


def test_a_window_in_a_config_limits_the_cache_of_any_model() -> None:
    config = {"model_type": "llama", "num_hidden_layers": 4, "vocab_size": 64}
    plain, limited = (model(config | more).cache(seq=100).bytes for more in ({}, {"sliding_window": 11}))
    half = model(config | {"sliding_window": 11, "layer_types": ["sliding_attention", "full_attention"] * 2}).cache(seq=100).bytes
    assert limited * 10 == plain and half * 2 == plain + limited
    assert model(config | {"sliding_window": 11}).cache(seq=112, engine="vllm").bytes == model(config).cache(seq=112, engine="vllm").bytes


def test_the_newer_falcon_is_kept_with_a_head_of_keys_for_each_query_head() -> None:
    config = {
        "model_type": "falcon",
        "hidden_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_kv_heads": 1,
        "new_decoder_architecture": True,
    }
    # measured with transformers 5.23.0: (2, 4, 5, 12) keys and values in each of three layers
    assert model(config).cache(batch=2, seq=5, dtype="float32").bytes == 3 * 2 * 2 * 4 * 5 * 12 * 4
    assert model(config).cache(batch=2, seq=16, engine="vllm").bytes * 4 == model(config).cache(batch=2, seq=16).bytes


def test_the_older_key_for_every_so_manyth_layer_is_read() -> None:
    gemma = {"model_type": "gemma3_text", "num_hidden_layers": 6, "sliding_window": 8}
    layers = [model(gemma | more).cache(seq=64).layers for more in ({}, {"sliding_window_pattern": 2})]
    assert [[kept.layers for kept in each] for each in layers] == [[1, 5], [3, 3]]


def test_a_list_of_kinds_says_which_layers_of_mistral_have_its_window() -> None:
    # measured with transformers 5.23.0, on two texts of 23 tokens
    config = {"model_type": "mistral", "vocab_size": 77, "hidden_size": 24, "num_hidden_layers": 4, "num_attention_heads": 6}
    config |= {"num_key_value_heads": 3, "head_dim": 12, "sliding_window": 6}
    kinds = ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"]
    assert model(config | {"layer_types": kinds}).cache(batch=2, seq=23, dtype="float32").bytes == 21888


def test_minimax_keeps_what_no_query_sees_any_more() -> None:
    """Measured from MiniMaxForCausalLM of transformers 5.23.0, whose cache is made without its config: 1,472 bytes at 23 tokens."""
    raw = {"model_type": "minimax", "vocab_size": 78, "hidden_size": 12, "num_attention_heads": 3, "num_key_value_heads": 1}
    raw |= {"sliding_window": 16, "num_hidden_layers": 2, "layer_types": ["full_attention", "full_attention"]}
    assert model(raw, "MiniMaxForCausalLM").cache(batch=1, seq=23, dtype="float32").bytes == 1_472


@pytest.mark.parametrize("model_type", ["moonshine", "moonshine_streaming"])
def test_heads_that_are_padded_for_the_product_are_kept_as_they_are(model_type: str) -> None:
    """Moonshine pads after the cache (transformers 5.23.0): with a multiple of 48 its decoder kept 2,304 bytes where padding would be 13,824."""
    raw = {"model_type": model_type, "hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2}
    plain = model(raw).cache(batch=3, seq=2000, decoder_seq=5).bytes
    assert model({**raw, "pad_head_dim_to_multiple_of": 48}).cache(batch=3, seq=2000, decoder_seq=5).bytes == plain


def test_no_more_tokens_than_there_are_positions() -> None:
    with pytest.raises(UsageError, match=r"^seq: GPT2LMHeadModel has learned positions for 1,024 tokens; 4,096 are too many$"):
        model("gpt2").cache(seq=4096)
    with pytest.raises(
        UsageError, match=r"^decoder_seq: WhisperForConditionalGeneration has learned positions for 448 tokens; 449 are too many$"
    ):
        model("whisper-tiny").flops(seq=449)
    assert model("gpt2").cache() == model("gpt2").cache(seq=1024), "as many as there are, where nobody says"
    assert model("llama-3-8b").cache() == model("llama-3-8b").cache(seq=4096)
    assert model("whisper-tiny").cache() == model("whisper-tiny").cache(seq=4096, decoder_seq=448)
    assert model("gpt2").fits(gib=8).seq == 1024 and model("llama-3-8b").fits(gib=80).seq == 2048
    assert flops_per_token("gpt2") == flops_per_token("gpt2", 1024) and kv_bytes("gpt2") == kv_bytes("gpt2", 1024)


def test_a_list_of_kinds_wins_over_the_window_of_the_family_and_is_cut_to_the_layers_of_a_decoder() -> None:
    phi = {"model_type": "phi3", "num_hidden_layers": 1, "sliding_window": 6}
    whole = model(phi, overrides={"layer_types": ["full_attention"]}).cache(seq=61)
    assert whole.bytes == 61 * whole.layers[0].elements * 2
    assert model(phi).cache(seq=61).bytes == 5 * whole.layers[0].elements * 2
    bart = {
        "model_type": "bart",
        "decoder_layers": 2,
        "sliding_window": 3,
        "layer_types": ["full_attention"] * 2 + ["sliding_attention"] * 10,
    }
    assert model(bart, "BartForCausalLM").cache(seq=40).bytes == 2 * 2 * 1024 * 40 * 2


def test_a_chunk_limits_a_family_whose_window_is_switched_off() -> None:
    raw = {"model_type": "starcoder2", "num_hidden_layers": 1, "attention_chunk_size": 6}
    assert model(raw).cache(seq=61).layers[0].tokens == 5


@pytest.mark.parametrize("engine", ["reference", "vllm", "llama.cpp"])
def test_a_token_more_costs_every_example_as_much(engine: str) -> None:
    llama = model("llama-3.2-1b")
    one, three = (llama.cache(batch=batch, seq=1000, engine=engine) for batch in (1, 3))
    assert (three.per_token, three.bytes) == (3 * one.per_token, 3 * one.bytes)
    assert one.per_token == 2 * 16 * 8 * 64 * 2  # keys and values of 16 layers, 8 heads of 64, two bytes each


@pytest.mark.parametrize(("both_ways", "held"), [(False, 20480), (True, 14080)])
def test_a_window_that_looks_both_ways_keeps_half_behind_a_token(both_ways: bool, held: int) -> None:
    """The bytes of transformers 5.23.0's Gemma3TextModel with these sizes, after a prompt of 2 × 60 tokens."""
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 6, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
    config = {"model_type": "gemma3_text", **sizes, "intermediate_size": 20, "sliding_window": 21, "use_bidirectional_attention": both_ways}
    assert model(config).cache(batch=2, seq=60, dtype="float32").bytes == held


GEMMA = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 7, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
GEMMA4 = {"global_head_dim": 12, "vocab_size_per_layer_input": 40, "hidden_size_per_layer_input": 4}


@pytest.mark.parametrize(
    ("model_type", "text", "more", "held"),
    [
        ("gemma4", "gemma4_text", {"use_bidirectional_attention": "all", **GEMMA4}, 14080),
        ("gemma4", "gemma4_text", {"use_bidirectional_attention": "vision", **GEMMA4}, 16640),
        ("gemma3", "gemma3_text", {"use_bidirectional_attention": True}, 6912),
        ("gemma3", "gemma3_text", {}, 9984),
    ],
)
def test_a_text_inside_a_model_of_images_looks_both_ways_too(model_type: str, text: str, more: dict[str, object], held: int) -> None:
    """The bytes of transformers 5.23.0's classes of these sizes, after a prompt of 2 × 30 tokens."""
    inner = {"model_type": text, **GEMMA, "intermediate_size": 20, "sliding_window": 9, **more}
    sight = None if model_type == "gemma4" else {"hidden_size": 16, "num_attention_heads": 2, "image_size": 28, "patch_size": 14}
    config = {"model_type": model_type, "text_config": inner, "vision_config": sight, "mm_tokens_per_image": 4}
    assert model(config).cache(batch=2, seq=30, dtype="float32").bytes == held


def test_chunks_do_not_limit_attention_that_keeps_its_prompt() -> None:
    """The bytes of transformers 5.23.0's UnlimitedOcrTextModel with these sizes, after a prompt of 2 × 19 tokens."""
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 2, "n_routed_experts": 2, "num_hidden_layers": 2}
    config = {"model_type": "unlimited_ocr_text", **sizes, "n_shared_experts": 1, "num_experts_per_tok": 2, "attention_chunk_size": 5}
    assert model(config).cache(batch=2, seq=19, dtype="float32").bytes == 9728


@pytest.mark.parametrize(("batch", "trust"), [(1, "estimate"), (2, "exact")])
def test_an_odd_batch_of_two_halves_is_an_estimate(batch: int, trust: str) -> None:
    config = {"model_type": "xlnet", "d_model": 24, "n_layer": 3, "n_head": 2, "bi_data": True}
    assert model(config).cache(batch=batch, seq=5).trust == trust


@pytest.mark.parametrize("name", ["wav2vec2-base", "hubert-base-ls960"])
def test_a_wave_shorter_than_the_convolutions_is_refused(name: str) -> None:
    """torch: "Kernel size can't be greater than actual input size" below 400 samples; a negative count came out once."""
    assert model(name).flops(seq=400).forward_matmul != 0
    with pytest.raises(UsageError, match=r"needs an input of at least 400; 399 is too short$"):
        model(name).flops(seq=399)


@pytest.mark.parametrize(("kinds", "windows"), [("ff", [None]), ("sf", [None, 32]), ("ss", [32])])
def test_layers_without_a_window_keep_none(kinds: str, windows: list[int | None]) -> None:
    layer_types = [{"f": "full_attention", "s": "sliding_attention"}[kind] for kind in kinds]
    config = {"model_type": "gemma3_text", "num_hidden_layers": len(kinds), "layer_types": layer_types, "sliding_window": 32}
    assert [layer.window for layer in model(config).cache(seq=64).layers] == windows


def test_a_length_that_changes_nothing_is_named() -> None:
    assert model("llama-3.2-1b").cache(seq=8, decoder_seq=3).idle == ("decoder_seq",)
    assert model("llama-3.2-1b").cache(seq=8).idle == model("t5-small").cache(seq=8, decoder_seq=3).idle == ()


@pytest.mark.parametrize(
    "name", ["t5-small", "gemma-3-1b", "mamba-130m", "mamba2-130m", "deepseek-v3", "whisper-tiny", "recurrentgemma-2b", "xlnet-base-cased"]
)
def test_every_example_keeps_as_much(name: str) -> None:
    weighed = model(name)
    for seq in (1, 7, 300):
        alone = weighed.cache(batch=1, seq=seq).bytes
        assert [weighed.cache(batch=many, seq=seq).bytes for many in (2, 5)] == [2 * alone, 5 * alone]
