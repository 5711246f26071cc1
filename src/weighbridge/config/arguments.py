"""Command-line arguments as a config: the flags of a Megatron-LM training script, on a line or in a shell file.

Nothing is run. Of the shell only assignments of plain words are understood (``HIDDEN=4096``), wherever they stand.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

MARK = "--num-layers"
"""What tells a text of arguments from other texts."""
LONGEST_LIST = 100_000


def parse_arguments(text: str) -> dict[str, Any]:
    """Read flags and their values as a config of Megatron-LM.

    Raises:
        ConfigError: A flag that stands there twice with two values, a variable that is not set to a plain word, a list that is none.

    >>> parse_arguments("H=64; torchrun pretrain_gpt.py --num-layers 2 --hidden-size $H --swiglu")
    {'model_type': 'megatron', 'num_layers': 2, 'hidden_size': 64, 'swiglu': True}
    """
    import re

    # A line that is continued is one line; comments, quotes and brackets of arrays say nothing here.
    text = re.sub(r"(?m)(?:^|\s)#.*$", " ", re.sub(r"\\\r?\n", " ", text))
    assigned: dict[str, set[str]] = {}
    for key, value in re.findall(r"(?<![\w-])([A-Za-z_]\w*)=[\"']?([\w./-]*)[\"']?(?=[\s;)]|$)", text):
        assigned.setdefault(key, set()).add(value)
    words = re.sub(r"[\"';]|\+?=\(|(?<=\s)[()](?=\s|$)|\)(?=\s|$)(?<![\d\]]\))", " ", text).split()
    found: dict[str, Any] = {"model_type": "megatron"}
    flag = ""
    for word in words:
        if word.startswith("--"):
            flag, equals, value = word[2:].partition("=")
            flag = flag.replace("-", "_")
            if not re.fullmatch(r"[a-z]\w*", flag):
                flag = ""
            elif equals:
                _put(found, flag, _value(value, assigned, flag))
                flag = ""
            elif flag not in found:
                found[flag] = True
        elif flag:
            _put(found, flag, _value(word, assigned, flag))
            flag = ""
    return found


def _put(found: dict[str, Any], flag: str, value: Any) -> None:
    if found.get(flag, True) not in (True, value):
        raise ConfigError(
            Text("{first:.40} and {second:.40}", first=str(found[flag]), second=str(value)),
            key=flag,
            hint="keep one",
        )
    found[flag] = value


def _value(word: str, assigned: dict[str, set[str]], flag: str) -> Any:
    """Return the value a word stands for: a number, a list, or the word itself."""
    import re

    variable = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", word)
    if variable is not None:
        values = assigned.get(variable[1], set())
        if len(values) != 1:
            return word  # refused as it stands, if it is a size that is asked for
        word = next(iter(values))
    if re.fullmatch(r"\d{1,15}", word):
        return int(word)
    if re.fullmatch(r"[\[\]()*+,\d ]+", word) and "[" in word:
        return _list(word, flag)
    return word


def _list(word: str, flag: str) -> list[int]:
    """Read a list that is written as a sum of products, such as ``([0]*3+[1]*58)``.

    >>> _list("([0]*3+[1]*2)", "moe_layer_freq")
    [0, 0, 0, 1, 1]
    """
    import ast

    def value(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LONGEST_LIST:
            return node.value
        if isinstance(node, ast.List):
            return [value(entry) for entry in node.elts]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            left, right = value(node.left), value(node.right)
            lists = isinstance(left, list) + isinstance(right, list)
            if isinstance(node.op, ast.Add) and lists == 2:
                found = left + right
            elif isinstance(node.op, ast.Mult) and lists == 1:
                size = (len(left) if isinstance(left, list) else left) * (len(right) if isinstance(right, list) else right)
                found = left * right if size <= LONGEST_LIST else None
            else:
                raise ValueError
            if found is not None and len(found) <= LONGEST_LIST:
                return found
        raise ValueError

    try:
        if len(word) > 10_000:
            raise ValueError
        found = value(ast.parse(word, mode="eval").body)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        found = None
    if not isinstance(found, list):
        raise ConfigError(Text("expected a list, such as [0]*3+[1]*58, found {word:.60}", word=word), key=flag, value=word)
    return found
