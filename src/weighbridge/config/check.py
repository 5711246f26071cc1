"""What a config says beside its sizes: fields left out, unknown keys, names that disagree, what must be refused."""

from __future__ import annotations

from weighbridge.config.bind import bind, find_sub_config, is_nulled
from weighbridge.config.fields import AtInit, Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from typing import Any


def check_and_bind(
    fields: tuple[Field, ...], raw: Mapping[str, Any], ignored_keys: frozenset[str] = frozenset(), stated: Mapping[str, Any] | None = None
) -> tuple[Config, list[str], list[str]]:
    """Check a config's fields against each other, and return its sizes, the notes on them, and the unknown keys.

    Args:
        stated: The config as it was before overrides: names that disagree are told of what was stated.

    Raises:
        ConfigError: A value that is wrong, or what no field describes.

    >>> from weighbridge.config.fields import size
    >>> sizes, notes, strangers = check_and_bind((size("hidden", "hidden_size", 768, "H", ""),), {"hidden_size": 4, "hiden": 5})
    >>> sizes.hidden, notes, strangers
    (4, [], ['hiden'])
    """
    refuse_undescribed(fields, raw)
    sizes = bind(fields, raw)
    notes = [*alias_notes(fields, raw if stated is None else stated), *derivation_notes(fields, raw, sizes)]
    return sizes, notes, unknown_keys(fields, raw, ignored_keys)


IGNORED_KEYS = frozenset(
    """_attn_implementation _commit_hash _name_or_path activation_dropout adapters architectures attention_dropout
    attention_probs_dropout_prob attn_dropout attn_implementation attn_pdrop auto_map bad_words_ids
    begin_suppress_tokens bos_token_id chunk_size_feed_forward classifier_dropout cross_attention_hidden_size
    decoder_layerdrop decoder_start_token_id directionality diversity_penalty do_sample dropout dtype early_stopping
    embd_pdrop encoder_layerdrop encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty
    finetuning_task forced_bos_token_id forced_eos_token_id gradient_checkpointing hidden_act hidden_dropout
    hidden_dropout_prob id2label initializer_factor initializer_range is_encoder_decoder label2id layer_norm_eps
    layer_norm_epsilon layerdrop length_penalty max_length min_length model_type no_repeat_ngram_size num_beam_groups
    num_beams num_return_sequences output_attentions output_hidden_states output_past output_router_logits output_scores
    pad_token_id pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type
    position_embedding_type prefix pretraining_tp problem_type pruned_heads quantization_config remove_invalid_values
    repetition_penalty resid_pdrop return_dict return_dict_in_generate rms_norm_eps rope_parameters rope_scaling
    rope_theta router_aux_loss_coef router_jitter_noise sep_token_id suppress_tokens task_specific_params temperature
    tf_legacy_loss tie_encoder_decoder tokenizer_class top_k top_p torch_dtype torchscript transformers_version
    typical_p use_bfloat16 use_cache xla_device""".split()
)
"""Keys that no blueprint needs: they change behaviour, not tensors. A key that is neither here nor in
a family's fields is reported as unknown."""


def missing_fields(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "", words: str = "") -> dict[str, str]:
    """Return, for each field that *raw* leaves out, our word's path and the key path.

    >>> from weighbridge.config.fields import size
    >>> missing_fields((size("hidden", "hidden_size", 768, "H", ""),), {"hidden_size": None})
    {'hidden': 'hidden_size'}
    """
    missing: dict[str, str] = {}
    for field in fields:
        present = (
            any(raw.get(key) is not None for key in (field.key, *field.aliases))
            or (field.nullable and field.key in raw)
            or is_nulled(field, raw)
        )
        if field.kind == "nested":
            inner = find_sub_config(field, raw, path)
            if inner is not None:
                missing |= missing_fields(
                    inner.fields, inner.raw if raw.get(field.key) else {}, f"{path}{field.key}.", f"{words}{field.word}."
                )
        elif field.kind == "labels":
            if not present and raw.get("id2label") is None:
                missing[words + field.word] = path + field.key
        elif field.kind != "derived" and field.report_default and not present:
            missing[words + field.word] = path + field.key
    return missing


ACTIVATIONS_WITH_PARAMETERS = frozenset(("prelu", "xielu"))
"""Activation functions of the reference library that hold parameters of their own (transformers 5.23.0, activations.py)."""


