"""The names of models as people write them: one table from a name to the presets that it can mean.

``Mixtral 8x7B``, ``ViT-B/16``, ``LLaMA V1 7B``, ``BERT-Base, Multilingual Cased`` are all runs of letters and digits with
something between them; joined, they are looked up here: for a source that is no preset's own name, and by the audit.
A family's name alone is a family and never its first member.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.presets import Preset, preset, presets, short_names, typed_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

MODEL, FAMILY = "model", "family"


class Meaning(NamedTuple):
    """What a name means: a model (with the presets it may be, the likeliest first), or a family with its members."""

    kind: str
    names: tuple[str, ...]


_WRITTEN = """
bert base, base bert = bert-base-uncased bert-base-cased bert-base-chinese
bert large, large bert = bert-large-uncased bert-large-cased
bert base multilingual cased, bert base multilingual, multilingual bert base, mbert, multilingual bert = bert-base-multilingual-cased
chinese bert base, bert chinese, bert base zh = bert-base-chinese
distilbert, distilbert base, distil bert = distilbert-base-uncased distilbert-base-cased
distilroberta = distilroberta-base
xlnet base = xlnet-base-cased
xlnet large = xlnet-large-cased
xlm r base, xlmr base, xlm rbase = xlm-roberta-base
xlm r large, xlmr large = xlm-roberta-large
mobilebert = mobilebert-uncased
convbert base = conv-bert-base
gpt1, gpt 1, openai gpt 1 = openai-gpt
gpt2 small, gpt2 base, gpt2 124m, gpt2 117m, gpt2 124 m, openai gpt2 = gpt2
gpt2 355m, gpt2 345m = gpt2-medium
gpt2 774m, gpt2 762m = gpt2-large
gpt2 1.5b, gpt2 1558m, gpt2 1542m, gpt2 extra large = gpt2-xl
llama 7b, llama7b, llama 6.7b = llama-7b llama-2-7b
llama v1 7b, llama 1 7b, llama1 7b = llama-7b
llama 13b, llama13b = llama-13b llama-2-13b
llama v1 13b, llama 1 13b, llama1 13b = llama-13b
llama 33b, llama 32.5b, llama v1 33b, llama 1 33b, llama v1 30b = llama-30b
llama v1 65b, llama 1 65b = llama-65b
llama v2 7b = llama-2-7b
llama v2 13b = llama-2-13b
llama v2 70b = llama-2-70b
llama v3 8b, llama 8b = llama-3-8b llama-3.1-8b
llama v3 70b = llama-3-70b
llama 70b = llama-2-70b llama-3-70b llama-3.1-70b llama-3.3-70b-instruct
llama 405b, llama 3 405b = llama-3.1-405b
mistral 7b, mistral 7b v0.2 = mistral-7b-v0.1 mistral-7b-v0.3
mixtral 8x7b v0.1, mixtral8x7b = mixtral-8x7b
mixtral 8x22b v0.1 = mixtral-8x22b
deepseek v3 base, deepseek v3.1, deepseek v3 0324, deepseekv3 671b, deepseek v3 671b = deepseek-v3
deepseek r1 zero, deepseek r1 671b = deepseek-r1
kimi linear, kimi linear 48b = kimi-linear-48b-a3b-instruct
deepseek v2 chat, deepseek v2.5 = deepseek-v2
t5.1.1 small, t5 1.1 small, t5 v1.1 small, t5.1.1.small = t5-v1_1-small
t5.1.1 base, t5 1.1 base, t5 v1.1 base, t5.1.1.base = t5-v1_1-base
t5.1.1 large, t5 1.1 large, t5 v1.1 large, t5.1.1.large = t5-v1_1-large
t5.1.1 xl, t5 v1.1 xl, t5.1.1.xl = t5-v1_1-xl
t5.1.1 xxl, t5 v1.1 xxl, t5.1.1.xxl = t5-v1_1-xxl
t5 xl = t5-3b t5-v1_1-xl
t5 xxl = t5-11b t5-v1_1-xxl
whisper large = whisper-large-v2 whisper-large-v3
whisper turbo, whisper large turbo = whisper-large-v3-turbo
vit base, vit b, vit b 16, vit base 16, vit base patch16 = vit-base-patch16-224-in21k vit-base-patch16-224 vit-base-patch16-384 clip-vit-base-patch16
vit b 32, vit base 32 = vit-base-patch32-384 clip-vit-base-patch32
vit large, vit l, vit l 16, vit large 16, vit large patch16 = vit-large-patch16-224 vit-large-patch16-384
vit huge, vit h, vit h 14, vit huge 14 = vit-huge-patch14-224-in21k clip-vit-h-14-laion2b
vit l 14, vit large 14 = clip-vit-large-patch14 dinov2-large vit-large-patch16-224
vit b 14, vit base 14 = dinov2-base vit-base-patch16-224
vit s 14, vit small 14 = dinov2-small deit-small-patch16-224
vit s 16, vit small, vit small 16, vit small patch16, vit small patch16 224, vit s, deit s, deit small, deit s 16 = deit-small-patch16-224 dino-vits16
vit ti, vit tiny, vit tiny 16, vit tiny patch16, vit tiny patch16 224, deit ti, deit tiny, deit ti 16, vit ti 16 = deit-tiny-patch16-224
deit b, deit base, deit b 16, deit base 16 = deit-base-patch16-224
swin t, swin tiny = swin-tiny-patch4-window7-224
swin s, swin small = swin-small-patch4-window7-224
swin b, swin base = swin-base-patch4-window7-224
swin l, swin large = swin-large-patch4-window7-224
swintransformer tiny patch4 window7 224 = swin-tiny-patch4-window7-224
swintransformer small patch4 window7 224 = swin-small-patch4-window7-224
swintransformer base patch4 window7 224 = swin-base-patch4-window7-224
swintransformer base patch4 window12 384 = swin-base-patch4-window12-384
swintransformer large patch4 window7 224 = swin-large-patch4-window7-224
swintransformer large patch4 window12 384 = swin-large-patch4-window12-384
tinyllama = tinyllama-1.1b
clip vit b 32 = clip-vit-base-patch32
clip vit b 16 = clip-vit-base-patch16
clip vit l 14 = clip-vit-large-patch14
dinov2 s, dinov2 vits14, dinov2 small = dinov2-small
dinov2 b, dinov2 vitb14, dinov2 base = dinov2-base
dinov2 l, dinov2 vitl14, dinov2 large = dinov2-large
dinov2 g, dinov2 vitg14, dinov2 giant = dinov2-giant
resnet50 v1.5 = resnet-50
resnet18 = resnet-18
resnet34 = resnet-34
resnet101 = resnet-101
resnet152 = resnet-152
convnext t, convnext tiny = convnext-tiny-224
convnext s, convnext small = convnext-small-224
convnext b, convnext base = convnext-base-224
convnext l, convnext large = convnext-large-224
convnext xl, convnext xlarge = convnext-xlarge-224-22k-1k
mobilenetv2, mobilenet v2, mobilenetv2 1.0 = mobilenet-v2-1.0-224
mobilenetv1, mobilenet v1 = mobilenet-v1-1.0-224
vit l 32, vit large 32 = vit-large-patch32-384 vit-large-patch32-224-in21k
dinov2 vit s 14, dinov2 vits 14 = dinov2-small
dinov2 vit b 14, dinov2 vitb 14 = dinov2-base
dinov2 vit l 14, dinov2 vitl 14 = dinov2-large
dinov2 vit g 14, dinov2 vitg 14 = dinov2-giant
beit b, beit base = beit-base-patch16-224
beit l, beit large = beit-large-patch16-224
sam vit h, sam huge = sam-vit-huge
sam vit l = sam-vit-large
sam vit b = sam-vit-base
detr, detr r50, detr resnet50 = detr-resnet-50
hubert large = hubert-large-ll60k
wav2vec 2.0 base, wav2vec2.0 base = wav2vec2-base-960h
wav2vec 2.0 large, wav2vec2.0 large = wav2vec2-large-960h
phi3 mini, phi 3 mini, phi3 mini 3.8b = phi-3-mini-4k-instruct
phi3 medium, phi 3 medium, phi3 medium 14b = phi-3-medium-4k-instruct
starcoder 15b, starcoder 15.5b = starcoder
bge small en = bge-small-en-v1.5
bge base en = bge-base-en-v1.5
bge large en = bge-large-en-v1.5
kimi k2 = kimi-k2-instruct
glm4 9b = glm-4-9b
gpt neo 1.3b = gpt-neo-1.3b
mistral nemo, mistral nemo 12b, mistral nemo 2407 = mistral-nemo-12b
llama 3.3 70b = llama-3.3-70b-instruct
codellama 7b = codellama-7b
yi 6b = yi-6b
resnet50 = resnet-50
deberta xlarge v2 = deberta-v2-xlarge
deberta xxlarge v2 = deberta-v2-xxlarge
qwen 7b = qwen-7b
gpt3 small = gpt3-125m
gpt3 medium = gpt3-350m
gpt3 large = gpt3-760m
gpt3 xl = gpt3-1.3b
davinci gpt3 = gpt3-175b
llama 4 scout, llama4 scout, llama 4 scout 17b, llama 4 scout 109b = llama-4-scout-17b-16e-instruct
llama 4 maverick, llama4 maverick, llama 4 maverick 17b, llama 4 maverick 400b = llama-4-maverick-17b-128e-instruct
llama 3.3 = llama-3.3-70b-instruct
minilm l6 v2 = all-MiniLM-L6-v2
minilm l12 v2 = all-MiniLM-L12-v2
phi 3.5 mini, phi 3.5 mini instruct = phi-3-mini-128k-instruct
mistral small 3, mistral small 3 24b = mistral-small-24b
mistral large 2 = mistral-large-2407
stablelm 2 1.6b = stablelm-2-1_6b
vicuna 7b, vicuna 7b v1.5 = llama-2-7b llama-7b
vicuna 13b, vicuna 13b v1.5 = llama-2-13b llama-13b
zephyr 7b, zephyr 7b beta = mistral-7b-v0.1
codegen 16b = codegen-16b-mono
bge large = bge-large-en-v1.5
qwq = qwq-32b
smollm3 = smollm3-3b
qwen3 moe 235b a22b = qwen3-235b-a22b
qwen3 moe 30b a3b = qwen3-30b-a3b
qwen3 next = qwen3-next-80b-a3b-instruct
deepseekmoe, deepseekmoe 16b, deepseek moe 16b = deepseek-moe-16b-base
olmoe = olmoe-1b-7b
falcon mamba = falcon-mamba-7b
chatglm2 = chatglm2-6b
chatglm3 = chatglm3-6b
idefics3 = idefics3-8b
idefics2 = idefics2-8b
internlm3 = internlm3-8b-instruct
seed oss = seed-oss-36b-base
gpt oss 117b = gpt-oss-120b
gpt j, gptj = gpt-j-6b
gpt config 124m = gpt2
gpt config 355m = gpt2-medium
gpt config 774m = gpt2-large
gpt config 1558m = gpt2-xl
uncased l 12 h 768 a 12 = bert-base-uncased
cased l 12 h 768 a 12 = bert-base-cased
multi cased l 12 h 768 a 12, multilingual l 12 h 768 a 12 = bert-base-multilingual-cased
chinese l 12 h 768 a 12 = bert-base-chinese
uncased l 24 h 1024 a 16 = bert-large-uncased
cased l 24 h 1024 a 16 = bert-large-cased
gpt neox, neox 20b, gpt neox 20b = gpt-neox-20b
bloom 176b = bloom
bloom 1.1b = bloom-1b1
bloom 1.7b = bloom-1b7
bloom 7.1b = bloom-7b1
deepseek 7b, deepseek llm 7b = deepseek-llm-7b-base
deepseek 67b, deepseek llm 67b = deepseek-llm-67b-base
gpt3 davinci = gpt3-175b
grok1, grok 1, grok 1 314b = grok-1
"""
"""Names that no preset has, line by line: what is written, and the presets it may be."""

_DROPPED = (
    ("uncased",),
    ("cased",),
    ("discriminator",),
    ("v1",),
    ("v2",),
    ("v0.1",),
    ("instruct",),
    ("base",),
    ("hf",),
    ("ls960",),
    ("960h",),
    ("224",),
    ("patch16", "224"),
    ("patch4", "window7", "224"),
    ("patch14", "224"),
    ("it",),
    ("chat",),
    ("224", "1k"),
    ("1k", "224"),
    ("ur50d",),
)
"""Words of a preset's name that people leave out."""
_SIZE = r"\d+(?:\.\d+)?[mb]|\d+x\d+b|a\d+(?:\.\d+)?b|base|large|small|tiny|mini|medium|huge|giant|xs|xl|xxl|xlarge|xxlarge|xsmall|v0\.\d|l|b\d|h|t\d+"
"""A run of a name that is a size: what stands before it is the family."""
_RUN = r"[a-z0-9]+(?:\.[0-9]+[a-z]*)*"
_KNOWN: dict[str, dict[str, Any]] = {}
_TABLE: dict[str, Meaning] = {}


