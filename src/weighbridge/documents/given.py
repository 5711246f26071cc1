"""What is put into a model, in words: ``1 × 128 tokens``, ``1 × 128 encoder and 16 decoder tokens``, ``1 example of fixed size``."""

from __future__ import annotations

from weighbridge.accounts.accepted_inputs import length_names, reads_waves
from weighbridge.accounts.cache_windows import text_config
from weighbridge.accounts.flops import depends_on_length, flops_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Say, mark
from weighbridge.core.tree import walk

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.value import ModelValue

TOKENS = {
    (True, False): mark("{batch} × {seq} tokens{more}"),
    (True, True): mark("{batch} × {seq} encoder and {decoder} decoder tokens{more}"),
    (False, True): mark("{batch} × {decoder} decoder tokens{more}"),
}
"""By whether the arithmetic grows with what is read, and whether a decoder beside an encoder writes."""
WAVES = mark("{batch} × {seq} audio samples{more}")
FIXED = (mark("{batch} examples of fixed size{more}"), mark("{batch} example of fixed size{more}"))
UNKNOWN = (mark("{batch} examples{more}"), mark("{batch} example{more}"))


def describe_inputs(model: ModelValue, given: Inputs, say: Say = str, more: str = "") -> str:
    """Say how many examples are put in, and how many tokens each has, if the model takes any.

    Args:
        more: What an example holds beside its tokens.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> [describe_inputs(model(name), Inputs(seq=100)) for name in ("gpt2", "t5-small", "whisper-base")]
    ['1 × 100 tokens', '1 × 100 encoder and 100 decoder tokens', '1 × 100 decoder tokens']
    >>> [describe_inputs(model(name), Inputs()) for name in ("vit-base-patch16-224", "stable-diffusion-v1-5-unet")]
    ['1 example of fixed size', '1 example']
    >>> describe_inputs(model("wav2vec2-base"), Inputs(seq=16000))
    '1 × 16,000 audio samples'
    """
    decoder = given.seq if given.decoder_seq is None else given.decoder_seq
    written = any("decoder" in length_names(part) for _, part in walk(model.tree))
    form = TOKENS.get((_is_read(model, given._replace(decoder_seq=decoder) if written else given), written))
    if form == TOKENS[True, False] and reads_waves(model):
        form = WAVES
    if form is None:
        form = (FIXED if _is_known(model, given) else UNKNOWN)[given.batch == 1]
    return say(form).format(batch=f"{given.batch:,}", seq=f"{given.seq:,}", decoder=f"{decoder:,}", more=more)


def beyond_positions(model: ModelValue, given: Inputs, say: Say = str) -> list[str]:
    """Say that more tokens are asked for than the config states positions, where these bound no table.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> beyond_positions(model("llama-3-8b", overrides={"max_position_embeddings": 8192}), Inputs(seq=9000))
    ['The config states 8,192 positions: what 9,000 tokens cost is counted, but the model is not made for them.']
    """
    if model.description is None:
        return []
    stated = text_config(model.description.family.fields, model.description.raw)[1].get("max_position_embeddings")
    tokens = given.seq if given.decoder_seq is None else given.decoder_seq
    if type(stated) is not int or tokens <= stated:
        return []
    return [say(BEYOND).format(positions=f"{stated:,}", tokens=f"{tokens:,}")]


BEYOND = mark("The config states {positions} positions: what {tokens} tokens cost is counted, but the model is not made for them.")


def describe_lengths(model: ModelValue, batch: int, seq: int, say: Say = str) -> str:
    """Say for how many tokens a cache is, in a model that keeps one: the decoder's too, or the decoder's alone.

    >>> from weighbridge import model
    >>> [describe_lengths(model(name), 1, 100) for name in ("gpt2", "t5-small", "whisper-base")]
    ['1 × 100 tokens', '1 × 100 encoder and 100 decoder tokens', '1 × 100 decoder tokens']
    """
    lengths = set().union(*(length_names(part) for _, part in walk(model.tree)))
    form = TOKENS["seq" in lengths or "decoder" not in lengths, "decoder" in lengths]
    return say(form).format(batch=f"{batch:,}", seq=f"{seq:,}", decoder=f"{seq:,}", more="")


def _is_read(model: ModelValue, given: Inputs) -> bool:
    """Tell whether the arithmetic grows with the tokens that are read."""
    return _is_known(model, given) and depends_on_length(model, given)


def _is_known(model: ModelValue, given: Inputs) -> bool:
    """Tell whether the config determines the arithmetic."""
    try:
        flops_of(model, given)
    except UsageError:
        return False
    return True
