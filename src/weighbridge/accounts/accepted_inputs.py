"""What can be put into a model: which inputs it takes, and how many tokens it has learned positions for."""

from __future__ import annotations

from weighbridge.accounts.inputs import Inputs, inputs
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.last import keep_last
from weighbridge.core.length import Length, Stream, evaluate, names
from weighbridge.core.messages import Text, mark
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Attend, Matmul, Part, Tensor, walk
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TABLES = frozenset(
    "position_embeddings position_embedding embed_positions wpe positions_embed char_position_embeddings position_embeds_layer".split()
)
"""What modules of the reference are called that look a token's place up in a table."""


UNBOUNDED = {
    "fsmt": "SinusoidalPositionalEmbedding makes its table anew where it is too short",
    "prophetnet": "ProphetNetPositionalEmbeddings takes the last place for all beyond it",
    "tapas": "TapasEmbeddings counts places within cells, and takes the last for all beyond it",
}
"""Model types whose tables bear more tokens than they have rows.

Source: transformers 5.23.0, the modules named, under models/.
"""


AFTER_PADDING = frozenset(
    """altclip_text_model camembert clap_text_model data2vec-text ibert longformer luke mpnet roberta roberta-prelayernorm xlm-roberta
    xlm-roberta-xl xmod""".split()
)
"""Model types whose places begin after that of the padding token.

Source: transformers 5.23.0, ``create_position_ids_from_input_ids`` of each.
"""


def refuse_impossible(model: ModelValue, given: Inputs) -> None:
    """Refuse what cannot be put into a model: images where it sees none, more tokens than it has positions for.

    Raises:
        UsageError: With the input's name and what is wrong with it.

    >>> from weighbridge import model
    >>> refuse_impossible(model("bert-base-uncased"), Inputs(decoder_seq=7))
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: decoder_seq: BertModel has no decoder beside an encoder
    """
    tree, name = model.tree, model.class_name or "this model"
    parts = [part for _, part in walk(tree)]
    optional = {part.requires for part in parts}
    seen = {stream for part in parts for stream in length_names(part)}
    one_image = "images" not in optional | seen and any(part.kind == "vision" for part in parts)
    for entry, stream, why in BESIDE:
        if getattr(given, entry) is not None and stream not in optional | seen and not (entry == "images" and one_image):
            raise UsageError(Text(why, name=name))
    if one_image and given.images not in (None, 1):
        raise UsageError(Text("images: {name} takes one image with each text; more examples are a larger batch", name=name))
    if given.question is not None and given.question > given.seq:
        raise UsageError(Text("question: it is longer than the text of {seq} tokens", seq=f"{given.seq:,}"))
    if given.patches is not None and given.images is None:
        if "images" in optional:
            raise UsageError(Text("patches: of how many images? say how many images each example has"))
        if "rows" not in seen:
            raise UsageError(Text("patches: {name} reads no images of any size", name=name))
    refuse_failing(model, given)


def without_decoder(model: ModelValue, given: Inputs) -> Inputs:
    """Return *given* without the length of a decoder, for a model that has none beside an encoder: there it says nothing.

    >>> from weighbridge import model
    >>> without_decoder(model("gpt2"), Inputs(decoder_seq=3)).decoder_seq, without_decoder(model("t5-small"), Inputs(decoder_seq=3)).decoder_seq
    (None, 3)
    """
    if given.decoder_seq is None or any("decoder" in length_names(part) for _, part in walk(model.tree)):
        return given
    return given._replace(decoder_seq=None)


ONE_SECOND = 16_000
"""What is taken of a wave whose convolutions need more samples than a text has tokens: one second at 16 kHz."""

BESIDE = (
    ("images", "images", mark("images: {name} takes no images")),
    ("audios", "audios", mark("audios: {name} takes no audio")),
    ("decoder_seq", "decoder", mark("decoder_seq: {name} has no decoder beside an encoder")),
    ("encoder_seq", "encoder", mark("encoder_seq: {name} has no cross-attention that looks at the states of an encoder")),
    ("question", "question", mark("question: it sees no more than other tokens in {name}")),
)
"""An input, the length that stands for it in trees, and what is said where a tree has none."""


