"""How each sentence of a derivation is checked: by the shapes and roles of the tensors, or by counting a changed config once more.

None of the checks asks the functions that chose the sentence."""

import re
from collections.abc import Callable

from tests.property.sentence_case import SentenceCase, heads_count, heads_do_not_count, number, numel, shared_heads, walk_parts, whole
from weighbridge.core.tree import Attend, Part, State, Tensor, positions
from weighbridge.explain.section import Section, lines
from weighbridge.explain.symbolic import symbolic


def has_window(said: SentenceCase) -> None:
    assert {attend.window for attend in said.attends()} == {whole(said.values["window"])}


def without_parameters(said: SentenceCase) -> None:
    assert said.kinds() <= {"linear"}
    assert said.attends()


def maps_of_attention(said: SentenceCase) -> None:
    assert said.kinds() & {"linear", "weight_norm"}
    assert len([t for t in said.parameters() if t.role == "weight"]) >= 2


def attention(said: SentenceCase) -> None:
    assert said.attends()


def of_decoder(said: SentenceCase) -> None:
    assert any("decoder" in path or any(part.kind == "decoder" for _, part in said.parts()) for path, _, _ in said.own())
    assert any(attend.keys is not None for attend in said.attends()) or any(
        part.stream is not None for path, part in said.parts() if any(own.startswith(path) for own, _, _ in said.own())
    )


def has_two_maps(title: str) -> Callable[[SentenceCase], None]:
    def check(said: SentenceCase) -> None:
        down, up = said.weights(f"{title}, compressed")[0], said.weights(f"{title}, expanded")[0]
        assert int(str(up.shape[1])) <= int(str(down.shape[0]))  # the rotary part of a key is not expanded

    return check


def has_one_query_map(said: SentenceCase) -> None:
    assert said.weights("query")
    assert not said.weights("query, compressed")


def small_cache(said: SentenceCase) -> None:
    kept = {attend.cache for attend in said.attends()}
    assert kept == {whole(said.values["kept"])}
    assert whole(said.values["kept"]) < whole(said.values["whole"])


def by_position(said: SentenceCase) -> None:
    assert all(len(tensor.shape) <= 2 for tensor in said.parameters())


def has_gate(said: SentenceCase) -> None:
    assert isinstance(said.place, Section)
    together = max(
        len(line.title.split(", ")) for line in lines(said.place) if "down" in line.title.split(", ")
    )  # Arctic's three are one line
    assert numel([t for t in said.parameters() if t.role == "weight"]) * together == 3 * numel(said.weights("down"))


def plain(said: SentenceCase) -> None:
    assert numel(said.weights("up")) == numel(said.weights("down"))
    assert not said.weights("gate")


def is_stack_of(number: int, part: Part, tensor: Tensor) -> bool:
    return part.kind == "experts" and len(tensor.shape) == 2 and int(str(tensor.shape[0])) % number == 0


def experts(said: SentenceCase) -> None:
    number, active = whole(said.values["experts"]), whole(said.values["active"])
    around = [
        part
        for path, part in said.parts()
        if part.experts is not None and any(own.startswith(path.rpartition(".")[0]) for own, _, _ in said.own())
    ]
    assert {(part.experts, part.active) for part in around} == {(number, active)}
    assert all(
        part.repeat == number
        or any(
            number in t.shape[:1] or is_stack_of(number, inner, t)
            for _, inner in walk_parts(part)
            for t in inner.children
            if isinstance(t, Tensor)
        )
        for part in around
    )
    counts = said.model.count()
    assert active == number or int(str(counts.active)) < int(str(counts.unique))


def shared_experts(said: SentenceCase) -> None:
    for path, part in said.parts():
        if path.rsplit(".", 1)[-1] in ("shared_expert", "shared_experts", "shared_mlp"):
            assert all(inner.experts is None for _, inner in walk_parts(part))


