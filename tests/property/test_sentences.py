"""The law of the derivations' words: every sentence that is said of a part is true of it, and every change costs what is said.

Each sentence has a check of its own, which looks at the shapes and roles of the tensors, or changes the config and counts once more;
none asks the functions that chose the sentence. A sentence without a check fails.
"""

from collections.abc import Iterator

import pytest

from tests.property.sentence_case import SEEN, SentenceCase, heads_do_not_count
from tests.property.sentence_checks import CHECKS, roles
from weighbridge import ConfigError, Model, model
from weighbridge.blueprints import MODULES, family
from weighbridge.core.messages import Text
from weighbridge.explain.derive import Derivation
from weighbridge.explain.section import Line, Section, lines, sections
from weighbridge.explain.symbolic import symbolic


def sentences_of(weighed: Model, derivation: Derivation) -> Iterator[tuple[str, SentenceCase]]:
    places: list[Section | Line] = [*sections(derivation.root), *lines(derivation.root)]
    for place in places:
        inside = [place] if isinstance(place, Line) else list(lines(place))
        held = SentenceCase(weighed, derivation, place, {})
        if not all(list(held.at(path)) for line in inside for path in line.paths):
            continue  # of a layer that is there no times nothing can be looked at
        for text in (*place.says, *((place.shape,) if isinstance(place, Line) and place.shape else ())):
            template, values = (text.template, text.values) if isinstance(text, Text) else (text, {})
            yield template, SentenceCase(weighed, derivation, place, dict(values))


def assert_called_by_widths(line: Line, held: SentenceCase) -> None:
    """A map is called up or down for what it does, unless it has that name of its own, as the narrow ``up_proj`` of an expert has."""
    named = any({"up", "down"} & set(piece.split("_")) for path in line.paths for piece in path.split(".")[-2:])
    if line.title not in ("up", "down") or named:
        return
    biases = {t.shape for t in held.parameters() if t.role == "bias"}
    for matrix in (t for t in held.parameters() if t.role == "weight" and all(str(size) == "1" for size in t.shape[2:])):
        out, into = (int(str(size)) for size in matrix.shape[:2])
        if biases == {matrix.shape[1:2]} and out != into:
            out, into = into, out
        assert out > into if line.title == "up" else out < into, (line.paths, matrix.shape)


def assert_true(weighed: Model, derivation: Derivation) -> set[str]:
    found = set()
    SEEN.clear()
    for line in lines(derivation.root):
        assert_called_by_widths(line, SentenceCase(weighed, derivation, line, {}))
    for template, sentence in sentences_of(weighed, derivation):
        assert template in CHECKS, f"no check for: {template}"
        try:
            CHECKS[template](sentence)
        except AssertionError as error:
            raise AssertionError(
                f"{weighed.class_name} {sentence.place.number} {sentence.place.title}: {template} {sentence.values} {error}"
            ) from error
        found.add(template)
    return found


def assert_changes_cost_what_is_said(weighed: Model, derivation: Derivation, source: str | dict[str, str]) -> int:
    """Count a config with each changed size anew, as ``--set`` makes it; return how many were counted."""
    insight, values, counted = derivation.insight, derivation.values, 0
    for change in insight.changes if insight else ():
        sizes = {change.symbol.key: values[change.symbol.letter] + change.by}
        try:
            other = model(source, weighed.class_name, overrides=sizes)
        except (
            ConfigError
        ) as refusal:  # a list says the kind of each layer, or a head's pairs turn by rows and columns: one more makes no model
            said = str(refusal)
        else:
            said = ""
            assert other.count().unique - weighed.count().unique == change.value, sizes
            counted += 1
        assert not said or "layers" in change.symbol.word or "rotary positions" in said, said
    return counted


@pytest.mark.sweep
@pytest.mark.parametrize("model_type", [name for name in MODULES if len(family(name).classes) > 1 and sum(map(ord, name)) % 4 == 0])
def test_every_sentence_of_a_class_with_a_head_is_true(model_type: str) -> None:
    others = [name for name in family(model_type).classes if name != family(model_type).base]
    try:
        weighed = model({"model_type": model_type}, others[sum(map(ord, model_type)) % len(others)])
    except ConfigError as error:
        pytest.skip(f"the reference's own defaults build no {model_type}: {error}")
    assert assert_true(weighed, weighed.explain())


@pytest.mark.parametrize(
    ("model_type", "class_name"),
    [
        ("roberta", "RobertaForMaskedLM"),
        ("janus", "JanusModel"),
        ("mask2former", "Mask2FormerModel"),
        ("bert", "BertForMaskedLM"),
        ("gte", "GteForMaskedLM"),
    ],
)
def test_what_is_called_a_vocabulary_head_has_more_outputs_than_inputs_or_the_configs_vocabulary(model_type: str, class_name: str) -> None:
    weighed = model({"model_type": model_type}, class_name)
    words = {letter for letter, symbol in symbolic(weighed)[1].items() if symbol.word == "vocab"}
    vocabularies = {symbolic(weighed)[2][word] for word in words}
    for line in lines(weighed.explain().root):
        if line.title == "Vocabulary head":
            matrices = [t for t in SentenceCase(weighed, weighed.explain(), line, {}).parameters() if len(t.shape) == 2]
            assert all(int(str(t.shape[0])) in vocabularies or int(str(t.shape[0])) > int(str(t.shape[1])) for t in matrices)


PUBLISHED = [
    "llama-3-8b",
    "mistral-7b-v0.1",
    "falcon-7b",
    "deepseek-v3",
    "mixtral-8x7b",
    "dbrx-instruct",
    "whisper-tiny",
    "vit-base-patch16-224",
    "t5-small",
    "mamba-130m-hf",
    "albert-base-v2",
]


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_sentence_of_published_models_is_true(name: str) -> None:
    weighed = model(name)
    assert assert_true(weighed, weighed.explain())


@pytest.mark.parametrize("name", [*PUBLISHED, "jamba-v0.1", "gpt-oss-20b", "bert-base-uncased", "gemma-3-4b-it", "qwen2-vl-7b"])
def test_every_change_of_published_models_costs_what_is_said(name: str) -> None:
    weighed = model(name)
    assert assert_changes_cost_what_is_said(weighed, weighed.explain(), name)


@pytest.mark.parametrize("model_type", ["funnel", "ctrl", "xlstm", "qwen", "mobilevitv2", "poolformer", "voxtral_realtime", "xmod"])
def test_maps_are_called_by_their_widths(model_type: str) -> None:
    weighed = model({"model_type": model_type})
    assert assert_true(weighed, weighed.explain())


def test_a_network_narrower_than_its_input_does_not_widen() -> None:
    narrow = model({"model_type": "bert", "intermediate_size": 384})
    derivation = narrow.explain()
    maps = [line for line in lines(derivation.root) if line.paths[0].endswith(("intermediate.dense", "layer.output.dense"))]
    assert [line.title for line in maps] == ["down", "up"]
    assert not any("widens" in sentence for sentence in assert_true(narrow, derivation))


def test_no_check_passes_by_saying_nothing() -> None:
    """Every sentence in the table is said of some model; a check that sees a false sentence fails."""
    llama = model("llama-3-8b")
    (section,) = [section for section in sections(llama.explain().root) if section.title == "Grouped-query attention"]
    with pytest.raises(AssertionError):
        heads_do_not_count(SentenceCase(llama, llama.explain(), section, {}))
    with pytest.raises(AssertionError):
        roles("gain", "shift", kind="rms_norm")(
            SentenceCase(llama, llama.explain(), next(s for s in sections(llama.explain().root) if s.kind == "norm"), {})
        )