def refuse_failing(model: ModelValue, given: Inputs) -> None:
    """Refuse what no forward pass runs on: heads that do not share keys evenly, more tokens than positions, too short an input for a convolution.

    Raises:
        UsageError: The forward pass would fail.

    >>> from weighbridge import model
    >>> refuse_failing(model("wav2vec2-base"), Inputs(seq=399))
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: seq: Wav2Vec2ForPreTraining needs an input of at least 400; 399 is too short
    """
    refuse_uneven_heads(model)
    convolved = _convolutions(model.tree)
    if not _is_long_enough(convolved, given):
        from bisect import bisect_left

        least = bisect_left(range(1, LONGEST_KERNELS), True, key=lambda seq: _is_long_enough(convolved, given._replace(seq=seq))) + 1
        raise UsageError(
            Text(
                "seq: {name} needs an input of at least {least}; {seq} is too short",
                name=model.class_name or "this model",
                least=f"{least:,}",
                seq=f"{given.seq:,}",
            )
        )
    decoder_seq = given.seq if given.decoder_seq is None else given.decoder_seq
    asked = {"seq": ("seq", given.seq), "decoder": ("decoder_seq", decoder_seq)}
    for stream, rows in places(model).items():
        entry, tokens = asked[stream]
        if tokens > rows:
            raise UsageError(
                Text(
                    "{entry}: {name} has learned positions for {rows} tokens; {tokens} are too many",
                    entry=entry,
                    name=model.class_name or "this model",
                    rows=f"{rows:,}",
                    tokens=f"{tokens:,}",
                )
            )


LONGEST_KERNELS = 1 << 20
"""An input of which any model's convolutions leave something."""


def refuse_uneven_heads(model: ModelValue) -> None:
    """Refuse attention whose heads do not share the heads of keys and values evenly.

    Raises:
        UsageError: They do not.

    >>> from weighbridge import model
    >>> refuse_uneven_heads(model("llama-3-8b", overrides={"num_key_value_heads": 3}))
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: LlamaForCausalLM: 32 attention heads cannot share 3 heads of keys and values evenly, so its forward pass fails
    """
    uneven = _uneven_heads(model.tree)
    if uneven is not None:
        raise UsageError(
            Text(
                "{name}: {heads} attention heads cannot share {kv_heads} heads of keys and values evenly, so its forward pass fails",
                name=model.class_name or "this model",
                heads=uneven[0],
                kv_heads=uneven[1],
            )
        )


@keep_last
def _uneven_heads(tree: Part) -> tuple[int, int] | None:
    """Return the heads of attention, and of its keys and values, where the one number does not divide the other."""
    attention = (node for _, part in walk(tree) for node in part.children if isinstance(node, Attend))
    pairs = ((node.heads, node.kv_heads) for node in attention)
    return next(((heads, kv) for heads, kv in pairs if isinstance(heads, int) and isinstance(kv, int) and heads % kv), None)


@keep_last
def _convolutions(tree: Part) -> list[Length]:
    return list(_convolution_lengths(tree))


def _convolution_lengths(part: Part) -> Iterator[Length]:
    """Yield what convolutions make of a text or wave, as a length over ``seq``."""
    if part.requires is not None:
        return
    if part.kind == "convolution" and isinstance(part.stream, Length) and names(part.stream) == {"seq"}:
        yield part.stream
    for child in part.children:
        if isinstance(child, Part):
            yield from _convolution_lengths(child)


def _is_long_enough(convolved: list[Length], given: Inputs) -> bool:
    known: dict[str, Size] = {"seq": given.seq}
    try:
        return all(not isinstance(left := evaluate(stream, known), int) or left > 0 for stream in convolved)
    except UsageError:
        return True


def usual_lengths(model: ModelValue, usual: int, decoder_seq: int | None = None) -> tuple[int, int | None]:
    """Return the number of tokens where none is given: the usual number, or as many as there are positions; of a decoder, too.

    >>> from weighbridge import model
    >>> usual_lengths(model("gpt2"), 4096), usual_lengths(model("llama-2-7b"), 4096), usual_lengths(model("whisper-tiny"), 4096)
    ((1024, None), (4096, None), (4096, 448))
    >>> usual_lengths(model("wav2vec2-base"), 128)  # its convolutions need 400 samples: one second of audio
    (16000, None)
    """
    rows = places(model)
    seq = min(usual, rows.get("seq", usual))
    if reads_waves(model):
        seq = ONE_SECOND
    return seq, rows["decoder"] if decoder_seq is None and rows.get("decoder", seq) < seq else decoder_seq


