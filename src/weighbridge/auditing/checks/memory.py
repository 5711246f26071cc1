"""Bytes that are claimed: of weights by dtype, of gradients and optimizer states, of a key-value cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.byte_thresholds import AGREED_ROWS, COLUMN_FAR, MEMORY_FAR, MEMORY_TOLERANCE, NEEDED_FAR, WEIGHTS_FAR
from weighbridge.auditing.checks import cache_tables
from weighbridge.auditing.checks.amounts import SENTENCE, Amount, Figure, after_figure, hold, words_about
from weighbridge.auditing.checks.caches import OF_CACHE, judge
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.count_subjects import Subject, of_mention, subject_of
from weighbridge.auditing.checks.dtypes import DTYPES, bytes_each, dtype_sizes
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.table_places import head_of, length_of_row, member_of_row, stands_alone
from weighbridge.auditing.checks.topics import topic
from weighbridge.auditing.checks.training_states import is_of_training, state_bytes
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.text.exact import Exact, as_exact
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import UNITS
from weighbridge.auditing.text.tables import Table
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_WEIGHTS = patterns.pattern(
    r"weights?|param(?:eter)?s?\b|model|load|store|checkpoint|requires?\b|needs?\b|takes?\b|权重|参数|模型|加载|显存|占用|需要",
    re.IGNORECASE,
)
_ELSE = patterns.pattern(
    r"\bfits?\b|放得|装得|train|optimi[sz]er|gradient|activation|adam|total of|at least|minimum|recommend|require|need(?:s|ed)? (?:at|about)|gpu|训练|优化器|梯度|激活|至少|推荐|以上|vram|lora|batch|剩|空闲|可用|只有",
    re.IGNORECASE,
)
_SIZE = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(?!(?<=[×*])[1248]\s?B(?![A-Za-z0-9]))(\d+(?:\.\d+)?)\s?([KMBT]|billion|亿|万|[×*x] ?10\^\(?9\)?|e9)(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_STORED = patterns.pattern(r"weights?\b|权重", re.IGNORECASE)
_OF_WEIGHTS = patterns.pattern(r"weights?\b|权重|model (?:size|itself|takes|needs)", re.IGNORECASE)
_FOR_WEIGHTS = patterns.pattern(
    r"\s*(?:of )?(?:(?:gpu|video|device) )?(?:(?:memory|v?ram|显存) )?(?:(?:just|only|simply) )?(?:for|of|to (?:store|hold|load)) (?:its|the|all)?\s?(?:model )?"
    r"(?:weights?|param\w*)\b(?!\W{0,2}(?:(?:and|plus|or) )?(?:the |its )?(?:grad|optim|activ|kv|cache|buffer))",
    re.IGNORECASE,
)
"""Words right behind a figure by which it is the weights' and nothing else."""
_WEIGHTS_TAKE = patterns.pattern(
    r"(?:\bweights?|\bparam(?:eter)?s)(?: of [\w.\- ]{2,30}?)?(?: alone)? (?:would |will )?(?:takes?|needs?|occup(?:y|ies)|requires?|uses?|are|is|shrinks? to|amounts? to|come to)(?: up)?"
    r"(?: (?:about|around|only|just|roughly|approximately))?\W{0,2}$|(?:权重|参数存储|(?:fp ?16|bf16|fp ?32|int8|半精度|单精度)\s?(?:存储|保存))(?:本身|就|也|要|得|约|大约|大概|占用?|需要?|为|是|只|仅|共|大小|存储|的|显存|[\s:：])*$",
    re.IGNORECASE,
)
"""And words right before it."""
_BROUGHT_TO = patterns.pattern(
    r"\b(?:brings?|cuts?|reduces?|gets?|shrinks?|takes?) (?:that|it|this|them) (?:down )?to(?: (?:about|around|only|just|roughly))?\W{0,2}$",
    re.IGNORECASE,
)
"""Behind the figure of the weights, what another dtype makes of it."""
_SERVED = patterns.pattern(r"\b(?:to )?serv(?:e|ing)\b", re.IGNORECASE)
"""What the weights are held for, where the figure is said to be theirs alone."""
_DEVICE = patterns.pattern(r"\W{0,3}(?:(?:显存|内存)的?\s?)?(?:gpu|显卡|[ah]\d{2,3}\b|cards?\b|rtx)", re.IGNORECASE)
_ON_DEVICE = patterns.pattern(
    r"(?<![A-Za-z0-9_.])(?:[ABHLVT]\d{2,3}s?|GB\d{3}|MI\d{3}X?|RTX ?\d{4}(?: ?Ti)?|[2345]0[789]0(?: ?Ti)?|M[1-4](?: (?:Pro|Max|Ultra))?|TPU ?v\d\w?|gpus?|cards?|显卡|放[进入]|[装塞][进入]|\bfits? (?:in|into|on|within)(?: an?| the| one)?)[\s(（,-]{0,2}(?:with |has |of )?$",
    re.IGNORECASE,
)
"""A card around its memory: ``a 24 GB GPU``, ``2×H100 80GB``."""
_OF_CARDS = patterns.pattern(
    r"(?:[AHLV]\d{2,3}s?|RTX ?\d{4}|gpus?|cards?|显卡|卡)[^,，;；。.]{0,24}\d\s?Gi?B?[^,，;；。.]{0,12}[(（=≈][^,，;；。.]{0,12}$",
    re.IGNORECASE,
)
"""Cards with their memory, before what they hold together: ``8 A100s with 80 GB (640 GB)``."""
_SAID_OF = patterns.pattern(
    r"\d(?:\.\d+)?\s?(?:[BM]|billion|million|亿|十亿|百万)(?: |-)?(?:param(?:eter)?s?|个?参数(?:的?(?:大?(?:语言)?模型|LLM))?|模型|model)(?:\W{1,3}|(?=在))(?:(?:在|下|时|精度|格式|仅|大约|加载|存储|weights?|takes?|needs?|is|=|in|at|of|权重|占用?|需要?|约|为|fp16|bf16|fp32|float\d\d|int8|的?模型|显存|内存)\W{0,3}){0,5}[~≈]?$",
    re.IGNORECASE,
)
"""A size in so many words right before its bytes, and nothing between that could mean anything else."""
_PARTS = patterns.pattern(
    r"\b(?:per(?! param)|each(?! param)|every|shards?|split|tp|pp|\w*parallel\w*|devices?|cards?|nodes?|active|embeddings?|head|keys?|values?|tokens?|lora|adapter|layer|ram|peak|overhead|during|serv\w*|cache|context|both|two|cop(?:y|ies))\b|每(?!个?参数)|并行|嵌入|单卡|张|层|分到|缓存|上下文|峰值",
    re.IGNORECASE,
)
ABOVE = 4
"""Lines above a table or a line within which a label or a heading may say the dtype of what stands there."""
BEHIND = 20
"""Characters behind a figure within which its dtype may be said."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check every figure in bytes that is said of a model's weights in a dtype, of its training, or of its cache."""
    tables: dict[int, Table] = {}
    columns: dict[tuple[int, str], list[tuple[Token, Table, Claim | None]]] = {}
    for laid in scene.tables:
        tables.update((line, laid) for line in laid.lines if line not in tables)
    for statement, index, token in scene.sorted_figures.in_bytes:
        if _is_amount_of_memory(token) and not _in_equation(scene, statement, index):
            table = tables.get(token.line)
            judged = _claim(scene, token, table)
            if table is not None:
                columns.setdefault((id(table), head_of(table, token)), []).append((token, table, judged))
            elif judged is not None:
                yield judged
    for (_, head), column in columns.items():
        yield from _of_column(scene, column, plain=not _PACKED.search(head))


