"""Lines that a Chinese sentence introduces as a model's structure: ``Llama3-8B 的架构由以下部分构成：`` speaks for what stands below it."""

from __future__ import annotations

from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.thresholds import BESIDE_LINES
from weighbridge.presets.aliases import MODEL


def introducing_model(scene: Scene, line: int) -> str | None:
    """Return the model whose structure the last sentence above that names one introduces with a colon, if no heading stands between."""
    above = next(iter(scene.naming_lines(line, BESIDE_LINES)), None)
    if above is None or above < scene.headings[line]:
        return None
    text, mentions = scene.lines[above].text, scene.mentions[above]
    models = [m for m in mentions if m.kind == MODEL]
    if len({m.name for m in models}) != 1 or len(models) < len(mentions) or not _INTRODUCES.search(text, models[-1].end):
        return None
    return models[0].name if _BEGINS.fullmatch(text, 0, models[0].column) else None


_BEGINS = pattern(r"(?:[\W\d_]|其中|首先|以|我们先?看|先看|来看|例如|比如|比方说|下面是|以下是|下表是|下面给出|下面列出)*")
"""What may stand in front of the name: the sentence is about nothing else."""
_INTRODUCES = pattern(
    r"(?:架构|结构|配置|参数|规格|超参数?|组成|构成|特点|概览|设定|设置|层次|部件|组件|尺寸|维度)[^。!?！？;；]{0,24}(?:[:：]|如下[。.]?|见下表?[。.]?)\s*$"
)
"""What such a sentence ends with."""
