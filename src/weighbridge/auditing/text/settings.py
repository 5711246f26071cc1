"""Settings of a model: a key and its value, as code, configs, cards and tables of two columns write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.chinese_labels import kind_of_chinese_label
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.memory import once_for_each_shape, once_for_each_text
from weighbridge.core._namedtuple import NamedTuple


class Setting(NamedTuple):
    """A setting.

    Attributes:
        kind: Our word for the size or the count.
        start, end: Where its value stands.
        key: What sets it, as written.
        coded: Whether code states it.
        halved: Whether its key names a half of a model: an encoder, a decoder, the side of the text.
    """

    kind: str
    start: int
    end: int
    key: str = ""
    coded: bool = False
    halved: bool = False


_VALUE = r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,3}(?:_\d{3})+|\d{1,7})(?![\w.,]*\d|\s?[×x*+/^%·-]\s?[\dA-Za-z(]|[kKMBTG]\b)"
_COUNT = r"(?P<count>\d[\d,]*(?:\.\d+)?\s?(?:[KMBT](?![A-Za-z])|million|billion))"
_PAIR = pattern(
    r"(?<![\w.#])[\"'`*]{0,3}(?P<key>[A-Za-z_][\w.\-]{0,60}(?: [A-Za-z][\w\-/]*){0,6})(?: ?\((?P<remark>[^()\d]{1,24})\))?[\"'`*]{0,3}\s*(?:: ?[A-Za-z_][\w\[\]| ]{0,20} ?=|[:=]|(?<=[a-z]) ?\((?=\d+\)))\s*[\"'`~≈*]{0,3}"
    + rf"(?:{_VALUE}|{_COUNT})"
)
_IS_SET = pattern(r"[:=]\s*[\"'`~≈*]{0,3}\d|\(\d+\)")
"""What every line with such a pair has."""
_CHINESE_PAIR = pattern(
    r"[\s>*+•·\-]*(?:\d{1,2}[.、)]\s*)?[*\"`]{0,3}(?P<key>[^\d:=|,，。;；]{1,24}[\u4e00-\u9fff][^\d:=|,，。;；]{0,12}?)[*\"`]{0,3}\s*[:=]\s*[*`\"]{0,3}(?:约|大约|≈|\s)*"
    + rf"(?:{_VALUE}|(?P<count>\d[\d,]*(?:\.\d+)?\s?(?:[KMBT](?![A-Za-z])|万亿|千亿|百亿|亿|万)))"
)
"""An item of a list that is a label and its value: ``- 总参数量:6710亿``."""
_CHINESE_PAIRS = pattern(
    r"(?:^|[\s,，、;；。|])(?P<key>[A-Za-z]{0,12} ?[\u4e00-\u9fff][\u4e00-\u9fffA-Za-z/ ]{1,12}?(?:\s?[(（][^()（）\d:：]{1,16}[)）])?)\s?[:：]\s?(?:总计|共计|一?共|约|大约|≈|\s)*"
    + rf"(?:{_VALUE}|(?P<count>\d[\d,]*(?:\.\d+)?\s?(?:[KMBT](?![A-Za-z])|万亿|千亿|百亿|亿|万)))"
)
"""Labels and values one behind the other on a line: ``参数数量：总计 305 亿 参数数量（非嵌入）：29.9B 层数：48``."""
_FLAG = pattern(r"(?<![\w-])--(?P<key>[a-z][a-z0-9_-]{2,40})[ =](?P<value>\d{1,7})(?![\w.,]*\d)")
"""An option of a command: ``--hidden-size 1024``."""
_LEAST_PAIRS = 3
_LETTERED = pattern(
    r"(?<![A-Za-z0-9_])(?P<key>[LHA])\s?=\s?(?P<value>\d{1,5})(?![\w.,]*\d|\s?[×x*+/^-]\s?[\dA-Za-z(]|\s?个?\s?(?:tokens?\b|words\b|positions\b|词元|令牌))"
)
_LETTERS = {"L": "layers", "H": "hidden", "A": "heads"}
_MORE = {
    **dict.fromkeys("emb dim|embed dim|n embed|embedding length|dim|d|residual dim|width|d embed|transformer width".split("|"), "hidden"),
    **dict.fromkeys("block count|transformer num".split("|"), "layers"),
    **dict.fromkeys("head count|attention head count|n q heads|num q heads|num query heads".split("|"), "heads"),
    **dict.fromkeys("head count kv|attention head count kv|n kv groups|num kv groups|n head kv|kv groups|num query groups".split("|"), "kv_heads"),
    **dict.fromkeys("feed forward length|ff dim|mlp hidden|hidden dim ffn|ffn inner dim|d inner|d mlp|ffn intermediate|ffn intermediate dimension|ffn intermediate dim".split("|"), "mlp"),
    **dict.fromkeys("inter dim|dense inter dim".split("|"), "mlp"),
    **dict.fromkeys("moe inter dim|moe intermediate size|moe intermediate dim|expert inter dim|expert intermediate size".split("|"), "expert_mlp"),
    **dict.fromkeys("key length|value length|attention key length|attention value length|d v|d kv|attention head size".split("|"), "head_dim"),
    **dict.fromkeys("context len|max ctx|block size|pos num|position num|max len|max context length".split("|"), "positions"),
    **dict.fromkeys("padded vocab size|n tokens vocab".split("|"), "vocab"),
    **dict.fromkeys("n experts".split("|"), "experts"),
    **dict.fromkeys("expert used count|n activated experts|num active experts".split("|"), "active_experts"),
    **dict.fromkeys("q lora rank|query lora rank|q lora|query compression dimension".split("|"), "q_lora"),
    **dict.fromkeys("kv lora rank|kv lora|kv compression dimension|kv latent dimension|kv latent dim".split("|"), "kv_lora"),
    **dict.fromkeys("qk nope head dim|qk norope dim|qk nope dim|nope head dim".split("|"), "plain_dim"),
    **dict.fromkeys("qk rope head dim|qk rope dim|rope head dim".split("|"), "rope_dim"),
    **dict.fromkeys("v head dim|value head dim".split("|"), "value_dim"),
    **dict.fromkeys("dense layers|first k dense replace|n dense layers|number of dense layers".split("|"), "dense_layers"),
    **dict.fromkeys("moe layers|sparse layers|number of moe layers|n moe layers".split("|"), "moe_layers"),
    **dict.fromkeys("sliding window|sliding window size|window size".split("|"), "window"),
    **dict.fromkeys("parameters|params|total params|total parameters|parameter count|total parameter count|number of parameters|number of paramaters|n params|n parameters|num parameters|nparams|model parameters|total params count|trainable parameters|number of params|model size params".split("|"), "total"),
    **dict.fromkeys("active params|active parameters|activated parameters|activated params|active per token|active params per token|active parameters per token|activated parameters per token|activated params per token".split("|"), "active"),
    **dict.fromkeys("non embedding parameters|non embedding params|number of parameters non embedding|number of paramaters non embedding|n params non embedding".split("|"), "non_embedding"),
}  # fmt: skip
"""What only code, cards and tables call a size or a count; what running text calls one stands in ``field_words``."""
KINDS = {
    **{phrase: word for phrase, word in LABELS.items() if word not in ("types", "active")},
    **{p: "active_experts" for p, w in LABELS.items() if w == "active"},
    **_MORE,
}
"""From a key, in lower case and with spaces for what joins its words, to what it sets."""
_BEFORE = frozenset(
    "the a its model model's transformer gguf self config cfg args default base total attention of per n num number max no and has with uses".split()
)
_OF_SCHEMA = pattern(r"[a-z][a-z0-9]*\.(?:attention\.)?(?=[a-z_]+$)")
"""The architecture before a key of a GGUF file: ``llama.attention.head_count``."""


def kind_of_key(key: str) -> str | None:
    """Return what a key sets.

    >>> kind_of_key("llama.attention.head_count_kv"), kind_of_key("numHiddenLayers"), kind_of_key("student hidden size")
    ('kv_heads', 'layers', None)
    """
    plain = _OF_SCHEMA.sub("", key.strip(" *`\"'#:_"))
    glued = plain if " " in plain else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    phrase = " ".join(re.sub(r"[_\-./#]+", " ", glued).lower().split())
    words = phrase.split()
    while words:
        if (kind := KINDS.get(" ".join(words))) is not None:
            return kind
        if len(words) > 1 and len(words[-1]) == 1 and (kind := KINDS.get(" ".join(words[:-1]))) is not None:
            return kind  # ``d_ffn F = 11008``
        if words[0] not in _BEFORE:
            return None
        words = words[1:]
    return None


def kind_of_label(label: str) -> str | None:
    """Return what a label sets that stands alone: in a cell, on a line above its value, before a colon.

    >>> kind_of_label("KV Heads (`num_key_value_heads`)"), kind_of_label("**Total Parameters**"), kind_of_label("Speed")
    ('kv_heads', 'total', None)
    """
    label = re.sub(r"[\\{}$;]", "", label)
    outside = re.sub(r"\(.*?\)|\[.*?\]", " ", label)
    inside = re.findall(r"\((.*?)\)", label)
    found = next((kind for one in (label.replace("(", " ").replace(")", " "), outside, *inside) if (kind := kind_of_key(one))), None)
    return found if found is not None or label.isascii() else kind_of_chinese_label(outside)


@once_for_each_text
def read_settings(text: str) -> tuple[Setting, ...]:
    """Return the settings of a line of code or of a list, from left to right.

    >>> [(s.kind, '"n_heads": 12, "emb_dim": 768'[s.start : s.end]) for s in read_settings('"n_heads": 12, "emb_dim": 768')]
    [('heads', '12'), ('hidden', '768')]
    """
    found = _places_of_settings(text)
    return tuple(_settings(text)) if any("0" in one.key for one in found) else found  # a key is told as it is written


@once_for_each_shape
def _places_of_settings(text: str) -> tuple[Setting, ...]:
    return tuple(_settings(text))


def _settings(text: str) -> Iterator[Setting]:
    for letter in _LETTERED.finditer(text):
        if "--" in text and "#" in text[: letter.start()]:
            continue  # ``--num-attention-heads 64  # H = 64`` says itself what its letter is
        yield Setting(_LETTERS[letter["key"]], *letter.span("value"), letter["key"], coded=True)
    for pair in _PAIR.finditer(text) if _IS_SET.search(text) is not None else ():
        key, between = pair["key"], text[pair.end("key") : pair.start("value" if pair["value"] else "count")]
        kind = kind_of_key(_HALF.sub("", key))
        if kind == "total" and pair["remark"] and _NON_EMBEDDING.search(pair["remark"]):
            kind = "non_embedding"
        coded = "=" in between or (between.strip().endswith("(") and "_" in key) or "_" in key or between[:1] in "\"'"
        opens = not text[: pair.start()].strip(" -*+•·|\t")
        if kind is None or not (coded or opens) or (pair["count"] and kind not in COUNTS):
            continue
        yield Setting(kind, *pair.span("value" if pair["value"] else "count"), key, coded, _HALF.search(key) is not None)
    for flag in _FLAG.finditer(text) if "--" in text else ():
        kind = kind_of_key(flag["key"])
        if kind is not None and kind not in COUNTS:
            yield Setting(kind, *flag.span("value"), flag["key"].replace("-", "_"), coded=True)
    listed = None if text.isascii() else _CHINESE_PAIR.match(text)
    kind = kind_of_label(listed["key"]) if listed is not None else None
    if listed is not None and kind is not None and (not listed["count"] or kind in COUNTS):
        yield Setting(kind, *listed.span("value" if listed["value"] else "count"), listed["key"])
    yield from _chinese_pairs(text, listed.end() if listed is not None and kind is not None else 0)


def _chinese_pairs(text: str, start: int) -> Iterator[Setting]:
    """Yield the settings of a line that gives several labels their values."""
    if text.isascii() or text.count(":") + text.count("：") < _LEAST_PAIRS:
        return
    for pair in _CHINESE_PAIRS.finditer(text):
        kind = kind_of_label(pair["key"].strip())
        if kind == "total" and _OUTSIDE.search(pair["key"]):
            kind = "non_embedding"
        if kind is not None and pair.start("key") >= start and (not pair["count"] or kind in COUNTS):
            yield Setting(kind, *pair.span("value" if pair["value"] else "count"), pair["key"].strip())


_OUTSIDE = pattern(r"非嵌入|不含嵌入|非 ?embedding|除嵌入", re.IGNORECASE)
_NON_EMBEDDING = pattern(r"non[- ]?emb|without emb|w/o emb", re.IGNORECASE)
COUNTS = ("total", "active", "non_embedding")
_HALF = pattern(r"(?<![A-Za-z])(?:audio|text|encoder|decoder)_")
