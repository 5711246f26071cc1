"""The blueprints against committed truth: every tensor of every class, on default and random configs, without torch."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import pytest

from truth import compare
from truth.record import FOLDER, Case, read
from weighbridge import model
from weighbridge.blueprints import MODULES, family
from weighbridge.core.errors import UsageError

FILES = sorted(FOLDER.glob("*.json"))
assert FILES, "no truth to hold anything to"


@lru_cache(maxsize=2)  # to keep all types would be millions of objects for the garbage collector
def cases(model_type: str) -> tuple[Case, ...]:
    return tuple(read(FOLDER / f"{model_type}.json"))


@pytest.mark.parametrize("model_type", [path.stem for path in FILES])
def test_a_file_agrees_with_itself_and_the_blueprints_with_it(model_type: str) -> None:
    assert_it_has_every_class_and_agrees_with_itself(model_type)
    assert_the_blueprints_agree_with_it(model_type)


def assert_it_has_every_class_and_agrees_with_itself(model_type: str) -> None:
    assert {case.class_name for case in cases(model_type)} == set(family(model_type).classes) - family(model_type).remote
    for case in cases(model_type):
        lines = case.listing.parameters
        names = [line.name for line in (*lines, *case.listing.buffers)]
        assert len(names) == len(set(names))
        assert sum(prod(line.shape) for line in lines if line.tied_to is None) == case.unique
        shapes = {line.name: line.shape for line in lines}
        for line in lines:
            if line.tied_to is not None:
                assert shapes[line.tied_to] == line.shape, f"{line.name} is tied to another shape"


def assert_the_blueprints_agree_with_it(model_type: str) -> None:
    for case in cases(model_type):
        ours = model(case.raw, case.class_name)
        assert compare.listed(ours, case.listing) is None, f"{case.class_name} {case.raw}"
        counts, lines = ours.count(), case.listing.parameters
        buffers = sum(prod(line.shape) for line in case.listing.buffers if line.tied_to is None)
        assert counts.unique == case.unique
        assert counts.trainable == sum(prod(line.shape) for line in lines if line.tied_to is None and not line.frozen), case.class_name
        assert (counts.buffers, counts.stored) == (buffers, case.unique + buffers), case.class_name
        for lengths, count in case.flops.items():
            try:
                assert compare.flops(ours, lengths, count) is None, f"{case.class_name} {case.raw}"
            except UsageError as error:  # arithmetic that depends on the data, which the blueprint says and does not guess
                alone = lengths.encoder_seq is None and "whose length is not given" in str(
                    error
                )  # a decoder that runs without what it attends to
                if not alone and "cannot be worked out from a config" not in str(error):
                    raise


@pytest.mark.sweep
@pytest.mark.parametrize("model_type", [path.stem for path in FILES[::3]])
def test_formulas_and_columns_agree_with_the_file(model_type: str) -> None:
    """A third of the types: ``truth check`` compares formulas and columns of all with the live classes, and the laws hold symbols of all to ints."""
    for case in cases(model_type):
        assert compare.tensors(model(case.raw, case.class_name), case.listing) is None, f"{case.class_name} {case.raw}"


EXPERTS = {
    "deepseek_v3": ("n_routed_experts", "num_experts_per_tok"),
    "gpt_oss": ("num_local_experts", "num_experts_per_tok"),
    "mixtral": ("num_local_experts", "num_experts_per_tok"),
    "olmoe": ("num_experts", "num_experts_per_tok"),
    "qwen2_moe": ("num_experts", "num_experts_per_tok"),
    "qwen3_moe": ("num_experts", "num_experts_per_tok"),
}


@pytest.mark.parametrize("model_type", EXPERTS)
def test_of_the_experts_the_chosen_are_active(model_type: str) -> None:
    """All tensors of the live class whose name says ``experts``, shared ones apart, count by the share of them that is chosen."""
    held, chosen = EXPERTS[model_type]
    for case in cases(model_type):
        ours = model(case.raw, case.class_name)
        assert ours.description is not None
        bound = ours.description.sizes
        sizes = {key: getattr(bound, field.word) for field in family(model_type).fields for key in (field.key, *field.aliases)}
        lines = [line for line in case.listing.parameters if line.tied_to is None]
        experts = sum(prod(line.shape) for line in lines if ".experts." in line.name)
        idle = experts * (sizes[held] - sizes[chosen]) // sizes[held]
        assert ours.count().active == case.unique - idle, (case.class_name, case.raw)


def test_every_file_has_a_blueprint() -> None:
    assert {path.stem for path in FILES} <= set(MODULES)
