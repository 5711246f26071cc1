"""What the reference's classes refuse at sight, asked of every type that is described.

``python -m truth.refused_values`` sets every size of every described type to null and to 0, and every head to an odd width, and writes into
``blueprints/refused_values.json`` which nulls are taken, which types want an even width, and of which sizes they build 0;
into ``refused_pairs.txt`` which widths the heads divide or must not outnumber, and which tables of words want the row of the padding token. It takes half an hour.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from truth import live
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.live import RefusedError
from truth.probe import hurry
from truth.trials import Trial, try_trial
from weighbridge import model
from weighbridge.blueprints import MODULES, family, is_remote, refused_values
from weighbridge.blueprints.refused_values import PAIRS, PATH, wants_number
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Field, SubConfig
from weighbridge.core.errors import WeighbridgeError

REFUSED_LABELS = "TypeError: 'NoneType' object cannot be interpreted as an integer"


def find_refused_values() -> dict[str, Any]:
    """Ask every config class that builds from its defaults."""
    nulls: dict[str, list[str]] = {}
    even: list[str] = []
    for model_type in MODULES:
        try:
            config = live.config_class(model_type)
        except RefusedError:  # code of its own, or another package's
            continue
        if "RoPE requires an even" in _refusal(config, head_dim=7):
            even.append(model_type)
        if not _refusal(config):
            keys = {key for field in family(model_type).fields if wants_number(field) for key in (field.key, *field.aliases) if key}
            nulls[model_type] = sorted(key for key in keys if not _is_refused(config, key))
    found: dict[str, Any] = {"even_heads": even, "nulls": nulls}
    for name, find in (("zeros", find_zeros), ("unreadable_nulls", find_unreadable_nulls)):
        found[name] = {model_type: values for model_type in MODULES if not is_remote(model_type) and (values := find(model_type))}
    return found


def find_zeros(model_type: str) -> list[str]:
    """Return the sizes of a type that its classes build at 0, and ours with them."""
    table = refused_values._read()["zeros"]
    before, taken = table.pop(model_type, []), []
    for field in family(model_type).fields:
        if field.kind != "size" or not field.key or field.smallest == 0:
            continue
        table[model_type] = [field.key]
        none = {"pad_token_id": None} if field.word.endswith("vocab") else {}
        tried = [_try(model_type, class_name, {**raw, field.key: 0, **none}) for class_name, raw in _samples(model_type)]
        if "agrees" in tried and "differs" not in tried:
            taken.append(field.key)
    table[model_type] = before
    return sorted(taken)


def find_divisions(model_type: str) -> list[list[str]]:
    """Return the pairs of a width and a number of heads that a type's classes refuse where the one does not divide the other, and ours would not."""
    heads = [field for field in family(model_type).fields if field.kind == "size" and field.word.endswith("heads")]
    widths = [field for field in family(model_type).fields if field.kind == "size" and field.word.endswith(("hidden", "heads"))]
    pairs = [(width.key, number.key) for width in widths for number in heads if number.key != width.key]
    return [[*pair] for pair in pairs if any(_is_division(model_type, *one, *pair) for one in _samples(model_type))]


def _is_division(model_type: str, class_name: str, raw: dict[str, Any], width: str, heads: str) -> bool:
    """Say whether a class refuses a width that is one more than the heads divide, builds a multiple of theirs, and ours builds both."""
    if not isinstance(raw.get(width), int):
        return False
    unfit = next(number for number in (5, 7, 11, 13) if raw[width] % number)
    tried = {**raw, heads: unfit}
    refusal = _build_refusal(model_type, class_name, tried)
    if not any(word in refusal for word in ("divisible", "multiple of", "divide")):
        return False
    fitting = {**tried, width: raw[width] * unfit}
    return _try(model_type, class_name, fitting) == "agrees" and _ours_builds(class_name, tried)


def find_empty_heads(model_type: str) -> list[str]:
    """Return the width and the number of heads of a type, where all its classes refuse more heads than the width has elements, and ours would not."""
    words = {field.word: field.key for field in family(model_type).fields if field.kind == "size" and field.key}
    heads = [key for word, key in words.items() if word.endswith("heads")]
    own = [key for word, key in words.items() if word.endswith("heads") and not word.endswith("kv_heads")]
    if "hidden" not in words or len(own) != 1:
        return []
    for index in range(4):
        raw = draw(f"empty heads {index}", model_type, 0.7)
        width = raw.get(words["hidden"])
        if not isinstance(width, int) or not _ours_builds(classes(model_type)[0], raw):
            continue
        tried = {key: value for key, value in {**raw, **dict.fromkeys(heads, 2 * width)}.items() if key != "head_dim"}
        refused = all(
            _ours_builds(name, tried) and "negative power" in _build_refusal(model_type, name, tried) for name in classes(model_type)
        )
        return [f"{words['hidden']}>={own[0]}"] if refused else []
    return []


