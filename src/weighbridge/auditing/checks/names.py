"""The names of models as people write them: one table from a name to the presets that it can mean.

``Mixtral 8x7B``, ``ViT-B/16``, ``LLaMA V1 7B``, ``BERT-Base, Multilingual Cased`` are all runs of letters and digits with
something between them; joined, they are looked up here. A family's name alone is a family and never its first member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from weighbridge.presets import presets

MODEL, FAMILY, UNKNOWN = "model", "family", "unknown"


class Named(NamedTuple):
    """What a name means: a model (with the presets it may be, the likeliest first), a family with its members, or unknown."""

    kind: str
    names: tuple[str, ...]


class Mention(NamedTuple):
    """A model named in a line: where, and what it means.

    Attributes:
        column, end: Where it stands in the text as read.
        name: The likeliest preset; None for a family, and for a model that is not known.
        names: All presets that it may be; for a family its members.
        kind: ``model``, ``family`` or ``unknown``.
    """

    column: int
    name: str | None
    end: int = 0
    names: tuple[str, ...] = ()
    kind: str = UNKNOWN


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
gpt2 small, gpt2 base, gpt2 124m, gpt2 117m, gpt2 124 m = gpt2
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
deepseek v2 chat, deepseek v2.5 = deepseek-v2
t5.1.1 small, t5 1.1 small, t5 v1.1 small, t5.1.1.small = t5-v1_1-small
t5.1.1 base, t5 1.1 base, t5 v1.1 base, t5.1.1.base = t5-v1_1-base
t5.1.1 large, t5 1.1 large, t5 v1.1 large, t5.1.1.large = t5-v1_1-large
t5.1.1 xl, t5 v1.1 xl, t5.1.1.xl = t5-v1_1-xl
t5.1.1 xxl, t5 v1.1 xxl, t5.1.1.xxl = t5-v1_1-xxl
t5 xl = t5-3b
t5 xxl = t5-11b
whisper large = whisper-large-v2 whisper-large-v3
whisper turbo, whisper large turbo = whisper-large-v3-turbo
vit base, vit b, vit b 16, vit base 16, vit base patch16 = vit-base-patch16-224-in21k vit-base-patch16-224 vit-base-patch16-384 clip-vit-base-patch16
vit b 32, vit base 32 = vit-base-patch32-384 clip-vit-base-patch32
vit large, vit l, vit l 16, vit large 16, vit large patch16 = vit-large-patch16-224 vit-large-patch16-384
vit huge, vit h, vit h 14, vit huge 14 = vit-huge-patch14-224-in21k clip-vit-h-14-laion2b
vit l 14, vit large 14 = clip-vit-large-patch14
vit s 16, vit small, vit s, deit s, deit small = deit-small-patch16-224 dino-vits16
vit ti, vit tiny, deit ti, deit tiny = deit-tiny-patch16-224
deit b, deit base = deit-base-patch16-224
swin t, swin tiny = swin-tiny-patch4-window7-224
swin s, swin small = swin-small-patch4-window7-224
swin b, swin base = swin-base-patch4-window7-224
swin l, swin large = swin-large-patch4-window7-224
clip vit b 32 = clip-vit-base-patch32
clip vit b 16 = clip-vit-base-patch16
clip vit l 14 = clip-vit-large-patch14
dinov2 s, dinov2 vits14, dinov2 small = dinov2-small
dinov2 b, dinov2 vitb14, dinov2 base = dinov2-base
dinov2 l, dinov2 vitl14, dinov2 large = dinov2-large
dinov2 g, dinov2 vitg14, dinov2 giant = dinov2-giant
resnet50 = resnet-50
deberta xlarge v2 = deberta-v2-xlarge
deberta xxlarge v2 = deberta-v2-xxlarge
qwen 7b = qwen-7b
gpt3 small = gpt3-125m
gpt3 medium = gpt3-350m
gpt3 large = gpt3-760m
gpt3 xl = gpt3-1.3b
davinci gpt3 = gpt3-175b
gpt j, gptj = gpt-j-6b
gpt neox, neox 20b, gpt neox 20b = gpt-neox-20b
bloom 176b = bloom
"""
"""Names that no preset has, line by line: what is written, and the presets it may be."""