def roles(*wanted: str, kind: str = "") -> Callable[[SentenceCase], None]:
    def check(said: SentenceCase) -> None:
        assert {tensor.role for tensor in said.parameters()} == set(wanted)
        assert not kind or said.kinds() == {kind}
        assert not any(tensor.frozen for tensor in said.parameters()) or not said.place.says[0].startswith("Learned")

    return check


def tables(said: SentenceCase) -> None:
    found = [tensor for tensor in said.parameters() if tensor.role == "embedding"]
    assert len({tensor.shape[-1] for tensor in found}) == 1 < len(found)
    assert all(len(tensor.shape) == 2 for tensor in found)


def page_tables(said: SentenceCase) -> None:
    """The upper and lower edges of a box are rows of one table (LayoutLMEmbeddings.forward looks x_position_embeddings up twice)."""
    tables(said)
    assert any(path.endswith("x_position_embeddings") for path, _, _ in said.own())


def token_table(said: SentenceCase) -> None:
    found = [tensor for tensor in said.parameters() if tensor.role == "embedding"]
    assert (
        len([tensor for tensor in found if len(tensor.shape) == 2]) == 1
    )  # beside it a single vector may stand, such as one for the end of an image


def patches(said: SentenceCase) -> None:
    kernels = [tensor.shape[2:] for tensor in said.parameters() if len(tensor.shape) > 2]
    assert kernels
    assert all(len(kernel) >= 1 for kernel in kernels)


def kernels_larger(said: SentenceCase) -> None:
    kernels = [tensor.shape[2:] for tensor in said.parameters() if tensor.role == "weight" and len(tensor.shape) > 2]
    assert kernels
    assert all(any(side != 1 for side in kernel) for kernel in kernels)


def kernels_of_one(said: SentenceCase) -> None:
    kernels = [tensor.shape[2:] for tensor in said.parameters() if tensor.role == "weight" and len(tensor.shape) > 2]
    assert kernels
    assert all(side == 1 for kernel in kernels for side in kernel)


def part_of(said: SentenceCase) -> Part:
    assert isinstance(said.place, Section)
    found = [part for path, part in said.parts() if path == said.place.path]
    mine = [
        part
        for part in found
        if (part.repeat or 1) == said.place.copies
        and (not said.place.where or said.place.where.startswith(str(next(iter(positions(part))))))
    ]
    return (mine or found)[0]


def recurrent(said: SentenceCase) -> None:
    states = [node for _, part in said.parts() for node in part.children if isinstance(node, State)]
    assert any(node.name == "recurrent_state" and isinstance(node.size, int) for node in states)
    without_attention(said)


def without_attention(said: SentenceCase) -> None:
    own = {path for path, _, _ in said.own()}
    for path, part in said.parts():
        if any(isinstance(node, Attend) for node in part.children):
            assert not path or not any(inner == path or inner.startswith(path + ".") for inner in own)


def alike(said: SentenceCase) -> None:
    assert isinstance(said.place, Section)
    assert said.place.copies > 1
    assert all(t.tied_to is None for _, inner in walk_parts(part_of(said)) for t in inner.children if isinstance(t, Tensor))


def partly_tied(said: SentenceCase) -> None:
    assert isinstance(said.place, Section)
    assert said.place.copies > 1
    assert any(t.tied_to for _, inner in walk_parts(part_of(said)) for t in inner.children if isinstance(t, Tensor))


def shared_runs(said: SentenceCase) -> None:
    part = part_of(said)
    assert part.executions == whole(said.values["run"])
    assert whole(said.values["run"]) > whole(said.values["stored"]) == part.repeat


def stack(said: SentenceCase) -> None:
    assert any(inner.repeat is not None and inner.kind != "embedding" for _, inner in walk_parts(part_of(said)))


def writes_tokens(said: SentenceCase) -> None:
    part = part_of(said)
    assert any(isinstance(node, Attend) and node.causal for _, inner in walk_parts(part) for node in inner.children)


def one_map(said: SentenceCase) -> None:
    assert len([t for t in said.parameters() if t.role == "weight"]) == 1


def of_kind(*kinds: str) -> Callable[[SentenceCase], None]:
    def check(said: SentenceCase) -> None:
        assert said.place.kind in kinds or kinds == ()

    return check


