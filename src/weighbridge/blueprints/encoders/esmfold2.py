"""ESMFold2: the structure of a protein from ESM C's states, by a trunk over pairs of residues and a diffusion over its atoms.

Source: names as in transformers 5.23.0, models/esmfold2/modeling_esmfold2.py; arXiv 2104.12229 and 10.1038/s41586-024-07487-w (pairs and
diffusion). The norms of queries and keys have no parameters.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, Config, Field, computed, nested, settable, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

FOLDED = unknown("the numbers of atoms and residues depend on the input")
STREAMS: dict[str, Stream] = {"seq": FOLDED}


def maps(*named: tuple[str, Size, Size]) -> tuple[Part, ...]:
    """Describe linear maps without biases."""
    return tuple(linear(name, inputs, outs, bias=False) for name, inputs, outs in named)


def gated_mlp(name: str, width: Size, inner: Size) -> Part:
    """Describe a gated MLP whose gate and first map are one."""
    return part(name, *maps(("gate_up_proj", width, 2 * inner), ("down_proj", inner, width)), kind="feed_forward")


def transition(name: str, width: Size, inner: Size) -> Part:
    """Describe a norm and a gated MLP."""
    return part(name, layer_norm("norm", width), gated_mlp("mlp", width, inner), kind="feed_forward")


def pair_update(c: Config) -> tuple[Part, ...]:
    """Describe how pairs of residues are updated from the third side of their triangles, whose edges go out or come in."""
    P = c.pairs
    inner = maps(("proj_bundle", P, 4 * P), ("proj_emit", P, P), ("proj_gate", P, P))
    triangles = (part(name, layer_norm("norm_start", P), layer_norm("norm_mix", P), *inner) for name in ("tri_mul_out", "tri_mul_in"))
    return *triangles, transition("pair_transition", P, c.pair_mlp)


def trunk(c: Config, name: str, layers: Size) -> Part:
    """Describe a stack of such updates."""
    return part(name, part("layers", *pair_update(c), kind="layer", repeat=layers), kind="stack")


def atom_layers(a: Config) -> Part:
    """Describe layers over atoms, in a window."""
    H = a.hidden
    names = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj")
    attention = part(
        "self_attn", *maps(*((name, H, H) for name in names)), attend(heads=a.heads, head_dim=a.head_dim), kind="self_attention"
    )
    layer = linear("adaln_linear", H, 6 * H, bias=False), attention, gated_mlp("mlp", H, a.mlp)
    return part("layers", *layer, kind="layer", repeat=a.layers)


def atom_encoder(c: Config, a: Config) -> Part:
    """Describe what makes states of atoms, and of these the states of residues."""
    H = a.hidden
    first = linear("atom_linear", c.atom, H, bias=False), layer_norm("atom_norm", H)
    return part("atom_encoder", *first, atom_layers(a), linear("atom_to_token_linear", H, a.out, bias=False), kind="encoder")


def input_embedder(c: Config) -> Part:
    """Describe the states of residues, and of pairs of them by their places and bonds."""
    P, places = c.pairs, 2 * (2 * c.residues + 2) + 1 + (2 * c.chains + 2)
    pairs = maps(("pair_init_1", c.single, P), ("pair_init_2", c.single, P))
    place = part("rel_pos", linear("embed", places, P, bias=False), kind="embeddings")
    return part("input_embedder", atom_encoder(c, c.atoms), *pairs, place, linear("token_bonds", 1, P, bias=False), kind="embeddings")


def language_model(c: Config) -> Part:
    """Describe the states of ESM C's layers, weighed, and made states of pairs."""
    P, E = c.pairs, c.esmc.hidden
    both = linear("downproject", P, P), linear("output_fc1", 2 * P, P), linear("output_fc2", P, P)
    return part(
        "language_model",
        Tensor("layer_weights", (c.esmc.layers + 1,), "gain"),
        part("single_to_pair", *both, kind="projection"),
        layer_norm("pair_output_norm", P),
        layer_norm("pair_input_norm", E),
        linear("pair_proj", E, P, bias=False),
        kind="projector",
    )


def parcae(c: Config) -> Part:
    """Describe the loop's state, which decays in part from one run of the trunk to the next."""
    P = c.pairs
    decays = Tensor("log_state_decay", (P,), "gain"), Tensor("log_delta", (P,), "gain"), Tensor("input_matrix_continuous", (P, P))
    ends = layer_norm("input_norm", P), linear("out_proj", P, P, bias=False)
    return part("parcae", *decays, *ends, trunk(c, "output_stack", c.coda), kind="recurrent")


def adaptive_norm(name: str, width: Size) -> Part:
    """Describe a norm whose gain and shift are made of what conditions it."""
    gain = part("cond_norm", Tensor("weight", (width,), "gain"), kind="layer_norm")
    return part(name, gain, linear("gate_proj", width, width), linear("shift_proj", width, width, bias=False), kind="norm")