def refuse_undescribed(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse what changes the tensors of any model where no field of the family describes it.

    Raises:
        ConfigError: ``per_layer_config``, by which every layer of a model may have sizes of its own; not where it only names parts to
            skip (``skip``), which no class reads but those that have a field for the key.
    """
    for key, value in raw.items():
        if key == "per_layer_config" and value and all(key != field.key for field in fields) and not _only_skips(value):
            raise ConfigError("layers that each have sizes of their own are not described for this type", key=path + key, value=value)
        if type(value) is dict and path.count(".") < 4:
            inner = next((find_sub_config(field, raw, path) for field in fields if field.key == key and field.kind == "nested"), None)
            refuse_undescribed(inner.fields if inner else (), inner.raw if inner else value, f"{path}{key}.")


def _only_skips(layers: Any) -> bool:
    """Say whether layers have nothing of their own but names of parts to skip.

    >>> _only_skips({"0": {"skip": ["mlp"]}}), _only_skips({"0": {"intermediate_size": 24}})
    (True, False)
    """
    entries = list(layers.values()) if isinstance(layers, Mapping) else [None]
    return all(isinstance(entry, Mapping) and set(entry) == {"skip"} and isinstance(entry["skip"], list) for entry in entries)


def unknown_keys(fields: tuple[Field, ...], raw: Mapping[str, Any], ignored_keys: frozenset[str], path: str = "") -> list[str]:
    """Return the key paths that neither *fields* nor the ignored keys name.

    >>> unknown_keys((), {"hiden_size": 1, "use_cache": True}, frozenset())
    ['hiden_size']
    """
    known: set[str] = set()
    nested = []
    for field in fields:
        known.add(field.key)
        if field.aliases:
            known.update(field.aliases)
        if field.kind == "nested":
            nested.append(field)
    strangers = [path + key for key in raw if not key or (key not in known and key not in IGNORED_KEYS and key not in ignored_keys)]
    for field in nested:
        if isinstance(raw.get(field.key), Mapping):
            inner = find_sub_config(field, raw, path)
            strangers += unknown_keys(inner.fields, inner.raw, ignored_keys | inner.ignored_keys, f"{path}{field.key}.") if inner else []
    return strangers


def alias_notes(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> list[str]:
    """Say which of two names of one field is used where they disagree: the config class sets ``attribute_map`` names last.

    >>> from weighbridge.config.fields import size
    >>> alias_notes((size("hidden", "n_embd", 768, "H", "", "hidden_size"),), {"hidden_size": 512, "n_embd": 768})
    ['hidden_size: 512 is used, not n_embd: 768; both name the same field, and the class sets hidden_size last']
    """
    notes: list[str] = []
    for field in fields:
        if field.kind == "nested":
            inner = find_sub_config(field, raw, path)
            if inner is not None:
                notes += alias_notes(inner.fields, inner.raw, f"{path}{field.key}.")
        elif field.kind != "derived" and field.aliases:
            # An empty key is nobody's; the last in the config's order wins.
            own = () if field.key in field.aliases else (field.key,)
            given = [key for key in (*own, *(key for key in raw if key in field.aliases)) if key and raw.get(key) is not None]
            notes += [
                Text(
                    "{used}: {value} is used, not {other}: {instead}; both name the same field, and the class sets {last} last",
                    used=path + given[-1],
                    value=f"{raw[given[-1]]!r:.40}",
                    other=path + key,
                    instead=f"{raw[key]!r:.40}",
                    last=given[-1],
                )
                for key in given[:-1]
                if raw[key] != raw[given[-1]]
            ]
    return notes


def derivation_notes(fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Config, path: str = "") -> list[str]:
    """Say where the class takes a key as it stands though other keys make something else, leaves entries out, or derives a default early.

    >>> from weighbridge.config.bind import bind
    >>> from weighbridge.config.fields import settable, size
    >>> fields = (size("hidden", "hidden_size", 768, "H", ""), settable("inner", "intermediate_size", lambda c: 2 * c.hidden, "I", ""))
    >>> derivation_notes(fields, {"intermediate_size": 128}, bind(fields, {"intermediate_size": 128}))
    ['intermediate_size: 128 is used as given, though the other fields give 1536']
    """
    notes: list[str] = []
    for field in fields:
        if field.kind == "nested":
            inner = find_sub_config(field, raw, path)
            if inner is not None:
                notes += derivation_notes(inner.fields, inner.raw, getattr(sizes, field.word), f"{path}{field.key}.")
        elif isinstance(raw.get(field.key), list) and (of := _owner_of_list(field, vars(sizes))):
            notes += _entries_too_many(field, of, len(raw[field.key]), vars(sizes), path)
        elif type(field.default) is AtInit:
            notes += _as_it_stands(field, raw.get(field.key), sizes, path)
    return notes


LEFT_OUT = {
    "layers": mark("{key}: {entries} entries for {count} layers; those beyond are left out"),
    "stages": mark("{key}: {entries} entries for {count} stages; those beyond are left out"),
}


def _owner_of_list(field: Field, sizes: Mapping[str, Any]) -> str:
    """Return what a list has an entry for: each of the layers, or of the stages."""
    of = "layers" if field.key.endswith("layer_types") else "stages" if field.kind == "sequence" else ""
    return of if of == "layers" or type(sizes.get(of)) is int else ""


def _entries_too_many(field: Field, of: str, entries: int, sizes: Mapping[str, Any], path: str) -> list[str]:
    """Say whether a list has more entries than the layers or stages that it is for."""
    count = sizes.get(of)
    if type(count) is not int or entries <= count or (of == "stages" and len(sizes[field.word]) != entries):
        return []
    return [Text(LEFT_OUT[of], key=path + field.key, entries=entries, count=count)]


def _as_it_stands(field: Field, given: Any, sizes: Config, path: str) -> list[str]:
    """Say whether the class has another value than the finished config would make: stated so, or derived before aliases came."""
    value = getattr(sizes, field.word)
    made = None if value is None else field.default(sizes)  # type: ignore[misc,operator]
    if made == value or (given is not None and field.report_default):
        return []
    line = STATED if given is not None else EARLY
    return [Text(line, key=path + field.key, value=value, made=made)]


STATED = mark("{key}: {value} is used as given, though the other fields give {made}")
EARLY = mark("{key}: {value}, which the class derives before it takes other names of its fields; after it would be {made}")
