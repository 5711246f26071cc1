"""Names of models as people write them: one table from a name to the presets it can mean."""

import pytest

from weighbridge.auditing.checks.names import UNKNOWN, find_mentions
from weighbridge.presets.aliases import FAMILY, MODEL, lookup, member, preset_by_nickname, preset_configs, table

WRITTEN = {
    "BERT-Base, Uncased": "bert-base-uncased",
    "BERT-Base, Multilingual Cased": "bert-base-multilingual-cased",
    "Mixtral 8x7B": "mixtral-8x7b",
    "ViT-B/16": "vit-base-patch16-224-in21k",
    "LLaMA V1 7B": "llama-7b",
    "Llama-70B": "llama-2-70b",
    "Meta-Llama-3-8B": "llama-3-8b",
    "t5.1.1.base": "t5-v1_1-base",
    "ELECTRA-base": "electra-base-discriminator",
    "ALBERT-xxlarge": "albert-xxlarge-v1",
    "GPT-3 175B": "gpt3-175b",
    "GPT-2 1.5B": "gpt2-xl",
    "gpt2-medium": "gpt2-medium",
    "Qwen2.5-7B": "qwen2.5-7b",
    "llama32_1b_config": "llama-3.2-1b",
    "Phi-3.5-mini": "phi-3-mini-128k-instruct",
    "Vicuna-7B": "llama-2-7b",
    "DeepSeek-V3": "deepseek-v3",
    "RBT3": "rbt3",
    "hfl/rbtl3": "rbtl3",
    "deberta-xlarge-v2": "deberta-v2-xlarge",
    "Qwen3-30B-A3BQwen3-30B-A3B": "qwen3-30b-a3b",
    "ViT-S/14": "dinov2-small",
}


@pytest.mark.parametrize(("written", "preset"), WRITTEN.items())
def test_a_name_is_read_as_it_is_written(written: str, preset: str) -> None:
    assert [(mention.kind, mention.name) for mention in find_mentions(written)] == [(MODEL, preset)]


@pytest.mark.parametrize(
    "written", ["BERT", "GPT-2", "LLaMA", "Mixtral", "GPT-3", "RoBERTa", "T5", "Whisper", "FLAN-T5", "ALBERT v2", "Llama 4"]
)
def test_a_family_is_none_of_its_members(written: str) -> None:
    (mention,) = find_mentions(written)
    assert (mention.kind, mention.name) == (FAMILY, None)
    assert len(mention.names) > 1


@pytest.mark.parametrize("written", ["text-davinci-003", "TinyBERT", "RBT9", "LLaMA-7B-like", "MiniLM-L6", "gpt-4"])
def test_an_unknown_name_is_unknown(written: str) -> None:
    assert {mention.kind for mention in find_mentions(written)} == {UNKNOWN}


@pytest.mark.parametrize(
    "written", ["DeepSeekMoE", "a GPT-style decoder", "BERT-like", "tutorials/bert-by-hand.md", "Llama-based", "bert-from-scratch.py"]
)
def test_a_likeness_or_a_file_names_no_model(written: str) -> None:
    assert list(find_mentions(written)) == []


def test_every_name_of_the_table_is_a_preset() -> None:
    assert {name for named in table().values() for name in named.names} <= set(preset_configs())


def test_a_size_word_finds_the_member_of_its_family() -> None:
    found = member(["bert"], "large")
    assert found is not None
    assert found.names[0] == "bert-large-uncased"
    assert member(["bert"], "7B") is None
    assert lookup("no such model") is None


def test_a_source_may_be_called_as_people_write_it() -> None:
    from weighbridge import count
    from weighbridge.core.errors import SourceError

    assert count("Mixtral 8x7B v0.1").unique == 46_702_792_704
    found = preset_by_nickname("t5.1.1.base")
    assert found is not None
    assert found.name == "t5-v1_1-base"
    with pytest.raises(SourceError, match="did you mean bert-base-uncased, bert-base-cased"):
        count("BERT base")
