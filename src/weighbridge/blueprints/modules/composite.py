"""Models composed of other models: a sub-config of any model type, and its family's tree as a child.

A family whose config holds whole configs of other types declares each with :func:`model_config`. Its blueprint then asks
:func:`submodel` for the tree that the sub-config's own family describes, and puts it in its place with :func:`as_child`::

    FIELDS = (composed("vision", "vision_config", "clip_vision_model siglip_vision_model"), composed("text", "text_config", "llama"))

    def llava(c):
        tower = submodel(c.vision)
        return part(
            "",
            under("vision_tower", tower, requires="images", executions="images"),
            part("multi_modal_projector", ..., kind="projector", requires="images", executions="images", stream=tower.stream),
            under("language_model", submodel(c.text)),
            kind="model",
        )

``c.vision`` has the words of its own family (``c.vision.hidden``) and ``c.vision.model_type``. Its symbols carry the
sub-config's name (``H_vision``), random configs draw a type and its fields, and a type without a blueprint is refused by its key path.
"""

from __future__ import annotations

from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.blueprints.learned_activations import activation_fields, with_activations_of
from weighbridge.blueprints.modules.reroot import reroot
from weighbridge.blueprints.refused_values import with_zeros
from weighbridge.config.alias import TYPES
from weighbridge.config.fields import Config, Field, SubConfig, derived, settable
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text, join_with_or
from weighbridge.core.parts import replace
from weighbridge.core.sizes import Size
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CAUSAL = ("ForCausalLM", "LMHeadModel", "GenerationDecoder")
"""How the names of the causal language models end that the reference's auto class picks."""

AUTO_MODEL = {
    "blt": "BltModel",
    "glmasr": "GlmAsrModel",
    "higgs_audio_v2": "HiggsAudioV2ForConditionalGeneration",
    "kyutai_speech_to_text": "KyutaiSpeechToTextModel",
    "mgp-str": "MgpstrForSceneTextRecognition",
    "moshi": "MoshiModel",
    "omdet-turbo": "OmDetTurboForObjectDetection",
    "qwen2_5_omni_thinker": "Qwen2_5OmniThinkerModel",
    "qwen3_asr": "Qwen3ASRModel",
    "qwen3_omni_moe_thinker": "Qwen3OmniMoeThinkerModel",
    "vibevoice": "VibeVoiceForConditionalGeneration",
    "voxtral_realtime": "VoxtralRealtimeModel",
    "xlstm": "xLSTMModel",
}
"""The class that the reference's ``AutoModel`` makes of a sub-config, where it is another than the type's base class here."""

OWN = "own_hidden"
_DOUBLED = (
    derived(OWN, lambda c: c.hidden),
    settable("hidden", "hidden_size", lambda c: c.own_hidden * 2 ** (len(c.depths) - 1), "W", "width of the last stage"),
)
_WIDENED = (
    settable(
        "hidden",
        "hidden_size",
        lambda c: c.embed * c.wider[0] ** (len(c.depths) - 1) // c.wider[1] ** (len(c.depths) - 1),
        "W",
        "width of the last stage",
    ),
)
WIDTHS = dict.fromkeys(("dinat", "donut-swin", "maskformer-swin", "swin", "swinv2"), _DOUBLED) | {"hiera": _WIDENED}
"""What the outer model reads as ``hidden_size`` where the type's own ``hidden`` is another width: that of the last stage."""


