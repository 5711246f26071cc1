"""Adapters: our four figures held to the PEFT library's, on random small bases and random adapter configs.

    python -m truth adapters [METHOD ...] --n 200 --seed 7

needs peft 0.21 beside torch and transformers. A case that the library refuses says nothing about a count; a case that
it takes and we refuse is counted apart and its reason shown.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from truth import live
from truth.adapter_draws import ALWAYS_TASK, DRAWS, WITHOUT_TASK
from truth.draw import draw
from weighbridge import model
from weighbridge.core.errors import WeighbridgeError

BASES = (
    ("bert", "BertModel"), ("bert", "BertForMaskedLM"), ("bert", "BertForSequenceClassification"), ("bert", "BertForQuestionAnswering"),
    ("bert", "BertForTokenClassification"), ("roberta", "RobertaForSequenceClassification"), ("gpt2", "GPT2LMHeadModel"),
    ("gpt2", "GPT2ForSequenceClassification"), ("llama", "LlamaForCausalLM"), ("llama", "LlamaForSequenceClassification"),
    ("qwen2", "Qwen2ForCausalLM"), ("qwen3", "Qwen3ForCausalLM"), ("t5", "T5ForConditionalGeneration"), ("t5", "T5EncoderModel"),
    ("bart", "BartForConditionalGeneration"), ("mixtral", "MixtralForCausalLM"), ("qwen3_moe", "Qwen3MoeForCausalLM"),
    ("qwen2_moe", "Qwen2MoeForCausalLM"), ("gpt_oss", "GptOssForCausalLM"), ("deepseek_v3", "DeepseekV3ForCausalLM"), ("vit", "ViTForImageClassification"),
    ("whisper", "WhisperForConditionalGeneration"), ("opt", "OPTForCausalLM"), ("phi", "PhiForCausalLM"), ("phi3", "Phi3ForCausalLM"),
    ("falcon", "FalconForCausalLM"), ("gemma", "GemmaForCausalLM"), ("gemma2", "Gemma2ForCausalLM"), ("gemma3_text", "Gemma3ForCausalLM"),
    ("bloom", "BloomForCausalLM"), ("gpt_neox", "GPTNeoXForCausalLM"), ("gptj", "GPTJForCausalLM"), ("mistral", "MistralForCausalLM"),
    ("deberta-v2", "DebertaV2ForSequenceClassification"), ("clip", "CLIPModel"), ("convnext", "ConvNextForImageClassification"),
    ("distilbert", "DistilBertForSequenceClassification"), ("electra", "ElectraForSequenceClassification"), ("albert", "AlbertForMaskedLM"),
)  # fmt: skip


class Case(NamedTuple):
    """A base and an adapter, both drawn."""

    model_type: str
    class_name: str
    config: dict[str, Any]
    adapter: dict[str, Any]


Figures = tuple[int, int, int, int]


def theirs(case: Case) -> Figures:
    """Return trainable, total, saved elements and saved bytes as the library has them.

    Raises:
        RefusedError: It refuses the base or the adapter.
    """
    peft, torch = import_module("peft"), import_module("torch")
    torch.manual_seed(0)
    base = live.build(case.model_type, case.class_name, case.config, device="cpu")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with TemporaryDirectory() as folder:
                if case.adapter["peft_type"] == "XLORA":  # which is for training without a cache alone
                    base.config.use_cache = False
                adapter = _laid_out(case, folder) if case.adapter["peft_type"] == "XLORA" else case.adapter
                wrapped = peft.get_peft_model(base, peft.PeftConfig.from_peft_type(**json.loads(json.dumps(adapter))))
            state = peft.get_peft_model_state_dict(wrapped)
    except Exception as error:  # whatever a config may provoke in there
        raise live.RefusedError(f"{type(error).__name__}: {str(error)[:200]}") from error
    trainable, total = wrapped.get_nb_trainable_parameters()
    values = state.values()
    return trainable, total, sum(value.numel() for value in values), sum(value.numel() * value.element_size() for value in values)


def _laid_out(case: Case, folder: str) -> dict[str, Any]:
    """Save the adapters of a mixture, and return its config with the paths in their place."""
    peft = import_module("peft")
    paths = {}
    for name, adapter in case.adapter["adapters"].items():
        base = live.build(case.model_type, case.class_name, case.config, device="cpu")
        paths[name] = str(Path(folder, name))
        peft.get_peft_model(base, peft.LoraConfig(**{key: value for key, value in adapter.items() if key != "peft_type"})).save_pretrained(
            paths[name]
        )
    return {**case.adapter, "adapters": paths}


def ours(case: Case) -> Figures:
    """Return the same four as we count them."""
    found = model({**case.config, "model_type": case.model_type}, case.class_name).adapters(case.adapter)
    return found.trainable, found.total, found.saved, found.saved_bytes


def cases(methods: list[str], number: int, seed: str) -> Iterator[Case]:
    """Draw cases, the same for the same seed."""
    for index in range(number):
        rng = random.Random(f"{seed} {index}")
        model_type, class_name = rng.choice(BASES)
        config = draw(f"{seed} {index}", model_type, rng.choice((0.2, 0.6, 1.0)))
        config = {**config, "model_type": model_type}
        names = _names(model_type, class_name, config)
        if names is None:
            continue
        method = methods[index % len(methods)]
        adapter = {"peft_type": method, **DRAWS[method](rng, names, config)}
        if method == "ADALORA":
            adapter["total_step"] = 10
        if method in ALWAYS_TASK or (method not in WITHOUT_TASK and rng.random() < 0.25):
            adapter["task_type"] = _task(class_name)
        yield Case(model_type, class_name, {key: value for key, value in config.items() if key != "model_type"}, adapter)


def _names(model_type: str, class_name: str, config: dict[str, Any]) -> dict[str, str] | None:
    """Return the names and kinds of the modules of the live class, or None if it is not built."""
    try:
        built = live.build(model_type, class_name, config)
    except live.RefusedError:
        return None
    if sum(parameter.numel() for parameter in built.parameters()) > 4_000_000:
        return None
    return {name: type(module).__name__ for name, module in built.named_modules() if name}


def _task(class_name: str) -> str:
    tasks = {"SequenceClassification": "SEQ_CLS", "TokenClassification": "TOKEN_CLS", "QuestionAnswering": "QUESTION_ANS"}
    tasks |= {"CausalLM": "CAUSAL_LM", "LMHeadModel": "CAUSAL_LM", "ConditionalGeneration": "SEQ_2_SEQ_LM"}
    return next((task for ending, task in tasks.items() if class_name.endswith(ending)), "FEATURE_EXTRACTION")


RECORD = Path(__file__).parents[1] / "tests" / "truth" / "adapters" / "cases.json"
"""Cases that the ordinary tests hold us to, without the library."""


DEFAULT_BASES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("bert", "BertForSequenceClassification", {"hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 1024, "num_hidden_layers": 2, "vocab_size": 300}),
    ("llama", "LlamaForCausalLM", {"hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 768, "num_hidden_layers": 2, "vocab_size": 300}),
)  # fmt: skip
"""Bases whose sizes every method's own defaults divide."""


