"""Weights, gradients and optimizer states."""

from __future__ import annotations

import pytest

from weighbridge import Model, UsageError, model
from weighbridge.accounts.memory.account import settings, static_bytes
from weighbridge.accounts.memory.optimizers import OPTIMIZERS, optimizer_bytes
from weighbridge.accounts.memory.weights import SCHEMES, buffer_bytes, weight_bytes
from weighbridge.core.parts import linear
from weighbridge.core.tree import Part, Tensor

BERT = model("bert-base-uncased")


def test_weights_take_their_type_s_bytes() -> None:
    assert BERT.memory(dtype="float32").weights == 4 * 109_482_240
    assert BERT.memory(dtype="bfloat16").weights == 2 * 109_482_240
    assert BERT.memory(dtype="int4").weights == 109_482_240 // 2


@pytest.mark.parametrize(("precision", "per_parameter"), [("pure", 16), ("amp", 16), ("mixed", 16), ("megatron", 18)])
def test_recipes_under_adam_take_what_their_papers_say(precision: str, per_parameter: int) -> None:
    dtype = "float32" if precision in ("pure", "amp") else "bfloat16"
    found = BERT.memory(training=True, precision=precision, dtype=dtype)
    steps = 4 * sum(1 for row in BERT.tensors() if row.tied_to is None and row.role != "buffer")
    assert found.weights + found.gradients + found.master + found.optimizer == per_parameter * 109_482_240 + steps


def test_a_scheme_packs_matrices_of_layers_alone() -> None:
    tree = Part("", (linear("head", 256, 512, bias=False), Part("layer", (linear("q", 256, 128),), repeat=3)))
    packed = 128 * 256 // 2 + 4 * (128 * 256 // 64) + 4 * 16
    assert weight_bytes(tree, "bfloat16", "bnb-4bit") == 2 * 512 * 256 + 3 * (packed + 2 * 128)


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_every_scheme_takes_less_than_half_precision(scheme: str) -> None:
    assert SCHEMES[scheme].packed(4096, 4096) < 2 * 4096 * 4096


def test_double_quantization_saves_what_its_paper_says() -> None:
    saved = SCHEMES["bnb-4bit"].packed(4096, 4096) - SCHEMES["bnb-4bit-double"].packed(4096, 4096)
    assert round(8 * saved / 4096**2, 2) == 0.37  # bits a parameter, arXiv 2305.14314, section 3


@pytest.mark.parametrize(
    ("optimizer", "expected"),
    [
        ("sgd", 0),
        ("momentum", 4 * 72),
        ("adamw", 8 * 72 + 8),
        ("amsgrad", 12 * 72 + 8),
        ("nadam", 8 * 72 + 16),
        ("adafactor", 4 * (8 + 8) + 4 * 8 + 8),
        ("lion", 4 * 72),
        ("adam8bit", 8 * 72),
    ],
)
def test_optimizers_keep_what_they_need(optimizer: str, expected: int) -> None:
    assert optimizer_bytes(Part("", (linear("dense", 8, 8),)), optimizer, 4) == expected


def test_muon_takes_matrices_of_layers_and_leaves_the_rest_to_adamw() -> None:
    tree = Part("", (linear("head", 8, 8, bias=False), Part("layer", (linear("q", 8, 8),), repeat=2)))
    assert optimizer_bytes(tree, "muon", 4) == (8 * 64 + 4) + 2 * (4 * 64 + 8 * 8 + 4)


def test_every_optimizer_has_its_source() -> None:
    assert all(found.source for found in OPTIMIZERS.values())


def test_a_scheme_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^quantization: expected one of bnb-8bit, "):
        BERT.memory(quantization="q9")


def test_blocks_are_those_that_the_reader_knows() -> None:
    from weighbridge.accounts.memory.weights import GGUF
    from weighbridge.readers.gguf import TYPES

    read = {name: (elements, size) for name, elements, size in TYPES.values()}
    assert all(read[name] == block for name, block in GGUF.items())


STATES = {
    "sgd": (0, 0, 0),
    "momentum": (2400, 28, 1152),
    "adam": (4804, 60, 2308),
    "adamw": (4804, 60, 2308),
    "amsgrad": (7204, 88, 3460),
    "adamax": (4804, 60, 2308),
    "nadam": (4808, 64, 2312),
    "radam": (4804, 60, 2308),
    "rmsprop": (2404, 32, 1156),
    "adagrad": (2404, 32, 1156),
    "adadelta": (4804, 60, 2308),
    "asgd": (2412, 40, 1164),
    "rprop": (4804, 60, 2308),
    "adafactor": (204, 32, 772),
}


@pytest.mark.parametrize(("name", "expected"), STATES.items())
def test_states_are_those_of_torch(name: str, expected: tuple[int, ...]) -> None:
    """Bytes of the state tensors that torch 2.13.0 keeps after one step of parameters of these shapes in float32."""
    assert tuple(OPTIMIZERS[name].kept(shape, 4) for shape in ((30, 20), (7,), (8, 4, 3, 3))) == expected


SMALL_BERT = {
    "model_type": "bert",
    "hidden_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 130,
    "vocab_size": 300,
}
SMALL_LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 120,
    "vocab_size": 200,
}
STEPPED = {
    "adam8bit": (450_024, 346_256),
    "adamw8bit": (450_024, 346_256),
    "lion8bit": (225_012, 173_128),
    "lion": (853_136, 528_128),
    "muon": (1_211_788, 632_356),
}
"""Bytes of states, each storage once, after a step of these models in float32: bitsandbytes 0.50.2, lion-pytorch 0.2.5, torch.optim 2.13.0
(Muon with the matrices of layers, AdamW beside it)."""


