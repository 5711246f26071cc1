"""A size that is said of one settled model: it is the model's, or it is wrong, or it may be meant otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.field_values import field_values, is_padded, main_values
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, claim, words_of
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.claims import Claim, Sentence, because
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.thresholds import TOKENIZER_SHORT
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

PRINTED = {
    ("gpt3-13b", "hidden"): 5140,
    ("gpt3-1.3b", "heads"): 24,
    ("wav2vec2-base-960h", "heads"): 8,
}
"""Sizes that a paper states otherwise than its model has them; everybody copies them. Source: arXiv 2005.14165, table 2.1; 2006.11477, section 4.2."""
KEYS = {"active_experts": "active"}
"""Columns whose word is another than that of the size they hold."""
_OF_IMAGES = ("patch", "image")
"""Sizes of pictures, which a model of two towers has once."""
_PLAIN = ("layers", "hidden", "mlp", "vocab")
"""Sizes that have one name; a number of heads may be of another kind of heads."""


def size_claims(scene: Scene, token: Token, kind: str, value: int, subject: Subject, *, sure: bool, plain: bool) -> Iterator[Claim]:
    """Hold a size against the models that it may be of.

    Args:
        scene: The text.
        token: Where it stands.
        kind: What it is: a word of ``SIZE_COLUMNS``.
        value: The number.
        subject: What it is said of.
        sure: Whether other sizes beside it are the model's.
        plain: Whether it is plain enough to be wrong without that.
    """
    if kind == "kv_heads" and subject.models and all(_has_key_widths(model) for model in subject.models):
        kind = "head_dim"  # T5's ``kv`` is the width of its keys and values
    word = KEYS.get(kind, kind)
    rights = [main_values(model).get(word, words_of(model).get(word)) for model in subject.models]
    known = [field_values(model).get(word, frozenset()) for model in subject.models]
    lengths = {value, value // 1024 * 1000} if kind == "positions" else {value}
    if value in rights or any(lengths & values for values in known):
        facts: dict[str, object] = {"value": value, "expected": value, "difference": 0}
        yield claim(scene.lines, token, token, "configuration", "exact", **facts)
        return  # a size of the model, or of one of the models that it is made of
    right = rights[0] if rights else None
    if right is None and kind in _OF_IMAGES and known and len(known[0]) == 1:
        right = next(iter(known[0]))
    if right is None:
        return
    facts = {"value": value, "expected": right, "difference": value - right}
    if any(PRINTED.get((model.source, kind)) == value for model in subject.models):
        yield claim(scene.lines, token, token, "configuration", "note", **facts, reason=because(mark("as its paper prints it")))
    elif (
        subject.firm
        and (sure or plain)
        and (kind in _PLAIN or (sure and _is_none_alike(subject.models, word, value)))
        and not may_be_otherwise(subject.models[0], kind, value, right)
    ):
        reason = because(mark("should be {right}"), right=right) + because(
            mark("{what} of {name}"), what=Sentence(SIZE_TITLES[word]), name=subject.name
        )
        yield claim(scene.lines, token, token, "configuration", "wrong", **facts, reason=reason)


def _has_key_widths(model: ModelValue) -> bool:
    return model.description is not None and "d_kv" in model.description.raw


def likeliest_length(lengths: Sequence[int], models: Sequence[ModelValue]) -> int:
    """Return which of the lengths that a figure may be is a model's, or the first: ``128K`` is 131,072, or 128,000."""
    own = {value for model in models for value in field_values(model).get("positions", ())}
    return next((length for length in lengths if length in own), lengths[0])


_ALIKE = (
    ("heads", "kv_heads", "head_dim"),
    ("experts", "active", "shared"),
    ("hidden", "mlp", "head_dim"),
    ("layers", "moe_layers", "dense_layers"),
)
"""Sizes that are called alike, of which one may be given for another."""


def _is_none_alike(models: Sequence[ModelValue], word: str, value: int) -> bool:
    """Tell whether a number is none of the sizes that are called alike."""
    alike = {other for group in _ALIKE if word in group for other in group} or {word}
    return all(model.description is not None for model in models) and not any(
        value in field_values(model).get(other, ()) for model in models for other in alike
    )


def is_no_size(models: Sequence[ModelValue], value: int) -> bool:
    """Tell whether a number is none of the models' sizes, whatever it is called."""
    if any(model.description is None for model in models):
        return False
    return not any(
        type(size) is int and size == value for model in models if model.description for size in vars(model.description.sizes).values()
    )


def may_be_otherwise(model: ModelValue, kind: str, value: int, right: int) -> bool:
    """Tell whether a size may well be given otherwise than the model has it: a tokenizer's entries, a shorter input."""
    if kind == "vocab":
        round_off = value % 1000 == 0 and abs(value - right) * 20 <= right
        short = right % 64 == 0 and 0 < (right - value) * TOKENIZER_SHORT <= right and not is_slip(str(value), str(right))
        return is_padded(value, right) or is_padded(right, value) or round_off or short
    if kind == "positions":
        shorter = value < right and (value % 64 == 0 or not is_slip(str(value), str(right)))
        return shorter or value % right == 0  # an input cut short, a window made longer by scaling
    if kind == "head_dim":
        own = main_values(model)
        return "kv_lora" in own or value * own.get("heads", 0) == own.get("hidden") or len(field_values(model)["head_dim"]) > 1
    if kind == "image":
        patches = field_values(model)["patch"]
        return not patches or any(value % patch == 0 for patch in patches)  # models are tuned at other sizes of whole patches
    return kind == "shared"
