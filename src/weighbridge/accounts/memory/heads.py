"""What classes put on their bodies, on a tape: poolers, vocabulary heads, classifiers, and the loss."""

from __future__ import annotations

from weighbridge.accounts.memory.modules import activate, child, linear, norm, required_child, run_module
from weighbridge.accounts.memory.tower_forwards import pool_tower
from weighbridge.accounts.memory.values import BOOL, FLOAT, INDEX, Value, elements
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.accounts.memory.forward_pass import ForwardPass
    from weighbridge.accounts.memory.tape import Tape


def head(run: ForwardPass, class_name: str, tree: Part, body: Part, states: Value) -> Value:
    """Run the pooler and the heads of a class; returns what the last of them puts out.

    Raises:
        UsageError: A head that is not described.
    """
    pooler = child(body, "pooler")
    pooled = None if pooler is None else run_module(run.tape, body.name, lambda: pool(run, pooler, states))
    if run.style.pooling:
        pooled = run_module(run.tape, body.name, lambda: pool_tower(run, body, states))
    if class_name.endswith("ForTokenClassification"):
        pooled = None
    if class_name.endswith("ForMultipleChoice") and child(tree, "head") is not None:  # picked by an index
        for _ in range(1 if states.grad else 0):
            run.tape.save(Value((states.shape[0],), INDEX, grad=False), "index")
        pooled = run.tape.note("index", states, result=Value((states.shape[0], states.shape[2]), states.size, grad=states.grad))
    result = states
    if class_name.endswith("ForTokenClassification") and run.style.forward == "decoder" and child(tree, "classifier") is None:
        result = run.tape.drop(states, "tokens")
    if class_name.startswith("Electra") and class_name.endswith("ForMultipleChoice") and child(tree, "sequence_summary") is None:
        result = summarize(run, None, states, None)
    for part in tree.children:
        if not isinstance(part, Part) or part is body or part.kind in ("embedding", "encoder", "decoder"):
            continue
        if body is tree and part.name == "pooler":
            continue
        if part.name not in HEADS:
            if body is tree or not part.children:  # a part of the body itself
                continue
            raise UsageError(Text("activations: the head {name!r} of {class_name} is not described", name=part.name, class_name=class_name))
        given = states if part.name == "multiple_choice_head" else result
        found = run_module(run.tape, "", lambda part=part, given=given: HEADS[part.name](run, part, given, pooled))  # type: ignore[misc]
        result = result if part.name == "multiple_choice_head" else found
    if class_name.endswith("ForCausalLM") and run.style.forward == "decoder" and run.config.get("output_router_logits"):
        balance(run, body)
    if class_name.endswith("ForSequenceClassification") and len(result.shape) > 2:
        # the last token of each example is picked: where it stands is a second index, unless nothing pads
        padding = run.config.get("pad_token_id", run.style.padding)
        for _ in range(0 if not result.grad else 1 if padding is None else 2):
            run.tape.save(Value((run.batch,), INDEX), "index")
        result = run.tape.note("index", result, result=Value((run.batch, result.shape[-1]), result.size, grad=result.grad))
    return result


def balance(run: ForwardPass, body: Part) -> None:
    """Work out how evenly tokens are shared among experts, from the router's scores in every layer (``load_balancing_loss_func``)."""
    rows, experts = run.batch * run.lengths["seq"], None
    for layer in (part for part in body.children if isinstance(part, Part) and part.name == "layers"):
        experts = child(required_child(layer, "mlp", "block_sparse_moe", "feed_forward"), "experts")
        if experts is None or not isinstance(layer.repeat, int):
            continue
        for _ in range(layer.repeat):
            run.tape.save(Value((rows, as_int(experts.experts or 1)), run.ways.size), "softmax")
            run.tape.save(Value((rows, as_int(experts.active or 1)), INDEX, grad=False), "topk")
    if experts is not None:
        run.tape.save(Value((as_int(experts.experts or 1),), FLOAT, grad=False), "mul")


