"""How published files name what the reference library holds otherwise in memory: expert by expert.

Source: transformers 5.23.0, conversion_mapping.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from weighbridge.tree import Row

GATE_UP_DOWN = ("gate_proj", "up_proj", "down_proj")
W1_W3_W2 = ("w1", "w3", "w2")


def unfused(row: Row, names: tuple[str, str, str] = GATE_UP_DOWN, swaps: tuple[tuple[str, str], ...] = ()) -> Iterator[Row]:
    """Translate a tensor to the names of a published file, where each expert has three matrices of its own.

    Args:
        row: Ours.
        names: What the file calls an expert's gate, up and down projection.
        swaps: What else it calls otherwise: from our words to its words.

    >>> row = Row("layers.0.mlp.experts.down_proj", (2, 4, 8), "weight", None, None, False)
    >>> [(part.name, part.shape) for part in unfused(row)]
    [('layers.0.mlp.experts.0.down_proj.weight', (4, 8)), ('layers.0.mlp.experts.1.down_proj.weight', (4, 8))]
    """
    name = row.name
    for ours, theirs in swaps:
        name = name.replace(ours, theirs)
    stem, _, kind = name.rpartition(".experts.")
    if kind not in ("gate_up_proj", "down_proj"):
        yield row._replace(name=name)
        return
    experts, outputs, inputs = row.shape
    assert isinstance(experts, int)
    chosen, shape = ((names[2],), (outputs, inputs)) if kind == "down_proj" else (names[:2], (outputs // 2, inputs))
    for expert in range(experts):
        for projection in chosen:
            yield row._replace(name=f"{stem}.experts.{expert}.{projection}.weight", shape=shape)


SPARSE_MOE = ((".mlp.", ".block_sparse_moe."),)
HY_V3 = (
    (".mlp.gate.weight", ".mlp.router.gate.weight"),
    (".e_score_correction_bias", ".expert_bias"),
    (".shared_experts.", ".shared_mlp."),
)
MIXTURES: dict[str, Callable[[Row], Iterable[Row]]] = {
    "mixtral": partial(unfused, names=W1_W3_W2, swaps=SPARSE_MOE),
    "minimax_m2": partial(unfused, names=W1_W3_W2, swaps=SPARSE_MOE),
    "phimoe": partial(unfused, names=W1_W3_W2, swaps=(*SPARSE_MOE, (".router.", ".gate."))),
    "ernie4_5_moe": partial(unfused, swaps=((".gate.moe_statics.", ".moe_statics."),)),
    "hy_v3": partial(unfused, swaps=HY_V3),
    "exaone_moe": partial(unfused, swaps=((".gate.e_score_", ".e_score_"),)),
}
"""By the types of Mixtral's kind; where nothing stands here, expert by expert."""