def usual_inputs(model: ModelValue, given: Mapping[str, object] | None = None, /, **named: object) -> Inputs:
    """Read inputs as :func:`~weighbridge.accounts.inputs.inputs` does; where no number of tokens is given, it is :func:`usual_lengths`.

    >>> from weighbridge import model
    >>> usual_inputs(model("clip-vit-base-patch32")).seq, usual_inputs(model("gpt2"), batch=2).seq
    (77, 128)
    """
    said = {**(given or {}), **named}
    found = inputs(said)
    if said.get("seq") not in (None, "", 0):
        return found
    seq, decoder_seq = usual_lengths(model, found.seq, found.decoder_seq)
    return found._replace(seq=seq, decoder_seq=decoder_seq)


def reads_waves(model: ModelValue) -> bool:
    """Tell whether the convolutions need more samples than the usual text has tokens, as those over a waveform do.

    >>> from weighbridge import model
    >>> reads_waves(model("wav2vec2-base")), reads_waves(model("whisper-tiny")), reads_waves(model("gpt2"))
    (True, False, False)
    """
    return not _is_long_enough(_convolutions(model.tree), Inputs())


@keep_last
def places(model: ModelValue) -> dict[str, int]:
    """Return how many tokens of each stream have a learned position: the rows of its table, less those that no token takes.

    BART's and OPT's tables have two rows more than positions; RoBERTa's keep the rows up to the padding token's.

    >>> from weighbridge import model
    >>> places(model("gpt2")), places(model("opt-125m")), places(model("roberta-base")), places(model("llama-2-7b"))
    ({'seq': 1024}, {'seq': 2048}, {'seq': 512}, {})
    """
    if model.model_type in UNBOUNDED:
        return {}
    sizes = set(_numbers(model.description.sizes)) if model.description else set()
    padding = model.description.raw.get("pad_token_id") if model.description else None
    unused = 1 + (padding if type(padding) is int and padding >= 0 else 1) if model.model_type in AFTER_PADDING else 0
    found: dict[str, int] = {}
    for stream, rows in _tables(model.tree, "seq"):
        if isinstance(rows, int):
            usable = rows - 2 if rows not in sizes and rows - 2 in sizes else rows - unused
            found[stream] = min(usable, found.get(stream, usable))
    return found


def _numbers(sizes: Config) -> Iterator[int]:
    for value in vars(sizes).values():
        if isinstance(value, Config):
            yield from _numbers(value)
        elif type(value) is int:
            yield value


def _tables(part: Part, stream: object) -> Iterator[tuple[str, Size]]:
    if part.requires is not None:
        return
    stream = stream if part.stream is None else part.stream
    for child in part.children:
        if isinstance(child, Part):
            yield from _tables(child, stream)
        elif isinstance(child, Tensor) and part.name in TABLES and child.name == "weight" and stream in ("seq", "decoder"):
            assert isinstance(stream, str)
            yield stream, child.shape[0]


def as_examples(model: ModelValue, given: Inputs) -> Inputs:
    """Return *given* with images as examples, for a model that sees images and nothing else: each is one example.

    >>> from weighbridge import model
    >>> as_examples(model("vit-base-patch16-224"), Inputs(images=2)).batch
    2
    """
    if given.images is None or given.patches is not None or not is_vision_only(model.tree):
        return given
    return given._replace(batch=given.batch * given.images, images=None)


def is_vision_only(tree: Part) -> bool:
    """Tell whether a model takes only images: it looks up no tokens, and no part waits for images or text."""
    parts = [part for _, part in walk(tree)]
    if any(part.requires is not None or "rows" in length_names(part) or "seq" in length_names(part) for part in parts):
        return False
    return any(isinstance(part.stream, int) and part.stream > 1 for part in parts)


def length_names(part: Part) -> set[str]:
    """Return the names of the lengths that a part or its own operations see.

    >>> from weighbridge.core.length import length
    >>> length_names(Part("", stream=length("seq") // 2))
    {'seq'}
    """
    streams: list[Stream | None] = [part.stream]
    for child in part.children:
        if isinstance(child, Attend):
            streams += [child.queries, child.keys, child.groups]
        elif isinstance(child, Matmul):
            streams += [factor for factors in child.products for factor in factors]
    return set().union(*map(names, streams))
