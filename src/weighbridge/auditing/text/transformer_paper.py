"""The Transformer of 2017, which no preset is: what texts call it, and the sizes and counts of its paper's Table 3."""

from __future__ import annotations

import re

from weighbridge.auditing import patterns
from weighbridge.auditing.text.openings import sentence_of

BASE = {"layers": 6, "hidden": 512, "mlp": 2048, "heads": 8, "head_dim": 64}
BIG = {"layers": 6, "hidden": 1024, "mlp": 4096, "heads": 16, "head_dim": 64}
"""Rows ``base`` and ``big`` of Table 3.

Source: arXiv 1706.03762v7, Table 3 and section 3.
"""
VOCAB = 37_000
"""Words of its English and German, "about 37000 tokens" (section 5.1)."""
ABLATIONS = {"layers": (2, 4, 8), "heads": (1, 4, 16, 32), "head_dim": (16, 32, 128, 256, 512), "hidden": (256, 1024), "mlp": (1024, 4096)}
"""What the other rows of that table set, one at a time."""
PUBLISHED = {"base": 65_000_000, "big": 213_000_000}
"""What the same table gives as the numbers of parameters, in millions."""

_NAMED = patterns.pattern(
    r"attention is all you need|vaswani|annotated transformer|(?:原始|原版|原本|最初|最早|原论文(?:中|里)?的?)的?\s?transformer(?![A-Za-z-]|\s?(?:的\s?)?(?:变体|decoder|encoder))"
    r"|(?:(?:(?:^|\bthe |\bin )vanilla)|(?<!an )\boriginal) (?:encoder-decoder )?transformer\b(?!s\b| (?:language|encoders?|decoders?|with|of \d|having|using|trained|baseline)\b)|(?<![A-Za-z-])transformer[\s_-]{0,2}[(（]?(?:base|big)\b(?!\w)|(?<![A-Za-z-])(?<![A-Za-z] )transformer\s?(?:的\s?)?(?:论文|原论文|原文)|(?<![A-Za-z-])(?:the |original )transformer paper\b"
    r"|(?<![A-Za-z-])transformer\s?的?\s?(?:base|big|基础)\s?(?:版本?|模型)",
    re.IGNORECASE,
)
"""Names that no other model has."""
_TRANSFORMER = patterns.pattern(r"(?<![A-Za-z-])transformer(?![A-Za-z-])", re.IGNORECASE)
_ENCODER, _DECODER = patterns.pattern(r"encoder|编码器", re.IGNORECASE), patterns.pattern(r"decoder|解码器", re.IGNORECASE)
_PAPER = patterns.pattern(r"论文|原文|\bthe (?:paper|authors)\b|\bin the paper\b|\bpaper's\b", re.IGNORECASE)
_SAYS_WHO = patterns.pattern(
    r"论文|原文|\bthe (?:paper|authors)\b|\bpaper's\b|(?<![A-Za-z-])(?:base|big)(?![A-Za-z-])|基础(?:模型|版)|大模型\s?[(（]big",
    re.IGNORECASE,
)
"""Words of a sentence that is about the paper's model, in a text that is."""
_LABEL = patterns.pattern(
    r"(?<![A-Za-z-])(?P<base>base)(?![A-Za-z-])|(?<![A-Za-z-])(?P<big>big)(?![A-Za-z-])|(?P<also_base>基础(?:模型|版|配置))", re.IGNORECASE
)
_OTHERWISE = patterns.any_word(
    r"\b(?:our|ours|my|we|i|baselines?|compar\w*|deep|deeper|wider|drop(?:ped)?|reproduc\w*|follows?|smaller|shallower|tiny|toy|mini|small|reduced?|shrink|shrunk|halved?|doubled?|instead|ablat\w*|variants?|variation|"
    r"varied|vary|varying|suppose|imagine|assume|say|if|would|could|e\.g|for example|for instance|such as|like|unlike|than|modern|today|nowadays|figure|diagram|picture|illustrat\w*|simplif\w*|demo|debug|"
    r"exercise|question|reduce|change[ds]?|only|just|default(?:s)? (?:of|in) (?:pytorch|torch|keras)|implement\w*|homework|assignment|build(?:ing)?|train(?:ing|ed)? an?|nn\.transformer)\b"
    r"|我们|我的|自己|本文|本例|本次|这里(?:取|用|设)|简化|缩小|缩减|减小|减少|减半|加倍|翻倍|改[为成用]|换成|玩具|演示|示例|示意|图中|图里|例如|比如|假设|假如|假定|如果|若|倘若|消融|变体|不同|现代|如今|现在|后来|之后的|相比|而非|不是|只[有用画]|仅|更[大小深浅宽]|加深|加宽|基线|对比|对照|比较|复现|采用|沿用|小模型|轻量|实现|作业|练习|习题|思考题"
)
"""Words of a sentence by which its sizes are, or may be, those of another model than the paper's."""


def paper_sentence(text: str, place: int) -> tuple[int, int]:
    """Return where the sentence of a place begins and ends; ``et al.`` ends none.

    >>> text = "Ours is that of Vaswani et al. (6 layers). Yes."
    >>> text[slice(*paper_sentence(text, 33))]
    'Ours is that of Vaswani et al. (6 layers)'
    """
    start, stop = sentence_of(text, place)
    while start > 1 and _ET_AL.search(text, max(0, start - _LONG), start):
        start = sentence_of(text, start - 2)[0]
    return start, stop


_ET_AL, _LONG = patterns.pattern(r"\bal\.\s*$", re.IGNORECASE), 8


