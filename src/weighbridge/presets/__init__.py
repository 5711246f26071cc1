"""Published models by name: their configs, where those were published, and the count that their authors state.

Each file beside this one holds some of them; a name is looked for in the text before anything is parsed.
"""

from __future__ import annotations

import os

from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.suggestions import is_typo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PRESETS = os.path.dirname(__file__)


class Total(NamedTuple):
    """An exact count that others publish for a model.

    Attributes:
        value: The number.
        source: Where it stands.
        convention: Which way of counting gives it, in the words of ``weigh reconcile``.
    """

    value: int
    source: str
    convention: str


class Preset(NamedTuple):
    """A published model's config values, with where they were published.

    Attributes:
        name: What one types.
        source: Where the values come from.
        hub: The Hub id, which may be typed as well.
        published: The parameter count its authors state, as they wrote it, or the empty string.
        config: The values that decide its tensors.
        names: Other names for it: other releases with the same config, and what other catalogues call it.
        total: An exact count published elsewhere, where it stands, and the convention that gives it; or None.
    """

    name: str
    source: str
    hub: str
    published: str
    config: dict[str, Any]
    names: tuple[str, ...] = ()
    total: Total | None = None


def preset(name: str) -> Preset | None:
    """Return the preset of this name or Hub id, or None.

    >>> preset("bert-base-chinese").config["vocab_size"]
    21128
    """
    if name not in _CACHE and name not in _MISSED:
        needle, line = f'"{name}"', f'\n  "{name}": '
        for text in _preset_files():
            start = text.find(line)
            if start >= 0:  # each preset stands in a line of its own
                text = "{" + text[start + 1 : text.index("\n", start + 1)].rstrip().removesuffix(",") + "}"
            if needle in text:
                _CACHE.update({key: found for found in _presets(text) for key in typed_names(found)})
            if name in _CACHE:
                break
        else:
            if len(_MISSED) < _MOST_MISSED:
                _MISSED.add(name)
    return _CACHE.get(name)


def preset_like(name: str) -> Preset | None:
    """Return the preset that *name* means in any case and with any separators, or None.

    Asked after what lies on disk: a directory may be called like a model.

    >>> preset_like("BERT_base_Chinese").name, preset_like("t5 v1.1 small").name, preset_like("opt-13B").name
    ('bert-base-chinese', 't5-v1_1-small', 'opt-13b')
    >>> preset_like("bloomz_560m_multi").name, preset_like("wavlm-base-plus").name
    ('bloom-560m', 'wavlm-base')
    >>> preset_like("deepseek-ai/DeepSeek-V3-Base").name, preset_like("someone/DeepSeek-V3-Base")
    ('deepseek-v3', None)
    >>> preset_like("efficientnet-b3_3rdparty-ra-noisystudent_in1k").name
    'efficientnet-b3'
    """
    if whole := _called_like(name):
        return whole
    owner, slash, bare = name.partition("/")
    if slash:  # another release of its owner's that has the same config
        release = _called_like(bare)
        return release if release is not None and release.hub.partition("/")[0].lower() == owner.lower() else None
    plain, _, language = name.rpartition("_")  # KerasHub writes the language behind a name of the Hub's
    if "_3rdparty" in name and "_in1k" in name:  # MMPretrain, how weights that it took over were trained
        plain, language = name.partition("_")[0], "en"
    return _called_like(plain) if language in ("en", "multi", "zh", "hi") and plain else None


def _called_like(name: str) -> Preset | None:
    """Return the preset with a name that is *name* but for case and separators; of thousands of names only those of the same letters and digits are folded."""
    import re

    strip = re.compile(r"[^a-z0-9]+").sub
    if not _STRIPPED:
        found: dict[str, list[tuple[str, Preset, bool]]] = {}
        for one in presets():
            for typed in typed_names(one):
                found.setdefault(strip("", typed.lower()), []).append((typed, one, True))
            for short in short_names(one):
                found.setdefault(strip("", short.lower()), []).append((short, one, False))
        _STRIPPED.update(found)  # at once: another thread must not find a part of it
    wanted = fold_name(name)
    alike = [(one, own) for typed, one, own in _STRIPPED.get(strip("", name.lower()), ()) if fold_name(typed) == wanted]
    owners = [one for one, own in alike if own]
    return owners[-1] if owners else alike[0][0] if alike else None


def fold_name(name: str) -> str:
    """Return a name without case and separators; between digits every separator is a point, so that 1.3b is not 13b.

    >>> fold_name("T5-v1_1-small"), fold_name("Qwen3 Embedding-0.6B")
    ('t5v1.1small', 'qwen3embedding0.6b')
    """
    import re

    return re.sub(r"[^a-z0-9.]|(?<!\d)\.|\.(?!\d)", "", re.sub(r"(?<=\d)[^a-z0-9]+(?=\d)", ".", name.lower()))


