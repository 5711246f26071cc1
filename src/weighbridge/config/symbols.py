"""Symbols in place of a config's sizes, so that it can be bound once more into formulas."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.config.bind import alias_value, bind, find_sub_config, without_aliases
from weighbridge.config.fields import AtInit, Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.formula import Symbol

if TYPE_CHECKING:
    from typing import Any


def bind_symbols(fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Config) -> Config:
    """Bind *raw* once more, with symbols in place of its sizes (*sizes* is *raw* bound to numbers)."""
    return bind(fields, {**raw, **symbols(fields, raw, sizes)}, like=sizes)


def symbols(
    fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Config, *, suffix: str = "", start: int = 0, path: str = ""
) -> dict[str, Any]:
    """Return *raw* with a symbol in place of every size that is given or has a constant default.

    Sizes that follow from others stay away, so that binding derives them again, as formulas.

    Args:
        sizes: *raw*, already bound to ints: an optional size that is None there stays None.
        suffix, start, path: Of a sub-config: what its letters end in, where its order begins, its key path.
    """
    replaced: dict[str, Any] = {}
    for order, field in enumerate(fields, start):
        given = alias_value(field, raw)
        if given is None:
            given = raw.get(field.key)
        if field.kind == "nested":
            inner = find_sub_config(field, raw)
            if inner is not None:
                tag, where = f"{suffix}_{field.key.removesuffix('_config')}", f"{path}{field.key}."
                within_it, first = getattr(sizes, field.word), start + 100 * (order + 1)
                lettered = symbols(inner.fields, inner.raw, within_it, suffix=tag, start=first, path=where)
                replaced[field.key] = {**inner.raw, **({"model_type": inner.model_type} if inner.model_type else {}), **lettered}
        elif field.kind not in ("size", "labels") or getattr(sizes, field.word) is None:
            continue
        elif isinstance(given, (list, tuple)):
            continue  # a height and a width, which stay numbers
        elif getattr(sizes, field.word) == 0 and field.smallest < field.minimum:
            continue  # without layers or labels a class may be built otherwise, so that no formula of their number holds there
        elif (given is not None and given != "auto") or not callable(field.default) or _has_own_letter(field, fields, raw):
            letter = field.letter + suffix
            # An alias would win over the symbol, so that it is put out.
            replaced.update(dict.fromkeys(name for name in field.aliases if name in raw))
            replaced[field.key] = Symbol(letter, word=field.word, key=path + field.key, meaning=field.meaning, order=order)
    return _with_encoder_letters(replaced)


def _with_encoder_letters(replaced: dict[str, Any]) -> dict[str, Any]:
    """Write an encoder's size as ``L_enc`` where the decoder has one of its own, ``L_dec``, so that the two cannot be mistaken."""
    ours = {key: value for key, value in replaced.items() if isinstance(value, Symbol)}
    letters = {symbol.letter for symbol in ours.values()}
    for key, symbol in ours.items():
        head, _, rest = symbol.letter.partition("_")
        letter = "_".join(filter(None, (head, "enc", rest)))
        if "_".join(filter(None, (head, "dec", rest))) in letters and letter not in letters and not rest.startswith("dec"):
            replaced[key] = Symbol(letter, word=symbol.word, key=symbol.key, meaning=symbol.meaning, order=symbol.order)
    return replaced


def _has_own_letter(field: Field, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> bool:
    """Say whether a size that is not given has a letter all the same.

    The class may have derived it before an alias came, so that it does not follow from the other sizes; and a decoder's layers are
    distinguished from an encoder's, though there are by default as many.
    """
    return field.word == "decoder_layers" or (type(field.default) is AtInit and without_aliases(fields, raw) is not raw)
