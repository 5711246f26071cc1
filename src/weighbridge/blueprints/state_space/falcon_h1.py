"""Falcon-H1 (Mamba-2 in parallel with attention) and Nemotron-H (one of Mamba-2, attention, MLP or experts per layer).

Source: arXiv 2507.22448, 2504.03624; class and tensor names as in transformers 5.23.0, models/falcon_h1/modeling_falcon_h1.py and
models/nemotron_h/modeling_nemotron_h.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.mixture_of_experts import correction
from weighbridge.blueprints.state_space.mamba2 import BAMBA, mixer
from weighbridge.config.family import Family
from weighbridge.config.fields import ACTIVE_EXPERTS, Config, Field, constant, optional, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import embedding, gated_mlp, linear, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def falcon(c: Config) -> tuple[Node, ...]:
    """Describe layers in which a state space and attention read the same input, then an MLP."""
    H, inner = c.hidden, c.expand * c.hidden if c.inner is None else c.inner
    layer = part(
        "layers",
        gated_mlp("feed_forward", H, c.mlp, bias=c.mlp_bias),
        mixer(c, "mamba", inner=inner, normed=c.normed, out_bias=c.state_out_bias),
        attention(c),
        rms_norm("input_layernorm", H),
        rms_norm("pre_ff_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("final_layernorm", H))


def nemotron(c: Config) -> tuple[Node, ...]:
    """Describe layers of one norm and one mixer each, of four kinds."""

    def layer(kind: str) -> tuple[Node, ...]:
        makers = {
            "linear_attention": lambda: mixer(c, "mixer", inner=c.state_heads * c.state_dim, kept="full_attention" in c.kinds),
            "full_attention": lambda: attention(c, name="mixer"),
            "mlp": lambda: plain_mlp("mixer", c.hidden, c.mlp, bias=c.mlp_bias),
            "moe": lambda: experts(c),
        }
        return (rms_norm("norm", c.hidden), makers[kind]())

    return (embedding("embeddings", c.vocab, c.hidden), *stack("layers", c.kinds, c.layers, layer), rms_norm("norm_f", c.hidden))


def experts(c: Config) -> Part:
    """Describe experts without a gate, which may work in a narrower space, and an MLP that every token goes through."""
    H, E = c.hidden, c.experts
    width: Size = H if c.narrow is None else c.narrow
    matrices = (Tensor("up_proj", (E, c.expert_mlp, width)), Tensor("down_proj", (E, width, c.expert_mlp)))
    ways = (
        ()
        if c.narrow is None
        else (
            linear("fc1_latent_proj", H, width, bias=c.mlp_bias),
            linear("fc2_latent_proj", width, H, bias=c.mlp_bias),
        )
    )
    return part(
        "mixer",
        part("experts", *matrices, kind="experts", experts=E, active=c.active),
        part("gate", Tensor("weight", (E, H)), correction(c), kind="linear"),
        plain_mlp("shared_experts", H, c.shared_mlp, bias=c.mlp_bias),
        *ways,
        kind="mixture",
    )


LETTERS = {"M": "linear_attention", "E": "moe", "*": "full_attention", "-": "mlp"}


def _kinds(c: Config) -> list[str]:
    if c.stated_kinds is not None:
        stated = c.stated_kinds
    elif c.pattern is None:
        stated = list(LETTERS.values())
    else:
        strange = next((letter for letter in c.pattern if letter not in LETTERS), None)
        if strange is not None:
            raise ConfigError(
                Text("{strange!r} is none of {letters}", strange=strange, letters=" ".join(LETTERS)),
                key="hybrid_override_pattern",
                value=c.pattern,
            )
        stated = [LETTERS[letter] for letter in c.pattern]
    return checked_kinds(Config(layers=len(stated)), stated, "layers_block_type", tuple(LETTERS.values()))


STATES = tuple(field for field in BAMBA if field.word in "state_heads groups state kernel expand chunk conv_bias bias".split())
H1 = variant(
    (*FIELDS, *STATES),
    optional("inner", "mamba_d_ssm", 1024, "J", "inner width of the state space"),
    switch("normed", "mamba_rms_norm", False),
    switch("state_out_bias", "projectors_bias", False),
    vocab=128000,
    mlp=14336,
    kv_heads=8,
)
NEMOTRON = variant(
    tuple(field for field in FIELDS if field.word != "layers"),
    Field("pattern", "hybrid_override_pattern", None, "choice", report_default=False),
    Field("stated_kinds", "layers_block_type", None, "choice", aliases=("layer_types",)),
    constant("kinds", _kinds),
    constant("layers", lambda c: len(c.kinds)),
    size("state_heads", "mamba_num_heads", 128, "M", "heads of the state space"),
    size("state_dim", "mamba_head_dim", 64, "P", "head dimension of the state space"),
    size("groups", "n_groups", 8, "G", "head groups that share B and C", "mamba_n_groups"),
    size("state", "ssm_state_size", 128, "N", "state size"),
    size("kernel", "conv_kernel", 4, "Z", "kernel size of the convolution", "mamba_d_conv"),
    size("chunk", "chunk_size", 128, "Q", "tokens per chunk", "mamba_chunk_size"),
    switch("conv_bias", "use_conv_bias", True, "mamba_conv_bias"),
    switch("bias", "use_bias", False),
    size("experts", "n_routed_experts", 8, "E", "routed experts", "num_local_experts"),
    ACTIVE_EXPERTS.with_default(2),
    size("expert_mlp", "moe_intermediate_size", 7688, "Y", "intermediate size of an expert"),
    size("shared_mlp", "moe_shared_expert_intermediate_size", 7688, "S", "intermediate size of the shared expert"),
    optional("narrow", "moe_latent_size", None, "R", "width of the experts"),
    vocab=131072,
    mlp=21504,
    kv_heads=8,
    head_dim=128,
    tied=constant("tied", False),
    qkv_bias=constant("qkv_bias", False),
    out_bias=constant("out_bias", False),
)

TIMES = {f"{name}{key}" for name in ("time_step_", "mamba_dt_") for key in ("min", "max", "limit", "floor", "init_floor")}
MORE_IGNORED_KEYS = (
    IGNORED_KEYS
    | TIMES
    | frozenset(
        """attention_in_multiplier attention_out_multiplier key_multiplier layer_norm_epsilon lm_head_multiplier mamba_d_head
    mamba_expand mamba_hidden_act mamba_norm_before_gate mamba_proj_bias mamba_ssm_cache_dtype mlp_hidden_act mlp_multipliers
    moe_shared_expert_overlap mtp_hybrid_override_pattern mtp_layers_block_type n_shared_experts num_hidden_layers num_logits_to_keep
    rescale_prenorm_residual residual_in_fp32 ssm_in_multiplier ssm_multipliers ssm_out_multiplier use_mamba_kernels expand
    attention_bias tie_word_embeddings""".split()
    )
)
FAMILIES = {
    "falcon_h1": Family("falcon_h1", H1, with_heads("FalconH1", falcon, "lm"), "FalconH1Model", MORE_IGNORED_KEYS),
    "nemotron_h": Family(
        "nemotron_h", NEMOTRON, with_heads("NemotronH", nemotron, "lm", table="embeddings"), "NemotronHModel", MORE_IGNORED_KEYS
    ),
}
