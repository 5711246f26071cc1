"""Values of a config that must fit together, as the reference's config classes want it: heads that divide a width, lists of one length.

The rules stand in ``class_rules.txt`` by the config class, in Python's words, behind the defaults of the keys that they read; it is written by
``python -m truth.class_rules``, and no config has a say in what is evaluated. A rule is asked only where a config states one of its keys: what a class is by default fits.
"""

from __future__ import annotations

from weighbridge.blueprints.rule_functions import FUNCTIONS
from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

PATH = __file__.removesuffix(".py") + ".txt"
BEFORE = "before."
"""Stands in front of a key whose value is meant that it has before the class puts other names in their place."""
STATED = "stated"
"""What a config itself says, as in ``'text_config' in stated``."""
GIVEN = "given."
"""Stands in front of a key of which it is asked whether the config states it: two defaults may be of a kind that no JSON has."""


class Rule(NamedTuple):
    """What must hold among the values of some keys.

    Attributes:
        text: In Python's words; it is the package's own, never a config's.
        keys: The keys it reads, dotted where they are those of a sub-config.
        code: The same, compiled.
    """

    text: str
    keys: tuple[str, ...]
    code: CodeType


class ClassRules(NamedTuple):
    """The rules of a config class.

    Attributes:
        defaults: What the keys are by default.
        aliases: By key: its other names.
    """

    rules: tuple[Rule, ...]
    defaults: Mapping[str, Any]
    aliases: Mapping[str, tuple[str, ...]]


