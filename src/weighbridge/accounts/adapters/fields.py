"""The fields of PEFT's configs by method, so that a mistyped one is not taken for nothing.

Source: peft 0.21, the dataclasses of ``PEFT_TYPE_TO_CONFIG_MAPPING``.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVERY = "auto_mapping base_model_name_or_path inference_mode peft_type peft_version revision task_type".split()
"""Fields of all methods."""
OWN = {"BITFIT": "", "FREEZE": "train freeze", "HOULSBY": "bottleneck norms"}
"""Fields of the ways to train that PEFT does not have."""
FIELDS = """
ADALORA: alora_invocation_tokens alpha_pattern arrow_config beta1 beta2 bias corda_config deltaT ensure_weight_tying eva_config exclude_modules
    fan_in_fan_out init_lora_weights init_r kasa_config layer_replication layers_pattern layers_to_transform loftq_config lora_alpha lora_bias
    lora_dropout lora_ga_config megatron_config megatron_core modules_to_save monteclora_config orth_reg_weight qalora_group_size r rank_pattern
    runtime_config target_modules target_parameters target_r tfinal tinit total_step trainable_token_indices use_bdlora use_dora use_qalora use_rslora
    velora_config
ADAMSS: asa_importance_beta asa_schedule_exponent asa_target_subspaces asa_uncertainty_beta final_warmup init_warmup init_weights layers_pattern
    layers_to_transform mask_interval modules_to_save num_subspaces r random_seed subspace_rank svd_threshold target_modules use_asa use_dynamic_rank
ADAPTION_PROMPT: adapter_layers adapter_len target_modules
BEFT: init_weights modules_to_save target_modules
BOFT: bias boft_block_num boft_block_size boft_dropout boft_n_butterfly_factor exclude_modules fan_in_fan_out init_weights layers_pattern
    layers_to_transform modules_to_save target_modules
C3A: bias block_size block_size_pattern init_weights layers_pattern layers_to_transform modules_to_save target_modules
CARTRIDGE: modules_to_save num_attention_heads num_frozen_tokens num_layers num_transformer_submodules num_virtual_tokens token_dim
CPT: cpt_mask cpt_token_ids cpt_tokens_type_mask modules_to_save num_attention_heads num_layers num_transformer_submodules num_virtual_tokens
    opt_loss_decay_factor opt_projection_epsilon opt_projection_format_epsilon opt_weighted_loss_type token_dim tokenizer_name_or_path
DEFT: alpha bias decomposition_method deft_dropout exclude_modules fan_in_fan_out init_scale init_weights layers_pattern layers_to_transform
    modules_to_save para r target_modules
DELORA: bias delora_lambda exclude_modules init_weights lambda_pattern layers_pattern layers_to_transform module_dropout modules_to_save r
    rank_pattern target_modules
FOURIERFT: bias exclude_modules fan_in_fan_out init_weights layers_pattern layers_to_transform modules_to_save n_frequency n_frequency_pattern
    random_loc_seed scaling target_modules
FROD: bias fan_in_fan_out frod_dropout init_weights layers_pattern layers_to_transform modules_to_save progressbar projection_prng_key
    regularization_alpha runtime_offload_base_weight save_projection sparse_rate target_modules
GLORA: bias config_A_B config_C config_D_E init_weights modules_to_save r target_modules
GRALORA: alpha bias fan_in_fan_out gralora_dropout gralora_k hybrid_r init_weights layers_pattern layers_to_transform modules_to_save r
    target_modules
HIRA: exclude_modules fan_in_fan_out hira_dropout init_weights layers_pattern layers_to_transform modules_to_save r rank_pattern target_modules
HRA: apply_GS bias exclude_modules init_weights layers_pattern layers_to_transform modules_to_save r target_modules
IA3: exclude_modules fan_in_fan_out feedforward_modules init_ia3_weights modules_to_save target_modules
LILY: exclude_modules init_weights layers_pattern layers_to_transform modules_to_save num_B r scaling stride_A target_modules
LN_TUNING: exclude_modules modules_to_save target_modules
LOHA: alpha alpha_pattern exclude_modules init_weights layers_pattern layers_to_transform module_dropout modules_to_save r rank_dropout rank_pattern
    target_modules use_effective_conv2d