def names_paper(text: str) -> tuple[tuple[int, int], ...]:
    """Return where a line names the Transformer of 2017.

    >>> names_paper("The original Transformer has 6 layers"), names_paper("A transformer has layers")
    (((4, 24),), ())
    """
    return (
        tuple(found.span() for found in _NAMED.finditer(text))
        if "ransformer" in text or "ttention" in text or "aswani" in text or "RANS" in text
        else ()
    )


def describes_paper(text: str) -> bool:
    """Tell whether a whole text that names it nowhere is about it all the same: it speaks of a paper, and of a Transformer's encoder and decoder."""
    if _TRANSFORMER.search(text) is None or _OF_A_KIND.search(text) is not None:
        return False
    return _ORIGINAL.search(text) is not None or all(words.search(text) is not None for words in (_PAPER, _ENCODER, _DECODER))


_OF_A_KIND = patterns.pattern(
    r"(?<![A-Za-z])(?!(?:the|a|an|of|in|is|and|base|big|original|vanilla|with|this|that|from|for|to|use|uses|pytorch|torch|nn) )[A-Za-z]{2,}[ -]transformer(?![A-Za-z])|(?<![A-Za-z])transformer-(?!base|big)[A-Za-z]",
    re.IGNORECASE,
)
"""Other Transformers, by the word before or behind: ``Vision Transformer``, ``Transformer-XL``."""
_ORIGINAL = patterns.pattern(r"原论文|原始论文|\boriginal (?:transformer )?paper\b", re.IGNORECASE)


def speaks_of_paper(sentence: str) -> bool:
    """Tell whether a sentence of a text about the paper says that it is about the paper's model.

    >>> speaks_of_paper("论文中 N=6"), speaks_of_paper("the base model has 6 layers"), speaks_of_paper("there are 6 layers")
    (True, True, False)
    """
    return _SAYS_WHO.search(sentence) is not None or bool(names_paper(sentence))


def speaks_otherwise(sentence: str) -> bool:
    """Tell whether a sentence may be about another model than the paper's.

    >>> speaks_otherwise("we use 3 layers instead"), speaks_otherwise("论文中 N=6"), speaks_otherwise("这里取 N=2")
    (True, False, True)
    """
    return _OTHERWISE.search(_IS_BIG.sub("", sentence)) is not None


_CAPITALS = patterns.pattern(r"(?<![A-Za-z0-9_-])[A-Z][A-Za-z]{2,}[\w-]*")
_KNOWN = frozenset(
    """transformer encoder decoder encoders decoders attention multi-head multihead head heads self-attention masked scaled dot-product feed-forward feedforward ffn mha mlp layer layers layernorm add norm linear softmax relu position positional
    position-wise embedding embeddings encoding query key value queries keys values table section figure vaswani google brain research base big wmt bpe english german french english-german english-french en-de en-fr adam bleu dropout qkv the each every both all for and
    there its they this that these here all-you-need need you output input outputs inputs number size dimension dimensions model paper sublayer sub-layer sub-layers residual connection annotated harvard nlp pytorch tensorflow gpu gpus word token tokens vocabulary stack is are per total parameters params feed forward fully connected hidden unit units network networks block blocks sub self cross dot product dropout default defaults value scaling weight weights matrix matrices dim dims width""".split()
)


_IDENTIFIERS = patterns.pattern(r"(?<![A-Za-z0-9_])[a-z]+(?:_[a-z0-9]+)+(?![A-Za-z0-9_])")
_SETTINGS = frozenset(
    """d_model d_ff d_k d_v d_q d_hidden n_heads n_head n_layers n_layer num_heads num_layers num_encoder_layers num_decoder_layers dim_feedforward transformer_base transformer_big make_model
    src_vocab tgt_vocab vocab_size max_len warmup_steps label_smoothing head_dim d_head embed_dim hidden_size filter_size num_hidden_layers w_q w_k w_v w_o""".split()
)
"""What code calls the paper's model and its sizes; anything else of that form may be the name of another."""


def names_another(sentence: str) -> bool:
    """Tell whether a sentence has a name in it that is none of the paper's words: somebody else's model, or a library.

    >>> names_another("DeepMind 的 AlphaCode 有 8 个头"), names_another("The Multi-Head Attention of the Transformer has 8 heads")
    (True, False)
    """
    if any(one[0] not in _SETTINGS for one in _IDENTIFIERS.finditer(sentence)):
        return True
    found = [(one.start(), one[0]) for one in _CAPITALS.finditer(sentence)]
    return any(
        name.lower() not in _KNOWN and not (start == len(sentence) - len(sentence.lstrip(" *-#>")) and name[1:].islower())
        for start, name in found
    )


_IS_BIG = patterns.pattern(r"\b(?:large|big|larger|bigger) variant\b(?=\W{0,3}\(?\W?big\b)", re.IGNORECASE)
"""The paper's own other model, which is no variant of anybody else's."""


def label_before(text: str, start: int, place: int) -> str:
    """Return which of the two models the words before a number speak of last, or those right behind it: ``base``, ``big`` or neither.

    >>> label_before("base: 65M, big: 213M", 0, 16), label_before("65M", 0, 0)
    ('big', '')
    """
    if (behind := _FOR.match(text, place)) is not None:
        return behind["label"].lower()
    found = [one for one in _LABEL.finditer(text) if start <= one.start() < place]
    return "" if not found else "big" if found[-1]["big"] else "base"


_FOR = patterns.pattern(
    r"[\d.,]+\s?(?:M|million)?\s?(?:param(?:eter)?s )?(?:for|in) (?:the |its )?(?:[Tt]ransformer )?(?P<label>base|big)\b", re.IGNORECASE
)
