"""Which model a text is about: the names it mentions and the sizes it states, held against the known models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from weighbridge.auditing.claims import Line, Reason, said
from weighbridge.core.messages import mark

KEYS = {
    "vocab": ("vocab_size", "n_vocab"),
    "hidden": ("hidden_size", "n_embd", "d_model", "dim"),
    "layers": ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    "heads": ("num_attention_heads", "n_head", "num_heads", "n_heads"),
    "mlp": ("intermediate_size", "n_inner", "d_ff", "hidden_dim", "ffn_dim"),
    "positions": ("max_position_embeddings", "n_positions"),
    "types": ("type_vocab_size",),
}
"""The config keys of each size."""

_SHORT = {
    "bert base": "bert-base-uncased", "bert large": "bert-large-uncased", "bert base chinese": "bert-base-chinese", "bert base cased": "bert-base-cased",
    "bert base uncased": "bert-base-uncased", "bert large uncased": "bert-large-uncased", "bert large cased": "bert-large-cased",
    "bertbase": "bert-base-uncased", "bertlarge": "bert-large-uncased",
}  # fmt: skip
_BERT = re.compile(r"(?<![a-z])bert[-_ ]?\(?(base|large)\)?(?:,? ?[-_( ]?(chinese|uncased|cased))?(?![a-z])")
_OTHERS = re.compile(
    r"(?<![a-z])(?:albert|roberta|xlm-?roberta|camembert|distilbert|mobilebert|modernbert|convbert|squeezebert|tinybert|deberta|electra|xlnet|xlm|gpt|llama|"
    r"mistral|mixtral|qwen|gemma|phi|falcon|bloom|m?t5|m?bart|ernie|deepseek|opt|vit|clip|whisper|ul2|palm|chatglm|baichuan|yi|mpnet|funnel|longformer|"
    r"bigbird|nezha|luke|rembert|roformer)(?=v?\d|model|for|config|[^a-z]|$)"
)


class Mention(NamedTuple):
    """A model named in a line: where, and which; None if it is one that cannot be told."""

    column: int
    name: str | None


class Assumed(NamedTuple):
    """The model a text is about, why, whether it is named there, and whether its numbers may be held against the text."""

    name: str
    config: Mapping[str, Any] | None
    why: Reason
    named: bool = False
    firm: bool = True


@cache
def known() -> dict[str, Mapping[str, Any]]:
    """Return the configs of all presets by name."""
    from weighbridge.presets import presets

    return {entry.name: entry.config for entry in presets()}


def sizes_of(config: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes that a config states, by our words.

    >>> sizes_of({"hidden_size": 768})
    {'hidden': 768}
    """
    found: dict[str, int] = {}
    for word, keys in KEYS.items():
        for key in keys:
            if isinstance(config.get(key), int):
                found.setdefault(word, config[key])
    return found


def mentions(line: Line) -> list[Mention]:
    """Return the models that a line names, from left to right.

    >>> [m.name for m in mentions(Line(1, "", "BERT Large (H=1024) is bigger than bert-base-chinese", ()))]
    ['bert-large-uncased', 'bert-base-chinese']
    """
    text = line.text.lower()
    found: list[Mention] = []
    if not any(letter in text for letter in "abcdefghijklmnopqrstuvwxyz"):
        return found
    for match in _BERT.finditer(text):
        name = " ".join(part for part in ("bert", match.group(1), match.group(2)) if part)
        preset = _SHORT.get(name)
        if not _continues(text, match.start()):
            found.append(Mention(match.start(), preset if preset in known() else None))
    taken = {mention.column for mention in found}
    for match in _compounds(text):
        if match.group() in known() and match.start() not in taken:
            found = [mention for mention in found if not match.start() <= mention.column < match.end()]
            found.append(Mention(match.start(), match.group()))
            taken |= set(range(match.start(), match.end()))
    found += [Mention(match.start(), None) for match in _OTHERS.finditer(text) if match.start() not in taken]
    return sorted(found, key=lambda mention: mention.column)


def nameless(text: str) -> str:
    """Return a text, in lower case, without the names of known models.

    >>> nameless("the llama-3-8b has")
    'the  has'
    """
    return _COMPOUND.sub(lambda match: "" if match.group() in known() else match.group(), text)


def _continues(text: str, at: int) -> bool:
    return at > 0 and text[at - 1] in "-_/" and at > 1 and text[at - 2].isalnum() and text[at - 1] != "/"


_COMPOUND = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:[-_./][a-z0-9]+){1,12}|(?<![-a-z0-9_./])[a-z]+\d[a-z0-9]*(?![-a-z0-9_])")


def _compounds(text: str) -> Iterable[re.Match[str]]:
    return _COMPOUND.finditer(text)


def assume(named: Sequence[str], stated: Mapping[str, int], *, bert: bool) -> Assumed | None:
    """Choose the model that a text is about.

    Args:
        named: Presets it names, the most often named first.
        stated: Sizes it states of its main model.
        bert: Whether it speaks of BERT at all.

    >>> assume([], {"vocab": 21128, "hidden": 768, "layers": 12}, bert=True).name
    'bert-base-chinese'
    """
    best: tuple[float, str, int, int] | None = None
    for name, config in known().items():
        sizes = sizes_of(config)
        agreed = sum(sizes.get(word) == value for word, value in stated.items())
        differ = sum(word in sizes and sizes[word] != value for word, value in stated.items())
        rank = (
            agreed - 2 * differ + (2.5 - 0.5 * named.index(name) if name in named else 0) + (0.5 if name.startswith("bert") and bert else 0)
        )
        if best is None or rank > best[0]:
            best = (rank, name, agreed, differ)
    if best is None:
        return None
    _, name, agreed, differ = best
    if differ <= 1 and name in named:
        return Assumed(name, None, said(mark("named in the text")), named=True)
    if differ <= 1 and agreed >= 3 + 2 * differ:
        return Assumed(name, None, said(mark("{count} sizes that the text states are its own"), count=agreed))
    if bert and {"vocab", "hidden", "layers"} <= set(stated):
        config = {"model_type": "bert", **{KEYS[word][0]: value for word, value in stated.items() if word in KEYS}}
        config.setdefault("intermediate_size", 4 * stated["hidden"])
        return Assumed("BERT with the sizes of the text", config, said(mark("the text states its sizes")))
    if bert and not named and len(stated) <= 1:
        return Assumed("bert-base-uncased", None, said(mark("the text speaks of BERT; its formulas are held against it")), firm=False)
    return None