LOKR: alpha alpha_pattern decompose_both decompose_factor exclude_modules init_weights layers_pattern layers_to_transform module_dropout
    modules_to_save r rank_dropout rank_dropout_scale rank_pattern target_modules use_effective_conv2d
LORA: alora_invocation_tokens alpha_pattern arrow_config bias corda_config ensure_weight_tying eva_config exclude_modules fan_in_fan_out
    init_lora_weights kasa_config layer_replication layers_pattern layers_to_transform loftq_config lora_alpha lora_bias lora_dropout lora_ga_config
    megatron_config megatron_core modules_to_save monteclora_config qalora_group_size r rank_pattern runtime_config target_modules target_parameters
    trainable_token_indices use_bdlora use_dora use_qalora use_rslora velora_config
MISS: bias exclude_modules init_weights layers_pattern layers_to_transform mini_r miss_dropout modules_to_save r target_modules
MULTITASK_PROMPT_TUNING: modules_to_save num_attention_heads num_layers num_ranks num_tasks num_transformer_submodules num_virtual_tokens
    prompt_tuning_init prompt_tuning_init_state_dict_path prompt_tuning_init_task prompt_tuning_init_text token_dim tokenizer_kwargs
    tokenizer_name_or_path
OFT: bias block_share coft eps exclude_modules fan_in_fan_out init_weights layers_pattern layers_to_transform module_dropout modules_to_save
    num_cayley_neumann_terms oft_block_size r target_modules use_cayley_neumann
OSF: effective_rank init_weights modules_to_save rank_pattern target_modules target_svd_config
PEANUT: act_fn depth exclude_modules init_weights layers_pattern layers_to_transform modules_to_save r scaling target_modules
POLY: exclude_modules init_weights modules_to_save n_skills n_splits n_tasks poly_type r target_modules
PREFIX_TUNING: encoder_hidden_size init_weights modules_to_save num_attention_heads num_layers num_transformer_submodules num_virtual_tokens
    prefix_projection token_dim
PROMPT_TUNING: modules_to_save num_attention_heads num_layers num_transformer_submodules num_virtual_tokens prompt_tuning_init
    prompt_tuning_init_text token_dim tokenizer_kwargs tokenizer_name_or_path
PSOFT: ab_svd_init cayley_neumann_eps exclude_modules fan_in_fan_out init_weights layers_pattern layers_to_transform modules_to_save
    num_cayley_neumann_terms psoft_alpha psoft_dropout psoft_mag_a psoft_mag_b psoft_orth psoft_svd psoft_svd_lowrank_niter r random_seed target_modules
    use_cayley_neumann
PVERA: bias d_initial fan_in_fan_out generator_seed init_weights layers_pattern layers_to_transform modules_to_save projection_prng_key
    pvera_dropout r sample_at_inference save_projection target_modules
P_TUNING: encoder_dropout encoder_hidden_size encoder_num_layers encoder_reparameterization_type modules_to_save num_attention_heads num_layers
    num_transformer_submodules num_virtual_tokens token_dim
RANDLORA: bias fan_in_fan_out init_weights layers_pattern layers_to_transform modules_to_save projection_prng_key r randlora_alpha randlora_dropout
    save_projection sparse target_modules very_sparse
ROAD: group_size init_weights modules_to_save target_modules variant
SHADOW: auxiliary_loss_weight exclude_modules init_weights layers_pattern layers_to_transform modules_to_save r shadow_alpha shadow_dropout
    shadow_hidden_size shadow_intermediate_size shadow_model shadow_num_attention_heads shadow_num_hidden_layers share_embeddings target_modules
    update_hidden_size
