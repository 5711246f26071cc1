"""A model's true facts in many forms of tables and lists raise no alarm; one number changed raises one, at its line."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from weighbridge import audit, model
from weighbridge.auditing.checks.scene import words_of

Facts = dict[str, int]
Form = Callable[[list[str], list[Facts]], str]
_HEADS = {
    "layers": ("Layers", "num_hidden_layers", "层数"),
    "hidden": ("Hidden size", "d_model", "隐藏维度"),
    "heads": ("Heads", "n_heads", "注意力头数"),
}
_ORDER = ("layers", "hidden", "heads", "total")


def _heads(way: int) -> list[str]:
    return [*(words[way] for words in _HEADS.values()), ("Params", "#params", "参数量")[way]]


def _values(facts: Facts) -> list[str]:
    return [str(facts["layers"]), str(facts["hidden"]), str(facts["heads"]), f"{facts['total']:,}"]


def _markdown(names: list[str], facts: list[Facts]) -> str:
    rows = [["Model", *_heads(0)], ["---"] * 5, *([name, *_values(one)] for name, one in zip(names, facts, strict=True))]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _turned(names: list[str], facts: list[Facts]) -> str:
    columns = [_heads(2), *(_values(one) for one in facts)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [["", *names], ["---"] * (len(names) + 1), *zip(*columns, strict=True)])


def _html(names: list[str], facts: list[Facts]) -> str:
    cells = [["Model", *_heads(1)], *([name, *_values(one)] for name, one in zip(names, facts, strict=True))]
    rows = ["<tr>\n" + "\n".join(f"  <td>{cell}</td>" for cell in row) + "\n</tr>" for row in cells]
    return "<table>\n<thead>\n" + "\n</thead>\n<tbody>\n".join([rows[0], "\n".join(rows[1:])]) + "\n</tbody>\n</table>"


def _tex(names: list[str], facts: list[Facts]) -> str:
    rows = [" & ".join([name, *_values(one)]) + r" \\" for name, one in zip(names, facts, strict=True)]
    head = " & ".join(["Model", *_heads(0)]) + r" \\"
    return "\n".join((r"\begin{tabular}{lrrrr}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"))


def _commas(names: list[str], facts: list[Facts]) -> str:
    rows = [[name, *(str(one[word]) for word in _ORDER)] for name, one in zip(names, facts, strict=True)]
    return "\n".join(",".join(row) for row in [["model", "layers", "hidden_size", "heads", "params"], *rows])


def _spaced(names: list[str], facts: list[Facts]) -> str:
    rows = [["Model", "n_layer", "d_model", "n_heads", "#Params"], *([name, *_values(one)] for name, one in zip(names, facts, strict=True))]
    return "```\n" + "\n".join("  ".join(cell.ljust(22) for cell in row).rstrip() for row in rows) + "\n```"


def _settings(names: list[str], facts: list[Facts]) -> str:
    tables = []
    for name, one in zip(names, facts, strict=True):
        rows = [["Parameter", "Value"], ["---", "---"], *([head, value] for head, value in zip(_heads(0), _values(one), strict=True))]
        tables.append(f"## {name}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows))
    return "\n\n".join(tables)


def _bullets(names: list[str], facts: list[Facts]) -> str:
    return "\n\n".join(
        f"**{name}**\n" + "\n".join(f"- {head}: {value}" for head, value in zip(_heads(2), _values(one), strict=True))
        for name, one in zip(names, facts, strict=True)
    )


def _short(names: list[str], facts: list[Facts]) -> str:
    return "\n".join(
        f"- {name} ({one['layers']}L, {one['hidden']}H, {one['heads']}A, {one['total']:,})" for name, one in zip(names, facts, strict=True)
    )


def _words(names: list[str], facts: list[Facts]) -> str:
    return "\n".join(
        f"- {name}: {one['layers']}-layer, {one['hidden']}-hidden, {one['heads']}-heads, {one['total']:,} parameters"
        for name, one in zip(names, facts, strict=True)
    )


def _letters(names: list[str], facts: list[Facts]) -> str:
    return " and ".join(
        f"{name} (L={one['layers']}, H={one['hidden']}, A={one['heads']}, Total Parameters={one['total']:,})"
        for name, one in zip(names, facts, strict=True)
    )


def _paired(names: list[str], facts: list[Facts]) -> str:
    said = [" and ".join(str(one[word]) for one in facts) for word in ("layers", "hidden", "total")]
    return f"{' and '.join(names)} have {said[0]} layers, hidden sizes of {said[1]} and {said[2]} parameters, respectively."


FORMS: list[Form] = [_markdown, _turned, _html, _tex, _commas, _spaced, _settings, _bullets, _short, _words, _letters, _paired]
NAMES = ["bert-large-uncased", "gpt2-medium", "llama-2-13b", "qwen2.5-7b", "mistral-7b-v0.1", "pythia-1.4b", "opt-6.7b", "roberta-base"]


def _facts(name: str) -> Facts:
    loaded = model(name)
    total = loaded.count().unique
    assert isinstance(total, int)
    return {**words_of(loaded), "total": total}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_true_facts_are_judged_and_one_changed_is_found_at_its_line(form: Form) -> None:
    chance = random.Random(form.__name__)
    names = chance.sample(NAMES, 2)
    facts = [_facts(name) for name in names]
    text = form(names, facts)
    found = audit(text)
    assert not found.wrong, text
    assert not [claim for claim in found.claims if claim.verdict == "unsettled"], text
    assert len(found.claims) >= len(_ORDER) * 2 - 2, text
    word = chance.choice(["layers", "hidden", "total"])
    changed = facts[1] | {word: facts[1][word] + (1 if word == "layers" else 10 ** (len(str(facts[1][word])) - 2))}
    lines = form(names, [facts[0], changed]).split("\n")
    at = [number for number, (old, new) in enumerate(zip(text.split("\n"), lines, strict=True), 1) if old != new]
    assert [claim.line for claim in audit("\n".join(lines)).wrong] == at, "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "| Model | Size |\n|---|---|\n| BERT-base | 440 MB |\n| DistilBERT | 265 MB |",
        "| Model | Layers | Hidden | Context |\n|---|---|---|---|\n| BERT-base | 12 | 768 | 128 |",
        "| Model | Vocab | Layers |\n|---|---|---|\n| Llama 3 8B | 128,000 | 32 |\n| phi-2 | 50,257 | 32 |",
        "Our BERT-base (6 layers, 768 hidden, 12 heads, 66M parameters) is smaller.",
        "## Mixtral-8x7B-v0.1\n\nActive Parameters\n\n46.7B\n\nLayers\n\n32\n\nHidden size\n\n4096",
        "### GPT-2 Medium\n\n+ Hidden size = 1024\n+ FFN size = 4096\n+ Layers = 24",
        "BERT-base and BERT-large have 12 and 24 layers; our student and teacher have 4 and 6 layers, respectively.",
    ],
)
def test_what_may_be_meant_otherwise_is_no_alarm(text: str) -> None:
    wrong = [claim.text for claim in audit(text).wrong]
    assert not [one for one in wrong if one != "46.7B"]


def test_a_count_far_off_is_wrong_where_the_other_rows_have_theirs() -> None:
    rows = [
        "| Model | Params |",
        "|---|---|",
        "| BERT-base | 110M |",
        "| BERT-large | 335M |",
        "| gpt2-medium | 355B |",
        "| RoBERTa-base | 125M |",
    ]
    assert [claim.line for claim in audit("\n".join(rows)).wrong] == [5]


def test_a_wrong_line_of_a_printed_summary_is_the_one_that_is_not_the_models() -> None:
    text = "gpt2-large\n\nTotal params: 774,030,080\nTrainable params: 774,300,080\nNon-trainable params: 0"
    assert [(claim.line, claim.expected) for claim in audit(text).wrong] == [(4, 774_030_080)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("| Model | Heads (GQA KV) | Layers |\n|---|---|---|\n| Llama 3 8B | 32 (4) | 32 |\n| Llama 3 70B | 64 (8) | 80 |", [3]),
        ("# Qwen2.5-7B\n\nHidden Size\n\n3584\n\nNumber of Layers\n\n32\n\nAttention Heads\n\n28\n\nParameters\n\n7.62B", [9]),
        (
            "Qwen2.5-7B:\n\n* Number of layers (L): 28\n* Model (hidden) dimension (d): 3,584\n* Feed-forward dimension (d_ff): 16,384\n",
            [5],
        ),
        ('gpt2-large.json\n\n{\n"n_embd": 1280,\n"n_layer": 36,\n"n_head": 12\n}', [6]),
        ("Whisper\n\ntiny 39 M tiny.en\nbase 74 M base.en\nsmall 424 M small.en\nmedium 769 M medium.en", [5]),
        (
            "## bert-large-uncased\n\n| Module | Params (M) |\n|---|---|\n| Embeddings | 31.78 |\n| Encoder | 402.31 |\n| Total | 335.14 |",
            [6],
        ),
        ("Model sizes:\n\n- Pythia 410M: 405M params\n- gpt2-xl: 1.56M params\n- BERT-large: 335M params\n- Phi-2: 2.8B params", [4]),
    ],
)
def test_one_wrong_number_of_a_list_is_found_where_it_stands(text: str, wrong: list[int]) -> None:
    assert [claim.line for claim in audit(text).wrong] == wrong


@pytest.mark.parametrize(
    "text",
    [
        "eurobert-610m:26 层，隐藏维度 1,152，607.9M 参数，词表大小 128256",
        "计算BERT-BASE参数量\nTransformer 层数 | 12 |\n隐藏层维度 | 768 |\n词汇表大小 | 21128 |",
        "# Llama 2 70B\n\nLayers: 80\nHidden size: 8192\n\nThe KV-Cache Growth Problem\n\n1\nIt grows with the tokens.",
        "GPT-2 Large has 36 layers and 20 attention heads; its siblings have 124M, 355M and 1.5B parameters.",
        'Mistral-7B-v0.1\n\n{\n"dim": 4096,\n"n_layers": 32,\n"hidden_dim": 14336\n}',
    ],
)
def test_a_number_that_is_another_models_or_none_is_no_alarm(text: str) -> None:
    assert not audit(text).wrong


_ROWS = "| 层 | 计算 | 参数量 |\n|---|---|---|\n| Q | {} | {} |\n| K | {} | {} |\n| FFN | `{}` | {} |\n"


@pytest.mark.parametrize(
    ("cells", "wrong"),
    [
        (("768×768+768", "590,592", "768*768+768", "0.59M", "768×3072+3072", "2,362,368"), []),
        (("768×768+768", "590,592", "768*768+768", "0.59M", "768×3072+3072", "2,362,868"), [2362868]),
        (("768×768+768", "590,592", "768*768+768", "0.59M", "768×3072+3072", "3,462,368"), [3462368]),
        (("30522×768", "23,440,896", "512×768", "393,216", "768×3072", "2,362,368"), []),  # a shape, and its biases
        (("16×16", "12", "14×14", "24", "16×16", "32"), []),
    ],
)
def test_a_row_with_a_computation_and_its_result_is_held(cells: tuple[str, ...], wrong: list[int]) -> None:
    assert [claim.value for claim in audit(_ROWS.format(*cells)).wrong] == wrong