def suggestions(name: str) -> list[str]:
    """Return up to three presets that *name* may have meant: those that begin so, else those of a family spelled nearly so, else those spelled nearly so.

    >>> suggestions("bert")[0], suggestions("llama3")[0], suggestions("mistral-7b")[0], suggestions("bert-base-uncasd")[0]
    ('bert-base-uncased', 'llama-3-8b', 'mistral-7b-v0.1', 'bert-base-uncased')
    >>> suggestions("bert_base_chinse")[0]
    'bert-base-chinese'
    >>> suggestions("brt-base"), suggestions("bert-basse")[0]
    (['bert-base-uncased', 'bart-base'], 'bert-base-uncased')
    >>> suggestions("magistral")[-1]
    'Magistral-Small-2506'
    >>> suggestions("lama")[0], suggestions("brt"), suggestions("gtp")[0]
    ('llama-7b', ['bert-base-uncased', 'bart-base'], 'gpt2')
    """
    from difflib import get_close_matches

    known, wanted = list(presets()), fold_name(name)
    name = name.lower().replace("_", "-").replace(" ", "-")
    starts = [found for found in known if wanted and _starts_with(fold_name(found.name), wanted)]
    starts.sort(key=lambda found: _distance(found, name))
    if starts:
        return [found.name for found in starts[:3]]
    others = [name for found in known for name in (*(name for name in found.names if "/" not in name), *short_names(found))]
    beginning = {fold_name(name): name for name in others if wanted and _starts_with(fold_name(name), wanted)}
    if beginning:
        return list(beginning.values())[:3]
    names = [found.name for found in known]
    first, _, rest = name.partition("-")
    families = dict.fromkeys(known_name.partition("-")[0] for known_name in names)
    if not rest and (meant := _misspelled(wanted, names)):
        return meant
    likely = [first] if first in families else get_close_matches(first, families, n=3, cutoff=0.75) if rest else []
    spelled = [next((known_name for known_name in names if known_name.startswith(f"{family}-{rest}")), "") for family in likely]
    close = get_close_matches(name, names, n=8, cutoff=0.7)
    own = [known_name for known_name in close if known_name.partition("-")[0] == first]
    if first in families and not own:  # a slip in a short name: of bert-base-uncased only bert-basse is written
        cut = {known_name: known_name[: len(name)] for known_name in names if known_name.startswith(first)}
        near = get_close_matches(name, cut.values(), n=1, cutoff=0.8)
        own = [known_name for known_name, start in cut.items() if start in near]
    return list(filter(None, dict.fromkeys((*spelled, *own))))[:3] or close[:3]


def _misspelled(wanted: str, names: list[str]) -> list[str]:
    """Return the first presets of the families that a typing error makes of the word that is alone: ``lama``, ``wisper``, ``gtp``."""
    from collections import Counter

    families = Counter(fold_name(name.partition("-")[0]).rstrip("0123456789.") for name in names)
    meant = [family for family, size in families.most_common() if len(wanted) > 2 and size > 1 and is_typo(wanted, family)]
    return suggestions(meant[0]) if len(meant) == 1 else [suggestions(family)[0] for family in meant[:3]]


def _distance(found: Preset, wanted: str) -> tuple[bool, bool]:
    """Rank what begins as *wanted*: t5-small before t5gemma, and a model of that type before one that only bears the name."""
    import re

    longer_word = found.name.startswith(wanted) and re.match(r"\d*[a-z]", found.name[len(wanted) :])
    family = fold_name(wanted).rstrip("0123456789.")
    return bool(longer_word), not fold_name(str(found.config.get("model_type", ""))).startswith(family)


def _starts_with(name: str, wanted: str) -> bool:
    """Tell whether a folded name begins so, with no number cut in two: llama3 is no llama30b."""
    return name.startswith(wanted) and not (wanted[-1].isdigit() and name[len(wanted) :][:1].isdigit())


def typed_names(found: Preset) -> Iterator[str]:
    """Yield all that one may type for a preset: its name, its Hub id, the id without its owner, other names.

    A name that carries the owner says that the id without it is another model's: ``klue/roberta-base`` is no ``roberta-base``.

    >>> list(typed_names(preset("klue-roberta-base")))[:3]
    ['klue-roberta-base', 'klue/roberta-base', 'ko-sroberta-multitask']
    """
    yield found.name
    if found.hub:
        yield found.hub
        owner, _, short = found.hub.rpartition("/")
        if found.name.lower() != f"{owner}-{short}".lower():
            yield short
    yield from found.names


def short_names(found: Preset) -> Iterator[str]:
    """Yield the ids among a preset's other names without their owners: they mean it unless another model is called so.

    A part of a diffusion pipeline bears the pipeline's id, which without its owner is the pipeline's name.

    >>> list(short_names(preset("mt5-large")))
    ['mt0-large']
    """
    for name in found.names:
        owner, _, short = name.rpartition("/")
        if owner and short.strip("0123456789.-") and not str(found.config.get("model_type", "")).startswith("diffusers"):
            yield short


def presets() -> Iterator[Preset]:
    """Yield all presets, file by file."""
    for text in _preset_files():
        yield from _presets(text)


_CACHE: dict[str, Preset] = {}
_TEXTS: dict[str, str] = {}
_MISSED: set[str] = set()
_MOST_MISSED = 4096
"""Names that are none's, remembered so that they are looked for once; at most so many, since anybody may ask for anything."""
_STRIPPED: dict[str, list[tuple[str, Preset, bool]]] = {}


_RELEASES = "listed.json"
"""Releases of other people's, of whose names a family's own come first."""


def _preset_files() -> Iterator[str]:
    """Yield the text of each file of presets; a name is looked for before anything is parsed."""
    if not _TEXTS:
        names = (name for name in os.listdir(PRESETS) if name.endswith(".json"))
        _TEXTS.update(dict.fromkeys(sorted(names, key=lambda name: (name == _RELEASES, name)), ""))
    for name, text in _TEXTS.items():
        if not text:
            with open(os.path.join(PRESETS, name), encoding="utf-8") as file:
                text = _TEXTS[name] = file.read()
        yield text


def _presets(text: str) -> Iterator[Preset]:
    for name, entry in loads(text).items():
        total = Total(*entry["total"]) if "total" in entry else None
        yield Preset(
            name, entry["source"], entry.get("hub", ""), entry.get("published", ""), entry["config"], tuple(entry.get("names", ())), total
        )