@pytest.mark.parametrize(("name", "expected"), STEPPED.items())
def test_states_of_whole_models_are_those_of_their_libraries(name: str, expected: tuple[int, int]) -> None:
    found = [model(config).memory(training=True, optimizer=name) for config in (SMALL_BERT, SMALL_LLAMA)]
    assert tuple(one.optimizer for one in found) == expected
    assert all(one.trust["optimizer"] == "exact" for one in found)


def test_muon_takes_the_matrices_of_stages_that_have_a_number_for_a_name() -> None:
    """torch.optim.Muon after a step of a live SwinEncoder, AdamW beside it."""
    config = {
        "model_type": "swin",
        "num_channels": 1,
        "embed_dim": 24,
        "depths": [1, 3, 2, 1],
        "num_heads": [1, 4, 4, 16],
        "window_size": 1,
        "qkv_bias": False,
        "patch_size": 3,
        "image_size": [23, 48],
        "mlp_ratio": 2.75,
    }
    assert model(config, "SwinEncoder").memory(training=True, optimizer="muon", dtype="float32").optimizer == 2_822_800


@pytest.mark.parametrize("precision", ["pure", "mixed", "megatron"])
@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "llama-3.2-1b"])
def test_the_total_is_the_sum_of_its_parts(name: str, precision: str) -> None:
    found = model(name).memory(training=True, seq=16, precision=precision)
    assert (found.weights == 2 * found.master // 4) == (precision != "pure"), "without a type, weights in 16 bits beside a float32 copy"
    assert found.activations is not None
    assert found.total == found.weights + found.buffers + found.gradients + found.master + found.optimizer + found.activations
    assert bool(found.master) == (precision in ("mixed", "megatron"))
    assert min(found.gradients, found.optimizer, found.activations) > 0


def test_what_autocast_keeps_is_refused_and_the_rest_is_counted() -> None:
    found = BERT.memory(training=True, precision="amp")
    assert (found.activations, found.total, found.peak) == (None, None, None)
    assert found.weights == found.gradients == 4 * 109_482_240
    assert found.refused == "activations: what autocast keeps, copies of weights in 16 bits among it, is not described"


def test_at_work_without_training_there_are_weights_and_buffers_alone() -> None:
    found = model("resnet-50").memory(dtype="bfloat16")
    assert (found.gradients, found.master, found.optimizer, found.activations) == (0, 0, 0, 0)
    assert found.weights == 2 * 25_557_032
    assert found.buffers == 53_120 * 4 + 53 * 8, "statistics in float32, counters of batches in 64 bits"
    assert found.total == found.weights + found.buffers
    assert found.trust == {"weights": "exact", "buffers": "exact", "total": "bound"}
    assert BERT.memory(quantization="fp8").trust["weights"] == "estimate"


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("precision", ["pure", "mixed"])
def test_what_hangs_on_no_token_is_the_same_in_both_accounts(training: bool, precision: str) -> None:
    how = settings(dtype="bfloat16", precision=precision)
    found = BERT.memory(training=training, dtype="bfloat16", precision=precision)
    expected = found.weights + found.buffers + found.gradients + found.master + found.optimizer
    assert static_bytes(BERT.tree, how, training=training) == expected


def test_a_file_says_itself_what_its_tensors_take_unless_they_are_to_be_packed() -> None:
    tensors = (Tensor("weight", (256, 128), "weight", dtype="F16"), Tensor("bias", (256,), "bias", dtype="F32"))
    tree = Part("", (Part("layer", (Part("q", tensors, "linear"),), repeat=2),))
    for kind, weights in (("checkpoint", 2 * (2 * 256 * 128 + 4 * 256)), ("config", 4 * 2 * (256 * 128 + 256))):
        assert Model("file", kind, tree).memory().weights == weights
    packed = SCHEMES["fp8"].packed(256, 128)
    assert Model("file", "checkpoint", tree).memory(quantization="fp8", dtype="bfloat16").weights == 2 * (packed + 2 * 256)
    assert Model("file", "checkpoint", tree).memory(training=True).refused.startswith("activations: file has only tensors")


@pytest.mark.parametrize(("count", "size"), [(1, 1), (2, 1), (3, 2), (64, 32)])
def test_half_bytes_are_rounded_up_once(count: int, size: int) -> None:
    assert weight_bytes(Part("", (Tensor("w", (count,), "weight"),)), "int4") == size


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [("mean", None, 4), ("num_batches_tracked", None, 8), ("mean", "F16", 2), ("mean", "SOMETHING", 4), ("num_batches_tracked", "I32", 4)],
)
def test_buffers_take_their_own_type_or_the_usual(name: str, dtype: str | None, size: int) -> None:
    tree = Part("", (Part("bn", (Tensor(name, (7,), "buffer", dtype=dtype), Tensor("w", (9,), "gain")), repeat=3),))
    assert buffer_bytes(tree) == 3 * 7 * size


@pytest.mark.parametrize("name", ["whisper-tiny", "bert-base-uncased"])
def test_what_is_frozen_has_neither_gradients_nor_states(name: str) -> None:
    """Whisper's encoder keeps its sinusoids fixed."""
    whole = model(name)
    learned = [row for row in whole.tensors() if row.tied_to is None and row.role != "buffer" and not row.frozen]
    elements, unique = whole.count().trainable, whole.count().unique
    assert isinstance(elements, int) and isinstance(unique, int)
    assert (elements < unique) == (name == "whisper-tiny")
    found = whole.memory(training=True, seq=16, decoder_seq=8 if name == "whisper-tiny" else None)
    assert (found.gradients, found.optimizer) == (4 * elements, 8 * elements + 4 * len(learned))
