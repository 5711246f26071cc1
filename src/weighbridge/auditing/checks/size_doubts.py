"""Whether a stated size that is not the model's is wrong beyond doubt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from weighbridge.auditing.checks.count_subjects import goes_on_elsewhere
from weighbridge.auditing.checks.field_values import is_padded, published_otherwise
from weighbridge.auditing.checks.names import ANOTHER
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene, words_of
from weighbridge.auditing.checks.titles import SIZE_TITLES
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.thresholds import AGREED_SETTINGS, BESIDE_LINES, TOKENIZER_SHORT
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import MODEL


class JudgedSize(NamedTuple):
    """A number of a statement: what it says, and what is right if it is not that."""

    token: Token
    said: int
    right: int | None


def is_wrong(scene: Scene, size: StatedSize, judged: JudgedSize, used: set[int], firmly: Counter[tuple[str, int]]) -> bool:
    """Tell whether a stated size that is not the model's is wrong, and no other reading is left."""
    place = min(size.label.start, size.token.start) if size.label.line == size.token.line else size.token.start
    if goes_on_elsewhere(scene.lines[size.token.line].text, scene.mentions.get(size.token.line, ()), place):
        return False
    if belongs_to_a_part(scene.lines[size.token.line].text, size.token.end) or _is_said_as_often(scene, size, judged, firmly):
        return False  # ``all 3 layers of the classifier``
    if _is_of_another_on_its_line(scene, size):
        return False
    named = max((m.end for m in scene.mentions.get(size.token.line, ()) if m.end <= place), default=0)
    if any(not _IS_ONE.match(found[0]) for found in ANOTHER.finditer(scene.lines[size.token.line].text, named, place)):
        return False  # ``the base model ..., and the large one has a hidden size of 1,024``
    if (
        _ORDINAL.search(scene.lines[size.token.line].text, 0, size.token.start)
        or _ABLATED.search(scene.lines[size.token.line].text)
        or _is_before_its_model(scene, size.token.line)
    ):
        return False
    fair = size.word == "vocab" and judged.right is not None and _is_of_tokenizer(judged.said, judged.right)
    if fair or (size.word in ("positions", "types") and judged.right not in used):
        return False
    if judged.right not in used and not is_slip(str(judged.said), str(judged.right)) and is_of_their_own(scene, size.token.line):
        return False
    if not (size.firm or is_said_of_the_named(scene, size)) or _is_of_some(scene, size.token.line, judged.right):
        return False  # ``all 5 layers: (6 − 1) × ...`` is said of some of them
    if size.word == "layers" and judged.right is not None and ("layers", judged.right - judged.said) in scene.stated_index.values:
        return False  # 12 layers of one kind and 36 of another
    if (judged.said in used and judged.right not in used) or (size.word != "kv_heads" and judged.said in _other_sizes(scene, size)):
        return False
    if (size.word, judged.right) in scene.stated_index.values and not is_slip(str(judged.said), str(judged.right)):
        return False  # the text states two such sizes: it has two models, and this one need not be that one's
    if size.word != "hidden" and scene.is_at_other_sizes(size.token.line):
        return False
    model = scene.model_at(size.label.line, size.label.start)
    own = words_of(model) if model is not None else {}
    if model is not None and is_of_another_type(scene, size.token.line, model.model_type):
        return False
    if model is not None and model.description is not None and any(isinstance(part, dict) for part in model.description.raw.values()):
        return False  # a model of several models has several sizes of each kind
    agreed = sum(firmly[word, value] for word, value in own.items() if word != size.word)
    beside = [other for other in _sizes_beside(scene, size) if other.word in own]
    near = {other.word for other in beside if own[other.word] == other.value}
    passed = _ARGUMENT.search(scene.lines[size.label.line].text[: size.token.start]) is not None
    if passed:
        mistyped = judged.right is not None and is_slip(str(judged.said), str(judged.right))
        if any(own[other.word] != other.value for other in beside):
            return False  # two settings that differ are no slip but another config: the defaults of a class, a model of one's own
        return mistyped and len(near) >= AGREED_SETTINGS and _is_named_above(scene, size.token.line)
    if judged.right in used:
        return True
    return bool(near) or agreed >= 2


def _is_of_another_on_its_line(scene: Scene, size: StatedSize) -> bool:
    """Tell whether a size is that of the first model of several that its line names: ``A is trained as B was. It has a width of ...``."""
    named = [m for m in scene.mentions.get(size.token.line, ()) if m.kind == MODEL and m.end <= size.token.start]
    first = scene.models.get(str(named[0].name)) if len({m.name for m in named}) > 1 else None
    return first is not None and words_of(first).get(size.word) == size.value


def is_of_another_type(scene: Scene, line: int, model_type: str | None) -> bool:
    """Tell whether the config that a size stands in states another type than the model's: ``type: llama``."""
    for text in reversed(scene.texts[max(0, line - _CONFIG_LINES) : line + 1]):
        found = _STATED_TYPE.match(text)
        if found is not None:
            return model_type is not None and found["type"].lower().replace("-", "_") != model_type.replace("-", "_")
    return False


