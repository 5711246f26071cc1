"""Activations: what a tape keeps, held to what autograd kept of live classes, recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import UsageError, model
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.accounts.memory.tape import Tape
from weighbridge.accounts.memory.values import Value, view_strides

RECORDED = Path(__file__).parents[3] / "costs" / "activations.jsonl"
CASES: list[list[Any]] = [json.loads(line) for line in RECORDED.read_text().splitlines()[1:]]
assert CASES


@pytest.mark.parametrize("model_type", sorted(STYLES))
def test_a_forward_keeps_what_autograd_kept(model_type: str) -> None:
    cases = [case for case in CASES if case[0] == model_type]
    assert cases, f"nothing recorded of {model_type}: python -m truth memory --record"
    for _, class_name, config, lengths, how, expected in cases:
        asked = {"attention": "eager", "dropout": False, "loss": False, **lengths, **how}
        found = model(config, class_name).memory(training=True, **asked)
        assert found.activations == expected, (class_name, config, asked)
        assert found.trust["activations"] == "exact"


def test_deep_models_are_counted_layer_by_layer_all_the_same() -> None:
    def kept(layers: int) -> int:
        found = model({"model_type": "llama", "num_hidden_layers": layers}).memory(
            training=True, attention="eager", dropout=False, loss=False
        )
        assert found.activations is not None
        return found.activations

    assert kept(40) - kept(39) == kept(3) - kept(2)


def test_a_view_keeps_its_whole_storage_once() -> None:
    tape = Tape()
    whole = Value((2, 3, 12), 4)
    for part in tape.split(whole, 4, 4, 4):
        tape.save(part, "split")
    assert tape.bytes == 2 * 3 * 12 * 4


def test_what_somebody_else_holds_is_left_out() -> None:
    tape = Tape()
    tape.save(Value((4, 4), 4, held=True), "embedding")
    assert not tape.rows


def test_views_and_copies_are_told_apart_as_torch_does() -> None:
    assert view_strides((1, 3, 4), (12, 1, 3), (3, 4)) == (1, 3)
    assert view_strides((2, 3, 4), (12, 1, 3), (6, 4)) is None
    assert view_strides((1, 1, 3, 5, 4), (20, 20, 0, 4, 1), (3, 5, 4)) == (0, 4, 1)


def test_a_type_whose_forward_is_not_described_is_refused_by_name() -> None:
    found = model({"model_type": "mamba"}).memory(training=True)
    assert found.activations is None and found.total is None
    assert found.refused == "activations: what the forward pass of mamba keeps for the backward pass is not described"


def test_a_text_is_as_long_as_the_positions_where_nobody_says_how_long() -> None:
    """CLIP reads 77 tokens: it is not asked for 128, and its weights are weighed."""
    clip = model("clip-vit-base-patch32")
    assert clip.memory(training=True).weights == 605_109_252
    assert model("gpt2").memory(training=True).activations == model("gpt2").memory(training=True, seq=128).activations


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"batch": 0}, "batch: expected a whole number from 1 to 999,999,999, found 0"),
        ({"seq": 513}, "seq: BertModel has learned positions for 512 tokens; 513 are too many"),
        ({"optimizer": "shampoo"}, "optimizer: shampoo is not counted, since its own settings decide"),
        ({"optimizer": "magic"}, "optimizer: expected one of sgd, momentum, adam"),
        ({"attention": "magic"}, "attention: expected one of eager, sdpa, flash, found 'magic'"),
        ({"dtype": "float3"}, "dtype: expected one of float64, float32"),
        ({"dtype": "int4"}, "dtype: a model does not compute in int4"),
    ],
)
def test_words_and_numbers_are_refused_in_one_line(said: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match="^" + why.replace("(", r"\(")) as error:
        model("bert-base-uncased").memory(training=True, **said)
    assert "\n" not in str(error.value)


TEXT = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 300}
GROUPED = TEXT | {"num_key_value_heads": 2, "head_dim": 16}
T5 = {"d_model": 64, "num_layers": 3, "num_heads": 4, "d_kv": 16, "d_ff": 128, "vocab_size": 300}
MEASURED = [
    ("bert", "BertForMaskedLM", TEXT, (1_018_752, 1_849_728, 1_350_532, 1_964_932)),
    ("llama", "LlamaForCausalLM", GROUPED, (1_340_544, 1_630_848, 1_746_820, 1_456_516)),
    ("mixtral", "MixtralForCausalLM", GROUPED | {"num_local_experts": 4}, (2_254_128, 2_544_432, 2_660_404, 2_370_100)),
    ("t5", "T5ForConditionalGeneration", T5, (1_962_864, 3_467_072, 2_084_548, 3_516_276)),
]
"""Saved bytes of live classes at 2 × 48 tokens (20 of the decoder): fused attention, dropout, loss, and all three; torch 2.13.0."""
WAYS = (("sdpa", False, False), ("eager", True, False), ("eager", False, True), ("sdpa", True, True))


@pytest.mark.parametrize(("model_type", "class_name", "config", "measured"), MEASURED)
def test_other_settings_keep_what_autograd_kept(
    model_type: str, class_name: str, config: dict[str, Any], measured: tuple[int, ...]
) -> None:
    whole = model({"model_type": model_type, **config}, class_name)
    for (attention, dropout, loss), expected in zip(WAYS, measured, strict=True):
        decoder = 20 if model_type == "t5" else None
        found = whole.memory(True, 2, 48, decoder, attention=attention, dropout=dropout, loss=loss)
        assert found.activations == expected
        assert found.trust["activations"] == ("exact" if attention == "eager" and not dropout else "estimate")


OTHER_WAYS = [json.loads(line) for line in (RECORDED.parent / "activations_ways.jsonl").read_text().splitlines()[1:]]
assert len(OTHER_WAYS) > 100


@pytest.mark.parametrize("model_type", sorted({case[0] for case in OTHER_WAYS}))
def test_other_ways_to_run_keep_what_autograd_kept(model_type: str) -> None:
    """Fused attention, dropout, a loss, sixteen bits: as ``saved_tensors_hooks`` saw it in live classes."""
    for _, class_name, config, lengths, how, expected in (case for case in OTHER_WAYS if case[0] == model_type):
        found = model(config, class_name).memory(training=True, **lengths, **how)
        assert found.activations == expected, (class_name, config, how)


FLASH = [json.loads(line) for line in (RECORDED.parent / "activations_flash.jsonl").read_text().splitlines()[1:]]
assert len({case[0] for case in FLASH}) > 50


def test_the_flash_kernel_of_a_gpu_keeps_what_autograd_keeps_of_its_shapes() -> None:
    """Torch's own call in live classes on the meta device: queries, keys, values, the output, a float32 a row, the state of the random numbers."""
    for _, class_name, config, lengths, how, expected in FLASH:
        found = model(config, class_name).memory(training=True, **lengths, **how)
        assert found.activations == expected, (class_name, config, how)