def linear(said: SentenceCase) -> None:
    for tensor in said.parameters():
        assert len(tensor.shape) == (2 if tensor.role == "weight" else 1)
    assert ("bias" in {tensor.role for tensor in said.parameters()}) == ("bias for" in said.place.says[0])


def convolution(said: SentenceCase) -> None:
    for tensor in said.parameters():
        assert tensor.role == "bias" or len(tensor.shape) >= 3
    assert ("bias" in {tensor.role for tensor in said.parameters()}) == ("bias for" in said.place.says[0])


def is_transposed(said: SentenceCase) -> None:
    weight, bias = (next(tensor for tensor in said.parameters() if tensor.role == role) for role in ("weight", "bias"))
    assert bias.shape[0] != weight.shape[0]
    assert int(str(bias.shape[0])) % int(str(weight.shape[1])) == 0


def stacked_experts(said: SentenceCase) -> None:
    numbers = {part.experts for _, part, _ in said.own()} - {None}  # None: the config does not say how many are picked
    assert {tensor.shape[0] for tensor in said.parameters()} == (numbers or {said.parameters()[0].shape[0]})


def experts_below_another(said: SentenceCase) -> None:
    for _, part, _ in said.own():
        assert isinstance(part.experts, int)
        assert all(len(tensor.shape) == 2 and int(str(tensor.shape[0])) % part.experts == 0 for tensor in said.parameters())


def fixed(said: SentenceCase) -> None:
    assert all(tensor.frozen for tensor in said.parameters())
    counts = said.model.count()
    assert int(str(counts.trainable)) < int(str(counts.unique))


def ends(said: SentenceCase) -> None:
    shapes = [sorted(int(str(size)) for size in tensor.shape) for tensor in said.parameters() if tensor.role == "weight"]
    values = symbolic(said.model)[2]
    into, out = number(said.values["into"], values), number(said.values.get("out", "1"), values)
    assert sorted((into, out)) in shapes, "of unlike modules under one name the line is one"
    assert all(tensor.shape == (out,) for tensor in said.parameters() if tensor.role == "bias")


def rows(said: SentenceCase) -> None:
    values = symbolic(said.model)[2]
    assert said.parameters()[0].shape == (number(said.values.get("rows", "1"), values), number(said.values["width"], values))


def scores(said: SentenceCase) -> None:
    """The head has as many outputs as the config names tokens; it may share its matrix with a table of as many rows."""
    values = symbolic(said.model)[2]
    words = {letter for letter, symbol in symbolic(said.model)[1].items() if symbol.word == "vocab"}
    assert {tensor.shape[0] for tensor in said.parameters() if tensor.role in ("weight", "embedding")} <= {values[word] for word in words}


FIXED_POSITIONS = frozenset(
    "albert bart bert bloom camembert clip distilbert electra gpt2 gpt_neo marian mpt opt roberta t5 vit whisper xlnet".split()
)


def rotary(said: SentenceCase) -> None:
    """These types are known to have tables, biases or sinusoids; ``tests/unit/truth/test_rotary.py`` asks the live classes of the others."""
    assert said.attends()
    assert said.model.description is not None
    assert said.model.description.family.model_type not in FIXED_POSITIONS


def partly_rotary(said: SentenceCase) -> None:
    """The heads are as wide as is said; the part is a size of its own that the config names after rotation, or a stated share."""
    rotary(said)
    part, width = whole(said.values["part"]), whole(said.values["whole"])
    assert 0 < part < width
    assert {attend.head_dim for attend in said.attends()} == {width}
    own = {symbolic(said.model)[2][letter] for letter, symbol in symbolic(said.model)[1].items() if symbol.key.endswith("rope_head_dim")}
    assert said.model.description is not None
    stated = re.findall(r"'(?:rotary_dim|partial_rotary_factor|rotary_pct)': ([\d.]+)", str(said.model.description.raw))
    assert part in own or any(part in (int(width * float(value)), float(value)) for value in stated)


