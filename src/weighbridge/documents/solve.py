"""Unknown sizes, solved: as a document and as JSON."""

from __future__ import annotations

from typing import Any

from weighbridge.conventions.loading import loading_of
from weighbridge.core.messages import Text, translator
from weighbridge.designs.problem import MeasuredConfig
from weighbridge.designs.solve import Solution
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.value import ModelValue


def as_json(model: ModelValue, found: Solution) -> dict[str, Any]:
    """Return the answer of ``weigh solve --json``.

    >>> from weighbridge import model
    >>> from weighbridge.designs.budget import parse_budget
    >>> from weighbridge.designs.solve import solve
    >>> bert = model("bert-base-uncased")
    >>> as_json(bert, solve(bert, ["num_hidden_layers"], {"parameters": parse_budget("109482240")}))["solutions"]
    [{'num_hidden_layers': 12, 'parameters': 109482240}]
    """
    text, values = found.proof
    return {
        "source": model.source,
        "class": model.class_name,
        "unknowns": list(found.keys),
        "targets": {name: budget._asdict() for name, budget in found.targets.items()},
        "solutions": [_row(entry) for entry in found.solutions],
        "nearest": [_row(entry) for entry in found.nearest],
        "equation": found.equation,
        "proof": text.format(**values),
        "proven": found.proven,
        "more": found.cut,
        "refused": [{"values": values, "reason": reason} for values, reason in found.refused],
    }


def _row(entry: MeasuredConfig) -> dict[str, int]:
    return {**entry.values, **entry.measured}


def document(model: ModelValue, found: Solution, lang: str = "en") -> Document:
    """Lay a solution out: the values with their counts, the equation, and why there are no others."""
    say = translator(lang)
    names = {
        "parameters": say("parameters"),
        "active": say("active"),
        "loaded": say("as loaded"),
        "embedding": say("embedding"),
        "non_embedding": say("non-embedding"),
        "flops": say("forward FLOPs"),
        "cache": say("bytes of cache a token"),
        "memory": say("bytes of memory"),
    }
    measure, budget = next(iter(found.targets.items()))
    shown = found.solutions or found.nearest
    measures = list(shown[0].measured) if shown else []
    columns = [Column(key, "integer") for key in found.keys] + [Column(names[name], "integer") for name in measures]
    columns.append(Column(say("difference"), "integer"))
    rows = tuple(Row((*entry.values.values(), *entry.measured.values(), entry.measured[measure] - budget.target)) for entry in shown[:50])
    head = say("{source}: {keys} for {target} {measure}").format(
        source=f"{model.class_name} · {model.source}", keys=", ".join(found.keys), target=f"{budget.target:,}", measure=names[measure]
    )
    text, values = found.proof
    how = {name: value.render(say) if isinstance(value, Text) else value for name, value in values.items()}
    said = [say(text).format(**{**how, "measure": names.get(values.get("measure", ""), "")})]
    if found.solutions:
        many = say("more than {n} solutions") if found.cut else say("{n} solutions")
        figure = many.format(n=f"{len(found.solutions):,}") if len(found.solutions) > 1 else say("1 solution")
    else:
        exact = budget.low == budget.high
        absent = say("no exact solution") if exact else say("no solution")
        figure = absent if found.proven else say("no solution found")
        if found.nearest and exact:
            said.append(
                say("No value gives exactly that; the nearest that make a model are shown. A target such as 3B±2% accepts what is near.")
            )
        elif found.nearest:
            said.append(say("No value lies in that range; the nearest that make a model are shown."))
    counted = loading_of(model) if "loaded" not in found.targets else None
    if counted is not None and counted.separate:
        said.append(
            say(
                "Counts are of the class as built; loaded from its published file, {tensors} has its own matrix: --loaded solves for that."
            ).format(tensors=", ".join(counted.separate))
        )
    if found.cut:
        said.append(say("There are more: the nearest {n} are listed.").format(n=f"{len(found.solutions):,}"))
    if len(found.solutions) > 50:
        said.append(say("{n} more are in the JSON.").format(n=f"{len(found.solutions) - 50:,}"))
    said += [
        say("{values} would solve it, but makes no model: {reason}").format(
            values=", ".join(f"{key} = {value:,}" for key, value in refused.items()), reason=reason
        )
        for refused, reason in found.refused[:3]
    ]
    blocks = (Table(tuple(columns), rows),) if rows else ()
    return Document(head, figure, (*blocks, *notes(said)))