_CONFIG_LINES = 24
_STATED_TYPE = pattern(r"""[\s{,(]*["']?(?:model_)?type["']?\s*[:=]\s*["']?(?P<type>[A-Za-z][\w-]*)["']?,?\s*$""")


def _is_said_as_often(scene: Scene, size: StatedSize, judged: JudgedSize, firmly: Counter[tuple[str, int]]) -> bool:
    """Tell whether a text that names no model states a size as often as the one of the model that its other sizes suggest."""
    guessed = scene.main is not None and not (scene.main.named or scene.given)
    return guessed and judged.right is not None and firmly[size.word, judged.said] >= max(1, firmly[size.word, judged.right])


def _is_before_its_model(scene: Scene, line: int) -> bool:
    """Tell whether a line stands above the first name of the main model, in a text that names others too: it may be about one of those."""
    if scene.given or scene.main is None or len(scene.alternates) < _SEVERAL or scene.contexts[line] != "":
        return False
    first = next((index for index in scene.named_lines if any(m.name == scene.main.name for m in scene.mentions[index])), line)
    return first > line


_ORDINAL = pattern(r"\bthe (?:first|second|third|other|larger|smaller)(?: one| model)? (?:has|have|uses|is|comes|stacks)\b", re.IGNORECASE)
"""What speaks of one of several models by its place: ``The first has 48 layers, the second 40``."""
_ABLATED = pattern(r"\bablat|消融", re.IGNORECASE)
_SEVERAL = 2


def belongs_to_a_part(text: str, end: int) -> bool:
    """Tell whether words behind a number say that something else than the model has so many: ``3 layers of the classifier``."""
    return _OF_ANOTHER.match(text, end) is not None


def _is_of_tokenizer(said: int, right: int) -> bool:
    """Tell whether a number of words is that of a table padded for it, or one in thousands: ``30,000`` of BERT's 30,522."""
    return is_padded(said, right) or is_padded(right, said) or (said % 1000 == 0 and abs(said - right) * TOKENIZER_SHORT <= right)


def is_of_their_own(scene: Scene, line: int) -> bool:
    """Tell whether the lines above speak of a model of the author's own, for all that it is called: ``our BERT-base from scratch``."""
    return not scene.given and line in _lines_on_own(scene)


@once_for_each_scene
def _lines_on_own(scene: Scene) -> frozenset[int]:
    """Return the lines that speak of a model of the author's own, with those below each."""
    said = [line for line, text in enumerate(scene.texts) if _speaks_of_own(text) and not _rebuilds_known(scene, line)]
    return frozenset(below for line in said for below in range(line, line + BESIDE_LINES + 1))


def _speaks_of_own(text: str) -> bool:
    return bool(text) and _OWN.search(text) is not None


def _rebuilds_known(scene: Scene, line: int) -> bool:
    """Tell whether a title only says that one known model is built anew, as it is: ``GPT-2 small from scratch``."""
    models = {m.name for m in scene.mentions.get(line, ()) if m.kind == MODEL}
    if len(models) != 1 or not (scene.lines[line].heading or not any(text.strip() for text in scene.texts[:line])):
        return False
    return not _speaks_of_own(_REBUILT.sub(" ", scene.texts[line]))


_REBUILT = pattern(r"\bfrom (?:the )?scratch\b|\b(?:re)?implement(?:ing|ed|ation)?\b", re.IGNORECASE)


_OF_ANOTHER = pattern(
    r"[ -](?:layers?|blocks?|heads?|hidden units) (?:of|in) (?:the|its|our|my|an?) (?!(?:pre-?trained |main |whole |full |original |base |large )?"
    r"(?:model|network|encoder|decoder|transformer|stack|architecture|backbone|bert|gpt|llama|t5|vit))[a-z]",
    re.IGNORECASE,
)
"""Behind a number, what says that something else has so many."""
_IS_ONE = pattern(r"an? ", re.IGNORECASE)
"""``Phi-2 is a 2.7B model with 32 layers`` speaks of no other."""
_OWN = any_word(
    r"\b(?:(?:our|my)\b(?! (?:(?:own|internal|general|best|basic) )?(?:knowledge|memory|gpus?|cards?|macs?|macbook|laptops?|pcs?|phones?|machines?|clusters?|servers?|colleagues?|friends?|boss|company|teams?|desk|posts?|articles?|blogs?|notes?|opinion|experience|questions?|guides?|budgets?|blueprints?|examples?|cases?|purposes?|discussion|analysis|audits?|references?|calculations?|computations?|estimates?|counts?|maths?|understanding|formulas?|answers?|derivations?|spreadsheets?|tables?)\b)|custom|scratch|toy|reduced|prun\w+|draft|modified(?! version of (?:the |google|microsoft|meta|openai|megatron)| (?:[\w-]+ ){0,3}(?:architecture|resnet|transformer)\b)|scaled[- ]?(?:down|up|version|variant)(?! version of the one\b)|simplified|(?<!keras )(?<!official )(?<!reference )(?<!original )(?<!pytorch )(?<!tensorflow )(?<!face )(?<!base )(?<!large )(?<!this )implement(?!s\b)\w*(?! details\b| the (?:architecture|original|same|official|exact)\b))\b|自己|我们的|某个?\s?(?:模型|网络|transformer|编码器|解码器)|(?<!参数[(（])(?<!配置[(（])简化|从零|(?<![版技术工程代码具体官方底层算法核心论文高效原理地与的式步骤])实现(?!细节|方式|原理|文本|高效|更|对|从|跨|端到端|低|快|多|自动|超|与|性能|了(?!一个)|[^。]{0,12}(?:飞跃|提升|突破|目标|效果|能力|平衡|优化|加速))|发明|虚构|假想|新模型",
)


