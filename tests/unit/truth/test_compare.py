"""The checkers themselves are checked: each is fed a wrong value and must fail on it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from truth import compare
from truth.by_module import first_difference, ours_by_module, with_lists
from truth.forward import Pass
from truth.listing import Line, Listing, of_rows
from weighbridge import model
from weighbridge.accounts.flops import matmuls

OURS = of_rows(model("bert-base-uncased", "BertForMaskedLM").tensors())


def change_line(at: str, **values: Any) -> Listing:
    """Return what BERT's masked language model has, with one line changed."""
    lines = tuple(line._replace(**values) if line.name == at else line for line in OURS.parameters)
    assert lines != OURS.parameters
    return Listing(lines, OURS.buffers)


def test_the_same_agrees() -> None:
    assert compare.difference(OURS, OURS) is None


DECODER = "cls.predictions.decoder.weight"


@pytest.mark.parametrize(
    ("wrong", "what", "where"),
    [
        (change_line("bert.embeddings.LayerNorm.weight", shape=(769,)), "shape", "bert.embeddings.LayerNorm.weight"),
        (change_line("bert.encoder.layer.3.output.dense.bias", shape=(768, 1)), "shape", "bert.encoder.layer.3.output.dense.bias"),
        (change_line(DECODER, tied_to=None), "tie", DECODER),
        (change_line(DECODER, tied_to="bert.embeddings.position_embeddings.weight"), "tie", DECODER),
        (change_line(DECODER, frozen=True), "frozen", DECODER),
        (change_line(DECODER, name="lm_head.weight"), "missing", DECODER),
    ],
)
def test_one_wrong_line_is_found(wrong: Listing, what: str, where: str) -> None:
    found = compare.difference(wrong, OURS)
    assert found is not None
    assert (found.what, found.where) == (what, where)


def test_a_wrong_order_is_found() -> None:
    first, second, *rest = OURS.parameters
    found = compare.difference(Listing((second, first, *rest), ()), OURS)
    assert found is not None
    assert (found.what, found.where) == ("order", first.name)


def test_a_missing_and_a_superfluous_tensor_are_found() -> None:
    fewer = Listing(OURS.parameters[:-1], ())
    missing, extra = compare.difference(fewer, OURS), compare.difference(OURS, fewer)
    assert missing is not None
    assert extra is not None
    assert (missing.what, extra.what) == ("missing", "extra")


def test_a_name_that_stands_twice_is_found() -> None:
    found = compare.difference(Listing((*OURS.parameters, OURS.parameters[0]), ()), OURS)
    assert found is not None
    assert found.what == "double"


def test_a_buffer_is_no_parameter() -> None:
    line = Line("embeddings.position_ids", (1, 512))
    found = compare.difference(Listing(OURS.parameters, (line,)), OURS)
    assert found is not None
    assert (found.what, found.where) == ("extra", "embeddings.position_ids")


def test_a_wrong_count_of_flops_is_found() -> None:
    bert = model("bert-base-uncased")
    assert compare.flops(bert, Pass(1, 128), 22_348_431_360) is None
    found = compare.flops(bert, Pass(1, 128), 22_348_431_361)
    assert found is not None
    assert found.theirs == 22_348_431_361


def test_a_difference_of_flops_names_its_module() -> None:
    """Of every module of BERT in turn, with what is around it: the lists of layers, which PyTorch never calls, are not counted by it."""
    bert = model("bert-base-uncased", "BertForMaskedLM")
    ours = ours_by_module(matmuls(bert.tree, Pass(1, 16).lengths()))
    called = {name: int(amount) for name, amount in ours.items() if amount and not name.endswith(".layer")}
    assert called[""] == bert.flops(batch=1, seq=16).forward_matmul
    assert first_difference(ours, with_lists(called)) == ""  # none differs
    layer = "bert.encoder.layer.3"
    for name in (f"{layer}.attention.self.query", f"{layer}.attention.self", f"{layer}.output.dense", layer, "cls.predictions.decoder", ""):
        around = [other for other in called if not other or name == other or name.startswith(f"{other}.")]
        theirs = {**called, **{other: called[other] + 7 for other in around}}
        assert first_difference(ours, with_lists(theirs)) == name
        found = compare.flops(bert, Pass(1, 16), theirs[""], theirs)
        assert found is not None
        assert f"first in {name or 'the model itself'} " in found.where


def test_a_matrix_that_the_module_around_it_multiplies_with_is_no_difference() -> None:
    ours = {name: Fraction(amount) for name, amount in {"": 9, "a": 4, "b": 5, "b.up": 2, "b.down": 3}.items()}
    assert first_difference(ours, {"": 8, "a": 4, "b": 4}) == "b"  # theirs runs neither of its two by itself
    assert first_difference(ours, {"": 7, "a": 4, "b": 3, "b.down": 3}) == "b.up"


def test_a_wrong_cache_is_found() -> None:
    gpt = model("gpt2")
    kept = gpt.cache(batch=2, seq=7, dtype="float32").bytes
    assert compare.cache(gpt, Pass(2, 7), kept) is None
    found = compare.cache(gpt, Pass(2, 7), kept // 2)
    assert found is not None
    assert "causal" not in found.where
    forgotten = compare.cache(model("bert-base-uncased"), Pass(2, 7), kept)
    assert forgotten is not None
    assert "causal=True" in forgotten.where


def test_tensors_hold_the_accounts_to_the_listing() -> None:
    assert compare.tensors(model("bert-base-uncased", "BertForMaskedLM"), OURS) is None
    assert compare.tensors(model("bert-base-uncased", "BertForPreTraining"), OURS) is not None


def test_shrinking_keeps_only_what_fails() -> None:
    raw = {"model_type": "x", "a": 1, "text_config": {"b": 2, "c": 3}, "d": 4}
    smallest = compare.shrink(raw, lambda trial: trial.get("text_config", {}).get("c") == 3)
    assert smallest == {"model_type": "x", "text_config": {"c": 3}}
