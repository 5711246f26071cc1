"""A config in YAML, as LitGPT and others write it; PyYAML reads it, and what a config does not need is refused.

Nothing but plain values, lists and mappings is ever made: no tag of a Python object (PyYAML's ``SafeLoader`` knows none), no alias (a few
lines of which can stand for billions of values), no text larger or deeper than a config of a model is.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LONGEST = 1 << 16
"""Characters that a config in YAML may have: LitGPT's have 2,000, and PyYAML takes a second for some hundred thousand."""
DEEPEST = 20
PLAIN = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float", "str"))
"""What PyYAML takes a plain value for; all else that it might, such as a date, stays the text that is written."""


def parse_yaml(text: str, name: str) -> dict[str, Any]:
    """Parse a config in YAML.

    Raises:
        ConfigError: It is no mapping of plain values, lists and mappings, or has a key twice.
        UsageError: PyYAML is not installed.

    >>> parse_yaml("n_layer: 2\\nbias: false\\nrope:\\n  factor: 8.0\\nkinds:\\n- 1\\n- 0\\n", "<text>")
    {'n_layer': 2, 'bias': False, 'rope': {'factor': 8.0}, 'kinds': [1, 0]}
    """
    try:
        import yaml
    except ImportError:
        raise UsageError(Text("{name}: a config in YAML needs PyYAML: pip install 'weighbridge[yaml]'", name=name)) from None
    if len(text) > LONGEST:
        raise ConfigError(
            Text("{name} has {size:,} characters; a config in YAML has at most {most:,}", name=name, size=len(text), most=LONGEST)
        )
    try:
        _refuse_what_no_config_needs(yaml.parse(text, yaml.SafeLoader), name)
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            raise ConfigError(Text("{name} is empty; expected a config as a mapping", name=name))
        if root.id != "mapping":
            raise _line_error(name, root.start_mark.line)
        found: dict[str, Any] = _value(root, loader, name)
    except yaml.MarkedYAMLError as error:
        raise _line_error(name, error.problem_mark.line if error.problem_mark else 0) from None
    except yaml.YAMLError:
        raise ConfigError(Text("{name} has characters that YAML does not allow", name=name)) from None
    return found


def _refuse_what_no_config_needs(events: Iterable[Any], name: str) -> None:
    """Refuse anchors and what refers to them, tags, and depth, before anything is made of a text."""
    depth = 0
    for event in events:
        opens, closes = (type(event).__name__.endswith(f"{end}Event") for end in ("Start", "End"))
        depth += opens - closes
        if depth > DEEPEST or getattr(event, "anchor", None) is not None or getattr(event, "tag", None) is not None:
            raise _line_error(name, event.start_mark.line)


def _value(node: Any, loader: Any, name: str) -> Any:
    """Return what a node stands for: a mapping's keys are texts, each of them once."""
    if node.id == "sequence":
        return [_value(child, loader, name) for child in node.value]
    if node.id == "scalar":
        try:
            return loader.construct_object(node) if node.tag in PLAIN else node.value
        except ValueError:  # more digits than Python reads
            raise _line_error(name, node.start_mark.line) from None
    found = {}
    for key, value in node.value:
        if key.id != "scalar":
            raise _line_error(name, key.start_mark.line)
        if key.value in found:
            raise ConfigError("the key occurs twice in one object", key=key.value, hint="keep one")
        found[key.value] = _value(value, loader, name)
    return found


def _line_error(name: str, line: int) -> ConfigError:
    """Return the error of a line, which PyYAML counts from 0."""
    return ConfigError(Text("{name}, line {line}: expected a key with a plain value, a list or keys below it", name=name, line=line + 1))
