"""What a request asks for: the model, the class, the changed fields, the language; all of it in the address.

A request names a preset, a model type or a config it brings along. It can never name a path:
nothing on the server's disk is read for a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple
from urllib.parse import urlencode

from weighbridge.accounts.accepted_inputs import usual_inputs, usual_lengths
from weighbridge.accounts.inputs import Inputs
from weighbridge.api.model import Model, model
from weighbridge.blueprints import MODULES
from weighbridge.config.read import parse_config, read_config
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.messages import Text, join_with_or, language
from weighbridge.core.tree import Part
from weighbridge.presets import preset, preset_like, presets, suggestions

PUT_IN = ("batch", "seq", "decoder_seq", "encoder_seq", "images", "audios", "question")
"""Whole numbers that say what is put in, for the arithmetic."""

DEFAULT = "bert-base-uncased"
FETCHES: ContextVar[bool] = ContextVar("fetches", default=False)
"""Whether the server may look a model up on a hub for a request; off unless it was started with ``--fetch``."""

DEEPEST = 10_000
"""The most layers that are weighed for a request; ten times as deep as any model, and little enough to be listed."""

MOST_NAMES = 1_000_000
"""The most tensors whose names are written out for a request."""

MOST_COMPARED = 6
"""The most models side by side."""

STACKS = ("layer", "depth", "block", "stage")
"""What keys are called that say how often something is stacked."""


class Query(NamedTuple):
    """One request's question.

    Attributes:
        source: A preset's name, a Hub id of a preset, or a model type (its defaults).
        config: A pasted config as JSON text, in place of *source*.
        class_name: The class, or the empty string for the default.
        overrides: Changed fields, by config key.
        lang: The language of the words.
        module: The module in view, as a dotted path; empty for the whole.
        batch: For the arithmetic.
        seq: For it too; 0 where nobody says: then the usual number, or as many as a model has positions for.
        decoder_seq, encoder_seq, images, audios, question, patches: For it as well; 0, or the empty string, where nothing is said.
        compared: The models side by side on the page that compares.
        number: A count whose convention is asked for.
        device: An accelerator that it may fit.
        dropped: The name of a file that was dropped, and is not here any more.
    """

    source: str = DEFAULT
    config: str = ""
    class_name: str = ""
    overrides: tuple[tuple[str, Any], ...] = ()
    lang: str = "en"
    module: str = ""
    batch: int = 1
    seq: int = 0
    decoder_seq: int = 0
    encoder_seq: int = 0
    images: int = 0
    audios: int = 0
    question: int = 0
    patches: str = ""
    compared: tuple[str, ...] = ()
    number: str = ""
    device: str = ""
    dropped: str = ""

    def model(self) -> Model:
        """Load the model that the query asks for."""
        raw = parse_config(self.config.encode(), Text("the config")) if self.config else _read_known(self.source)
        changed = dict(self.overrides)
        check_depth({**raw, **changed})
        return model(raw, self.class_name or None, changed).replace(source="config" if self.config else self.source)

    def tokens(self, *models: Model) -> int:
        """Return the tokens of each example: those asked for, or the usual ones that all models have positions for."""
        return self.seq or min(usual_lengths(model, Inputs().seq)[0] for model in models)

    def inputs(self, model: Model) -> Inputs:
        """Return what is put in, for the arithmetic."""
        return usual_inputs(model, {name: value for name, value in self._asdict().items() if value})

    def link(self, page: str, **changes: Any) -> str:
        """Return the address of *page* that asks the same, but for *changes*."""
        query = self._replace(**changes)
        pairs: list[tuple[str, Any]] = [("config", query.config)] if query.config else [("source", query.source)]
        if page == "/compare":
            query = query._replace(class_name="", module="", overrides=())
            pairs = [("with", name) for name in query.compared]
        plain = Query()
        for name in ("class_name", "lang", "module", *PUT_IN, "patches", "number", "device"):
            if getattr(query, name) != getattr(plain, name):
                pairs.append(({"class_name": "class"}.get(name, name), getattr(query, name)))
        pairs += [(f"set.{key}", _value_as_text(value)) for key, value in query.overrides]
        return f"{page}?{urlencode(pairs)}"


def read_query(parameters: Mapping[str, str]) -> Query:
    """Read a question from an address's parameters, or from the same keys in a JSON body.

    Raises:
        UsageError: An invalid parameter.

    >>> read_query({"source": "bert-tiny", "set.num_hidden_layers": "3"}).overrides
    (('num_hidden_layers', 3),)
    """
    lang = language(parameters.get("lang") or "en")
    overrides = tuple((key[4:], _read(value)) for key, value in parameters.items() if key.startswith("set.") and value != "")
    return Query(
        source=parameters.get("source") or DEFAULT,
        config=parameters.get("config") or "",
        class_name=parameters.get("class") or "",
        overrides=overrides,
        lang=lang,
        module=parameters.get("module") or "",
        patches=parameters.get("patches") or "",
        number=(parameters.get("number") or "")[:80],
        device=(parameters.get("device") or "")[:40],
        dropped=(parameters.get("dropped") or "")[:200],
        batch=positive_int(parameters, "batch", 1),
        seq=positive_int(parameters, "seq") if parameters.get("seq") else 0,
        decoder_seq=positive_int(parameters, "decoder_seq", 0),
        encoder_seq=positive_int(parameters, "encoder_seq", 0),
        images=positive_int(parameters, "images", 0),
        audios=positive_int(parameters, "audios", 0),
        question=positive_int(parameters, "question", 0),
    )


def check_depth(raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse a config so deep that to list its layers would take the server's memory."""
    for key, value in raw.items():
        deep = any(word in str(key) for word in STACKS)
        if isinstance(value, Mapping):
            check_depth(value, f"{path}{key}.")
        elif deep and any(type(number) is int and number > DEEPEST for number in (value if isinstance(value, list) else [value])):
            raise UsageError(Text("{path}{key}: this server weighs at most {deepest:,} layers", path=path, key=key, deepest=DEEPEST))


