"""The HTTP API: each answer is the JSON of the command of the same name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import mark
from weighbridge.web.query import MOST_COMPARED, Query, check_names, query

Parameters = Mapping[str, Any]


class Call(NamedTuple):
    """One call of the API.

    Attributes:
        name: The last piece of its address.
        summary: What it answers.
        answer: The function.
        needs: Further parameters it must be given, with what they are.
        takes: Further parameters it may be given.
    """

    name: str
    summary: str
    answer: Callable[[Query, Parameters], Any]
    needs: tuple[tuple[str, str], ...] = ()
    takes: tuple[tuple[str, str], ...] = ()


def _count(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import count as counting

    return counting.as_json(asked.model())


def _tensors(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import tensors as listing

    found = asked.model()
    check_names(found.tree)
    return listing.as_json(found, str(given.get("names") or "reference"))


def _formula(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import formula as formulae

    return formulae.as_json(asked.model(), of_flops=_flag(given, "flops"), lang=asked.language)


def _explain(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import explain as derivation

    return derivation.as_json(asked.model().explain(asked.language, asked.module))


def _counts(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import counts as conventions

    return conventions.as_json(asked.model(), asked.language)


def _reconcile(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import reconcile as reconciliation

    return reconciliation.as_json(asked.model().reconcile(_text(given, "number"), asked.language))


def _audit(asked: Query, given: Parameters) -> Any:
    from weighbridge.auditing import audit
    from weighbridge.core.messages import translator
    from weighbridge.documents import audit as auditing

    named = given.get("source") or given.get("config")
    name = str(given.get("name") or "")
    found = audit(_text(given, "text"), name=name, model=asked.model() if named else None)
    return {"file": name, **auditing.as_json(found, translator(asked.language))}


def _compare(asked: Query, given: Parameters) -> Any:
    from weighbridge.accounts.compare import compare
    from weighbridge.documents import compare as comparison

    names = [name.strip() for name in _text(given, "models").split(",") if name.strip()]
    if not 2 <= len(names) <= MOST_COMPARED:
        raise UsageError(f"models: expected two to {MOST_COMPARED} names with commas between them")
    models = [asked._replace(source=name, config="", overrides=()).model() for name in names]
    return comparison.as_json(compare(models, asked.batch, asked.seq))


def _flops(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import flops as arithmetic

    return arithmetic.as_json(asked.model(), asked.given())


def _models(asked: Query, given: Parameters) -> Any:
    from weighbridge.documents import models as known

    return known.as_json(str(given.get("filter") or ""))


def _flag(given: Parameters, key: str) -> bool:
    value = str(given.get(key) or "false")
    if value not in ("true", "false"):
        raise UsageError(f"{key}: expected true or false, found {value[:40]!r}")
    return value == "true"


def _text(given: Parameters, key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{key}: missing; expected a text")
    return value


CALLS = (
    Call("count", mark("Total and tree of one model"), _count),
    Call("tensors", mark("Every tensor: name, shape, count, role, tie"), _tensors,
         takes=(("names", "another set of names, such as tensorflow"),)),
    Call("formula", mark("The closed formula, in total and by module"), _formula,
         takes=(("flops", "true: of the matrix arithmetic of a forward pass, not of the parameters"),)),
    Call("explain", mark("The derivation: formula, substitution, number"), _explain),
    Call("counts", mark("All legitimate counts, side by side"), _counts),
    Call("reconcile", mark("Which convention gives a number"), _reconcile,
         needs=(("number", "such as 108808704, 110M or 1.1亿"),)),
    Call("audit", mark("Every numeric claim of a text, checked"), _audit,
         needs=(("text", "the article"),), takes=(("name", "its file's name"),)),
    Call("compare", mark("Models side by side"), _compare, needs=(("models", "two to six names, with commas between them"),)),
    Call("flops", mark("Arithmetic of a forward and a backward pass"), _flops,
         takes=(("decoder_seq", "tokens of the decoder, where there are both"),
                ("encoder_seq", "length of the states that a decoder's cross-attention looks at"),
                ("images", "images per example (each crop counts), of a language model that sees"),
                ("patches", "patches of each image, where a model reads any size: rows x columns, such as 16x24"),
                ("audios", "clips of sound per example, of a language model that hears"),
                ("question", "tokens of each example that see the whole text, of a class that answers questions so"))),
    Call("models", mark("The presets and architectures known"), _models, takes=(("filter", "only names that contain it"),)),
)  # fmt: skip


def answer(call: Call, given: Parameters) -> Any:
    """Answer one call.

    Raises:
        WeighbridgeError: What was asked cannot be meant; the text says why.
    """
    for key, value in given.items():
        if not isinstance(value, (str, int, float, bool, type(None))):
            raise UsageError(f"{key[:40]}: expected a text or a number")
    flat = {key: value if isinstance(value, str) else "" if value is None else _json(value) for key, value in given.items()}
    return call.answer(query(flat), flat)


def _json(value: object) -> str:
    import json

    return json.dumps(value)