def model_config(
    word: str,
    key: str,
    model_types: str,
    *,
    fixed: bool = False,
    only: bool = False,
    optional: bool = False,
    absent: Mapping[str, Any] | None = None,
    more: tuple[Field, ...] = (),
    ignored_keys: str = "",
) -> Field:
    """Declare a sub-config that is a whole config of a model type, read by that type's own fields.

    Args:
        word: Our word; the blueprint reads ``c.word.hidden`` and hands ``c.word`` to :func:`submodel`.
        key: The config's key, such as ``vision_config``.
        model_types: The type meant where the sub-config names none, then others that are common here (random configs draw them).
        fixed: The outer class always takes the first type, whatever ``model_type`` the sub-config names.
        only: Another type than these is refused where a class reads it: the reference takes any there, and what surrounds it is described
            for these alone.
        optional: An absent sub-config means that there is none (the word is None), and not the default type's defaults.
        absent: What the outer class puts into the sub-config where it is absent altogether.
        more: Fields that the outer class reads there, beside the type's own.
        ignored_keys: Keys that published files have there and that change nothing.

    >>> model_config("text", "text_config", "gpt2 llama").default
    ['gpt2', 'llama']
    """
    types = model_types.split()

    def resolve(value: Any, path: str) -> SubConfig | None:
        if value is None and optional:
            return None
        raw = (absent or {}) if value is None else value
        stated = types[0] if fixed else raw.get("model_type", types[0])
        if only and stated not in types:
            error = ConfigError(Text("only {types} is described here", types=join_with_or(types)), key=f"{path}.model_type", value=stated)
            if stated not in MODULES or is_remote(stated):
                raise error
            return SubConfig(raw, (), frozenset(raw), stated, error)
        if isinstance(stated, str) and stated in TYPES and stated not in MODULES:
            stated, raw = TYPES[stated].model_type, TYPES[stated].read(raw)
        if not isinstance(stated, str) or stated not in MODULES:
            hint = did_you_mean(str(stated), MODULES, typos=True) or f"the default is {types[0]}; weigh models lists the types known"
            raise UnknownArchitecture(
                Text("unknown model type {stated!r:.60}", stated=stated), key=f"{path}.model_type", value=stated, hint=hint
            )
        known = family(stated)
        try:
            raw = raw if known.normalize_config is None else known.normalize_config(raw)
            fields = (*with_zeros(stated, _fields(stated, more), raw), *activation_fields(stated, known.fields, raw))
        except ConfigError as error:
            raise error.inside(path) from None
        return SubConfig(raw, fields, known.ignored_keys | frozenset(ignored_keys.split()), stated)

    return Field(word, key, types, "nested", resolve=resolve)


_known: dict[tuple[str, tuple[Field, ...]], tuple[Field, ...]] = {}
"""The fields of sub-configs that were asked for."""


def _fields(model_type: str, more: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return a type's fields as a sub-config has them: arguments of its class are out of a config's reach."""
    found = _known.get((model_type, more))
    if found is not None:
        return found
    fields = family(model_type).fields
    words = {field.word for field in fields}
    own = (replace(field, key="") if field.kind == "switch" and not field.report_default else field for field in fields)
    found = _known[model_type, more] = (*own, *(field for field in more if field.word not in words), *WIDTHS.get(model_type, ()))
    return found


def submodel(c: Config, *endings: str) -> Part:
    """Return the tree of a sub-config: its family's base class, or the class whose name ends with one of *endings*.

    Raises:
        ConfigError: The type has no such class.

    >>> from weighbridge.config.bind import bind
    >>> [part.name for part in submodel(bind((model_config("text", "text_config", "bert"),), {}).text).children]
    ['embeddings', 'encoder', 'pooler']
    """
    known = family(c.model_type)
    if OWN in vars(c):
        c = Config(**{**vars(c), "hidden": getattr(c, OWN)})
    name = (
        AUTO_MODEL.get(c.model_type, known.base) if not endings else next((name for name in known.classes if name.endswith(endings)), None)
    )
    if name is None:
        raise ConfigError(
            Text(
                "{model_type} has no class {endings} described",
                model_type=c.model_type,
                endings=join_with_or([f"*{ending}" for ending in endings]),
            ),
            key=f"{c.path}.model_type" if "path" in vars(c) else "model_type",
        )
    try:
        return with_activations_of(c, known.classes[name](c))
    except ConfigError as error:
        raise error.inside(c.path) from None


def as_child(
    name: str,
    tree: Part,
    *,
    streams: Mapping[str, Stream] | None = None,
    requires: str | None = None,
    executions: Size | str | None = None,
) -> Part:
    """Put the tree of a whole model under a name: its ties follow, and its streams become those of the outer model.

    Args:
        name: The name it is held by.
        tree: A model's root.
        streams: What its named streams are here, such as ``{"seq": "decoder", "encoder": 197}``.
        requires, executions: As of any part: what it needs to run, and how often it does.

    >>> from weighbridge.core.parts import linear
    >>> inner = Part("", (linear("a", 2, 2), linear("b", 2, 2, tied_to="a.weight")))
    >>> as_child("decoder", inner, streams={"seq": "decoder"}).children[1].children[0].tied_to
    'decoder.a.weight'
    """
    inner = reroot(tree, name + "." if name else "", streams or {})
    stream = inner.stream if inner.stream is not None else (streams or {}).get("seq")
    return replace(inner, name=name, requires=requires or inner.requires, executions=executions, stream=stream)
