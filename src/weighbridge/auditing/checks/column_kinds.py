"""What a column of a table of models holds, by the words of its head."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.field_values import LAYER_KINDS
from weighbridge.auditing.text.field_words import LABELS
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.tables import Table

_COLUMNS = (
    ("other", patterns.pattern(r"kv ?@|k[/-]?v[- ]?cache|flop|mac\b|macs|bytes?\b|memory|显存|vram|\bmb\b|\bgb\b|speed|score|acc|loss|ratio|%|glue|squad|time|latency|throughput|batch|learn|token|\blr\b|download|rank|trainable|lora|data|step|卸载|保留|解?冻|微调|可?训练|每(?=[卡机张台组阶段个])|阶段|裁?剪|减少|剩余|蒸馏|并行|更新|[TP]P\s?[=＝]|top-?1|throughput|hours?\b|year|date|年|日期|小时", re.IGNORECASE)),
    ("active", patterns.pattern(r"activ|激活|活跃", re.IGNORECASE)),
    ("non_embedding", patterns.pattern(r"non[- _]?emb|非嵌入|w/o emb|without emb", re.IGNORECASE)),
    ("part", patterns.pattern(r"(?:encoder|decoder|embedding|vision|visual|image|text|backbone|head|embed|emb)\w*[- _]*(?:param|参数)|嵌入", re.IGNORECASE)),
    ("total", patterns.pattern(r"param|参数|^#?\s*size$|model size|^大小$|模型大小", re.IGNORECASE)),
    ("kv_heads", patterns.pattern(r"kv(?![_ ]?(?:seq|len|ctx|context|size|block|page|dtype|bits|dim|rank|buffer))|key.?value", re.IGNORECASE)),
    ("head_dim", patterns.pattern(r"d[_ ]?head|head[_ ]?dim|d[_ ]?kv|head size|d_k\b", re.IGNORECASE)),
    ("mlp", patterns.pattern(r"d[_ ]?ffn?|ffn|intermediate|mlp|feed.?forward|中间|前馈", re.IGNORECASE)),
    ("embedding_size", patterns.pattern(r"^embed(?:ding)?s?(?: size| dim\w*)?$", re.IGNORECASE)),
    ("vocab", patterns.pattern(r"vocab|词表", re.IGNORECASE)),
    ("heads", patterns.pattern(r"heads?\b|头数?|^a$", re.IGNORECASE)),
    ("layers", patterns.pattern(r"^(?:#|num|number of|n|no\. of|transformer|encoder|hidden)*[ _#]*(?:hidden |transformer |encoder )?(?:layers?|blocks?)(?:\s*\(?l\)?)?$|(?:vision|image|text|audio)[ _]layers?$|层数|^depth$|^l$", re.IGNORECASE)),
    ("hidden", patterns.pattern(r"^(?:d|dmodel|h)$|hidden|d[_ ]?model|model[_ ]dim|^dim(?:ension)?s?$|^width$|embed(?:ding)?[_ ]dim|n_embd|_state$|(?:vision|image|text) width$|隐藏|维度|宽度|dim\b", re.IGNORECASE)),
)  # fmt: skip
"""What a column holds, by the words of its head; the first that fits."""


SIZE_COLUMNS = (
    "mlp",
    "vocab",
    "heads",
    "kv_heads",
    "layers",
    "hidden",
    "head_dim",
    "positions",
    "experts",
    "active_experts",
    "shared",
    "patch",
    "image",
    *LAYER_KINDS,
)


COUNT_COLUMNS = ("total", "active", "non_embedding", "part")


def column_heads(table: Table) -> list[str]:
    """Return the words at the head of each column; of the table that was asked for last, which each of its rows asks for, they are kept."""
    global _last_heads
    last, heads = _last_heads
    if last is not table:
        width = max(len(row.cells) for row in (*table.head, *table.rows))
        heads = [_head([row.cells[i].text for row in table.head if i < len(row.cells)]) for i in range(width)]
        _last_heads = table, heads
    return heads


def _head(texts: Sequence[str]) -> str:
    """Join the cells at the head of a column; one that names a size by itself says all, whatever it stands below."""
    texts = list(dict.fromkeys(texts))
    return texts[-1] if len(texts) > 1 and kind_of(texts[-1]) in SIZE_COLUMNS else " ".join(texts).strip()


_last_heads: tuple[Table | None, list[str]] = (None, [])


@lru_cache(maxsize=4096)
def kind_of(head: str) -> str:
    """Return what a column holds.

    >>> kind_of("Non-Embedding Params"), kind_of("#Params"), kind_of("d_model"), kind_of("FLOPs"), kind_of("Name"), kind_of("FFN units (H)")
    ('non_embedding', 'total', 'hidden', 'other', '', 'hidden')
    """
    plain = re.sub(r"[*`_\\]+(?=\s|$)|^[*`_\\]+", "", head).strip()
    bare = re.sub(r"[(（\[].*?[)）\]]", "", plain).strip() or plain
    phrase = " ".join(re.sub(r"[_\-\\{}$#]+", " ", re.sub(r"\(.*?\)|（.*?）", " ", head)).translate(_DRESS).split()).lower()
    kind = _PHRASES.get(phrase) or next((kind for kind, pattern in _COLUMNS if pattern.search(bare)), "")
    if kind == "heads" and _OF_KEYS.search(plain):
        return "kv_heads"
    letter = _SYMBOL.search(plain)
    return LETTERS[letter[1]] if letter and kind in _WIDTHS and LETTERS.get(letter[1]) in _WIDTHS else kind


def kinds_of(heads: Sequence[str]) -> list[str]:
    """Return what each column holds; ``Total`` beside ``Active`` is of parameters.

    >>> kinds_of(["Model", "Total", "Active", "Layers"])
    ['', 'total', 'active', 'layers']
    """
    kinds = [kind_of(head) for head in heads]
    if "active" not in kinds or "total" in kinds:
        return kinds
    return ["total" if _TOTAL.fullmatch(head) else kind for head, kind in zip(heads, kinds, strict=True)]


_TOTAL = patterns.pattern(r"\W*(?:total|总量|总数|总计|总规模|总)\W*", re.IGNORECASE)


_OF_KEYS = patterns.pattern(r"[(（]\s?(?:kv|k/v|键值)\s?[)）]\s*$", re.IGNORECASE)
"""Behind the heads, whose they are: ``注意力头数（KV）``."""
_LAYER_WORDS = {"dense": ("dense",), "moe": ("moe", "sparse", "expert")}


_PHRASES = {
    **{phrase: word for phrase, word in LABELS.items() if word not in ("types", "patch", "active") and phrase not in ("state", "size", "embedding size")},
    **{phrase: "active_experts" for phrase, word in LABELS.items() if word == "active"},
    **dict.fromkeys("max seqlen, seqlen, seq len, max seq, max len, maxlen, max seq length, n positions, ctx size, context, max context, context len, max context length, ctx, ctx len, max ctx, window, max tokens, max input length, 上下文, 上下文长度, 上下文窗口, 最大上下文, 最大上下文长度".split(", "), "positions"),
    "dm": "hidden",
    **dict.fromkeys("size per head, head width, heads dim, per head dim, d kv, dkv".split(", "), "head_dim"),
    **dict.fromkeys(("mparams", "params m", "m params"), "total"),
    **{f"{before}{word} layer{plural}": f"{kind}_layers" for kind, words in _LAYER_WORDS.items() for word in words for before in ("", "num ", "number of ", "n ", "no. of ") for plural in ("", "s")},
    **dict.fromkeys("patch size, patch, 补丁大小, 图块大小".split(", "), "patch"),
    **dict.fromkeys("image resolution, image size, input resolution, resolution, input size, img size, image res, 输入分辨率, 图像分辨率, 图像大小".split(", "), "image"),
    "稠密层数": "dense_layers",
    "moe 层数": "moe_layers",
    "v": "vocab",
    "s": "positions",
    **dict.fromkeys("blocks, num blocks, n blocks, network depth, l, nl, el, dl, n l".split(", "), "layers"),
    **dict.fromkeys("q heads, attn heads, nh, n h, heads, n heads, num heads, query heads, attention heads, a".split(", "), "heads"),
    **dict.fromkeys("ffn, mlp, ff, d ff, dff, d ffn, d mlp, ffn hidden, ffn intermediate, ffn inner, feed forward, ffn 中间维度, ffn 隐藏层维度".split(", "), "mlp"),
}  # fmt: skip
"""What a column holds whose head is one of the phrases that name sizes anywhere."""


_DRESS = str.maketrans("*`.:=：\"'", "        ")


_SYMBOL = patterns.pattern(r"[(（]\$?([A-Z])\$?[)）]")


_WIDTHS = ("mlp", "hidden")
"""Columns whose letter says which width they hold, whatever it is called: ``FFN units (H)``."""