def diffusion(c: Config, d: Config) -> Part:
    """Describe the denoiser: atoms, residues by layers that pairs bias, and atoms again."""
    P, H, a = c.pairs, d.hidden, d.atoms
    conditioning = part(
        "conditioning",
        layer_norm("pair_input_norm", 2 * P),
        linear("pair_proj", 2 * P, P, bias=False),
        *(transition(f"pair_transition_{index}", P, d.pair_mlp) for index in (0, 1)),
        layer_norm("single_input_norm", c.single),
        linear("single_proj", c.single, H, bias=False),
        part("fourier", Tensor("frequencies", (d.waves,), "buffer"), Tensor("phases", (d.waves,), "buffer"), kind="embeddings"),
        layer_norm("noise_norm", d.waves),
        linear("noise_proj", d.waves, H, bias=False),
        *(transition(f"single_transition_{index}", H, d.mlp) for index in (0, 1)),
        kind="embeddings",
    )
    decoder = (
        linear("token_to_atom_linear", H, a.hidden, bias=False),
        atom_layers(a),
        layer_norm("norm", a.hidden),
        linear("output_linear", a.hidden, 3, bias=False),
    )
    others = maps(*((name, H, H) for name in ("k_proj", "v_proj", "gate_proj", "o_proj")))
    layer = (
        adaptive_norm("input_layernorm", H),
        part("self_attn", linear("q_proj", H, H), *others, attend(heads=d.heads, head_dim=d.head_dim), kind="self_attention"),
        linear("attn_gate", H, H),
        adaptive_norm("post_attention_layernorm", H),
        gated_mlp("mlp", H, d.mlp),
        linear("mlp_gate", H, H),
        layer_norm("pair_norm", P),
        linear("pair_bias_proj", P, d.heads, bias=False),
    )
    return part(
        "structure_head",
        conditioning,
        linear("coords_linear", 6, a.hidden, bias=False),
        atom_encoder(c, a),
        part("atom_decoder", *decoder, kind="decoder"),
        linear("single_to_token", H, H, bias=False),
        part("token_transformer", part("layers", *layer, kind="layer", repeat=d.layers), kind="stack"),
        layer_norm("single_step_norm", H),
        layer_norm("token_norm", H),
        kind="head",
    )


def confidence(c: Config, h: Config) -> Part:
    """Describe how sure the structure is: of each atom, and of each pair."""
    S, P, H = c.single, c.pairs, c.hidden
    names = ("single_to_pair", "single_to_pair_transpose", "single_to_pair_prod_in1", "single_to_pair_prod_in2")
    inputs = (
        layer_norm("single_inputs_norm", S),
        layer_norm("pair_norm", P),
        *maps(*((name, S, P) for name in names)),
        linear("single_to_pair_prod_out", P, P, bias=False),
    )
    return part(
        "confidence_head",
        Tensor("plddt_weight", (c.most, H, h.plddt)),
        Tensor("resolved_weight", (c.most, H, 2)),
        Tensor("boundaries", (h.distances - 1,), "buffer"),
        embedding("dist_bin_pairwise_embed", h.distances, P),
        part("input_embedder", *inputs, kind="embeddings"),
        part("row_attention_pooling", *maps(("attn_proj", P, 1), ("out_proj", P, H)), kind="pooling"),
        trunk(c, "folding_trunk", h.layers),
        layer_norm("plddt_layernorm", H),
        layer_norm("pae_layernorm", P),
        linear("pae_head", P, h.pae, bias=False),
        layer_norm("pde_layernorm", P),
        linear("pde_head", P, h.pde, bias=False),
        layer_norm("resolved_layernorm", H),
        kind="head",
    )


def alignment(c: Config, m: Config) -> Part:
    """Describe the encoder of related sequences; its last layer updates the pairs alone."""
    P, H, inner = c.pairs, m.hidden, m.heads * m.head_dim
    product = part(
        "outer_product_mean",
        layer_norm("norm", H),
        linear("input_proj", H, 2 * m.outer, bias=False),
        linear("output_proj", m.outer * m.outer, P),
    )
    averaging = part(
        "msa_pair_weighted_averaging",
        layer_norm("norm_single", H),
        layer_norm("bias_norm", P),
        *maps(("bias_proj", P, m.heads), ("v_proj", H, inner), ("gate_proj", H, inner), ("o_proj", inner, H)),
        kind="attention",
    )
    both: tuple[Node, ...] = (*pair_update(c), product)
    layers = part("layers", *both, averaging, transition("msa_transition", H, m.mlp), kind="layer", repeat=m.layers - 1)
    last = part("layers", *both, kind="layer", repeat=1, indices=(m.layers - 1,))
    first = maps(("embed", c.kinds + 2, H), ("project_inputs", c.single, H))
    return part("msa_encoder", *first, *((layers,) if m.layers > 1 else ()), last, kind="encoder")


def fold(c: Config) -> Part:
    """Describe EsmFold2Model."""
    head = c.structure
    return part(
        "",
        input_embedder(c),
        language_model(c),
        as_child("esmc", submodel(c.esmc), streams=STREAMS),
        trunk(c, "folding_trunk", c.layers),
        trunk(c, "lm_encoder", c.lm.layers),
        parcae(c),
        diffusion(c, head.diffusion),
        linear("distogram_head", c.pairs, head.bins),
        confidence(c, c.confidence),
        *((alignment(c, c.msa),) if c.msa.enabled else ()),
        kind="model",
        stream=FOLDED,
    )


