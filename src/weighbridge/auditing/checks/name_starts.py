"""Which words may begin the name of a model, known or not."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache, lru_cache

from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import table

_OTHER = pattern(
    r"(?:tiny|clinical|bio|sci|fin|legal|mobile|squeeze|conv|modern|camem|flau|span|visual|video|deca|sentence|kin|know|struct|code|graphcode|hu|neuro|rem|nezha|q|i|m)?bert(?:a|weet|ology)?\d*|"
    r"gpt\d*(?:\.\d)?|gptneo\w*|chatgpt|llama\d*(?:\.\d)?|alpaca|vicuna|mistral|mixtral|qwen\d*(?:\.\d)?|qwq|gemma\d?|palm\d?|gemini|claude|phi\d?|falcon|bloomz?|m?t5|flan|ul2|"
    r"m?bart|pegasus|ernie|deepseek|opt|vit|deit|swin|clip|whisper|chatglm\d?|glm\d?|baichuan\d?|yi|mpnet|funnel|longformer|bigbird|nezha|luke|rembert|roformer|xlnet|xlm|electra|"
    r"albert|roberta|deberta|ctrl|davinci|curie|babbage|ada|gopher|chinchilla|lamda|megatron|turing|galactica|olmo\w*|pythia|mamba\d?|rwkv|jamba|stablelm|internlm\d?|minicpm|grok|"
    r"command|dbrx|switch|glam|rbtl?\d|minilm\w*|resnet\d*|efficientnet\w*|convnext\w*|dinov?\d?|beit\w*|blip\d?|llava\w*|sam|esm\d?\w*|wav2vec\d?|hubert|starcoder\d?|codellama|nllb|elmo|ulmfit"
)


@lru_cache(maxsize=1 << 14)
def may_begin(word: str) -> bool:
    """Tell whether a word may begin the name of a model, known or not."""
    return word[:3] in _starts() and (begins_name(word) or is_other(word))


@lru_cache(maxsize=1 << 14)
def begins_name(text: str) -> bool:
    """Tell whether any name begins so."""
    names = _sorted_names()
    place = bisect_left(names, text)
    return place < len(names) and names[place].startswith(text)


@cache
def _sorted_names() -> Sequence[str]:
    return sorted(table())


@lru_cache(maxsize=1 << 12)
def is_other(word: str) -> bool:
    """Tell whether a word is that of a model which no preset describes."""
    return _OTHER.fullmatch(word) is not None


@cache
def _starts() -> frozenset[str]:
    families = "ber tin cli bio sci fin leg mob squ con mod cam fla spa vis vid dec sen kin kno str cod gra hub neu rem nez gpt cha lla alp vic mis mix qwe qwq gem pal cla phi fal blo mt5 ul2 mba"
    return (
        frozenset(key[:3] for key in table())
        | frozenset(families.split())
        | frozenset("ern opt vit dei swi dav cur bab ada gop chi lam meg tur gal rbt gro com dbr gla elm ulm t5 yi sam".split())
    )