SHIRA: fan_in_fan_out init_weights mask_type modules_to_save r random_seed target_modules
SUPERTUNING: init_weights lora_alpha lora_dropout modules_to_save r save_precomputed_indices select_top sparsity target_modules
TINYLORA: bias fan_in_fan_out init_v_bound init_weights layers_pattern layers_to_transform modules_to_save projection_seed r save_projection
    target_modules tinylora_dropout u weight_tying
TRAINABLE_TOKENS: init_weights target_modules token_indices
UNILORA: bias fan_in_fan_out init_theta_d_bound init_weights layers_pattern layers_to_transform modules_to_save proj_seed r save_indices
    target_modules theta_d_length unilora_dropout
VBLORA: bias exclude_modules fan_in_fan_out init_logits_std init_vector_bank_bound layers_pattern layers_to_transform modules_to_save num_vectors r
    save_only_topk_weights target_modules topk vblora_dropout vector_length
VERA: bias d_initial fan_in_fan_out init_weights layers_pattern layers_to_transform modules_to_save projection_prng_key r save_projection
    target_modules vera_dropout
WAVEFT: bias exclude_modules fan_in_fan_out init_weights layers_pattern layers_to_transform modules_to_save n_frequency n_frequency_pattern
    proportional_parameters random_loc_seed scaling target_modules use_idwt wavelet_family
XLORA: adapters enable_softmax enable_softmax_topk global_scaling_weight hidden_size layerwise_scalings scaling_pass_value softmax_temperature
    top_k_lora use_trainable_adapters xlora_depth xlora_dropout_p xlora_size
"""


def refuse_unknown(method: str, keys: list[str]) -> None:
    """Refuse a key that a method does not have.

    Raises:
        UsageError: There is one; it says what the method has.

    >>> refuse_unknown("LORA", ["r", "use_dora"])
    >>> refuse_unknown("LORA", ["target_module"])
    Traceback (most recent call last):
    ...
    weighbridge.core.errors.UsageError: lora has no field target_module; did you mean target_modules?
    """
    known = _fields_of(method)
    for key in keys if known is not None else ():
        if known is not None and key not in known and key not in EVERY:
            meant = [name for name in MEANT.get(key, ()) if name in known]
            hint = Text("did you mean {names}?", names=meant[0]) if meant else did_you_mean(key, known)
            name = method.lower()
            raise UsageError(
                Text("{name} has no field {key}; {hint}", name=name, key=key, hint=hint)
                if hint
                else Text("{name} has no field {key} (it has: {known})", name=name, key=key, known=", ".join(known))
                if known
                else Text("{name} has no fields; found {key}", name=name, key=key)
            )


MEANT = {
    **dict.fromkeys(("rank", "lora_r", "lora_rank", "dim"), ("r",)),
    **dict.fromkeys(("alpha", "scaling"), ("lora_alpha",)),
    "dropout": ("lora_dropout",),
    **dict.fromkeys(("modules", "targets", "target", "layers"), ("target_modules",)),
}
"""What people call fields, and how PEFT does."""


def known_fields(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config without the keys that its method does not have: the library warns of them and reads on.

    >>> known_fields({"peft_type": "LN_TUNING", "layers_to_transform": [1]})
    {'peft_type': 'LN_TUNING'}
    """
    method = str(config.get("peft_type", "LORA")).upper()
    known = None if method in OWN else _fields_of(method)
    return dict(config) if known is None else {key: value for key, value in config.items() if key in known or key in EVERY}


def _fields_of(method: str) -> list[str] | None:
    if method in OWN:
        return OWN[method].split()
    for entry in FIELDS.replace("\n    ", " ").strip().splitlines():
        name, _, fields = entry.partition(": ")
        if name == method:
            return fields.split()
    return None