def preset_configs() -> dict[str, dict[str, Any]]:
    """Return the configs of all presets by name."""
    if not _KNOWN:
        _KNOWN.update({entry.name: entry.config for entry in presets()})
    return _KNOWN


def runs(text: str) -> list[str]:
    """Return the runs of letters and digits of a name.

    >>> runs("T5 v1.1-Base")
    ['t5', 'v1.1', 'base']
    """
    import re

    return re.findall(_RUN, text.lower())


def join_runs(pieces: Iterable[str]) -> str:
    """Join runs of letters and digits; two digits that meet keep a hyphen between them.

    >>> join_runs(["llama", "2", "7b"]), join_runs(["gpt", "2"])
    ('llama2-7b', 'gpt2')
    """
    key = ""
    for piece in pieces:
        key += "-" + piece if key and key[-1].isdigit() and piece[0].isdigit() else piece
    return key


def table() -> dict[str, Meaning]:
    """Return what each joined name means.

    >>> table()["llama7b"].names, table()["mixtral"].kind
    (('llama-7b', 'llama-2-7b'), 'family')
    """
    if not _TABLE:
        _TABLE.update(_make_table())
    return _TABLE


def _make_table() -> dict[str, Meaning]:
    import re

    found: dict[str, Meaning] = {}
    families: dict[str, list[str]] = {}
    is_size, all_runs = re.compile(_SIZE).fullmatch, re.compile(_RUN).findall
    spelled = {name: all_runs(name.lower()) for name in preset_configs()}
    for name, pieces in spelled.items():
        found[join_runs(pieces)] = Meaning(MODEL, (name,))
        place = next((i for i, piece in enumerate(pieces) if i and is_size(piece)), None)
        if place:
            families.setdefault(join_runs(pieces[:place]), []).append(name)
    types = {join_runs(runs(str(config.get("model_type", "")))) for config in preset_configs().values()}
    sisters = _sisters(spelled)
    for key, short in _shorten(spelled).items():
        members = sisters.get(key, ())  # ``FLAN-T5`` and ``ALBERT v2`` are said of all their sizes
        family = key in types or (len(members) > 1 and short[0] in members)  # ``data2vec-text`` names a type, and no size
        found.setdefault(key, Meaning(FAMILY if family else MODEL, tuple(members if len(members) > 1 and family else short)))
    for line in _WRITTEN.strip().splitlines():
        written, _, meant = line.partition(" = ")
        names = tuple(name for name in meant.split() if name in preset_configs())
        for text in written.split(", ") if names else ():
            found[join_runs(runs(text))] = Meaning(MODEL, names)
    families["llama4"] = [name for name in preset_configs() if name.startswith("llama-4-")]
    families["gpt2"] = [name for name in preset_configs() if name.startswith("gpt2")]
    for key, members in families.items():
        if len(members) > 1 or key not in found:
            found[key] = Meaning(FAMILY, tuple(members)) if key not in found or key == "gpt2" else found[key]
    dotted = re.compile(_DOTTED)
    for key in [key for key in found if dotted.match(key)]:
        found.setdefault(dotted.sub(r"\1\2", key), found[key])
    known = list(presets())
    for entry, typed in [(entry, typed_names(entry)) for entry in known] + [(entry, short_names(entry)) for entry in known]:
        for written in (name for name in typed if name != entry.hub):
            pieces = spelled[written] if written in spelled else all_runs(written.lower())
            if pieces[0] != "intermediate" and not is_size(pieces[0]):  # funnel-transformer/large is no name alone
                found.setdefault(join_runs(pieces), Meaning(MODEL, (entry.name,)))
    for architecture in _ARCHITECTURES:
        found.pop(architecture, None)
    return found


