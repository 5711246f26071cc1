"""Telling what a tensor is from its name and shape, where these leave no doubt.

A file does not say which of its tensors are parameters. Buffers matter most: they are in the file and
are no parameters. Their names are those that the reference library registers.
"""

from __future__ import annotations

import re

from weighbridge.readers.listing import Listing

BUFFERS = frozenset(
    """position_ids masked_bias num_batches_tracked running_mean running_var inv_freq original_inv_freq cos_cached sin_cached
    rope_freqs freqs_cis final_logits_bias relative_position_index relative_coords_table attn_mask causal_mask
    attention_mask token_type_ids cluster_size cluster_usage embed_avg embed_sum inited initialized diagonal_decay key_decay
    query_decay slope_rate balancing_biases act_scaling_factor fc_scaling_factor weight_scaling_factor bias_integer
    weight_integer x_min x_max n_points_scale num_points_scale tid2eid summary_idxs latent_mean latent_std
    latent_stats_num_updates _mean _variance""".split()
)
"""Last pieces of names that are always buffers (``register_buffer`` in transformers 5.23.0 and before; PaddlePaddle's statistics of norms)."""

TABLES = frozenset(
    """word_embeddings position_embeddings token_type_embeddings embed_tokens embed_positions tok_embeddings token_embedding
    position_embedding token_embeddings wte wpe shared embed_in embedding embeddings entity_embeddings relative_attention_bias
    word_embedding segment_embeddings token_embd position_embd token_types tokens_embed positions_embed""".split()
)
"""Modules that hold a table which is looked up."""

TOKENS = frozenset(("cls_token", "mask_token", "class_embedding", "position_embedding", "pos_embed", "class_embed", "dist_token"))
"""Tensors that are put in as tokens or added as positions themselves."""

_BUFFERS = re.compile(
    r".*codebook\.embed|.*act_fn\.(beta|eps)|(?!.*moe_statics\.).*e_score_correction_bias"
    r"|(.*\.)?parametrizations\.\w+\.\d+\.(_u|_v|base)|(.*\.)?(activation_post_process|weight_fake_quant)\..+"
)
"""Names that are buffers in the module before the last dot. Ernie's ``moe_statics`` holds its router bias as a parameter.

Source: torch 2.13.0, torch/nn/utils/parametrizations.py (``_SpectralNorm`` registers ``_u`` and ``_v``, ``_Orthogonal`` ``base``),
torch/ao/quantization/quantize.py (``activation_post_process``), torch/ao/nn/qat/modules/linear.py (``weight_fake_quant``: observers, all of buffers).
"""

_LAST_OF_BUFFERS = frozenset(("embed", "beta", "eps", "_u", "_v", "base"))
"""Last pieces of names that :data:`_BUFFERS` can match, beside names with a word of theirs in it; looking for the pattern takes longer."""

_SCALES = re.compile(r"gamma|gamma_[12]|layer_scale\w*|lambda_?[12]?|weight_g|g|scale|ls[12]|logit_scale")
_BIASES = re.compile(r"bias|\w+_bias|bias_\w+|beta")


def role_of(name: str, shape: tuple[int, ...], dtype: str = "", siblings: frozenset[str] | None = None) -> str:
    """Tell the role of a tensor; a matrix of which nothing else is known is a weight.

    Args:
        name: Its full name.
        shape: Its shape.
        dtype: Its type as safetensors spells it: whole numbers of 64 bits and truth values cannot be learned.
        siblings: Names of one-dimensional tensors called ``weight`` or ``gamma``; a bias beside one is a norm's shift.

    >>> role_of("h.0.attn.bias", (1, 1, 1024, 1024)), role_of("h.0.ln_1.weight", (768,)), role_of("wte.weight", (50257, 768))
    ('buffer', 'gain', 'embedding')
    """
    parent, _, last = name.rpartition(".")
    if dtype in ("I64", "BOOL") or last in BUFFERS or (len(shape) == 4 and is_mask(name, shape)):
        return "buffer"
    if len(shape) < 3 and (last in _LAST_OF_BUFFERS or _mentions_buffers(name)) and _BUFFERS.fullmatch(name):
        return "buffer"
    module = parent.rpartition(".")[2]
    if module == "rope_freqs":
        return "buffer"
    if last == "weight":
        if len(shape) == 1:
            return "gain"
        return "embedding" if len(shape) == 2 and module in TABLES else "weight"
    if last in TOKENS:
        return "embedding"
    if len(shape) <= 1:
        if _BIASES.fullmatch(last):
            normed = siblings is not None and (f"{parent}.weight" in siblings or f"{parent}.gamma" in siblings)
            return "shift" if normed else "bias"
        if _SCALES.fullmatch(last):
            return "gain"
    return "weight"


