"""The skeleton of a blueprint: fields, ignored keys, classes, and a tree proposed from the live class."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from importlib import import_module
from string import ascii_uppercase
from typing import Any

from truth import census, live
from truth.aliases import values
from truth.forward_lengths import watch
from truth.live import RefusedError
from truth.probe import hurry
from truth.propose import CLOSE, OPEN, build_random, fields_of, known_words, plain_config, rules_of
from truth.repeated_modules import function_name
from truth.source import MAPS, describe
from truth.stage_loops import draw_lists, lists_of
from truth.trials import digest
from weighbridge.config import fields as vocabulary
from weighbridge.config.fields import Field, nested

ARITHMETIC = ("heads", "kv_heads", "head_dim", "active", "layers")
"""Words that may change no tensor and still are told, since the arithmetic needs them."""

HEAD = '''"""{model_type}: TODO the paper's title and the one thing that is particular about it.

Source: TODO arXiv; names as in transformers {version}, models/{package}/modeling_{package}.py.
"""

from __future__ import annotations

{imports}

FIELDS = (
{fields}
)
IGNORED_KEYS = frozenset("{ignored}".split())

'''


def skeleton(model_type: str, seed: str = "new") -> str:
    """Return the source of a module that describes a type, as far as live classes tell it.

    Raises:
        RefusedError: None of its classes builds.
    """
    config = live.config_class(model_type)
    table = _whole_table(config, known_words())
    rules = rules_of(config, table, seed)
    # A rule reads the fields above it.
    table = (*(one for one in table if one.word not in rules), *(one._replace(nullable=False) for one in table if one.word in rules))
    names, ignored = census.classes(model_type), _ignored_keys(model_type, table)
    ignored -= {one.key for one in table if one.word in (*ARITHMETIC, "tied")}  # the first class may have no head to tie
    stages = lists_of(config)
    lists = [f'    numbers("{key}", "{key}", {default}),' for key, default in stages.items()]
    ignored -= set(stages)
    draw = partial(draw_lists, lists=stages, table=table)
    table = tuple(one for one in table if one.key not in ignored)
    functions: dict[str, str] = {}
    facts: dict[str, str] = {}
    bodies = []
    for name in names:
        found = build_random(model_type, name, table, seed, (lambda rng, raw: draw(rng, raw=raw)) if stages else None)
        if not found:
            bodies.append(f"# {name} does not build from random configs of these fields.\n")
            continue
        function = function_name(name, model_type)
        bodies.append(describe(name, function, [model for _, model in found], table, functions, facts, watch, stages))
        functions[name] = function
    functions.pop(MAPS, None)
    if not functions:
        raise RefusedError(f"no class of {model_type} builds from random configs: {', '.join(names)}")
    body = "\n\n".join(bodies)
    if any(one.word == "kv_heads" for one in table):
        body = body.replace("heads=c.heads, head_dim", "heads=c.heads, kv_heads=c.kv_heads, head_dim")
    if "c.labels" in body:  # the first class may have no head
        ignored.discard("num_labels")
    if "c.tied" not in body:  # a type may have the key and no class that ties
        table, ignored = tuple(one for one in table if one.word != "tied"), ignored | {one.key for one in table if one.word == "tied"}
    package = config.__module__.split(".")[-2]
    classes = ", ".join(f'"{name}": {function}' for name, function in functions.items())
    declared = [
        *(_declaration(one, rules) for one in table),
        *lists,
        *_implied_fields(body, table, live.value(plain_config(config), "num_labels")),
        *(f"    {fact}," for word, fact in facts.items() if f"c.{word}" in body),
    ]
    text = (
        HEAD.format(
            model_type=model_type,
            version=live.versions()["transformers"],
            package=package,
            imports=_imports(body, "\n".join(declared)),
            fields="\n".join(declared),
            ignored=" ".join(sorted(ignored)),
        )
        + body
        + f'\n\nFAMILIES = {{"{model_type}": Family("{model_type}", FIELDS, {{{classes}}}, "{_base(model_type, functions)}", IGNORED_KEYS)}}\n'
    )
    return _format(re.sub(f"[{OPEN}{CLOSE}]", "", text))


def _base(model_type: str, classes: Mapping[str, str]) -> str:
    """Return the class that a type's name stands for: what the library's ``AutoModel`` builds, else the first."""
    named = import_module("transformers.models.auto.modeling_auto").MODEL_MAPPING_NAMES.get(model_type, "")
    candidates = (named,) if isinstance(named, str) else named
    return next((name for name in candidates if name in classes), next(iter(classes)))


def _whole_table(config: Any, words: dict[str, tuple[str, str, str]]) -> tuple[Field, ...]:
    inner = []
    for key, found in config.sub_configs.items():
        if found.__name__ != "AutoConfig":
            inner.append(nested(key.removesuffix("_config"), key, fields_of(found, words)))
    return (*_with_own_letters(fields_of(config, words)), *inner)


def _with_own_letters(table: tuple[Field, ...]) -> Iterator[Field]:
    """Give each size a letter of its own: what other families call two of them may be the same.

    >>> from weighbridge.config.fields import size
    >>> table = size("width", "w", 1, "W", "width"), size("wide", "x", 1, "W", "width"), size("word", "y", 1, "W", "width")
    >>> [one.letter for one in _with_own_letters(table)]
    ['W', 'I', 'O']
    """
    taken = {one.letter for one in table}
    used: set[str] = set()
    for one in table:
        if one.letter and one.letter in used:
            one = one._replace(
                letter=next(letter for letter in one.word.upper() + ascii_uppercase if letter.isalpha() and letter not in taken)
            )
        used.add(one.letter)
        taken.add(one.letter)
        yield one


def _implied_fields(body: str, table: tuple[Field, ...], labels: object) -> Iterator[str]:
    """Yield declarations of what a tree reads and no key of its own states: the width of a head, and how many *labels* there are by default.

    >>> list(_implied_fields("linear(c.hidden, c.labels)", (), 1000)), list(_implied_fields("c.labels", (), 2))
    (['    LABELS.with_default(1000),'], ['    LABELS,'])
    """
    stated = {one.word for one in table}
    if "c.head_dim" in body and "head_dim" not in stated and stated >= {"hidden", "heads"}:
        yield '    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),'
    if "c.labels" in body and "labels" not in stated:
        yield f"    LABELS.with_default({labels})," if type(labels) is int and labels != 2 else "    LABELS,"


BASES = 3
"""Configs on which every key is tried: what one key does may hang on another."""


def _ignored_keys(model_type: str, table: tuple[Field, ...]) -> set[str]:
    """Return the keys of a config class that change no tensor of its first class, each tried alone."""
    name, config = census.classes(model_type)[0], live.config_class(model_type)
    found = build_random(model_type, name, table, "ignored")
    if not found:
        return set()
    bases = [(raw, model, digest(live.listing(model))) for raw, model in found[:BASES]]
    general = live.general_keys()
    candidates = [key for key in config.__dataclass_fields__ if key not in general and key not in config.sub_configs]
    return {
        key
        for key in candidates
        if not any(_matters(model_type, name, raw, key, live.value(model.config, key), before) for raw, model, before in bases)
    }


def _matters(model_type: str, class_name: str, raw: dict[str, Any], key: str, value: Any, before: str) -> bool:
    """Say whether some other value of a key changes the tensors; one that the class never builds with may."""
    if isinstance(value, (str, float)):
        return False
    accepted = False
    for other in values(value):
        try:
            with hurry():
                after = digest(live.listing(live.build(model_type, class_name, {**raw, key: other})))
        except (RefusedError, TimeoutError):
            continue
        accepted = True
        if after != before:
            return True
    return not accepted and not key.endswith(("_token_id", "_index"))


CONSTANTS = {one: name for name, one in vars(vocabulary).items() if isinstance(one, Field) and one.kind in ("size", "switch")}
"""The fields that ``config/fields.py`` declares for all families, each with its name there."""


def _declaration(one: Field, rules: Mapping[str, str]) -> str:
    """Return the line that declares a field; *rules* say, by word, what stands for a null."""
    if one.kind == "nested":
        inner = "\n".join(_declaration(field, {}) for field in one.fields)
        return f'    nested("{one.word}", "{one.key}", (\n{inner}\n    )),'
    rule = rules.get(one.word, "")
    constant = CONSTANTS.get(one._replace(default=True if one.kind == "switch" else None))
    if constant and not rule and one.default is not None:
        return f"    {constant}.with_default({one.default}),"
    aliases = "".join(f', "{alias}"' for alias in one.aliases)
    if one.kind == "switch":
        return f'    switch("{one.word}", "{one.key}", {one.default}{aliases}),'
    about = f'"{one.letter}", "{one.meaning}"{aliases}'
    if rule:
        return f'    size("{one.word}", "{one.key}", lambda c: {rule}, {about}, null=lambda c: {rule}),'
    return f'    {"optional" if one.nullable else "size"}("{one.word}", "{one.key}", {one.default}, {about}),'


PARTS = "attend batch_norm conv1d conv2d embedding layer_norm linear part replace rms_norm".split()
MAKERS = "computed derived nested optional size switch".split()


def _imports(body: str, declared: str) -> str:
    """Return the imports of what a skeleton calls, by its functions and its declarations."""
    parts = [name for name in PARTS if re.search(rf"\b{name}\(", body)]
    makers = [name for name in MAKERS if re.search(rf"\b{name}\(", declared)]
    constants = [name for name in CONSTANTS.values() if re.search(rf"\b{name}\.", declared)]
    labels = ["LABELS"] if "LABELS" in declared else []
    nodes = [*(["Every"] if "Every(" in body else []), "Part", *(["Tensor"] if "Tensor(" in body else [])]
    sizes = [
        *(["Size"] if ": Size" in body else []),
        *(["exact"] if "exact(" in declared else []),
        *(["layer_range"] if "layer_range(" in body else []),
    ]
    return "\n".join(
        (
            *(["from weighbridge.blueprints.modules.convolutions import group_norm"] if "group_norm(" in body else []),
            *(["from weighbridge.blueprints.speech.hifigan import conv_transpose1d"] if "conv_transpose1d(" in body else []),
            *(["from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output"] if "maps(c)" in body else []),
            *(["from weighbridge.blueprints.modules.stage_fields import numbers"] if "numbers(" in declared else []),
            "from weighbridge.config.family import Family",
            f"from weighbridge.config.fields import {', '.join((*sorted(labels + constants), 'Config', *makers))}",
            f"from weighbridge.core.parts import {', '.join(parts)}",
            *([f"from weighbridge.core.sizes import {', '.join(sizes)}"] if sizes else []),
            f"from weighbridge.core.tree import {', '.join(nodes)}",
        )
    )


def _format(text: str) -> str:
    """Return source as the formatter lays it out, or as it is where there is no formatter."""
    try:
        return subprocess.run(["ruff", "format", "-"], input=text, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return text
