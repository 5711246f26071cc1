"""What derivations say is held to live classes, where torch is installed; a false sentence is noticed there."""

import pytest


@pytest.mark.parametrize(("model_type", "class_name"), [("bert", "BertModel"), ("llama", "LlamaModel"), ("t5", "T5Model")])
def test_every_sentence_that_is_asked_holds(model_type: str, class_name: str) -> None:
    pytest.importorskip("transformers")
    from truth.sentence_checks import CHECKS
    from truth.sentences import said_of

    asked = [(template, CHECKS[template](said)) for template, said in said_of({"model_type": model_type}, class_name) if template in CHECKS]
    assert [template for template, held in asked if held is False] == []
    assert sum(held is True for _, held in asked) > 5


def test_a_false_sentence_is_noticed() -> None:
    pytest.importorskip("transformers")
    from truth.sentence_checks import heads_do_not_count, is_fixed, maps, normalizes
    from truth.sentences import said_of

    found = dict(said_of({"model_type": "llama"}, "LlamaModel"))
    norm = next(said for template, said in found.items() if template.startswith("Each vector is divided"))
    network = next(said for template, said in found.items() if template.startswith("Gated"))
    attention = next(said for template, said in found.items() if template.startswith("Scores"))
    table = next(said for template, said in found.items() if template.startswith("A table"))
    assert normalizes(centred=True, shift=False)(norm) is False
    assert normalizes(centred=False, shift=True)(norm) is False
    assert maps(1)(network) is False
    assert is_fixed(table) is False
    grouped = dict(said_of({"model_type": "t5"}, "T5Model"))
    set_apart = next(said for template, said in grouped.items() if template.startswith("The head dimension"))
    assert heads_do_not_count(set_apart) is False
    assert heads_do_not_count(attention) in (True, None)