def _mentions_buffers(name: str) -> bool:
    return "e_score_correction_bias" in name or "activation_post_process." in name or "weight_fake_quant." in name


def mark_buffers_beside(listing: Listing) -> Listing:
    """Give the role of a buffer to what torch keeps beside a parameter whose place it took, and to the scale of a quantized module's output.

    Source: torch 2.13.0, torch/nn/utils/prune.py (``apply`` renames ``weight`` to ``weight_orig`` and registers ``weight_mask``),
    torch/nn/utils/spectral_norm.py (``weight_orig``, and the buffers ``weight_u`` and ``weight_v``),
    torch/ao/nn/quantized/modules/linear.py (``_save_to_state_dict``: ``scale`` and ``zero_point``, one number each).

    >>> from weighbridge.readers.listing import StoredTensor
    >>> pruned = StoredTensor("fc.weight_orig", "F32", (2, 2), 16), StoredTensor("fc.weight_mask", "F32", (2, 2), 16)
    >>> [tensor.role for tensor in mark_buffers_beside(Listing("torch", pruned)).tensors]
    [None, 'buffer']
    """
    hooked = [tensor.name.removesuffix("_orig") for tensor in listing.tensors if tensor.name.endswith("_orig")]
    single = (tensor.name for tensor in listing.tensors if listing.format == "torch" and tensor.shape in ((), (1,)))
    quantized = [name.removesuffix("zero_point") for name in single if name.endswith("zero_point")]
    beside = {f"{name}_{word}" for name in hooked for word in ("mask", "u", "v")}
    beside |= {f"{name}{word}" for name in quantized for word in ("scale", "zero_point")}
    if not beside:
        return listing
    marked = (tensor._replace(role="buffer") if tensor.role is None and tensor.name in beside else tensor for tensor in listing.tensors)
    return listing._replace(tensors=tuple(marked))


def is_mask(name: str, shape: tuple[int, ...]) -> bool:
    """Tell whether this is a causal mask, which old GPT files hold as ``attn.bias`` of shape ``[1, 1, n, n]``.

    >>> is_mask("h.0.attn.bias", (1, 1, 1024, 1024)), is_mask("h.0.attn.bias", (768,))
    (True, False)
    """
    return len(shape) == 4 and shape[:2] == (1, 1) and shape[2] == shape[3] and name.endswith(".bias")


def norms(names_and_shapes: list[tuple[str, tuple[int, ...]]]) -> frozenset[str]:
    """Return the names of the one-dimensional weights: a bias beside one is a norm's shift."""
    return frozenset(name for name, shape in names_and_shapes if len(shape) == 1 and name.endswith((".weight", ".gamma")))


def rank(piece: str) -> int:
    """Sort modules as models run: embeddings first, heads and final norms last.

    >>> sorted(["pooler", "encoder", "embeddings"], key=rank)
    ['embeddings', 'encoder', 'pooler']
    """
    if "embed" in piece or piece in ("wte", "wpe", "shared"):
        return 0
    return 2 if piece in ("pooler", "lm_head", "cls", "classifier", "ln_f", "norm", "score", "qa_outputs", "head", "output_norm") else 1
