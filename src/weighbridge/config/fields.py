"""What a blueprint reads of a config, declared: sizes, switches, choices, lists, sub-configs.

A family lists its fields once: our word, the config's key, the default of the reference class, the
paper's letter. ``bind.py`` reads a raw mapping by that table into :class:`Config`. *Sizes* may be
ints, symbols or columns; everything else (switches, choices, lists of layer kinds) is concrete, and
only those may be branched on.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias


class Config:
    """What a blueprint reads: one attribute per field, named by our word.

    >>> Config(hidden=768).hidden
    768
    """

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, word: str) -> Any:
        refused = self.__dict__.get(REFUSED, {})
        if (error := refused.get(word) or refused.get(WHOLE)) is not None:
            raise error
        model_type, path = self.__dict__.get("model_type"), self.__dict__.get("path")
        if model_type and path and not word.startswith("_"):
            raise MisfitError(
                Text(
                    "{model_type} does not fit here: the outer model reads its {key}", model_type=model_type, key=READ_KEYS.get(word, word)
                ),
                key=f"{path}.model_type",
                value=model_type,
            )
        raise AttributeError(f"the blueprint asks for {word!r}, which its family's fields do not name")


class MisfitError(ConfigError, AttributeError):
    """A sub-config of a type that has not what the model around it reads: an attribute that is missing, and the config's fault."""


READ_KEYS = {
    "hidden": "hidden_size",
    "tied": "tie_word_embeddings",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "vocab": "vocab_size",
    "channels": "hidden_sizes",
}
"""The usual keys of what a model reads of its parts."""

REFUSED = "_refused"
"""Where a config keeps why it has no value for a word, until a blueprint asks for it: a class may leave out the part that needs it."""
WHOLE = ""
"""The word there for all that it has no value for: a sub-config of a type that is not described where it stands."""

Default: TypeAlias = "int | bool | float | str | list[Any] | Callable[[Config], Any] | None"


_COUNTS = ("layers", "_layer", "depth", "num_labels")
"""How the keys end that number what a model repeats."""

_MAY_BE_NOTHING = frozenset(
    """channels decoder_mlp encoder_mlp expert_mlp kernel mels mlp positions projection queries registers shared_experts types
    window""".split()
)
"""Words of the sizes that nearly all classes build at 0; those that take it for something else say so (:attr:`Field.positive`)."""


class Field(NamedTuple):
    """One entry of a family's table of fields; write it with :func:`size`, :func:`switch` and so on.

    Attributes:
        word: Our word, the same in every family.
        key: The config's key.
        default: What the reference class takes when the key is absent or null; a function of the
            fields above it where it is derived.
        kind: ``size``, ``switch``, ``choice``, ``sequence``, ``derived``, ``nested`` or, of :data:`LABELS` alone, ``labels``.
        letter: The paper's letter, for sizes.
        meaning: What it is, in a few words, for the table of symbols.
        aliases: Other keys of the same field. The config class sets them after *key* (``attribute_map``), so where a config has
            both, the alias counts; a class that sets *key* last of all has it among its aliases too.
        minimum: The smallest value that can be meant, from which searches start; the class may build a smaller one (:attr:`smallest`).
        read: Turns the raw value into the one the blueprint sees (for switches that a size decides); for a size, picks
            its own out of a list of height and width.
        fields: For ``nested``, the fields of the sub-config.
        positive: Whether the class takes a 0 for something else, so that it is refused.
        zero: Whether the class is known to build a 0, and a tensor without elements where it stands.
        null: Where an explicit null means neither the default nor None: what it means, computed from the fields above.
        resolve: For ``nested`` whose type the sub-config states: what finds its fields, from its value and key path.
        report_default: Whether an absent key is reported as defaulted (not so for an argument of the class).
        nullable: Whether an explicit null is kept as None (there is no such thing), and only an absent key takes the default.
    """

    word: str
    key: str
    default: Default = None
    kind: str = "size"
    letter: str = ""
    meaning: str = ""
    aliases: tuple[str, ...] = ()
    minimum: int = 1
    read: Callable[[Any], Any] | None = None
    fields: tuple[Field, ...] = ()
    report_default: bool = True
    nullable: bool = False
    resolve: Callable[[Any, str], SubConfig | None] | None = None
    null: Callable[[Config], Any] | None = None
    positive: bool = False
    zero: bool = False

    @property
    def smallest(self) -> int:
        """The smallest value that the class builds: a model without layers, labels or an inner width is one, though rarely meant.

        A 0 where the default is derived often stands for the default.

        >>> LAYERS.smallest, LABELS.smallest, MLP.with_default(3072).smallest, HIDDEN.smallest
        (0, 0, 0, 1)
        """
        if self.zero:
            return 0
        if self.minimum != 1 or self.positive:
            return self.minimum
        if self.kind == "labels" or self.key.endswith(_COUNTS):
            return 0
        return 0 if type(self.default) is int and self.word in _MAY_BE_NOTHING else 1

    def with_default(self, default: Default) -> Field:
        """Return the same field with the default of a family's reference class.

        >>> HIDDEN.with_default(768).default
        768
        """
        return self._replace(default=default)