def plain_cases(method: str) -> Iterator[Case]:
    """Yield adapters that say nothing but their method (and what it cannot do without), so that its defaults are held too."""
    known: dict[str, dict[str, Any]] = {
        "ADALORA": {"total_step": 10},
        "PREFIX_TUNING": {"num_virtual_tokens": 3},
        "PROMPT_TUNING": {"num_virtual_tokens": 3},
        "P_TUNING": {"num_virtual_tokens": 3},
        "MULTITASK_PROMPT_TUNING": {"num_virtual_tokens": 3},
        "CARTRIDGE": {"num_virtual_tokens": 3},
        "TRAINABLE_TOKENS": {"token_indices": [1, 2]},
        "ADAPTION_PROMPT": {"adapter_len": 4, "adapter_layers": 2},
    }
    for model_type, class_name, config in DEFAULT_BASES:
        adapter = {"peft_type": method, **known.get(method, {})}
        if method not in WITHOUT_TASK:
            adapter["task_type"] = _task(class_name)
        yield Case(model_type, class_name, dict(config), adapter)


MORE = {"LORA": 70, "TRAINABLE_TOKENS": 30, "ADALORA": 20}
"""Methods with many settings, of which more cases are recorded."""


def record(each: int, seed: str) -> int:
    """Write *each* cases of every method that the library and we take, those of its defaults first, and how they were made."""
    kept: list[dict[str, Any]] = []
    for method in DRAWS:
        taken, wanted = 0, MORE.get(method, each)
        for case in chain(plain_cases(method), cases([method], 12 * wanted, f"{seed} {method}")):
            if taken == wanted:
                break
            try:
                figures = theirs(case)
                ours(case)
            except (live.RefusedError, WeighbridgeError):
                continue
            taken += 1
            kept.append({**case._asdict(), "figures": figures})
    libraries = {**live.versions(), "peft": import_module("peft").__version__}
    command = f"python -m truth adapters --record {each} --seed {seed}"
    lines = ",\n".join(json.dumps(case) for case in kept)
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(
        f'{{"libraries": {json.dumps(libraries)}, "command": {json.dumps(command)},\n'
        f'"figures": "trainable, total, saved, saved_bytes",\n"cases": [\n{lines}\n]}}\n',
        "utf-8",
    )
    print(f"{len(kept)} cases of {len({case['adapter']['peft_type'] for case in kept})} methods: {RECORD}")
    return 0