def refuse_unfit(class_name: str, raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse values of a config of a class that do not fit together.

    Raises:
        ConfigError: A rule of the class does not hold.

    >>> refuse_unfit("JambaConfig", {"attn_layer_period": 4})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: attn_layer_period: the class wants attn_layer_offset < attn_layer_period, found attn_layer_offset 4, \
attn_layer_period 4
    """
    found = rules_of(class_name)
    if not found.rules:
        return
    values = _Values(raw, found)
    for rule in found.rules:
        stated = [key for key in rule.keys if values.states(key)]
        if stated and not _is_open(rule, values, stated) and not _holds(rule, values):
            raise ConfigError(_say_unfit(rule, values, path), key=" and ".join(path + key for key in stated), value=values.find(stated[0]))


def _say_unfit(rule: Rule, values: _Values, path: str) -> Text:
    """Say which rule does not hold, and for which values."""
    found = [values.find(key) for key in rule.keys]
    if rule.text == f"{' % '.join(rule.keys)} == 0":
        text = "{first} ({numerator:,}) is not divisible by {second} ({denominator:,}); change one of them"
        first, second = (path + key for key in rule.keys)
        return Text(text, first=first, numerator=found[0], second=second, denominator=found[1])
    if rule.text.startswith("turns_pairs"):
        return Text("rotary positions turn pairs, and {width} is odd", width=found[0] // found[1])
    if rule.text.startswith("sections_fit"):
        return Text("the sections of rotary positions for rows, columns and time do not make up the pairs of a head")
    if BEFORE in rule.text:
        return Text(
            "the class works the width of a head out before it takes other names of a key, and heads of it do not make up {width:,}",
            width=values.find("d_model"),
        )
    if rule.text.startswith(GIVEN):
        return Text("the class joins two lists and can only if both are stated, or none: {keys}", keys=" and ".join(rule.keys))
    if rule.text.startswith("stages_exist"):
        stages = values.find("depths" if "depths" in rule.keys else "num_hidden_layers")
        count = len(stages) if isinstance(stages, list) else stages
        return Text("a backbone of {count} stages has not all of those whose maps are asked for", count=count)
    if rule.text.startswith("stages_ordered"):
        return Text("a backbone gives its stages in their order, each once, and out_features and out_indices must name the same ones")
    said = ", ".join(f"{key} {say_value(value)}" for key, value in zip(rule.keys, found, strict=True))
    return Text("the class wants {rule}, found {found}", rule=rule.text, found=said)


def _is_open(rule: Rule, values: _Values, stated: list[str]) -> bool:
    """Say whether a rule reads a key that the class works out of others, and does not expect that."""
    expected = (
        "None" in rule.text
        or STATED in rule.text
        or rule.text.startswith(("sections_fit", "stages_exist", "stages_ordered", "turns_pairs"))
    )
    return not expected and any(key not in stated and values.find(key) is None for key in rule.keys)


def _holds(rule: Rule, values: _Values) -> bool:
    try:
        return bool(eval(rule.code, FUNCTIONS, values))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return True  # values of other types than the rule is about: they are refused where they are read


class _Given:
    """Whether a config states a key.

    >>> _Given({"depths": [1]}).depths, _Given({"depths": None}).depths
    (True, False)
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> bool:
        return self.raw.get(name) is not None


class _Values(dict[str, "Any"]):
    """The values that a config has under the keys of its class's rules: what it states, else the defaults.

    >>> _Values({"n_embd": 8}, ClassRules((), {"hidden_size": 4, "heads": 2}, {"hidden_size": ("n_embd",)}))["hidden_size"]
    8
    """

    def __init__(self, raw: Mapping[str, Any], known: ClassRules, path: str = "") -> None:
        super().__init__()
        self.raw, self.known, self.path = raw, known, path

    def __missing__(self, name: str) -> Any:
        if name == BEFORE[:-1]:
            return _Values(self.raw, self.known._replace(aliases={}), self.path)
        if name == STATED:
            return self.raw
        if name == GIVEN[:-1]:
            return _Given(self.raw)
        key = self.path + name
        parts = any(other.startswith(key + ".") for other in self.known.defaults)
        if key not in self.known.defaults and not parts:
            raise KeyError(name)  # a function
        for alias in self.known.aliases.get(key, ()):
            if self.raw.get(alias) is not None:
                return self.raw[alias]
        if not parts:
            return self.raw.get(name, self.known.defaults[key])
        inner = self.raw.get(name)
        return _Values(inner if isinstance(inner, Mapping) else {}, self.known, f"{key}.")

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def find(self, key: str) -> Any:
        """Return the value under a dotted key."""
        value: Any = self
        for name in key.split("."):
            value = value[name]
        return value

    def states(self, key: str) -> bool:
        """Say whether the config states a dotted key, or its other name."""
        inner: Any = self.raw
        for name in key.split("."):
            if not isinstance(inner, Mapping) or name not in inner:
                return isinstance(inner, Mapping) and any(alias in inner for alias in self.known.aliases.get(key, ()))
            inner = inner[name]
        return True


_CLASSES: dict[str, ClassRules] = {}


def rules_of(name: str) -> ClassRules:
    """Return the rules of a config class; it may have none.

    >>> rules_of("CLIPTextConfig").rules[0].keys
    ('hidden_size', 'num_attention_heads')
    """
    found = _CLASSES.get(name)
    if found is None:
        found = _CLASSES[name] = _read(find_line(PATH, f"{name}: "))
    return found


def _read(line: str) -> ClassRules:
    """Read a line: the defaults of its keys, their other names behind a bar, and its rules; no module is imported for it, as most counts come by."""
    if not line:
        return ClassRules((), {}, {})
    stated, *texts = line.split("; ")
    defaults: dict[str, Any] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    for names, value in eval(stated, FUNCTIONS).items():
        key, *others = names.split("|")
        defaults[key] = value
        if others:
            aliases[key] = tuple(others)
    return ClassRules(tuple(_rule(text, defaults) for text in texts), defaults, aliases)


def _rule(text: str, defaults: Mapping[str, Any]) -> Rule:
    code = compile(text, PATH, "eval")
    named = {*code.co_names, *(const for const in code.co_consts if isinstance(const, str))}
    return Rule(text, tuple(key for key in defaults if key in text and set(key.split(".")) <= named), code)