def find_unreadable_nulls(model_type: str) -> list[str]:
    """Return the keys that a type's config takes at null, none of its classes builds, and ours would."""
    table = refused_values._read()["unreadable_nulls"]
    table.pop(model_type, None)
    found = []
    keys = [
        (key, field)
        for field in family(model_type).fields
        if field.kind not in ("derived", "nested")
        for key in (field.key, *field.aliases)
    ]
    for key, field in keys:
        if not key or key == "id2label" or type(field.default) is type(None):
            continue
        tried = [
            (name, {**{other: value for other, value in raw.items() if other != field.key}, key: None})
            for name, raw in _samples(model_type)
        ]
        if tried and all(_ours_builds(*one) and _build_refusal(model_type, *one) for one in tried):
            found.append(key)
    return sorted(found)


@cache
def _samples(model_type: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the first and the last class of a type, with a small config that ours and theirs agree on."""
    names, found = classes(model_type), []
    for class_name in dict.fromkeys((names[0], names[-1])):
        for index, touch in enumerate(TOUCHES):
            raw = draw(f"zeros {index}", model_type, touch)
            if _try(model_type, class_name, raw) == "agrees":
                found.append((class_name, raw))
                break
    return tuple(found)


def find_padding(model_type: str) -> list[str]:
    """Return the padding token that a type's config has by itself, where its classes refuse one outside of the vocabulary."""
    key = next((field.key for field in family(model_type).fields if field.word == "vocab" and field.key), "")
    samples = [(name, raw) for name, raw in _samples(model_type) if isinstance(raw.get(key), int)]
    outside = [_build_refusal(model_type, name, {**raw, "pad_token_id": raw[key]}) for name, raw in samples]
    if not outside or not all("adding_idx" in refusal for refusal in outside):
        return []
    usual = live.value(live.config_class(model_type)(), "pad_token_id")
    return [f"pad_token_id={'' if usual is None else usual}"]


def find_inner_padding(model_type: str) -> list[str]:
    """Return the padding tokens that a type's sub-configs have by default, where its classes refuse one outside of the vocabulary."""
    found = []
    for field in family(model_type).fields:
        inner = _inner(field) if field.kind == "nested" and field.resolve is not None else None
        vocab = next((own.key for own in inner.fields if own.word == "vocab"), "") if inner is not None else ""
        usual = _usual_inside(model_type, field.key, "pad_token_id") if vocab else None
        if inner is None or type(usual) is not int or usual < 1:
            continue
        raw = {"model_type": model_type, field.key: {**({"model_type": inner.model_type} if inner.model_type else {}), vocab: usual}}
        names = [name for name in classes(model_type) if _ours_builds(name, raw)]
        refusals = [_build_refusal(model_type, name, raw) for name in names]
        if refusals and all("adding_idx" in refusal for refusal in refusals):
            found.append(f"{field.key}.pad_token_id={usual}")
    return found


def _inner(field: Field) -> SubConfig | None:
    try:
        return find_sub_config(field, {field.key: {}})
    except WeighbridgeError:  # a backbone, which states its type
        return None


def _usual_inside(model_type: str, key: str, name: str) -> Any:
    try:
        return live.value(live.value(live.config_class(model_type)(**{key: {}}), key), name)
    except Exception:  # a class that refuses an empty sub-config
        return None


def _try(model_type: str, class_name: str, raw: dict[str, Any]) -> str:
    found = try_trial(model_type, Trial(class_name, 0, ()), raw)
    return "refused" if found is None else found.verdict


def _ours_builds(class_name: str, raw: dict[str, Any]) -> bool:
    try:
        model(raw, class_name)
    except WeighbridgeError:
        return False
    return True


def _build_refusal(model_type: str, class_name: str, raw: dict[str, Any]) -> str:
    try:
        with hurry():
            live.build(model_type, class_name, raw)
    except (RefusedError, TimeoutError) as error:
        return str(error)
    return ""


def _is_refused(config: Any, key: str) -> bool:
    """Say whether a null is refused for its own sake, and not for what other keys make of it."""
    named = config.attribute_map.get(key, key)
    return _refusal(config, **{key: None}).startswith(
        (f"StrictDataclassFieldValidationError: Validation error for field '{named}'", REFUSED_LABELS)
    )


def _refusal(config: Any, **values: Any) -> str:
    try:
        config(**values)
    except Exception as error:  # whatever a value may provoke in there
        return f"{type(error).__name__}: {error}"
    return ""


def main() -> None:
    """Write the files."""
    Path(PAIRS).write_text("", "utf-8")  # so that ours builds what the classes refuse
    types = [name for name in MODULES if not is_remote(name)]
    pairs = {
        name: [*("/".join(pair) for pair in find_divisions(name)), *find_empty_heads(name), *find_padding(name), *find_inner_padding(name)]
        for name in types
    }
    Path(PAIRS).write_text("".join(f"{name}: {' '.join(found)}\n" for name, found in sorted(pairs.items()) if found), "utf-8")
    lines = (f" {json.dumps(key)}: {json.dumps(value)}" for key, value in find_refused_values().items())
    Path(PATH).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