REPEATED, MASK = 2 * (2 * 4 * 8 * 16 * 4 - 2 * 2 * 8 * 16 * 4), 2 * 8 * 8 * 4
"""Bytes that keys and values take more once they are repeated for groups of queries, and of one mask."""


@pytest.mark.parametrize(
    ("model_type", "class_name", "config", "repeated", "mask"),
    [("bert", "BertModel", TEXT, 0, 0), ("llama", "LlamaForCausalLM", GROUPED, REPEATED, MASK)],
)
def test_what_is_computed_again_is_not_kept(model_type: str, class_name: str, config: dict[str, Any], repeated: int, mask: int) -> None:
    """Full checkpointing keeps each layer's input alone (torch.utils.checkpoint), selective one all but scores, their softmax and repeated keys and values."""

    def kept(layers: int, checkpointing: str) -> int:
        whole = model({"model_type": model_type, **config, "num_hidden_layers": layers}, class_name)
        found = whole.memory(True, 2, 8, attention="eager", dropout=False, loss=False, checkpointing=checkpointing).activations
        assert found is not None
        return found

    assert kept(4, "full") - kept(3, "full") == kept(3, "full") - kept(2, "full") == 2 * 8 * 64 * 4
    scores = 2 * 4 * 8 * 8 * 4
    for layers in (2, 4):
        assert kept(layers, "none") - kept(layers, "selective") == layers * (scores + repeated) - mask


@pytest.mark.parametrize(("attention", "of_scores"), [("eager", 1), ("sdpa", 0)])
def test_masks_of_dropout_are_bools_on_a_gpu(attention: str, of_scores: int) -> None:
    """Dropped are the embeddings, two values of each layer, and, where they are not fused, its scores: one byte each in place of four."""
    bert = model({"model_type": "bert", **TEXT}, "BertModel")
    dropped = 2 * 8 * 64 * (1 + 2 * 3) + of_scores * 3 * 2 * 4 * 8 * 8
    how: dict[str, Any] = {"attention": attention, "loss": False}
    plain, masked = (bert.memory(True, 2, 8, dropout=drop, device="cuda", **how).activations for drop in (False, True))
    assert plain is not None and masked is not None
    values = {"eager": 3 * 2 * 4 * 8 * 8 * 4, "sdpa": 0}[
        attention
    ]  # what was dropped of the scores is kept for their product with the values
    assert masked - plain == dropped + (values if attention == "eager" else 0)


SMALL = {
    "vocab_size": 500,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "pad_token_id": 0,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
}


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("BertModel", 1184704),
        ("BertForPreTraining", 1451240),
        ("BertLMHeadModel", 1450948),
        ("BertForMaskedLM", 1450180),
        ("BertForNextSentencePrediction", 1184740),
        ("BertForSequenceClassification", 1186788),
        ("BertForTokenClassification", 1209028),
        ("BertForQuestionAnswering", 1184520),
        ("RobertaForSequenceClassification", 1165604),
        ("RobertaForQuestionAnswering", 1185864),
        ("ElectraForPreTraining", 1331904),
        ("AlbertForPreTraining", 2067688),
        ("AlbertForSequenceClassification", 1580004),
        ("DistilBertForMaskedLM", 5726212),
        ("DistilBertForSequenceClassification", 5462820),
        ("DistilBertForQuestionAnswering", 5485128),
        ("GPT2ForSequenceClassification", 1773604),
    ],
)
def test_losses_and_dropout_keep_what_autograd_kept(class_name: str, expected: int) -> None:
    """As ``saved_tensors_hooks`` saw it in transformers 5.23.0 with torch 2.13.0: eager attention, 4 × 24 tokens, labels given."""
    model_type = class_name.partition("For")[0].removesuffix("Model").removesuffix("LMHead").lower()
    found = model({"model_type": model_type, **SMALL}, class_name).memory(training=True, attention="eager", batch=4, seq=24)
    assert found.activations == expected


def test_a_classifier_drops_by_its_own_rate() -> None:
    def kept(**said: float) -> int:
        found = model({"model_type": "bert", **SMALL, **said}, "BertForSequenceClassification").memory(training=True, batch=4, seq=24)
        assert found.activations is not None
        return found.activations

    assert kept() - kept(classifier_dropout=0.0) == 4 * 64 * 4 * 2  # the mask, and the pooled vectors that tanh keeps already