def is_said_of_the_named(scene: Scene, size: StatedSize) -> bool:
    """Tell whether a number is one of the sizes that a sentence gives its one model: ``BERT-large has 24 layers, 12 heads and hidden size 768``."""
    text, named = scene.lines[size.token.line].text, scene.mentions.get(size.token.line, ())
    if len(named) != 1 or named[0].kind != MODEL or named[0].end > min(size.token.start, size.label.start):
        return False
    if size.label.start < size.token.start and not (
        _BEGINS.search(text, named[0].end, size.label.start) and _BESIDE.fullmatch(text, size.label.end, size.token.start)
    ):
        return False  # a label in front may be that of another number, but at the beginning of an item
    between = text[named[0].end : max(size.token.end, size.label.end)]
    model = scene.model_at(size.label.line, size.label.start)
    own = words_of(model) if model is not None else {}
    on_line = scene.stated_index.on[size.token.line]
    others = [one for one in on_line if one.word != size.word]
    alone = len(on_line) - len(others) == 1
    translates = model is None or model.description is None or hasattr(model.description.sizes, "decoder_layers")
    agreed = sum(own.get(one.word) == one.value for one in others)
    return alone and not translates and agreed == len(others) >= 1 and not _OF_A_PART.search(between) and not _NEXT_SENTENCE.search(between)


_BEGINS = pattern(r"(?:^|[,，、:：(（;；|]|\b(?:and|with|an?|its|has|have|的|和|及|与|为|有))[\s*`_]*$", re.IGNORECASE)


_BESIDE = pattern(r"[\s*`_]*(?:of|is|=|:|：|为|是)?[\s*`_]*")
"""Before the label of an item of a list, and between the label and its number."""


_OF_A_PART = pattern(
    r"\b(?:first|last|top|bottom|only|freez\w*|each|every|per|more|fewer|less|extra|another|shared?|student|teacher|prun\w*|remov\w*|drop\w*|than|instead|vs|"
    r"versus|compared|like|unlike|if|would|could|our|ours|my|custom|distil\w*|into|from|to|of the|out of|with only|draft|encoder|decoder|cross|query|kept|keep\w*)\b|"
    r"前(?!馈)|后|每|只|仅|冻结|剪|比|若|如果|假如|要是|倘若|我们|自己|改|减|加|新|而",
    re.IGNORECASE,
)
"""Words by which a number of layers or heads is another than the model's."""


_NEXT_SENTENCE = pattern(r"[。;；!?|]|\.(?!\d)")


_UNLETTERED = {"kv_heads", "experts", "active", "shared", "moe_layers", "dense_layers"}
"""Sizes that no letter stands for."""


def _is_named_above(scene: Scene, line: int) -> bool:
    return any(m.kind == MODEL for above in range(max(0, line - BESIDE_LINES), line + 1) for m in scene.mentions.get(above, ()))


_ARGUMENT = pattern(r"[(,]\s*\w+\s*=\s*$|: int =\s*$|\w=$|[\"']\s*:\s*$")
"""What stands before a value that is passed to a call: a setting, which claims nothing of the model by itself."""


def _sizes_beside(scene: Scene, size: StatedSize) -> Iterator[StatedSize]:
    """Yield the sizes of other kinds that are stated on the lines about one."""
    for line in range(size.token.line - BESIDE_LINES, size.token.line + BESIDE_LINES + 1):
        yield from (other for other in scene.stated_index.on.get(line, ()) if other.word != size.word)


def _is_of_some(scene: Scene, line: int, right: int | None) -> bool:
    """Tell whether a number of layers is computed as all but some, here or on the next lines: ``(6 - 1) × ...``."""
    near = " ".join(one.text for one in scene.lines[line : line + _NEXT])
    return re.search(rf"(?<!\d){right} ?- ?\d+ ?\)", near) is not None


_NEXT = 6
"""Lines that a formula may be spread over."""


def _other_sizes(scene: Scene, size: StatedSize) -> set[int]:
    """Return the model's sizes that have no letter here, such as key-value heads: a label may well mean one of them."""
    model = scene.model_at(size.label.line, size.label.start)
    if model is None or model.description is None:
        return set()
    values = vars(model.description.sizes)
    published = set(published_otherwise(model).values())
    return published | {value for word, value in values.items() if word not in SIZE_TITLES.keys() - _UNLETTERED and type(value) is int}