def spectrogram(said: SentenceCase) -> None:
    """With one more mel bin the part that is meant grows."""
    bins = whole(said.values["bins"])
    key = next(
        symbol.key
        for letter, symbol in symbolic(said.model)[1].items()
        if symbol.word == "mels" and symbolic(said.model)[2][letter] == bins
    )
    assert any(bins in tensor.shape[1:] for tensor in said.parameters() if tensor.role == "weight")
    other = said.changed(**{key: bins * 2})
    assert other is None or other.count().unique != said.model.count().unique


def sinks(said: SentenceCase) -> None:
    (tensor,) = said.parameters()
    assert {tensor.shape} == {(attend.heads,) for attend in said.attends()}


def one_vector(said: SentenceCase) -> None:
    roles("embedding")(said)
    for tensor in said.parameters():
        assert numel([tensor]) == tensor.shape[-1]


def one_factor(said: SentenceCase) -> None:
    roles("gain")(said)
    assert all(numel([tensor]) == 1 for tensor in said.parameters())


def bias_of_distances(said: SentenceCase) -> None:
    (tensor,) = {tensor.shape: tensor for tensor in said.parameters()}.values()
    (heads,) = {attend.heads for attend in said.attends()}
    assert tensor.shape[1] == heads
    assert all(tensor.role == "embedding" for tensor in said.parameters())


def kernels(said: SentenceCase) -> None:
    values = symbolic(said.model)[2]
    many, size = number(said.values["number"], values), number(said.values["size"], values)
    weights = [tensor for tensor in said.parameters() if tensor.role == "weight"]  # of several layers with one path
    assert any(tensor.shape[0] == many and numel([tensor]) == many * size for tensor in weights)


def one_shared_expert(said: SentenceCase) -> None:
    """No size that the config names after the number of shared experts is more than one."""
    shared_experts(said)
    table, values = symbolic(said.model)[1:]
    assert {values[letter] for letter, symbol in table.items() if symbol.key.endswith("shared_experts")} <= {1}