def summarize(run: ForwardPass, part: Part | None, states: Value, pooled: Value | None) -> Value:
    """Summarize a text in one token of it or in their mean, map that if there is a map, and apply a function (ELECTRA's multiple choice)."""
    tape, kind = run.tape, run.config.get("summary_type", "first")
    value = (
        tape.note("mean", states, result=Value((states.shape[0], states.shape[2]), states.size, grad=states.grad))
        if kind == "mean"
        else first_token(tape, states)
    )
    value = tape.drop(value, "summary")
    value = value if part is None else linear(tape, required_child(part, "summary"), value)
    name = run.config.get("summary_activation", "gelu")
    return tape.drop(activate(tape, name, value) if name else value, "summary_last")


def first_token(tape: Tape, states: Value) -> Value:
    """View the first token of each example."""
    return tape.note("select", states, result=states.view((states.shape[0], states.shape[2]), (states.strides[0], states.strides[2])))


def pool(run: ForwardPass, part: Part, states: Value) -> Value:
    """Map the first token, and squash it."""
    return activate(
        run.tape, run.setting("pooled") or "tanh", linear(run.tape, child(part, "dense") or part, first_token(run.tape, states))
    )


def context_pooler(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Map the first token, dropped before and after, beside a body (DeBERTa)."""
    tape = run.tape
    inner = linear(tape, required_child(part, "dense"), tape.drop(first_token(tape, states), "context"))
    return activate(tape, run.setting("pooled"), inner)


def words_again(run: ForwardPass, part: Part, states: Value) -> Value:
    """Score words by the table of words itself, after a map, an activation and a norm."""
    tape = run.tape
    inner = norm(
        tape, required_child(part, "LayerNorm"), activate(tape, run.activation, linear(tape, required_child(part, "dense"), states))
    )
    bias = next(node for node in part.children if isinstance(node, Tensor))
    tape.save(inner, "matmul")
    return tape.note("matmul", inner, result=Value((*inner.shape[:-1], as_int(bias.shape[0])), inner.size))


def linear_head(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Apply one linear map to every token."""
    return linear(run.tape, part, states)


def answers(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Score every token as the beginning and as the end of an answer."""
    return linear(run.tape, part, run.tape.drop(states, "answers"))


def vocabulary(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Apply a vocabulary head: a linear map alone, its logits capped where the type does so, or one with a transform before it."""
    if part.kind == "transform" and child(part, "decoder") is None:
        return transform_head(run, part, states, pooled)
    if part.kind == "linear":
        logits = linear(run.tape, part, states)
        return logits if run.setting("capped_logits") is None else run.tape.by_result(logits, "tanh")
    return run_module(run.tape, part.name, lambda: _transform(run, part, states))


def transform_head(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Map, activate and normalize every token, or one of each text, before a last map (ModernBERT)."""
    tape = run.tape
    if part.kind != "transform":  # a part of the body itself (SigLIP)
        return states
    if pooled is not None:
        states = pooled
    elif part.stream == "one" and run.config.get("classifier_pooling", "cls") == "mean":
        tape.save(Value((*states.shape[:2], 1), BOOL, grad=False), "mul")
        tape.save(Value((states.shape[0], 1), INDEX, grad=False), "div")
        states = tape.note("mean", states, result=Value((states.shape[0], states.shape[2]), states.size, grad=states.grad))
    elif part.stream == "one":
        states = first_token(tape, states)
    inner = activate(tape, run.setting("head"), linear(tape, required_child(part, "dense"), states))
    return norm(tape, required_child(part, "norm"), inner)


def _transform(run: ForwardPass, part: Part, states: Value) -> Value:
    tape, inner = run.tape, child(part, "transform") or part
    if child(inner, "dense") is None:  # no transform stands before it
        return linear(tape, required_child(part, "decoder"), states)
    value = activate(tape, run.style.head_activation or run.activation, linear(tape, required_child(inner, "dense"), states))
    return linear(tape, required_child(part, "decoder"), norm(tape, required_child(inner, "LayerNorm", "layer_norm"), value))


def bert_heads(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Run BERT's heads: the vocabulary, and whether the second sentence is next."""
    result = states
    predictions, pair = child(part, "predictions"), child(part, "seq_relationship")
    if predictions is not None:
        result = vocabulary(run, predictions, states, None)
    if pair is not None and pooled is not None:
        linear(run.tape, pair, pooled)
    return result


def classifier(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Classify the pooled token, the first token, or every token."""
    tape = run.tape
    if child(part, "layernorm") is not None:  # the mean of two tokens, normalized (AST)
        given = tape.note("mean", states, result=Value((states.shape[0], states.shape[2]), states.size, grad=states.grad))
        return linear(tape, required_child(part, "dense"), norm(tape, required_child(part, "layernorm"), given))
    if part.kind != "linear":
        dense, out = required_child(part, "dense"), required_child(part, "out_proj")
        inner = activate(tape, run.style.classifier_activation, linear(tape, dense, tape.drop(first_token(tape, states), "classifier")))
        return linear(tape, out, tape.drop(inner, "classifier"))
    if pooled is not None and len(states.shape) > 2 and not (run.style.forward == "tower" and run.style.averaged):
        return linear(tape, part, tape.drop(pooled, "classifier"))
    if run.style.forward == "tower":
        return linear(tape, part, tower_summary(run, states))
    return linear(tape, part, tape.drop(states, "tokens" if part.stream is None else "headed"))


def projection(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Map what is put out of a text or an image into the space of both: by one linear map, or by two (CLAP)."""
    given, first = states if pooled is None else pooled, child(part, "linear1")
    if first is None:
        return linear(run.tape, part, given)
    inner = activate(run.tape, run.config.get("projection_hidden_act", "relu"), linear(run.tape, first, given))
    return linear(run.tape, required_child(part, "linear2"), inner)


def tower_summary(run: ForwardPass, states: Value) -> Value:
    """Summarize an image in its first token, in the mean of its tokens, or in both side by side."""
    if not run.style.averaged:
        return first_token(run.tape, states)
    width = states.shape[2] * (2 if run.style.averaged == "both" else 1)
    return run.tape.note("mean", states, result=Value((states.shape[0], width), states.size, grad=states.grad))


def distilled_head(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Classify what the first two tokens became: the class and, before this head, the teacher's."""
    if len(states.shape) == 2:  # the second: it sees the same storage
        return states
    return linear(run.tape, part, first_token(run.tape, states))


def end_token_classifier(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Classify the token with which each text ends, picked out of the decoder's by a mask (BART, T5)."""
    tape = run.tape
    if states.grad:
        tape.save(Value(states.shape[:2], BOOL, grad=False), "index")
    last = tape.note("index", states, result=Value((states.shape[0], states.shape[2]), states.size, grad=states.grad))
    last = tape.drop(last, "classifier")
    inner = tape.by_result(linear(tape, required_child(part, "dense"), last), "tanh")
    return linear(tape, required_child(part, "out_proj"), tape.drop(inner, "classifier"))


def reconstruction(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Make pixels of patches by a convolution: it keeps what goes in, a view of the states; of words, by a linear map."""
    if part.kind == "linear":
        return linear(run.tape, part, states)
    return run.tape.keep(states, "conv2d")


def speech_classifier(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Map every frame, and take the mean of all (Whisper); of a weighted sum of all layers the stack of them is kept."""
    if run.config.get("use_weighted_layer_sum"):
        count = run.config.get("num_hidden_layers", run.config.get("encoder_layers", 4)) + 1
        run.tape.save(Value((states.shape[0], count, *states.shape[1:]), states.size), "mul")
        run.tape.save(Value((count,), states.size), "softmax")
        states = Value(states.shape, states.size)
    mapped = linear(run.tape, part, states)
    return run.tape.note("mean", mapped, result=Value((mapped.shape[0], mapped.shape[2]), mapped.size, grad=mapped.grad))


def multiple_choice_head(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Summarize a text, by default in its last token, picked by an index as wide as the states, and score it (GPT-2's multiple choice)."""
    tape, kind, summary = run.tape, run.config.get("summary_type", "cls_index"), child(part, "summary")
    one = (states.shape[0], states.shape[2])
    if kind == "cls_index":
        tape.save(Value((one[0], 1, one[1]), INDEX), "gather")
    picked = kind in ("cls_index", "mean")
    value = tape.note("gather", states, result=Value(one, states.size, grad=states.grad)) if picked else first_token(tape, states)
    value = tape.drop(value, "summary")
    value = value if summary is None else linear(tape, summary, value)
    name = run.config.get("summary_activation")
    return activate(tape, name, value) if name else value


def electra_heads(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Tell whether each token was replaced, or which it was."""
    tape = run.tape
    if child(part, "dense_prediction") is not None:
        return linear(
            tape,
            required_child(part, "dense_prediction"),
            activate(tape, run.activation, linear(tape, required_child(part, "dense"), states)),
        )
    return norm(tape, required_child(part, "LayerNorm"), activate(tape, "gelu", linear(tape, required_child(part, "dense"), states)))


def linear_with_activation(name: str) -> Callable[[ForwardPass, Part, Value, Value | None], Value]:
    """Return a linear map of every token, followed by an activation."""
    return lambda run, part, states, pooled: activate(run.tape, name or run.activation, linear(run.tape, part, states))


def after_first(run: ForwardPass, part: Part, states: Value, pooled: Value | None) -> Value:
    """Map the first token, with a ReLU, before DistilBERT's classifier."""
    return run.tape.drop(run.tape.by_result(linear(run.tape, part, first_token(run.tape, states)), "relu"), "classifier")


HEADS: dict[str, Callable[[ForwardPass, Part, Value, Value | None], Value]] = {
    "cls": bert_heads,
    "pooler": context_pooler,
    "lm_predictions": lambda run, part, states, pooled: words_again(run, required_child(part, "lm_head"), states),
    "head": transform_head,
    "predictions": vocabulary,
    "lm_head": vocabulary,
    "proj_out": linear_head,
    "score": linear_head,
    "output_projection": linear_head,
    "qa_outputs": answers,
    "classifier": classifier,
    "visual_projection": projection,
    "text_projection": projection,
    "sop_classifier": lambda run, part, states, pooled: classifier(run, required_child(part, "classifier"), states, pooled),
    "discriminator_predictions": electra_heads,
    "generator_predictions": electra_heads,
    "generator_lm_head": linear_head,
    "sequence_summary": summarize,
    "vocab_transform": linear_with_activation(""),
    "vocab_projector": linear_head,
    "pre_classifier": after_first,
    "cls_classifier": distilled_head,
    "distillation_classifier": distilled_head,
    "classification_head": end_token_classifier,
    "decoder": reconstruction,
    "projector": speech_classifier,
    "multiple_choice_head": multiple_choice_head,
    "vocab_layer_norm": lambda run, part, states, pooled: norm(run.tape, part, states),
}
"""By the name under which classes hold them."""


LOSSLESS = ("ForMaskedImageModeling", "WithTeacher")
"""Classes without a loss, unless they are told which patches are hidden."""

AS_THEY_ARE = ("bart", "whisper")
"""Forwards whose decoders, standing alone, take labels as they are: not shifted, and scores in their own type."""


def loss(run: ForwardPass, class_name: str, tree: Part, logits: Value) -> None:
    """Run the losses of a class, one for each question that it is asked; a class without a head is asked none.

    Source: transformers 5.23.0, loss/loss_utils.py and the classes' forwards; torch's ``log_softmax`` and ``nll_loss``.
    """
    if run.config.get("sparse_prediction"):  # the head sees the masked tokens alone, and how many those are the data decides
        raise UsageError(
            Text("activations: what {model_type} keeps with sparse_prediction is not described", model_type=run.config["model_type"])
        )
    tape, wide = run.tape, _is_widened(run, class_name)
    size = FLOAT if wide else logits.size
    heads = [part for part in tree.children if isinstance(part, Part) and part.name in HEADS and not _is_in_body(tree, part)]
    if not heads or not logits.grad:
        return
    predictions = next(
        (part for part in (heads[0], child(heads[0], "predictions")) if part is not None and part.name == "predictions"), None
    )
    pair = _pair(run)
    if class_name.endswith("ForQuestionAnswering"):  # where the answer begins, and where it ends
        for _ in range(2):
            if not run.style.clamped:  # a position beyond the text is moved to its end: a copy
                tape.save(Value((run.batch,), INDEX), "clamp")
            cross_entropy(tape, logits, logits.shape[:-1], size)
    elif class_name.endswith("ForNextSentencePrediction"):
        cross_entropy(tape, pair, pair.shape, size)
    elif class_name.endswith("ForPreTraining") and predictions is not None:  # the words, and whether two sentences follow each other
        cross_entropy(tape, logits, (run.batch, run.lengths["seq"], vocabulary_size(predictions)), size)
        cross_entropy(tape, pair, pair.shape, size)
    elif class_name.endswith("ForPreTraining"):  # was this token replaced? yes or no, so the logits and the labels as floats
        tape.save(logits, "binary_cross_entropy_with_logits")
        tape.save(Value(logits.shape, FLOAT), "binary_cross_entropy_with_logits")
        tape.note("binary_cross_entropy_with_logits", logits, result=Value((), size), root=True)
    elif class_name.endswith(("ForSequenceClassification", "ForImageClassification")) and _is_compared(run, logits):
        tape.save(logits, "mse_loss")
        tape.note("mse_loss", logits, result=Value((), size), root=True)
    elif class_name.endswith("ForSequenceClassification") and run.style.forward == "deberta":
        # examples without a label are left out by indices: scores and labels are gathered
        tape.save(logits, "gather")
        tape.save(Value(logits.shape[:1], INDEX, grad=False), "gather")
        tape.save(Value(logits.shape[:1], INDEX, grad=False), "nll_loss")
        cross_entropy(tape, tape.cast(logits, FLOAT), logits.shape, FLOAT)
    elif class_name.endswith("DoubleHeadsModel"):  # scores and labels without the last and the first, copied
        rows = run.batch * (run.lengths["seq"] - 1)
        if run.batch > 1:
            tape.save(Value((rows,), INDEX), "nll_loss")
        cross_entropy(tape, logits, (rows, logits.shape[-1]), size)
    elif not class_name.endswith(LOSSLESS):
        if class_name.endswith(("ForCausalLM", "LMHeadModel")) and _shifts(run):
            # the labels, shifted: one is put behind each text and the first is cut off, of one text without a copy
            count = elements(logits.shape[:-1]) + (1 if run.batch == 1 else 0)
            tape.save(Value((count,), INDEX), "nll_loss")
        cross_entropy(tape, tape.cast(logits, size), logits.shape, size)


def _is_in_body(tree: Part, part: Part) -> bool:
    """Say whether a part of such a name is one of the body itself, which then is the whole tree."""
    return part.name in ("pooler", "head") and part.kind != "transform" and child(tree, "classifier", "qa_outputs") is None


def _is_compared(run: ForwardPass, logits: Value) -> bool:
    """Say whether scores are compared with numbers, or with several labels at once: one label is a number to come near to."""
    problem = run.config.get("problem_type")
    return logits.shape[-1] == 1 if problem is None else problem in ("regression", "multi_label_classification")


def _is_widened(run: ForwardPass, class_name: str) -> bool:
    """Say whether scores are made float32 before their loss: of next words, and of tokens where a decoder classifies them."""
    if class_name.endswith(("ForCausalLM", "LMHeadModel")):
        return _shifts(run)
    if run.style.own_scores:
        return class_name.endswith("ForMaskedLM")
    return class_name.endswith("ForTokenClassification") and run.style.forward == "decoder"


def _shifts(run: ForwardPass) -> bool:
    """Say whether a decoder shifts its labels itself."""
    return run.style.shifted or run.style.forward not in AS_THEY_ARE


def _pair(run: ForwardPass) -> Value:
    """Return the scores of whether one sentence follows another, if they are there: what the last linear map of two outputs made."""
    found = Value((run.batch, 2), run.ways.size)
    places = (place for place, call in enumerate(run.tape.calls) if call.part is not None and call.part.name == "seq_relationship")
    found.maker = next(places, None)
    return found


def cross_entropy(tape: Tape, logits: Value, shape: tuple[int, ...], size: int) -> None:
    """Keep the logarithms of all shares of *logits*, in floats of *size* bytes, and the weight of all labels."""
    chances = Value((elements(shape[:-1]), shape[-1]), size)
    tape.save(chances, "log_softmax")
    tape.note("log_softmax", logits, result=chances, wide=chances.bytes)
    tape.save(Value((), size, grad=False), "nll_loss")
    tape.note("nll_loss", chances, result=Value((), size), root=True)


def vocabulary_size(predictions: Part) -> int:
    """Return the number of words that a vocabulary head scores."""
    weight = required_child(predictions, "decoder").children[0]
    assert isinstance(weight, Tensor)
    return as_int(weight.shape[0])