_NEEDED = patterns.pattern(r"memory|ram\b|usage|need|requir|显存|内存|占用", re.IGNORECASE)
_PACKED = patterns.pattern(r"gguf|ggml|gptq|awq|\bq\d|quanti|量化|disk|file|download", re.IGNORECASE)
"""Heads of columns whose figures hold scales and padding beside the values."""


def _of_column(scene: Scene, column: Sequence[tuple[Token, Table, Claim | None]], *, plain: bool) -> Iterator[Claim]:
    """Yield the claims of a column; where most of its figures are right, it is plain what it holds, and another is wrong when less far off."""
    right = sum(judged is not None and judged.verdict == "rounded" for *_, judged in column)
    agreed = plain and right >= AGREED_ROWS and right * 2 > len(column)
    for token, table, judged in column:
        if (found := judged or (_claim(scene, token, table, COLUMN_FAR) if agreed else None)) is not None:
            yield found


def _is_amount_of_memory(token: Token) -> bool:
    """Tell a memory figure from the bytes of one number: ``each parameter takes 2 bytes``."""
    return token.value is not None and token.value > 0 and (token.unit not in ("byte", "bytes", "字节") or token.value >= 10_000)


def _in_equation(scene: Scene, statement: Sequence[Token], index: int) -> bool:
    return any(chain.sides[0].start <= index < chain.end and len(chain.sides) > 1 for chain in scene.chains_of(statement))


