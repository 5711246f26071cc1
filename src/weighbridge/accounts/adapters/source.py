"""From what a user names as an adapter to its config: a file, a directory, a mapping, or a line such as ``lora:r=8``."""

from __future__ import annotations

from weighbridge.accounts.adapters.account import REFUSED, AdapterCount, count_adapter
from weighbridge.accounts.adapters.base import base, facts_of
from weighbridge.accounts.adapters.fields import known_fields, refuse_unknown
from weighbridge.accounts.adapters.methods import METHODS
from weighbridge.accounts.adapters.mixture import count_mixture
from weighbridge.accounts.adapters.packed_base import INTEGERS, padding_elements, refuse_beside
from weighbridge.accounts.adapters.partial import PARTIAL
from weighbridge.accounts.adapters.prompts import PROMPTS
from weighbridge.accounts.adapters.shadow import prepare_shadow
from weighbridge.accounts.inputs import plain_int
from weighbridge.accounts.memory.weights import dtype_name
from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, ReadError, SourceError, UsageError
from weighbridge.core.files import read_whole
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text
from weighbridge.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

CONFIG = "adapter_config.json"
LARGEST = 1 << 24
"""Bytes of an adapter's config that are read."""

FLOATS = ("float64", "float32", "float16", "bfloat16")
"""Types that a base is trained in beside an adapter; packed matrices are a scheme's."""

LISTS = frozenset(("train", "freeze", "modules_to_save", "target_parameters", "feedforward_modules", "exclude_modules", "target_modules"))
"""Fields whose value on the command line is a list of names, joined by plus signs."""


def adapters_of(
    model: ModelValue,
    adapter: object,
    *,
    dtype: str = "float32",
    autocast: bool = True,
    resized: bool = False,
    quantization: str | None = None,
) -> AdapterCount:
    """Count a model with an adapter, given in any form; without *autocast* its type is that of the modules below, packed by *quantization* or not."""
    dtype = dtype_name(dtype, FLOATS)
    below, config = (
        base(model.tree if model.listed is None else model.listed, model.model_type or "", facts_of(model), dtype, model.class_name),
        known_fields(adapter_config(adapter)),
    )
    _refuse_task(config, model)
    method = str(config.get("peft_type", "LORA")).upper()
    if quantization is not None:
        refuse_beside(method, quantization, autocast)
    # with autocast only AdaLoRA shows what lies below: its rank is trained where a cast makes it anew
    packed = quantization is not None and quantization.startswith(INTEGERS) and (not autocast or method == "ADALORA")
    if method == "XLORA":
        return count_mixture(below, config, _experts(config), autocast=autocast)
    if method == "SHADOW":
        config = prepare_shadow(model, below, config)
    found = count_adapter(below, config, autocast=autocast, resized=resized, packed=packed)
    return found._replace(total=found.total + padding_elements(below)) if quantization and quantization.startswith("bnb-4bit") else found


GENERATED = ("CAUSAL_LM", "SEQ_2_SEQ_LM")
GENERATING_ENDINGS = tuple(
    "ForCausalLM LMHeadModel ForConditionalGeneration ForRNNT ForTDT ForSpeechToText ForTextToSpeech ForSpeechToSpeech ForTextToText"
    " ForProteinText2Text ForVisionText2Text ForCausalImageModeling".split()
)
GENERATING = frozenset(
    """BarkModel BertGenerationDecoder BlipForQuestionAnswering EncoderDecoderModel GPT2DoubleHeadsModel GraniteSpeech5ForCTC LasrForCTC MarianMTModel
    MoshiDepthDecoder NemotronH_Omni_Reasoning_V3 ParakeetForCTC RagTokenForGeneration SeamlessM4TModel SeamlessM4Tv2Model SpeechEncoderDecoderModel
    VisionEncoderDecoderModel""".split()
)
NOT_GENERATING = frozenset(("PI0ForConditionalGeneration", "SpeechT5ForTextToSpeech", "SpeechT5ForSpeechToSpeech"))
"""Which classes have the ``prepare_inputs_for_generation`` that the library asks them for: by how they end, others by name (transformers 5.23.0)."""


def generates(class_name: str) -> bool:
    """Tell whether a class of the reference library generates text or sound.

    >>> generates("LlamaForCausalLM"), generates("LlamaModel")
    (True, False)
    """
    return class_name in GENERATING or (class_name.endswith(GENERATING_ENDINGS) and class_name not in NOT_GENERATING)