class SubConfig(NamedTuple):
    """A sub-config and how it is to be read.

    Attributes:
        raw: What it says; where it is absent, what the outer class puts there.
        fields: Its table of fields.
        ignored_keys: Further keys of it that change no tensor.
        model_type: Whose fields these are, if it is a model of its own.
        refused: Why a class that reads it cannot be described, if so; others of the same config can.
    """

    raw: Mapping[str, Any]
    fields: tuple[Field, ...]
    ignored_keys: frozenset[str] = frozenset()
    model_type: str = ""
    refused: ConfigError | None = None


def size(
    word: str,
    key: str,
    default: Default,
    letter: str,
    meaning: str,
    *aliases: str,
    minimum: int = 1,
    report_default: bool = True,
    null: Callable[[Config], Any] | None = None,
) -> Field:
    """Declare a size: an int from *minimum* up, which may also be a symbol or a column.

    Args:
        word, key, default, letter, meaning, aliases, minimum, report_default, null: As in :class:`Field`.

    >>> size("hidden", "hidden_size", 768, "H", "hidden size").kind
    'size'
    """
    return Field(word, key, default, "size", letter, meaning, aliases, minimum, report_default=report_default, null=null)


def sides(word: str, key: str, default: int | tuple[int, int], letter: str, meaning: str, *aliases: str) -> tuple[Field, Field]:
    """Declare the height and the width of an image, a patch or a kernel: one whole number for both, or a list of the two.

    >>> from weighbridge.config.bind import bind
    >>> sizes = bind(sides("image", "image_size", 224, "R", "image size"), {"image_size": [512, 864]})
    >>> sizes.image_height, sizes.image_width
    (512, 864)
    """

    def side(position: int) -> Field:
        own: Default = (lambda c: default[position]) if isinstance(default, tuple) else default
        name = f"{word}_{('height', 'width')[position]}"
        return Field(name, key, own, "size", letter, meaning, aliases, read=lambda pair: pair[position], report_default=position == 0)

    return side(0), side(1)


def switch(word: str, key: str, default: Default, *aliases: str, report_default: bool = True) -> Field:
    """Declare a switch: true or false, always concrete."""
    return Field(word, key, default, "switch", aliases=aliases, report_default=report_default)


def choice(
    word: str, key: str, default: Default, *aliases: str, read: Callable[[Any], Any] | None = None, report_default: bool = True
) -> Field:
    """Declare a concrete value of any kind (a name, a float, None, or a fact that *read* tells from a size)."""
    return Field(word, key, default, "choice", aliases=aliases, read=read, report_default=report_default)


def optional(word: str, key: str, default: Default, letter: str, meaning: str, *aliases: str) -> Field:
    """Declare a size that an explicit null switches off; an absent key takes the default.

    >>> from weighbridge.config.bind import bind
    >>> rank = optional("q_lora", "q_lora_rank", 1536, "R", "query rank")
    >>> bind((rank,), {"q_lora_rank": None}).q_lora, bind((rank,), {}).q_lora
    (None, 1536)
    """
    return Field(word, key, default, "size", letter, meaning, aliases, nullable=True)


def constant(word: str, value: Any) -> Field:
    """Declare a concrete value that no key states: a trait of the architecture, or what *value* tells from the fields above.

    A fact that sizes decide (whether two are equal, the kinds of the layers) is computed once, from ints,
    and stays as it is when symbols or columns take their place.

    >>> constant("gated", True).kind
    'choice'
    """
    return Field(word, "", value, "choice", report_default=False)


