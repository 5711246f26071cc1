"""Megatron-LM: the one class that its training arguments make.

Source: megatron-core 0.16.1, megatron/core/models/gpt (GPTModel with local layers, whose live class the tests hold this to);
defaults as in NVIDIA/Megatron-LM, megatron/training/arguments.py. Transformer Engine's layers have other names for the same tensors.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.mixture_of_experts import required_field
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.bind import LARGEST
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, optional, size, switch
from weighbridge.config.nemo import from_nemo
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text, mark
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, exact, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def refuse_argument(key: str, what: str) -> Field:
    """Declare an argument that makes other tensors than are described, and is refused where it is on."""

    def read(value: Any) -> None:
        if value not in (None, False, 0):
            raise ConfigError(Text("{what} is not described", what=Text(what)), key=key, value=value)

    return Field(key, key, None, "choice", read=read, report_default=False)


def _positive_int(key: str) -> Callable[[Any], int | None]:
    def read(value: Any) -> int | None:
        if value is None:
            return None
        if type(value) is not int or not 1 <= value <= LARGEST:
            raise ConfigError(
                Text("expected a whole number from {minimum} up, found {value!r:.60}", minimum=1, value=value), key=key, value=value
            )
        return value

    return read


def _pad_vocab(c: Config) -> int:
    if c.words is None:
        raise ConfigError("missing, and the tokenizer is not at hand", key="padded_vocab_size", hint="add it, or vocab_size")
    multiple = int(c.multiple) * int(c.tensor_parallel)
    return -(-int(c.words) // multiple) * multiple


def _mlp_width(c: Config) -> Size:
    return 64 * (8 * c.hidden // 192) if c.gated else 4 * c.hidden


def _stated_kinds(c: Config) -> list[str]:
    """Return which layers have experts: one of so many, or as a list says."""
    layers, every = layer_range(c.layers), c.frequency
    if c.experts is None:
        return ["dense" for _ in layers]
    if isinstance(every, list):
        if len(every) != len(layers) or any(entry not in (0, 1) for entry in every):
            raise ConfigError(Text("expected 0 or 1 for each of {layers} layers", layers=len(layers)), key="moe_layer_freq", value=every)
        return ["sparse" if entry else "dense" for entry in every]
    if type(every) is not int or every < 1:
        raise ConfigError("expected a whole number from 1 up, or a list", key="moe_layer_freq", value=every)
    return ["dense" if index % every else "sparse" for index in layers]


POSITIONS = ("learned_absolute", "rope", "none")
FIELDS = (
    required_field(size("layers", "num_layers", None, "L", "layers")),
    required_field(size("hidden", "hidden_size", None, "H", "hidden size")),
    required_field(size("heads", "num_attention_heads", None, "A", "attention heads")),
    switch("grouped", "group_query_attention", False),
    size("groups", "num_query_groups", 1, "K", "key-value heads", null=lambda c: 1, report_default=False),
    size("head_dim", "kv_channels", lambda c: exact(c.hidden, c.heads), "D", "head dimension", null=lambda c: exact(c.hidden, c.heads)),
    switch("gated", "swiglu", False),
    size("mlp", "ffn_hidden_size", _mlp_width, "I", "intermediate size", null=_mlp_width),
    Field("words", "vocab_size", None, "choice", read=_positive_int("vocab_size"), report_default=False),
    Field("multiple", "make_vocab_size_divisible_by", 128, "choice", read=_positive_int("make_vocab_size_divisible_by")),
    Field("tensor_parallel", "tensor_model_parallel_size", 1, "choice", read=_positive_int("tensor_model_parallel_size")),
    size("vocab", "padded_vocab_size", _pad_vocab, "V", "vocabulary size, padded", null=_pad_vocab),
    choice("place", "position_embedding_type", "learned_absolute", read=one_of("position_embedding_type", *POSITIONS)),
    size("positions", "max_position_embeddings", 0, "P", "positions", minimum=0, null=lambda c: 0, report_default=False),
    switch("rotary", "use_rotary_position_embeddings", False, report_default=False),
    switch("unplaced", "no_position_embedding", False, report_default=False),
    switch("untied", "untie_embeddings_and_output_weights", False),
    switch("bias", "add_bias_linear", True),
    switch("unbiased", "disable_bias_linear", False, report_default=False),
    switch("qkv_bias", "add_qkv_bias", False),
    choice("norm_class", "normalization", "LayerNorm", read=one_of("normalization", "LayerNorm", "RMSNorm")),
    switch("qk_norm", "qk_layernorm", False),
    optional("experts", "num_experts", None, "E", "experts"),
    size("active", "moe_router_topk", 2, "k", "experts per token", report_default=False),
    size(
        "expert_mlp",
        "moe_ffn_hidden_size",
        lambda c: c.mlp,
        "M",
        "intermediate size of an expert",
        null=lambda c: c.mlp,
        report_default=False,
    ),
    optional("shared_mlp", "moe_shared_expert_intermediate_size", None, "S", "intermediate size of the shared experts"),
    switch("shared_gate", "moe_shared_expert_gate", False, report_default=False),
    switch("corrected", "moe_router_enable_expert_bias", False, report_default=False),
    Field("frequency", "moe_layer_freq", 1, "choice", report_default=False),
    refuse_argument("multi_latent_attention", mark("latent attention")),
    refuse_argument("mtp_num_layers", mark("multi-token prediction")),
    refuse_argument("is_hybrid_model", mark("a hybrid of Mamba and attention")),
    refuse_argument("hybrid_override_pattern", mark("a hybrid of Mamba and attention")),
    refuse_argument("heterogeneous_layers_config_path", mark("a config whose layers differ")),
    refuse_argument("experimental_attention_variant", mark("an experimental attention")),
    refuse_argument("attention_output_gate", mark("a gate on the attention's output")),
    refuse_argument("add_position_embedding_per_layer", mark("positions in every layer")),
    refuse_argument("encoder_num_layers", mark("an encoder beside the decoder")),
    refuse_argument("spec", mark("a model specification of its own")),
    computed("kinds", _stated_kinds),
)


def norm(c: Config, name: str, width: Size) -> Part:
    """Describe a norm of the kind the arguments name."""
    return rms_norm(name, width) if c.norm_class == "RMSNorm" else layer_norm(name, width)


def mlp(c: Config, name: str, inner: Size, *more: Node) -> Part:
    """Describe two linear layers, the first twice as wide where it is gated."""
    biased = c.bias and not c.unbiased
    wide = 2 * inner if c.gated else inner
    return part(
        name,
        *more,
        linear("linear_fc1", c.hidden, wide, bias=biased),
        linear("linear_fc2", inner, c.hidden, bias=biased),
        kind="feed_forward",
    )


def feed_forward(c: Config, kind: str) -> Part:
    """Describe the second half of a layer: one MLP, or a router, its experts and the shared ones."""
    if kind == "dense":
        return mlp(c, "mlp", c.mlp)
    bias = (Tensor("bias", (c.experts,), "bias"),) if c.bias and not c.unbiased else ()
    if c.corrected:
        bias = (*bias, Tensor("expert_bias", (c.experts,), "buffer"))
    router = part("router", Tensor("weight", (c.experts, c.hidden), "weight"), *bias, kind="linear")
    one = mlp(c, "local_experts", c.expert_mlp)
    experts = part(
        "experts",
        part("local_experts", *one.children, kind="experts", repeat=c.experts, experts=c.experts, active=c.active),
        kind="mixture",
    )
    if c.shared_mlp is not None and c.bias and not c.unbiased:
        raise ConfigError("the class takes no biases beside shared experts", key="add_bias_linear", hint="disable_bias_linear: true")
    gate = (Tensor("gate_weight", (1, c.hidden), "weight"),) if c.shared_gate else ()
    shared = (mlp(c, "shared_experts", c.shared_mlp, *gate),) if c.shared_mlp is not None else ()
    return part("mlp", router, experts, *shared, kind="mixture")


def attention(c: Config) -> Part:
    """Describe attention with one layer for queries, keys and values of every group."""
    H, A, D = c.hidden, c.heads, c.head_dim
    K = c.groups if c.grouped else A
    biased = c.bias and not c.unbiased
    norms = (norm(c, "q_layernorm", D), norm(c, "k_layernorm", D)) if c.qk_norm else ()
    return part(
        "self_attention",
        linear("linear_proj", A * D, H, bias=biased),
        linear("linear_qkv", H, (A + 2 * K) * D, bias=biased or c.qkv_bias),
        *norms,
        attend(causal=True, heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )


def gpt(c: Config) -> Part:
    """Describe GPTModel: words and positions, layers, the last norm, and a head where it is untied."""
    learned = c.place == "learned_absolute" and not c.rotary and not c.unplaced
    if learned and not c.positions:
        raise ConfigError("missing, and learned positions need it", key="max_position_embeddings")

    def layer(kind: str) -> tuple[Node, ...]:
        return norm(c, "input_layernorm", c.hidden), attention(c), norm(c, "pre_mlp_layernorm", c.hidden), feed_forward(c, kind)

    positions = (embedding("position_embeddings", c.positions, c.hidden),) if learned else ()
    return part(
        "",
        part("embedding", embedding("word_embeddings", c.vocab, c.hidden), *positions, kind="embeddings"),
        part("decoder", *stack("layers", c.kinds, c.layers, layer), norm(c, "final_layernorm", c.hidden), kind="decoder"),
        linear("output_layer", c.hidden, c.vocab, bias=False, tied_to=None if c.untied else "embedding.word_embeddings.weight"),
        kind="model",
    )


IGNORED_KEYS = frozenset(
    """accumulate_allreduce_grads_in_fp32 adam_beta1 adam_beta2 adam_eps apply_layernorm_1p apply_query_key_layer_scaling attention_backend
    attention_dropout attention_softmax_in_fp32 bf16 bias_dropout_fusion bias_gelu_fusion bias_swiglu_fusion calculate_per_token_loss
    ckpt_format clip_grad context_parallel_size cross_entropy_loss_fusion data_cache_path data_path dataloader_type ddp_bucket_size
    decoder_seq_length disable_scaled_init_method distributed_backend distributed_timeout_minutes eval_interval eval_iters
    exit_duration_in_mins exit_interval exit_on_missing_checkpoint expert_model_parallel_size expert_tensor_parallel_size finetune fp16
    fp32_residual_connection fp8_format global_batch_size gradient_accumulation_fusion hidden_dropout init_method_std initial_loss_scale
    layernorm_epsilon load log_interval log_throughput loss_scale lr lr_decay_iters lr_decay_samples lr_decay_style lr_warmup_fraction
    lr_warmup_iters lr_warmup_samples manual_gc manual_gc_interval masked_softmax_fusion merge_file micro_batch_size min_lr mmap_bin_files
    mock_data moe_aux_loss_coeff moe_expert_capacity_factor moe_grouped_gemm moe_pad_expert_input_to_capacity moe_permute_fusion
    moe_router_bias_update_rate moe_router_dtype moe_router_group_topk moe_router_load_balancing_type moe_router_num_groups
    moe_router_pre_softmax moe_router_score_function moe_router_topk_scaling_factor moe_shared_expert_overlap moe_token_dispatcher_type
    moe_z_loss_coeff no_async_tensor_model_parallel_allreduce no_load_optim no_load_rng no_masked_softmax_fusion no_persist_layer_norm
    no_rope_fusion no_save_optim no_save_rng norm_epsilon num_distributed_optimizer_instances
    num_layers_per_virtual_pipeline_stage num_workers nproc_per_node openai_gelu optimizer overlap_grad_reduce overlap_param_gather
    pipeline_model_parallel_size profile quick_geglu rampup_batch_size recompute_activations recompute_granularity recompute_method
    recompute_num_layers rotary_base rotary_interleaved rotary_percent rotary_scaling_factor rotary_seq_len_interpolation_factor save
    save_interval seed seq_length sequence_parallel sgd_momentum split squared_relu start_weight_decay tensorboard_dir
    tensorboard_queue_size timing_log_level tokenizer_model tokenizer_type train_data_path train_iters train_samples
    transformer_impl use_checkpoint_args use_cpu_initialization use_dist_ckpt use_distributed_optimizer use_flash_attn use_legacy_models
    use_mcore_models use_rope_scaling valid_data_path vocab_file wandb_exp_name wandb_project
    wandb_save_dir weight_decay weight_decay_incr_style""".split()
)
FAMILIES = {
    "megatron": Family("megatron", FIELDS, {"megatron.GPTModel": gpt}, "megatron.GPTModel", IGNORED_KEYS, normalize_config=from_nemo)
}