def _refuse_task(config: Mapping[str, Any], model: ModelValue) -> None:
    task, name, description = config.get("task_type"), model.class_name, model.description
    if task not in GENERATED or not name or description is None or generates(name) or name in description.family.remote:
        return
    others = [other for other in description.family.classes if generates(other)]
    text = Text("task_type: {task} is for classes that generate text; {class_name} does not", task=task, class_name=name)
    if not others:
        raise UsageError(text)
    raise UsageError(Text("{text}: choose the class {other}", text=text, other=others[0]))


def _experts(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the configs of the adapters that a mixture names, each given in any form."""
    named = config.get("adapters")
    if not isinstance(named, Mapping):
        raise ConfigError("expected a mapping from names to adapters", key="adapters", value=named)
    return [known_fields(adapter_config(entry)) for entry in named.values()]


def adapter_config(adapter: object) -> dict[str, Any]:
    """Return the config of an adapter.

    Raises:
        SourceError: Nothing of that name.
        ReadError: A file that holds no JSON object.
        UsageError: A line that names no method.

    >>> adapter_config("lora:r=16,target_modules=q_proj+v_proj,use_dora=true")
    {'peft_type': 'LORA', 'r': 16, 'target_modules': ['q_proj', 'v_proj'], 'use_dora': True}
    """
    if isinstance(adapter, Mapping):
        return {key: plain_int(value) for key, value in adapter.items()}
    if not isinstance(adapter, str) and not hasattr(adapter, "__fspath__"):
        raise UsageError(
            Text("cannot read an adapter from a {name}; expected a path, a mapping or text such as lora:r=8", name=type(adapter).__name__)
        )
    import os

    text = os.fspath(adapter)
    name, separator, fields = text.partition(":")
    method = name.upper().replace("-", "_")
    if method in (*METHODS, *PROMPTS, *PARTIAL, *REFUSED, "ADAPTION_PROMPT", "XLORA") and not os.path.exists(text):
        stated = _line(fields) if separator else {}
        refuse_unknown(method, list(stated))
        return {"peft_type": method, **stated}
    path = os.path.join(text, CONFIG) if os.path.isdir(text) else text
    if not os.path.isfile(path):
        methods = [name.lower() for name in sorted((*METHODS, *PROMPTS, *PARTIAL, "ADAPTION_PROMPT", "XLORA"))]
        hint = MEANT.get(method) or did_you_mean(method.lower(), methods)
        if hint and (separator or os.sep not in text):
            raise SourceError(Text("{text}: no such adapter; {hint}", text=text, hint=hint))
        known = ", ".join(methods)
        raise SourceError(
            Text(
                "{text}: no such adapter; expected an {config}, a directory with one, or a method such as lora:r=8 (known: {known})",
                text=text,
                config=CONFIG,
                known=known,
            )
        )
    return _read(path)


MEANT = {
    "DORA": Text("write lora:use_dora=true"),
    "QLORA": Text("write lora, and say how the base is packed: --quantization bnb-4bit-double"),
    "RSLORA": Text("write lora:use_rslora=true"),
}
"""What people call ways to set LoRA up, and how these are written."""


def _read(path: str) -> dict[str, Any]:
    import json

    try:
        content = json.loads(read_whole(path, LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise ReadError(Text("not JSON ({error})", error=error), path=path) from None
    if not isinstance(content, dict):
        raise ReadError("expected a JSON object", path=path)
    return content


def _line(fields: str) -> dict[str, Any]:
    """Read ``key=value`` pairs between commas; a plus sign joins the names of a list."""
    result: dict[str, Any] = {}
    for pair in fields.split(",") if fields else ():
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(Text("{pair!r}: expected key=value, such as r=8; a list of names is joined by plus signs", pair=pair))
        if key in result or key == "peft_type":
            raise UsageError(Text("{key}: given twice", key=key))
        if key in LISTS and not any(sign in value for sign in "*(\\|[") and value != "all-linear":
            result[key] = value.split("+")
            continue
        try:
            result[key] = loads(value) if value.strip() in CONSTANTS or value.lstrip().startswith(STARTS) else value
        except ValueError:
            result[key] = value
    return result


CONSTANTS = frozenset(("true", "false", "null", "NaN", "Infinity"))
STARTS = tuple('-0123456789"[{')
"""How a value of JSON begins, unless it is one of its constants; anything else is a word."""