def _claim(scene: Scene, token: Token, table: Table | None, far: Fraction = MEMORY_FAR) -> Claim | None:
    text, (place, start) = scene.lines[token.line].text, words_about(scene, token)
    place = place._replace(far=far)
    models, sure = _models(scene, token, start, table)
    sure = sure and (table is None or stands_alone(table, token))
    head = head_of(table, token) if table is not None else ""
    if (
        table is not None
        and not models
        and length_of_row(table, token.line)
        and (found := cache_tables.of_lengths(place, table, head)) is not None
    ):
        return found
    around = _words_around(scene, token.line, table, own=OF_CACHE.search(head) is not None)
    if head:
        place = place._replace(near=f"{head} {place.near}", sentence=f"{head} {place.sentence}", text=f"{head} | {place.text}")
    clause = text[start : token.end] + re.split(r"[,，;；。、]|加上?|\band\b|\bplus\b", text[token.end : token.end + 16])[0]
    if _SHARED_OUT.search(text, start, token.start):
        return None  # Long because every guard is about the one figure
    of_cache, of_weights = ([m.start() for m in pattern.finditer(clause)] for pattern in (OF_CACHE, _STORED))
    if (of_cache and max(of_cache) > max(of_weights, default=-1)) or (OF_CACHE.search(around) and not _WEIGHTS.search(place.sentence)):
        told = dtype_sizes(f"{place.sentence} {around}")
        other = table is not None and cache_tables.is_otherwise(scene, table, head)
        return judge(place, models, told, firm=sure and not other)
    if _DEVICE.match(text, token.end) or _ON_DEVICE.search(text, start, token.start) or _OF_CARDS.search(text, start, token.start):
        return None  # ``a 24 GB GPU`` holds so much, and the model need not
    nearest = _nearest_dtype(text, token, start)
    sizes = nearest or dtype_sizes(place.sentence) or bytes_each(place.sentence)
    taken = _WEIGHTS_TAKE.search(text[start : token.start])
    if taken and not text.isascii():
        sizes = sizes or _dtype_before(text[:start])
    told, state = sizes or dtype_sizes(around), [] if taken and "权重" in taken[0] else state_bytes(place)
    brought = _BROUGHT_TO.search(text[start : token.start]) is not None and _STORED.search(text[:start]) is not None
    weights = brought or _WEIGHTS.search(f"{around} {place.sentence}") is not None
    if (len(told) > 1 or not weights) and not state and table is None:
        return None
    said_of = _SAID_OF.search(text[start : token.start])
    row = text[: token.start] if table is not None else place.text[: token.start - max(0, token.start - SENTENCE)]
    said = [_amount(match) for match in _SIZE.finditer(row)]
    counts: list[Fraction] = [Exact(count) for model in models if (count := own_count(model)) is not None]
    counts = said + counts if said_of is not None else counts + said
    amounts = _amounts_of(counts, state or told or _usual_sizes(place, in_table=table is not None))
    if state and table is None and is_of_training(place, bytes_each(place.sentence)):
        return hold(place, amounts, firm=sure and not _has_other_sizes(scene, token.line, text, counts), base=1000)
    alone = _FOR_WEIGHTS.match(text, token.end)
    weighed = alone or brought or taken
    words = (
        place.sentence[: token.start - start + len(token.text)]
        + re.split("[,，]", place.sentence[token.start - start + len(token.text) :])[0]
    )
    words = _SERVED.sub("", words) if alone else words
    if table is not None and not _STORED.search(head) and (min(sizes, default=1) < 1 or (_NEEDED.search(head) and far == MEMORY_FAR)):
        return hold(place, amounts, firm=False, base=1000)  # what a machine needs has more in it than the weights
    if (weighed or said_of) and min(sizes, default=Exact(0)) >= 1:
        place = place._replace(far=min(far, WEIGHTS_FAR))
    if table is None and not weighed and min(sizes, default=2) <= 1 and _exceeds(token, amounts):
        place = place._replace(far=max(place.far, NEEDED_FAR))
    anothers = not nearest and not text.isascii() and _is_anothers_dtype(place.sentence, token.text)
    certain = (
        len(sizes) == 1
        and not anothers
        and not _PARTS.search(words)
        and (weighed is not None or not (state or _ELSE.search(place.sentence)))
    )
    if said_of is not None and len(_SIZE.findall(place.sentence)) == 1 and not _PARTS.search(place.sentence):
        return hold(place, amounts, firm=certain, base=1000)  # ``7B params (14 GB in bf16)``: whatever the model is called
    return hold(place, amounts, firm=certain and sure and not _has_other_sizes(scene, token.line, text, counts), base=1000)


