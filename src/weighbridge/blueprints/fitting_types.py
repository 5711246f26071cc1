"""Which model types a config may be of that states none, by its keys: configs of 2018 and 2019 name no type."""

from __future__ import annotations

from weighbridge.blueprints.field_types import declared_keys
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

COMMON = frozenset(
    """architectures auto_map bos_token_id do_sample dtype eos_token_ids finetuning_task id2label is_decoder is_encoder_decoder label2id
    length_penalty max_length model_type n_ctx num_beams num_labels num_return_sequences output_attentions output_hidden_states output_past
    pad_token_id pruned_heads repetition_penalty task_specific_params temperature tie_word_embeddings top_k top_p torch_dtype torchscript
    transformers_version use_bfloat16 use_cache""".split()
)
"""Keys that configs of every type have had, which tell none from another."""
OFTEN = """bert gpt2 roberta distilbert albert electra xlnet openai-gpt xlm t5 bart ctrl llama mistral qwen2 qwen3 gemma mixtral
    vit clip wav2vec2 whisper""".split()
"""Types that are named first where others have the same keys."""
FEWEST, MOST_STRANGE, MOST_NAMED = 5, 0.25, 3
"""Telling keys that a config needs; the share of them that a type may not know; how many types are named."""


def fitting_types(keys: Iterable[str]) -> list[str]:
    """Return the model types that know a config's keys, the nearest first; none where its keys tell too little.

    >>> fitting_types("n_ctx n_embd n_head n_layer n_positions vocab_size layer_norm_epsilon initializer_range".split())[0]
    'gpt2'
    >>> fitting_types(["hidden_size", "vocab_size"])
    []
    """
    telling = {key for key in keys if type(key) is str} - COMMON
    if len(telling) < FEWEST:
        return []
    found = []
    places = {name: place for place, name in enumerate(OFTEN)}
    for model_type, declared in declared_keys():
        known = declared - COMMON
        strange = len(telling - known)
        if known and strange <= MOST_STRANGE * len(telling):
            found.append((strange, places.get(model_type, len(OFTEN)), len(known - telling), model_type))
    fewest = min((strange for strange, *_ in found), default=0)
    return [model_type for strange, *_, model_type in sorted(found) if strange == fewest][:MOST_NAMED]