def check_names(part: Part) -> None:
    """Refuse to write out more names than :data:`MOST_NAMES`."""
    if _names(part) > MOST_NAMES:
        raise UsageError(Text("more than {most_names:,} tensors; this server does not list them", most_names=MOST_NAMES))


def _names(part: Part) -> int:
    each = sum(_names(child) if isinstance(child, Part) else 1 for child in part.children)
    return each * (part.repeat if isinstance(part.repeat, int) else 1)


def _read_known(source: str) -> dict[str, Any]:
    """Return the config of a preset or a model type, or of the Hub where the server may fetch; refuse any other name with those that are near."""
    found = preset(source) or (preset_like(source) if source not in MODULES else None)
    if found is not None:
        return found.config
    if source in MODULES:
        return {"model_type": source}
    if FETCHES.get() and ".." not in source and len(source) < 200:
        fetched = _fetch(source)
        if fetched is not None:
            return fetched
    from weighbridge.core.suggestions import did_you_mean

    family = source.lower().partition("-")[0]
    near = [*([family] if family in MODULES else []), *suggestions(source)][:3]
    names = dict.fromkeys((*MODULES, *(entry.name for entry in presets())))
    hint = Text("did you mean {names}?", names=join_with_or(near)) if near else did_you_mean(source, names)
    raise SourceError(
        Text("{source!r} is neither a preset nor a model type; {hint}", source=source[:80], hint=hint or Text("see the list of models")),
        source=source,
    )


def _fetch(source: str) -> dict[str, Any] | None:
    """Read the config of a hub's model; None if *source* is no hub's id. What stands on this disk under that name is not looked at."""
    from weighbridge.readers import hub

    found = hub.repository(source)
    return None if found is None else read_config(hub.at_hub(found, source) / "config.json")


def _read(value: object) -> Any:
    """Read a field's value: JSON where it can be read as such, else a word."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _value_as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def positive_int(parameters: Mapping[str, Any], key: str, default: int = 1) -> int:
    """Read a whole number from 1 up; 0 only where that is the default, and means that nothing is said.

    Raises:
        UsageError: It is none.

    >>> positive_int({"seq": "512"}, "seq"), positive_int({"images": "0"}, "images", 0)
    (512, 0)
    """
    value = parameters.get(key)
    if value is None or value == "":
        return default
    text = str(value)
    if isinstance(value, bool) or not text.isascii() or not text.isdecimal() or not 1 <= len(text) <= 9 or int(text) < min(default, 1):
        raise UsageError(Text("{key}: expected a whole number from 1 to 999,999,999, found {text!r}", key=key, text=text[:40]))
    return int(text)
