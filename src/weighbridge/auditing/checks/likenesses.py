"""Names that a text brings up for another model's sake: what it is like, built on, or has as a part."""

from __future__ import annotations

from weighbridge.auditing.patterns import pattern


def is_of_a_backbone(lower: str, start: int, end: int) -> bool:
    """Tell whether a name is that of another model's backbone: ``RetinaNet with a ResNet-50 backbone``."""
    if _AS_EXPERTS.match(lower, end) or _PLUS.match(lower, end):
        return True
    return _BACKBONE.match(lower, end) is not None and _WITH.search(lower, max(0, start - 24), start) is not None


_BACKBONE = pattern(r"[\w-]*[*_`'\"]* (?:backbone|feature extractor)\b")
_PLUS = pattern(r"\+(?=[\s、,，;；。:：]|[(（]|[\u4e00-\u9fff]|$)(?!\s+\w+(?:-\w+)*\s*[=≈])(?![\s]*[a-z])")
"""Behind a name, what makes it another one's: ``Command-R+``."""
_AS_EXPERTS = pattern(r"[*_`'\"]* experts\b")
"""Behind a name, what makes it that of a part: ``eight Mistral 7B experts``."""
_WITH = pattern(r"\b(?:with|using|uses|on|has|plus|and)(?: an?| the| its)? [*_`'\"]*$")


def is_likened(lower: str, start: int, end: int) -> bool:
    """Tell whether a name is only what another model is like: ``a compressed version of BERT``, ``the architecture is similar to GPT-2``."""
    first = max(0, start - 64)
    built = _BUILT_ON.search(lower, first, start) is not None and _ARCHITECTURE.match(lower, end) is not None
    likened = _LIKENED.search(lower, first, start) is not None and _ITS_OWN.match(lower, end) is None
    return likened or built


_LIKENED = pattern(
    r"\b(?:(?:compressed|distilled|smaller|lighter|faster|larger|bigger|pruned|modified|simplified|scaled[- ]down|reduced|mini|lite|stripped[- ]down|extended|sparse)"
    r" (?:version|variant|copy|form|sibling|cousin) of|similar to|modell?ed (?:after|on)|inspired by|patterned after|derived from|distilled from|pruned from|in the style of|akin to|resembl(?:es|ing)"
    r"|comparable to|close to|(?:the )?same (?:basic |overall |core )?(?:architecture|design|structure) (?:as|of)|identical (?:in architecture )?to)(?: that of)?(?: an?| the| openai['’]?s?| google['’]?s?| meta['’]?s?)?"
    r" [\"'*_`\[]*$|(?:类似于?|仿照|模仿|参考|借鉴|蒸馏自|剪枝自|受到?|架构同|结构同)了?\s?[\"'*_`“]*$"
)
_ITS_OWN = pattern(r"[*_`\"']*\s?(?:[(（]\s?[~≈约]?\d|[,，]?\s?(?:which|whose|that|它?有|拥有)\b)")
"""Around such a name: what likens another model to it, and what is said of it all the same."""
_BUILT_ON = pattern(
    r"\b(?:based|built|follows?|following|adopts?|uses?|using|employs?) (?:on |upon )?(?:the|an?|openai['’]?s?|google['’]?s?|meta['’]?s?) (?:modified |standard |same |original )?[\"'*_`\[]*$|(?:基于|采用|沿用|使用)了?\s?[\"'*_`“]*$"
)
_ARCHITECTURE = pattern(r"[*_`\"'\]]*(?:[- ]style|[- ]like|[- ]based)? architecture\b(?! with)|[*_`\"'”]*\s?(?:的)?(?:模型)?(?:架构|结构)")
"""Around the name of the architecture that a model of another name is built on."""