_DROPPED = (
    ("uncased",), ("cased",), ("discriminator",), ("v1",), ("v2",), ("v0.1",), ("instruct",), ("base",), ("hf",), ("ls960",), ("960h",), ("224",),
    ("patch16", "224"), ("patch4", "window7", "224"), ("patch14", "224"), ("it",), ("chat",), ("224", "1k"), ("1k", "224"), ("UR50D",),
)  # fmt: skip
"""Words of a preset's name that people leave out."""
_SIZE = re.compile(
    r"\d+(?:\.\d+)?[mb]|\d+x\d+b|a\d+(?:\.\d+)?b|base|large|small|tiny|mini|medium|huge|giant|xs|xl|xxl|xlarge|xxlarge|xsmall|v0\.\d|l|b\d|h|t\d+",
    re.IGNORECASE,
)
_HARMLESS = frozenset(
    "instruct chat hf it base sft dpo gptq awq gguf fp16 int4 int8 model models params param parameters version en bf16 uncased cased".split()
)
"""What may follow a name after a hyphen without making it another model's."""
_OTHER = re.compile(
    r"(?:tiny|clinical|bio|sci|fin|legal|mobile|squeeze|conv|modern|camem|flau|span|visual|video|deca|sentence|kin|know|struct|code|graphcode|hu|neuro|rem|nezha|q|i|m)?bert(?:a|weet|ology)?\d*|"
    r"gpt\d*(?:\.\d)?|gptneo\w*|chatgpt|llama\d*(?:\.\d)?|alpaca|vicuna|mistral|mixtral|qwen\d*(?:\.\d)?|qwq|gemma\d?|palm\d?|gemini|claude|phi\d?|falcon|bloomz?|m?t5|flan|ul2|"
    r"m?bart|pegasus|ernie|deepseek|opt|vit|deit|swin|clip|whisper|chatglm\d?|glm\d?|baichuan\d?|yi|mpnet|funnel|longformer|bigbird|nezha|luke|rembert|roformer|xlnet|xlm|electra|"
    r"albert|roberta|deberta|ctrl|davinci|curie|babbage|ada|gopher|chinchilla|lamda|megatron|turing|galactica|olmo\w*|pythia|mamba\d?|rwkv|jamba|stablelm|internlm\d?|minicpm|grok|"
    r"command|dbrx|switch|glam|rbt\d|rbtl\d|minilm\w*|resnet\d*|efficientnet\w*|convnext\w*|dinov?\d?|beit\w*|blip\d?|llava\w*|sam|esm\d?\w*|wav2vec\d?|hubert|starcoder\d?|codellama|nllb|elmo|ulmfit"
)
_SAME_MODEL = re.compile(r"\d{4,}|finetuned|v\d.*")
_QUOTES = frozenset("'\"`")
_MAKERS = frozenset("meta google facebook openai microsoft mistralai".split())
_RUN = re.compile(r"[a-z0-9]+(?:\.[0-9]+[a-z]*)*")
_GAP = re.compile(r"[\s\-_/.,()\[\]*:\"'’“”]{1,3}")
_MOST = 8


@cache
def known() -> dict[str, Mapping[str, Any]]:
    """Return the configs of all presets by name."""
    return {entry.name: entry.config for entry in presets()}


def joined(runs: Iterable[str]) -> str:
    """Join runs of letters and digits; two digits that meet keep a hyphen between them.

    >>> joined(["llama", "2", "7b"]), joined(["gpt", "2"])
    ('llama2-7b', 'gpt2')
    """
    key = ""
    for run in runs:
        key += "-" + run if key and key[-1].isdigit() and run[0].isdigit() else run
    return key


@cache
def table() -> dict[str, Named]:
    """Return what each joined name means.

    >>> table()["llama7b"].names, table()["mixtral"].kind
    (('llama-7b', 'llama-2-7b'), 'family')
    """
    presets = known()
    found: dict[str, Named] = {}
    families: dict[str, list[str]] = {}
    for name in presets:
        runs = _RUN.findall(name.lower())
        found[joined(runs)] = Named(MODEL, (name,))
        place = next((i for i, run in enumerate(runs) if i and _SIZE.fullmatch(run)), None)
        if place:
            families.setdefault(joined(runs[:place]), []).append(name)
    for key, short in _shortened(presets).items():
        found.setdefault(key, Named(MODEL, tuple(short)))
    for line in _WRITTEN.strip().splitlines():
        written, _, meant = line.partition(" = ")
        names = tuple(name for name in meant.split() if name in presets)
        for text in written.split(", ") if names else ():
            found[joined(_RUN.findall(text))] = Named(MODEL, names)
    families["gpt2"] = [name for name in presets if name.startswith("gpt2")]
    for key, members in families.items():
        if len(members) > 1 or key not in found:
            found[key] = Named(FAMILY, tuple(members)) if key not in found or key == "gpt2" else found[key]
    return found


def _shortened(presets: Iterable[str]) -> dict[str, list[str]]:
    """Return the presets by their names with some words left out."""
    found: dict[str, list[str]] = {}
    for name in presets:
        runs = _RUN.findall(name.lower())
        for dropped in _DROPPED:
            rest = [run for run in runs if run not in {word.lower() for word in dropped}]
            if 1 < len(rest) < len(runs):
                found.setdefault(joined(rest), []).append(name)
    return found