def variant(fields: tuple[Field, ...], *more: Field, **changes: Any) -> tuple[Field, ...]:
    """Return *fields* but for some: one structure under another name.

    Args:
        fields: The fields of the structure.
        more: Declarations that take the place of the field of their word, the last of several; what has no such field stands at the end.
        changes: By word: another default, or a declaration of another word.

    Raises:
        KeyError: A change names no field.

    >>> BASE = (size("hidden", "hidden_size", 768, "H", ""), switch("bias", "use_bias", True))
    >>> [field.default for field in variant(BASE, constant("bias", False), hidden=1024)]
    [1024, False]
    """
    renamed = {word for word, change in changes.items() if isinstance(change, Field) and change.word != word}
    placed = {field.word: field for field in more if field.word not in renamed}
    result = []
    for field in fields:
        field = placed.pop(field.word, field)
        change = changes.pop(field.word, _SAME)
        if isinstance(change, Field):
            field = change
        elif change is not _SAME:
            field = field._replace(default=change)
        result.append(field)
    if changes:
        raise KeyError(f"no such fields: {', '.join(changes)}")
    return (*result, *(field for field in more if field.word in placed or field.word in renamed))


def sequence(word: str, key: str, default: Default, *aliases: str, read: Callable[[Any], Any] | None = None) -> Field:
    """Declare a list (layer kinds, stage widths), always concrete."""
    return Field(word, key, default, "sequence", aliases=aliases, read=read)


def derived(word: str, rule: Callable[[Config], Any], *keys: str) -> Field:
    """Declare a size that follows from others; *keys* name the config keys to blame when it cannot.

    >>> derived("head_dim", lambda c: c.hidden // c.heads, "hidden_size", "num_attention_heads").kind
    'derived'
    """
    return Field(word, "", rule, "derived", aliases=keys)


def computed(word: str, rule: Callable[[Config], Any]) -> Field:
    """Declare a fact that the fields above tell, such as whether two sizes differ: concrete, so it may be branched on.

    >>> from weighbridge.config.bind import bind
    >>> fields = (size("a", "a", 1, "a", ""), size("b", "b", 2, "b", ""), computed("unlike", lambda c: c.a != c.b))
    >>> bind(fields, {}).unlike
    True
    """

    def concrete(c: Config) -> Any:
        # Two quantities compare by identity; the answer would be wrong without a word.
        assert not any(isinstance(value, Quantity) for value in vars(c).values()), f"{word} can be computed only from numbers"
        return rule(c)

    return Field(word, "", concrete, "choice", report_default=False)


class AtInit:
    """A default that the reference's config class derives as it is made, before it puts aliases in their place.

    An alias (``attribute_map``) reaches such a class after its derivations: of a T5 with ``num_hidden_layers: 3``, the
    decoder has as many layers as the class's default, since ``num_layers`` was still that when it was derived.

    >>> from weighbridge.config.bind import bind
    >>> fields = (size("layers", "num_layers", 6, "L", "", "n_layer"), size("decoder", "decoder_layers", AtInit(lambda c: c.layers), "D", ""))
    >>> bind(fields, {"num_layers": 3}).decoder, bind(fields, {"n_layer": 3}).decoder
    (3, 6)
    """

    __slots__ = ("rule",)

    def __init__(self, rule: Callable[[Config], Any]) -> None:
        self.rule = rule

    def __call__(self, c: Config) -> Any:
        return self.rule(c)


def settable(word: str, key: str, rule: Callable[[Config], Any], letter: str, meaning: str, *, minimum: int = 1) -> Field:
    """Declare a size that the config class derives from others as it is made, and yet takes as it stands where a config has the key.

    The reference writes such keys into its files. One that says something else than the others is followed, with a note.

    >>> from weighbridge.config.bind import bind
    >>> fields = (size("hidden", "hidden_size", 768, "H", ""), settable("inner", "intermediate_size", lambda c: 2 * c.hidden, "I", ""))
    >>> bind(fields, {}).inner, bind(fields, {"intermediate_size": 128}).inner
    (1536, 128)
    """
    return Field(word, key, AtInit(rule), "size", letter, meaning, minimum=minimum, report_default=False)


def nested(word: str, key: str, fields: tuple[Field, ...]) -> Field:
    """Declare a sub-config, such as ``text_config``, with its own fields."""
    return Field(word, key, None, "nested", fields=fields)