def _exceeds(token: Token, amounts: Sequence[Amount]) -> bool:
    """Tell whether a figure is above all that the weights may be: what runs in 4 bits needs more, ``INT4 约 6GB`` of 6.2B."""
    said = (token.value or 0) * min(UNITS[token.unit])
    return all(said > amount.number for amount in amounts)


def _usual_sizes(place: Figure, *, in_table: bool) -> list[Fraction]:
    """Return the bytes of an element that may be meant where a text names none."""
    if _OF_WEIGHTS.search(place.sentence):
        return [Exact(2), Exact(4)]
    return [Exact(4), Exact(2), Exact(1), Exact(1, 2)] if in_table else []


def _amounts_of(counts: Sequence[Fraction], sizes: Sequence[Fraction]) -> list[Amount]:
    return [
        Amount(count * size, mark("{count} parameters of {size} bytes"), {"count": count, "size": size})
        for size in sizes
        for count in counts
    ]


def _models(scene: Scene, token: Token, start: int, table: Table | None) -> tuple[tuple[ModelValue, ...], bool]:
    """Return the models that a figure may be of, and whether that is sure; a table's row without a known name is of none."""
    named = [m for m in scene.mentions.get(token.line, ()) if start <= m.column]
    if table is not None and not named:
        found = _model_of_row(scene, token) or member_of_row(scene, table, token.line)
        return (found.models, True) if found is not None else ((), False)
    subject = subject_of(scene, token, start, len(scene.lines[token.line].text))
    if table is None and (subject is None or not subject.firm):
        about = topic(scene, token.line, token.start)
        subject = (of_mention(scene, about.mention, firm=True) if about is not None else None) or subject
    if subject is None and table is None and len(named) == 1 and named[0].kind == MODEL and _is_close(scene, token, named[0].column):
        subject = of_mention(scene, named[0], firm=True)  # ``costs 320 KB for Llama 2 70B``: the one name of its sentence
    if subject is None:
        return (), False
    before = table is None or any(m.end <= token.start for m in named)  # ``| A100 | 80 GB | Llama-2-13B |`` is the card's
    return subject.models, before and (subject.firm or (len(named) == 1 and named[0].kind == MODEL))


def _model_of_row(scene: Scene, token: Token) -> Subject | None:
    """Return the one model that a row of a table names before a figure."""
    named = scene.mentions.get(token.line, ())
    alone = len({m.names for m in named}) == 1 and named[0].kind == MODEL and named[-1].end <= token.start
    return of_mention(scene, named[0], firm=True) if alone else None


