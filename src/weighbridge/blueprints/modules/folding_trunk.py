"""ESMFold's trunk, which turns the states of residues and of pairs of them into one another, and the structure module after it.

Source: 10.1126/science.ade2574, and 10.1038/s41586-021-03819-2 (its supplement's algorithms 11 to 23); names as in transformers 5.23.0,
models/esm/modeling_esmfold.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.fields import Config, derived, nested, size, switch
from weighbridge.core.length import Stream, product_of
from weighbridge.core.parts import attend, embedding, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

PAIRS = product_of("seq", "seq")
"""A state for every pair of residues."""
TOKENS, DISTANCES, RECYCLED, CONFIDENCES, ATOMS = 23, 64, 15, 50, 37
"""Amino acids with padding, unknown and mask; bins of distances that are output and fed back in, and of confidence; atoms of a residue."""

STRUCTURE = (
    size("single", "sequence_dim", 384, "S", "width of a residue's state"),
    size("pairs", "pairwise_dim", 128, "P", "width of a pair's state"),
    size("head_dim", "ipa_dim", 16, "D", "head dimension in invariant point attention"),
    size("angle_width", "resnet_dim", 128, "X", "width of the angle network"),
    size("heads", "num_heads_ipa", 12, "A", "invariant point attention heads"),
    size("query_points", "num_qk_points", 4, "Q", "points per query"),
    size("value_points", "num_v_points", 8, "U", "points per value"),
    size("blocks", "num_blocks", 8, "B", "runs of the structure module"),
    size("transitions", "num_transition_layers", 1, "T", "layers of the transition", minimum=0),
    size("angle_blocks", "num_resnet_blocks", 2, "R", "blocks of the angle network", minimum=0),
    size("angles", "num_angles", 7, "G", "angles of a residue"),
)
TRUNK = (
    size("blocks", "num_blocks", 48, "L", "blocks", minimum=0),
    size("single", "sequence_state_dim", 1024, "S", "width of a residue's state"),
    size("pairs", "pairwise_state_dim", 128, "P", "width of a pair's state"),
    size("head_dim", "sequence_head_width", 32, "D", "head dimension over residues"),
    size("pair_head_dim", "pairwise_head_width", 32, "E", "head dimension over pairs"),
    size("bins", "position_bins", 32, "N", "distances along the chain that have an embedding", minimum=0),
    number("recycles", "max_recycles", 4, minimum=0),
    derived("heads", lambda c: exact(c.single, c.head_dim), "sequence_state_dim", "sequence_head_width"),
    derived("pair_heads", lambda c: exact(c.pairs, c.pair_head_dim), "pairwise_state_dim", "pairwise_head_width"),
    derived("half", lambda c: exact(c.pairs, 2), "pairwise_state_dim"),
    nested("structure", "structure_module", STRUCTURE),
)
FOLD = (
    switch("embedded", "embed_aa", True),
    size("confidence_width", "lddt_head_hid_dim", 128, "X", "width of the confidence head"),
    nested("trunk", "trunk", TRUNK),
)
"""The fields of ``esmfold_config``."""
IGNORED_KEYS = frozenset(
    """bypass_lm chunk_size cpu_grad_checkpoint dropout dropout_rate epsilon esm_ablate_pairwise esm_ablate_sequence esm_input_dropout esm_type
    fp16_esm inf layer_drop trans_scale_factor use_esm_attn_map""".split()
)
"""Keys of ``esmfold_config`` that change no tensor."""


def residual_mlp(name: str, width: Size, seen: Stream | None = None) -> Part:
    """Describe a norm and a feed-forward network four times as wide."""
    parts = layer_norm("0", width), linear("1", width, 4 * width), linear("3", 4 * width, width)
    return part(name, part("mlp", *parts, kind="feed_forward"), kind="feed_forward", stream=seen)


def triangle_product(name: str, width: Size) -> Part:
    """Describe how a pair is updated by the products of the two other sides of its triangles."""
    names = ("linear_a_p", "linear_a_g", "linear_b_p", "linear_b_g", "linear_g", "linear_z")
    maps = (linear(inner, width, width) for inner in names)
    norms = layer_norm("layer_norm_in", width), layer_norm("layer_norm_out", width)
    return part(name, *maps, *norms, matmul("triangles", ("seq", "seq", "seq", width)), kind="mixer", stream=PAIRS)


def triangle_attention(c: Config, name: str) -> Part:
    """Describe attention of each pair to those that share its first, or its second, residue."""
    P = c.pairs
    attention = part(
        "mha",
        *(linear(inner, P, P, bias=False) for inner in ("linear_q", "linear_k", "linear_v")),
        linear("linear_o", P, P),
        linear("linear_g", P, P),
        attend(heads=c.pair_heads, head_dim=c.pair_head_dim, queries="seq", keys="seq", groups="seq"),
        kind="self_attention",
    )
    bias = linear("linear", P, c.pair_heads, bias=False)
    return part(name, layer_norm("layer_norm", P), bias, attention, kind="self_attention", stream=PAIRS)


def block(c: Config) -> tuple[Part, ...]:
    """Describe a block: residues attend to each other, biased by their pairs, which are updated in turn."""
    S, P = c.single, c.pairs
    to_pair = (
        layer_norm("layernorm", S),
        linear("proj", S, 2 * c.half),
        linear("o_proj", 2 * c.half, P, stream=PAIRS),
    )
    attention = part(
        "seq_attention",
        linear("proj", S, 3 * S, bias=False),
        linear("o_proj", S, S),
        linear("g_proj", S, S),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    return (
        layer_norm("layernorm_1", S),
        part("sequence_to_pair", *to_pair, kind="projection"),
        part("pair_to_sequence", layer_norm("layernorm", P), linear("linear", P, c.heads, bias=False), kind="projection", stream=PAIRS),
        attention,
        triangle_product("tri_mul_out", P),
        triangle_product("tri_mul_in", P),
        triangle_attention(c, "tri_att_start"),
        triangle_attention(c, "tri_att_end"),
        residual_mlp("mlp_seq", S),
        residual_mlp("mlp_pair", P, PAIRS),
    )


def point_attention(s: Config) -> Part:
    """Describe invariant point attention: by states, by points in space, and by pairs, whose states are values too."""
    S, A, inner = s.single, s.heads, s.heads * s.head_dim
    points = s.query_points + s.value_points
    return part(
        "ipa",
        Tensor("head_weights", (A,), "gain"),
        linear("linear_q", S, inner),
        linear("linear_kv", S, 2 * inner),
        linear("linear_q_points", S, 3 * A * s.query_points),
        linear("linear_kv_points", S, 3 * A * points),
        linear("linear_b", s.pairs, A, stream=PAIRS),
        linear("linear_out", A * (s.pairs + s.head_dim + 4 * s.value_points), S),
        attend(heads=A, head_dim=s.head_dim),
        matmul("pairs", ("seq", "seq", A, s.pairs)),
        kind="self_attention",
        executions=s.blocks,
    )


def structure_module(s: Config) -> Part:
    """Describe the structure module, whose one block is run several times; what it makes of angles and frames are no products."""
    S, X = s.single, s.angle_width
    layers = part("layers", *(linear(f"linear_{index + 1}", S, S) for index in range(3)), kind="feed_forward", repeat=s.transitions)
    angles = (
        linear("linear_in", S, X),
        linear("linear_initial", S, X),
        part("layers", linear("linear_1", X, X), linear("linear_2", X, X), kind="feed_forward", repeat=s.angle_blocks),
        linear("linear_out", X, 2 * s.angles),
    )
    return part(
        "structure_module",
        layer_norm("layer_norm_s", S),
        layer_norm("layer_norm_z", s.pairs, stream=PAIRS),
        linear("linear_in", S, S),
        point_attention(s),
        layer_norm("layer_norm_ipa", S, executions=s.blocks),
        part("transition", layers, layer_norm("layer_norm", S), kind="feed_forward", executions=s.blocks),
        part("bb_update", linear("linear", S, 6), kind="projection", executions=s.blocks),
        part("angle_resnet", *angles, kind="head", executions=s.blocks),
        kind="decoder",
    )


def trunk(c: Config) -> Part:
    """Describe the trunk and the structure module, run as often as the config says, each time over what they output before."""
    S, P, s = c.single, c.pairs, c.structure
    place = part("pairwise_positional_embedding", embedding("embedding", 2 * c.bins + 2, P), kind="embeddings", stream=PAIRS)
    return part(
        "trunk",
        place,
        part("blocks", *block(c), kind="layer", repeat=c.blocks),
        layer_norm("recycle_s_norm", S),
        layer_norm("recycle_z_norm", P, stream=PAIRS),
        embedding("recycle_disto", RECYCLED, P, stream=PAIRS),
        structure_module(s),
        linear("trunk2sm_s", S, s.single),
        linear("trunk2sm_z", P, s.pairs, stream=PAIRS),
        kind="encoder",
        executions=c.recycles,
    )


def heads(c: Config, confidence_width: Size) -> tuple[Node, ...]:
    """Describe what is predicted of distances, errors, residues and confidence, the last of every run of the structure module.

    Of the last run, the mean confidence in each atom is a product with its bins.
    """
    s, X = c.structure, confidence_width
    return (
        linear("distogram_head", c.pairs, DISTANCES, stream=PAIRS),
        linear("ptm_head", c.pairs, DISTANCES, stream=PAIRS),
        linear("lm_head", c.single, TOKENS),
        part(
            "lddt_head",
            layer_norm("0", s.single),
            linear("1", s.single, X),
            linear("2", X, X),
            linear("3", X, ATOMS * CONFIDENCES),
            kind="head",
            executions=s.blocks,
        ),
        matmul("plddt", ("seq", ATOMS, CONFIDENCES)),
    )