_DOTTED = r"^([a-z]+\d)\.(\d)(?=$|-)"
"""A family's version, whose dot names in code leave out: ``LLAMA32_CONFIG``, ``qwen25_7b``."""
_ARCHITECTURES = ("deepseekmoe",)
"""Names that are first of all those of an architecture, which others of its makers have too: DeepSeek-V3 has DeepSeekMoE."""


def _sisters(spelled: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the presets by their names without the word that says a size, where they have just one."""
    found: dict[str, list[str]] = {}
    for name, pieces in spelled.items():
        rest = [piece for piece in pieces if piece not in _SIZE_WORDS]
        if len(rest) == len(pieces) - 1:
            found.setdefault(join_runs(rest), []).append(name)
    return found


_SIZE_WORDS = frozenset("tiny mini xsmall small base medium large xlarge xxlarge xl xxl huge giant".split())


def _shorten(spelled: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the presets by their names, given with their runs, with some words left out, each once."""
    found: dict[str, list[str]] = {}
    all_dropped = {word for dropped in _DROPPED for word in dropped}
    for name, pieces in spelled.items():
        own = all_dropped.intersection(pieces)  # few names have any
        shorter = (
            ([piece for piece in pieces if piece not in dropped] for dropped in _DROPPED if not own.isdisjoint(dropped)) if own else ()
        )
        for key in dict.fromkeys(join_runs(rest) for rest in shorter if len(rest) > 1):
            found.setdefault(key, []).append(name)
    return found


def lookup(text: str) -> Meaning | None:
    """Return what a name means, in whatever case and with whatever separators it is written.

    >>> lookup("Mixtral 8x7B").names, lookup("ViT-B/16").names[1], lookup("GPT2-Medium").names
    (('mixtral-8x7b',), 'vit-base-patch16-224', ('gpt2-medium',))
    """
    return table().get(join_runs(runs(text)))


def preset_by_nickname(text: str) -> Preset | None:
    """Return the one preset that people mean by a name, or None if there is none, or more than one.

    >>> preset_by_nickname("Mixtral 8x7B v0.1").name, preset_by_nickname("BERT base")
    ('mixtral-8x7b', None)
    """
    found = lookup(text) if "/" not in text and "\\" not in text else None  # a path that is missing is no name
    return preset(found.names[0]) if found is not None and found.kind == MODEL and len(found.names) == 1 else None


def member(family: Iterable[str], size: str) -> Meaning | None:
    """Return the member of a family that a size word means.

    Args:
        family: Names of the family as one joins them, such as ``bert`` or ``llama2``.
        size: Such as ``base`` or ``7B``.

    >>> member(["bert"], "Large").names[0], member(["llama"], "7B").names
    ('bert-large-uncased', ('llama-7b', 'llama-2-7b'))
    """
    plain = size.replace(" ", "").replace(".0", "")  # Pythia's tables call Pythia-1B ``1.0B``
    for name in family:
        for written in dict.fromkeys((size.replace(" ", ""), plain)):
            found = table().get(join_runs(runs(f"{name} {written}")))
            if found is not None and found.kind == MODEL:
                return found
    return None