def lookup(text: str) -> Named | None:
    """Return what a name means, in whatever case and with whatever separators it is written.

    >>> lookup("Mixtral 8x7B").names, lookup("ViT-B/16").names[1], lookup("GPT2-Medium").names
    (('mixtral-8x7b',), 'vit-base-patch16-224', ('gpt2-medium',))
    """
    return table().get(joined(_RUN.findall(text.lower())))


def within(text: str) -> Iterator[Mention]:
    """Yield the models that a text names, from left to right, each by its longest name.

    >>> [(m.kind, m.name) for m in within("BERT Large is bigger than bert-base-chinese; GPT-2 is a family, RBT3 unknown")]
    [('model', 'bert-large-uncased'), ('model', 'bert-base-chinese'), ('family', None), ('unknown', None)]
    """
    lower = text.lower()
    runs = list(_RUN.finditer(lower))
    names, starts, index = table(), _starts(), 0
    while index < len(runs):
        first = runs[index].group()
        if first[:3] not in starts:
            index += 1
            continue
        best, key = None, ""
        for place in range(index, min(index + _MOST, len(runs))):
            run = runs[place]
            if place > index and not _GAP.fullmatch(lower, runs[place - 1].end(), run.start()):
                break
            key += "-" + run.group() if key and key[-1].isdigit() and run.group()[0].isdigit() else run.group()
            if key in names:
                best = (place, names[key])
        if best is not None:
            mention = _mention(lower, runs, index, *best)
            if mention is not None:
                yield mention
            index = best[0] + 1
        else:
            if _OTHER.fullmatch(first):
                yield Mention(runs[index].start(), None, runs[index].end())
            index += 1


@cache
def _starts() -> frozenset[str]:
    families = "ber tin cli bio sci fin leg mob squ con mod cam fla spa vis vid dec sen kin kno str cod gra hub neu rem nez gpt cha lla alp vic mis mix qwe qwq gem pal cla phi fal blo mt5 ul2 mba"
    return (
        frozenset(key[:3] for key in table())
        | frozenset(families.split())
        | frozenset("ern opt vit dei swi dav cur bab ada gop chi lam meg tur gal rbt gro com dbr gla elm ulm t5 yi sam".split())
    )


def _mention(lower: str, runs: list[re.Match[str]], index: int, last: int, named: Named) -> Mention | None:
    start, end = runs[index].start(), runs[last].end()
    before = runs[index - 1].group() if index else ""
    if start > 1 and lower[start - 1] in "-_" and lower[start - 2].isalnum() and before not in _MAKERS:
        return None if named.kind == FAMILY else Mention(start, None, end)
    if named.kind == FAMILY and lower[end : end + 1] == "/":
        return None
    if named.kind == FAMILY and lower[start:end] in named.names and lower[start - 1 : start] in _QUOTES and lower[end : end + 1] in _QUOTES:
        named = Named(MODEL, (lower[start:end],))  # ``from_pretrained("gpt2")`` is the repository of that name
    following = runs[last + 1] if last + 1 < len(runs) else None
    glued = following is not None and following.start() == end + 1 and lower[end] in "-_"
    if (
        glued
        and following is not None
        and following.group() not in _HARMLESS
        and not (named.kind == MODEL and _SAME_MODEL.fullmatch(following.group()))
    ):
        return Mention(start, None, following.end())
    if named.kind == FAMILY:
        return Mention(start, None, end, named.names, FAMILY)
    return Mention(start, named.names[0], end, named.names, MODEL)


SIZE_WORDS = re.compile(
    r"(?<![a-z0-9.\-])(base|large|small|tiny|mini|medium|huge|giant|xlarge|xxlarge|xl|xxl|turbo|\d+(?:\.\d+)?\s?[bm]|\d+x\d+b)(?![a-z0-9])",
    re.IGNORECASE,
)


def member(family: Iterable[str], size: str) -> Named | None:
    """Return the member of a family that a size word means.

    Args:
        family: Names of the family as one joins them, such as ``bert`` or ``llama2``.
        size: Such as ``base`` or ``7B``.

    >>> member(["bert"], "Large").names[0], member(["llama"], "7B").names
    ('bert-large-uncased', ('llama-7b', 'llama-2-7b'))
    """
    for name in family:
        found = table().get(joined(_RUN.findall(f"{name} {size.replace(' ', '')}".lower())))
        if found is not None and found.kind == MODEL:
            return found
    return None


def nameless(text: str) -> str:
    """Return a text without the names of models.

    >>> nameless("the llama-3-8b has")
    'the  has'
    """
    for mention in reversed(list(within(text))):
        text = text[: mention.column] + text[mention.end :]
    return text