CHECKS: dict[str, Callable[[SentenceCase], None]] = {
    "Queries, keys and values are linear maps of the input; the results of all heads are concatenated and mapped once more.": maps_of_attention,
    "Each position gathers values from the others, weighted by how well its query matches their keys.": attention,
    "All {heads} query heads share one key-value head: keys and values are mapped to one head only.": shared_heads,
    "{heads} query heads share {shared} key-value heads, {each} to each: keys and values are mapped to {shared} heads only.": shared_heads,
    "The heads share the width, so any number of heads that divides it gives the same count.": heads_do_not_count,
    "The head dimension is set independently, so more heads mean more parameters.": heads_count,
    "A token sees at most {window} tokens (a sliding window), which saves cache and arithmetic, but no parameters.": has_window,
    "Scores, softmax and the weighted sum have no parameters.": without_parameters,
    "Queries come from the decoder, keys and values from the sequence it attends to, usually the encoder's output.": of_decoder,
    "Queries come from one sequence, keys and values from another.": of_kind(),
    "Keys and values are compressed to one vector that all heads share, and expanded from it to each head.": has_two_maps("key and value"),
    "Queries too are compressed to a vector first, and expanded from it to the heads.": has_two_maps("query"),
    "Queries are projected directly, without compression.": has_one_query_map,
    "The cache keeps {kept} numbers for each token and layer, not the {whole} of all heads' keys and values.": small_cache,
    "Each position passes through the same maps independently.": by_position,
    "Gated: the input is mapped twice to the inner width, one result gates the other, and the product is mapped back: three maps, where a"
    " plain network has two.": has_gate,
    "One linear map widens to the inner width, one leads back; the activation between them has no parameters.": plain,
    "A router scores {experts} experts for each token and picks {active}; all {experts} are stored, {active} are used.": experts,
    "Of {experts} experts, {active} process a token; all {experts} are stored.": experts,
    "A router scores {experts} experts for each token and picks 1; all {experts} are stored, 1 is used.": experts,
    "Of {experts} experts, 1 processes a token; all {experts} are stored.": experts,
    "The shared experts process every token.": shared_experts,
    "The shared expert processes every token.": one_shared_expert,
    "Each vector is divided by its root mean square, then each component is multiplied by a learned gain.": roles("gain", kind="rms_norm"),
    "Each vector is centred and divided by its standard deviation, then each component is multiplied by a learned gain.": roles(
        "gain", kind="layer_norm"
    ),
    "Each vector is centred and divided by its standard deviation, then multiplied by learned gains and moved by learned shifts.": roles(
        "gain", "shift", kind="layer_norm"
    ),
    "Lookup tables: each position takes one row from each, and the rows are added.": tables,
    "Lookup tables: each position takes rows from each, and the rows are added.": page_tables,
    "A lookup table: each token takes its row.": token_table,
    "An image is cut into patches, and one convolution maps each patch to a vector.": patches,
    "Neighbouring positions are mixed by learned kernels.": kernels_larger,
    "Kernels of size 1: a linear map of each position separately.": kernels_of_one,
    "Positions are mixed by a recurrence instead of attention: all that is kept of the text so far is a state of fixed size.": recurrent,
    "Positions are mixed without attention.": without_attention,
    "Layers of the same shape, each with parameters of its own.": alike,
    "Layers of the same shape; what they share is counted where it stands first.": partly_tied,
    "Stored {stored} times, run {run} times: all runs share the parameters.": shared_runs,
    "Stored once, run {run} times: all runs share the parameters.": shared_runs,
    "A stack of layers.": stack,
    "A stack of layers that generates one token after another: a position sees itself and those before it.": writes_tokens,
    "A linear map of one vector that stands for the whole input.": one_map,
    "Turns hidden vectors into the outputs of the task.": of_kind(),
    "Gives each token of the vocabulary a score (a logit).": scores,
    "Positions enter by rotating queries and keys (rotary embeddings), which takes no parameters.": rotary,
    "Positions enter by rotating {part} of the {whole} dimensions of each query and key (rotary embeddings), which takes no parameters.": partly_rotary,
    "Its input is a spectrogram, with {bins} mel bins in each frame.": spectrogram,
    "One learned score for each head; it takes part in the softmax, but no value belongs to it.": sinks,
    "{number} kernels of {size}": kernels,
    "1 kernel of {size}": kernels,
    "Turns an image into vectors.": of_kind("vision", "model", ""),
    "Turns sound into vectors.": of_kind("audio", "model", ""),
    "Turns text into vectors.": of_kind("text", "model", ""),
    "Maps vectors into the space in which another part of the model takes them, or in which they are compared.": of_kind(),
    "Linear map without bias: inputs × outputs weights.": linear,
    "Linear map: inputs × outputs weights, and one bias for each output.": linear,
    "A table with one learned vector in each row.": roles("embedding"),
    "One gain γ and one shift β for each component.": roles("gain", "shift"),
    "One gain γ for each component, no shift.": roles("gain"),
    "Convolution without bias: output channels × input channels of a group × kernel.": convolution,
    "Convolution: output channels × input channels of a group × kernel, and one bias for each output channel.": convolution,
    "Transposed convolution: input channels × output channels × kernel, and one bias for each output channel.": is_transposed,
    "The matrices of all experts in one array; its first size is the number of experts.": stacked_experts,
    "The matrices of all experts, one below another in one array; its first size is experts × inner size.": experts_below_another,
    "Learned vectors.": roles("embedding"),
    "A learned vector.": one_vector,
    "One learned number for each relative position and head.": bias_of_distances,
    "Learned values that are added.": roles("bias"),
    "Learned factors.": roles("gain"),
    "A learned factor.": one_factor,
    "Fixed values: stored and counted, but not trained.": fixed,
    "from {into} inputs to {out} outputs": ends,
    "from {into} inputs to 1 output": ends,
    "1 row of {width}": rows,
    "{rows} rows of {width}": rows,
}
"""Every sentence that a derivation may say of a part, and how it is checked."""