def again(path: Path) -> int:
    """Ask the library once more for the figures of every case in a file, which may have none yet."""
    recorded = json.loads(path.read_text("utf-8"))
    lines = []
    for entry in recorded["cases"]:
        case = Case(entry["model_type"], entry["class_name"], entry["config"], entry["adapter"])
        lines.append(json.dumps({**case._asdict(), "figures": theirs(case)}))
    libraries = {**live.versions(), "peft": import_module("peft").__version__}
    head = {"libraries": libraries, "command": f"python -m truth adapters --again tests/truth/adapters/{path.name}"}
    head["figures"] = "trainable, total, saved, saved_bytes"
    path.write_text(json.dumps(head)[:-1] + ',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n", "utf-8")
    print(f"{len(lines)} cases: {path}")
    return 0


def compare_cases(methods: list[str], number: int, seed: str, verbose: bool = False) -> int:
    """Compare *number* random cases; 1 if any figure differs."""
    outcome: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    wrong = 0
    for case in cases(methods or list(DRAWS), number, seed):
        name = case.adapter["peft_type"]
        try:
            right: Figures | None = theirs(case)
            why = ""
        except live.RefusedError as error:
            right, why = None, str(error)
        try:
            found: Figures | None = ours(case)
            mine = ""
        except WeighbridgeError as error:
            found, mine = None, str(error)
        if right is None:
            outcome[f"{name} refused by both" if found is None else f"{name} refused by the library alone"] += 1
            if found is not None and verbose:
                print(f"library alone refuses: {why}\n  {json.dumps(case._asdict())}")
        elif found is None:
            outcome[f"{name} refused by us alone"] += 1
            refusals[f"{name}: {mine}"] += 1
            if verbose:
                print(f"we alone refuse: {mine}\n  {json.dumps(case._asdict())}")
        elif found == right:
            outcome[f"{name} equal"] += 1
        else:
            wrong += 1
            outcome[f"{name} WRONG"] += 1
            print(f"theirs {right}, ours {found}\n  {json.dumps(case._asdict())}")
    for name in sorted(outcome):
        print(f"{outcome[name]:>6}  {name}")
    for reason, count in refusals.most_common(12):
        print(f"        {count} x {reason}")
    sys.stdout.flush()
    return 1 if wrong else 0