def _refuse_mismatch(c: Config) -> bool:
    """Refuse widths that do not fit each other, as the class does."""
    diffusion = c.structure.diffusion
    pairs = (
        ("atom_encoder.output_dim", c.atoms.out, c.single - (2 * c.kinds + 1)),
        ("structure_head.diffusion_module.atom_encoder.output_dim", diffusion.atoms.out, diffusion.hidden),
    )
    for key, found, expected in pairs:
        if found != expected:
            raise ConfigError(
                Text("expected {expected}, as the other parts have it, found {found}", expected=expected, found=found), key=key
            )
    return True


def atom_fields(out: int) -> tuple[Field, ...]:
    """Return the fields of the layers over atoms."""
    return (
        HIDDEN.with_default(128),
        size("out", "output_dim", out, "O", "width of a residue's state"),
        LAYERS.with_default(3),
        HEADS.with_default(4),
        size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "head dimension", null=lambda c: exact(c.hidden, c.heads)),
        MLP.with_default(256),
    )


DIFFUSION = (
    HIDDEN.with_default(768),
    size("waves", "fourier_dim", 256, "F", "width of a time step's sinusoids"),
    LAYERS.with_default(12),
    HEADS.with_default(16),
    size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "head dimension", null=lambda c: exact(c.hidden, c.heads)),
    MLP.with_default(1536),
    size("pair_mlp", "pair_intermediate_size", 512, "I_p", "intermediate size over pairs"),
    nested("atoms", "atom_encoder", atom_fields(768)),
)
CONFIDENCE = (
    LAYERS.with_default(4),
    size("plddt", "num_plddt_bins", 50, "B_a", "confidence bins of an atom"),
    size("pde", "num_pde_bins", 64, "B_d", "bins of the distance error"),
    size("pae", "num_pae_bins", 64, "B_e", "bins of the aligned error"),
    size("distances", "distogram_bins", 128, "B", "distance bins"),
)
MSA = (
    HIDDEN.with_default(128),
    size("outer", "outer_hidden_size", 32, "U", "width of each side of an outer product"),
    number("layers", "num_hidden_layers", 4),
    HEADS.with_default(8),
    size("head_dim", "head_dim", 32, "D", "head dimension"),
    MLP.with_default(512),
    switch("enabled", "enabled", True),
)
FIELDS = (
    HIDDEN.with_default(384),
    size("pairs", "pairwise_hidden_size", 256, "P", "width of a pair's state"),
    size("single", "single_inputs_size", 451, "S", "input width of a residue"),
    size("pair_mlp", "pair_transition_intermediate_size", 1024, "I", "intermediate size over pairs"),
    size("residues", "num_relative_residx_bins", 32, "R", "bins of distances between residues"),
    size("chains", "num_relative_chain_bins", 2, "C", "bins of distances between chains"),
    size("kinds", "num_res_types", 33, "K", "residue types"),
    size("elements", "max_atomic_number", 128, "Z", "element types"),
    size("letters", "char_vocab_size", 64, "V", "letters that an atom's name may have"),
    size("characters", "max_chars", 4, "N", "letters in an atom's name"),
    size("most", "max_atoms_per_token", 23, "M", "atoms of a residue at most"),
    settable("atom", "atom_feature_dim", lambda c: 5 + c.elements + c.letters * c.characters, "A", "input width of an atom"),
    size("layers", "folding_trunk_num_hidden_layers", 24, "L", "layers of the trunk"),
    size("coda", "parcae_num_coda_layers", 2, "L_c", "layers after the trunk"),
    nested("atoms", "atom_encoder", atom_fields(384)),
    nested(
        "structure",
        "structure_head",
        (size("bins", "num_distogram_bins", 128, "B", "distance bins"), nested("diffusion", "diffusion_module", DIFFUSION)),
    ),
    nested("confidence", "confidence_head", CONFIDENCE),
    nested("msa", "msa_encoder", MSA),
    nested("lm", "lm_encoder", (LAYERS.with_default(4),)),
    model_config("esmc", "esmc_config", "esmc"),
    computed("fits", _refuse_mismatch),
)
IGNORED_KEYS = frozenset(
    """chunk_size eps gamma_0 gamma_min inference_exponent inference_num_steps inference_sigma_cap inference_sigma_max_ratio
    inference_sigma_min_ratio lm_dropout max_dist min_dist noise_scale num_diffusion_samples num_loops num_spatial_rope_pairs_per_axis
    num_uid_rope_pairs outer_product_chunk_size per_loop_lm_dropout sigma_data sliding_window spatial_rope_base_frequency step_scale
    tie_word_embeddings uid_rope_base_frequency""".split()
)
FAMILIES = {"esmfold2": Family("esmfold2", FIELDS, {"EsmFold2Model": fold}, "EsmFold2Model", IGNORED_KEYS)}
