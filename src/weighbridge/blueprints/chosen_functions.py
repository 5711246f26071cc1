"""Activations and probabilities that no class of the reference library is built with: a name it does not know, a dropout above 1.

Which keys choose an activation, and which give a dropout its probability, was seen in the live classes (``chosen_functions.txt``,
written by ``python -m truth.chosen_functions``): a key that the class does not read may hold anything.
"""

from __future__ import annotations

from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.bind import say_value
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    Checks = tuple[tuple[str, tuple[tuple[str, Collection[str]], ...], tuple[str, ...]], ...]

PATH = __file__.removesuffix(".py") + ".txt"
ACTIVATIONS = frozenset(
    """gelu gelu_10 gelu_accurate gelu_fast gelu_new gelu_python gelu_python_tanh gelu_pytorch_tanh hardswish laplace leaky_relu linear mish
    prelu quick_gelu relu relu2 relu6 sigmoid silu sqrtsoftplus swish tanh xielu""".split()
)
"""The activations that transformers 5.23.0 knows by name (activations.py, ACT2FN)."""


def refuse_functions(model_type: str, class_name: str, sizes: Config, raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse an activation that the library does not know, and a probability that is none, where the class reads them.

    A sub-config of which no class of the outer type is known to read anything, such as a backbone, is held to its own type.

    Args:
        sizes: What was bound of *raw*: its sub-configs know their types.

    Raises:
        ConfigError: Such a name or number.

    >>> refuse_functions("bert", "BertModel", Config(), {"hidden_act": "swiglu"})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: hidden_act: 'swiglu' is no activation that transformers 5.23.0 knows
    """
    line = find_line(PATH, f"{model_type}: ")
    for named, names, numbers in _checks(line) if line else ():
        if named and named != class_name:
            continue
        for key, known in names:
            _refuse_name(raw, path, key, known)
        for key in numbers:
            _refuse_number(raw, path, key)
    if not path:
        for inner in vars(sizes).values():
            if (
                isinstance(inner, Config)
                and vars(inner).get("model_type")
                and (key := vars(inner).get("path", ""))
                and f"{key}." not in line
            ):
                stated = _value(raw, key)
                if isinstance(stated, Mapping):
                    refuse_functions(inner.model_type, "", inner, stated, f"{key}.")


def _checks(line: str) -> Checks:
    """Read what a line asks: of which class alone, which keys name one of which functions, and which are probabilities.

    >>> _checks("BertModel act=gelu,relu|dropout")
    (('BertModel', (('act', ('gelu', 'relu')),), ('dropout',)),)
    """
    if line in _READ:
        return _READ[line]
    checks = []
    for part in line.split("; "):
        names, _, numbers = part.partition("|")
        listed = names.split()
        named = listed.pop(0) if listed and listed[0][:1].isupper() else ""
        split = (key.partition("=") for key in listed)
        checks.append(
            (
                named,
                tuple((key, tuple(known.split(",")) if equals else ACTIVATIONS) for key, equals, known in split),
                tuple(numbers.split()),
            )
        )
    _READ[line] = tuple(checks)
    return _READ[line]


_READ: dict[str, Checks] = {}


def _refuse_name(raw: Mapping[str, Any], path: str, key: str, known: Any) -> None:
    value = _value(raw, key)
    if isinstance(value, str) and value not in known:
        raise ConfigError(Text("{value!r:.40} is no activation that transformers 5.23.0 knows", value=value), key=path + key, value=value)


def _refuse_number(raw: Mapping[str, Any], path: str, key: str) -> None:
    value = _value(raw, key)
    if type(value) in (int, float) and not 0 <= value <= 1:
        raise ConfigError(
            Text("a probability is between 0 and 1, and this is {value}", value=say_value(value)), key=path + key, value=value
        )


def _value(raw: Mapping[str, Any], path: str) -> Any:
    """Return what stands under a path of keys; None where there is nothing.

    >>> _value({"text_config": {"hidden_act": "gelu"}}, "text_config.hidden_act"), _value({}, "text_config.hidden_act")
    ('gelu', None)
    """
    if "." not in path:
        return raw.get(path)
    head, _, rest = path.partition(".")
    value = raw.get(head)
    return _value(value, rest) if isinstance(value, Mapping) else None