def _is_close(scene: Scene, token: Token, column: int) -> bool:
    """Tell whether a name behind a figure is in the same clause with it: ``80 GB on a card, so Llama`` is not."""
    between = scene.lines[token.line].text[token.end : column]
    return column > token.end and len(between) <= BEHIND * 2 and not re.search(r"[,，;；。(（:：]|\bso\b", between)


def _nearest_dtype(text: str, token: Token, start: int) -> list[Fraction]:
    """Return the bytes of the dtype that is said of a figure: right behind it, or else last before it."""
    for size, pattern in DTYPES:
        match = pattern.search(text, token.end, token.end + BEHIND)
        if match and not re.search(r"[,，;；。:：]|\.(?=\s)", text[token.end : match.start()]):
            return [size]
    since = max(start, after_figure(text, token.start))
    before = [
        (match.start(), size)
        for size, pattern in DTYPES
        for match in pattern.finditer(text, since, token.start)
        if not _AGAINST.search(text, since, match.start())
    ]
    return [max(before)[1]] if before else []


def _is_anothers_dtype(sentence: str, figure: str) -> bool:
    """Tell whether the dtype of a sentence stands in a clause with a figure of its own: ``需要 140GB，Q4_K_M 量化为 43GB``."""
    clauses = re.split(r"[,，;；、]", sentence)
    return any(dtype_sizes(clause) and figure not in clause and _BYTES.search(clause) for clause in clauses)


_SHARED_OUT = patterns.pattern(
    r"(?:每[张块个]?\s?(?:卡|gpu|显卡)|zero-?[123]|单卡)[^;；。,，]{0,16}$|(?:kv\s?cache|缓存)[^;；。]{0,24}[,，]\s?(?:合计|总计|总共|共计|加起来|一共)[约为]?\s?$",
    re.IGNORECASE,
)
"""Before a figure that is of one card of several, or the sum of a cache and more."""
_BYTES = patterns.pattern(r"\d\s?(?:[KMGT]i?B|G)(?![A-Za-z])")
_AGAINST = patterns.pattern(
    r"(?:\b(?:as|than|instead of|compared (?:to|with)|relative to|of|vs\.?|versus|half)(?: the| that of)?|比)\s?$", re.IGNORECASE
)
"""Before a dtype with which another is only compared: ``fp16 takes half as much as fp32: 220 MB``."""


def _dtype_before(text: str) -> list[Fraction]:
    """Return the bytes of the one dtype that the sentences before on a line say of each parameter."""
    told = {*dtype_sizes(text), *bytes_each(text)}
    return list(told) if len(told) == 1 else []


def _has_other_sizes(scene: Scene, line: int, text: str, own: Sequence[Fraction]) -> bool:
    """Tell whether sizes stand in a line that are no part of a model's name, nor its count: the figure may be of any of them."""
    named = scene.mentions.get(line, ())
    found = (match for match in _SIZE.finditer(text) if not any(m.column <= match.start() < m.end for m in named))
    return any(all(abs(size - count) > MEMORY_TOLERANCE * count for count in own) for size in map(_amount, found))


def _words_around(scene: Scene, line: int, table: Table | None, *, own: bool) -> str:
    """Return the words that are said of a whole table or list: its head, and the label above it."""
    first = (table.head or table.rows)[0].line if table is not None else line
    heads = column_heads(table) if table is not None else []
    head = " ".join(one for one in heads if own or not OF_CACHE.search(one))  # another column's cache is not this one's
    above = (scene.lines[index] for index in range(first - 1, max(-1, first - 1 - ABOVE), -1))
    label = next((one.text for one in above if one.heading or one.text.rstrip("* ").endswith(":")), "")
    near = scene.lines[max(0, first - 2) : first] if table is not None else ()
    lead = next((one.text for one in reversed(near) if one.text.strip()), "")
    return f"{head} {label} {lead[:SENTENCE]}"


def _amount(match: re.Match[str]) -> Fraction:
    scale = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12, "billion": 10**9, "亿": 10**8, "万": 10**4}.get(match[2].lower(), 10**9)
    return as_exact(Exact(match[1]) * scale)