# Sizes that many families have, declared once: a family says which default its reference class has, as in ``HIDDEN.with_default(768)``.
HIDDEN = size("hidden", "hidden_size", None, "H", "hidden size")
VOCAB = size("vocab", "vocab_size", None, "V", "vocabulary size")
HEADS = size("heads", "num_attention_heads", None, "A", "attention heads")
LAYERS = size("layers", "num_hidden_layers", None, "L", "layers")
MLP = size("mlp", "intermediate_size", None, "I", "intermediate size")
PATCH = size("patch", "patch_size", None, "P", "patch size")
HEAD_DIM = size("head_dim", "head_dim", None, "D", "head dimension")
POSITIONS = size("positions", "max_position_embeddings", None, "S", "positions")
KV_HEADS = size("kv_heads", "num_key_value_heads", None, "K", "key-value heads")
D_MODEL = size("hidden", "d_model", None, "H", "hidden size", "hidden_size")
ACTIVE_EXPERTS = size("active", "num_experts_per_tok", None, "k", "experts per token")
MEL_BINS = size("mels", "num_mel_bins", None, "M", "mel bins")
IMAGE = size("image", "image_size", None, "R", "image size")
NUM_EXPERTS = size("experts", "num_experts", None, "E", "experts")
N_HEAD = size("heads", "n_head", None, "A", "attention heads", "num_attention_heads")
OBJECT_QUERIES = size("queries", "num_queries", None, "Q", "object queries")
TOKEN_TYPES = size("types", "type_vocab_size", None, "T", "token types")
N_LAYER = size("layers", "n_layer", None, "L", "layers", "num_hidden_layers")
EMBEDDING_SIZE = size("embedding", "embedding_size", None, "E", "embedding size")
SPATIAL_MERGE = size("merge", "spatial_merge_size", None, "M", "patches merged along an axis")
NUM_LAYERS = size("layers", "num_layers", None, "L", "layers", "num_hidden_layers")
FFN_DIM = size("mlp", "ffn_dim", None, "I", "intermediate size")
NUM_LOCAL_EXPERTS = size("experts", "num_local_experts", None, "E", "experts")
MLP_DIM = size("mlp", "mlp_dim", None, "I", "intermediate size")
PROJECTION_DIM = size("projected", "projection_dim", None, "E", "width of the shared space")
NUM_HEADS = size("heads", "num_heads", None, "A", "attention heads", "num_attention_heads")
IN_CHANNELS = size("channels", "in_channels", None, "N", "image channels")
N_INNER = size("mlp", "n_inner", None, "I", "intermediate size")
INDEX_HEADS = size("index_heads", "index_n_heads", None, "J", "heads of the indexer")
INDEX_HEAD_DIM = size("index_dim", "index_head_dim", None, "Y", "head dimension of the indexer")
Q_LORA_RANK = size("q_lora", "q_lora_rank", None, "Q", "rank of the queries")
NUM_FRAMES = size("frames", "num_frames", None, "T", "frames")
N_EMBD = size("hidden", "n_embd", None, "H", "hidden size", "hidden_size")
SHARED_EXPERT_MLP = size("shared_mlp", "shared_expert_intermediate_size", None, "S", "intermediate size of the shared expert")
D_FF = size("mlp", "d_ff", None, "I", "intermediate size")
HIDDEN_DIM = size("hidden", "hidden_dim", None, "H", "hidden size", "hidden_size")
N_LAYERS = size("layers", "n_layers", None, "L", "layers", "num_hidden_layers")
N_HEADS = size("heads", "n_heads", None, "A", "attention heads", "num_attention_heads")
PREDICTION_LENGTH = size("ahead", "prediction_length", None, "F", "forecast steps")
CONTEXT_LENGTH = size("back", "context_length", None, "B", "past steps")
MAMBA_D_STATE = size("state", "mamba_d_state", None, "N", "state size")
MAMBA_D_CONV = size("kernel", "mamba_d_conv", None, "Z", "kernel size of the convolution")
MAMBA_EXPAND = size("expand", "mamba_expand", None, "X", "ratio of inner width to hidden size")
CODEBOOKS = size("codebooks", "num_codebooks", None, "B", "codebooks")

LABELS = Field("labels", "num_labels", 2, "labels", "C", "number of labels")
"""How many labels a head has: ``num_labels``, else the length of ``id2label``, else 2."""

TIED = switch("tied", "tie_word_embeddings", True)
"""Whether the head shares the word embeddings' storage."""


def _has_cross_attention(c: Config) -> bool:
    if c.cross and not c.decoder:
        raise ConfigError("cross-attention is for decoders", key="add_cross_attention", value=True, hint="set is_decoder as well")
    return bool(c.cross)


DECODER = (switch("decoder", "is_decoder", False), switch("cross", "add_cross_attention", False), derived("crossed", _has_cross_attention))
"""The switches that give an encoder of BERT's kind a cross-attention in each layer; one without the other is refused."""


def with_changes(c: Config, **values: Any) -> Config:
    """Return sizes that are *c* but for *values*: what an outer model changes in a config it hands on.

    >>> with_changes(Config(hidden=768, pooled=True), pooled=False).pooled
    False
    """
    return _ChangedConfig(beneath_=c, **values)


class _ChangedConfig(Config):
    def __getattr__(self, word: str) -> Any:
        return getattr(self.__dict__["beneath_"], word)


_SAME = object()
