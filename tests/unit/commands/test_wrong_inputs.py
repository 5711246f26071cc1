"""What a stranger types wrongly: one line each, with what is wrong and a way forward; exit code 2, and nothing on standard output."""

import re
from pathlib import Path

import pytest

from weighbridge.cli import main

FILES = {
    "near.json": '{"model_type":"bert","hiden_size":770}',
    "div.json": '{"model_type":"bert","hidden_size":770}',
    "notype.json": '{"hidden_size":768}',
    "str.json": '{"model_type":"bert","hidden_size":"big"}',
    "neg.json": '{"model_type":"bert","hidden_size":-5}',
    "list.json": "[1,2]",
    "empty.json": "",
    "frac.json": '{"model_type":"bert","num_hidden_layers":1.5}',
    "bert.json": '{"model_type":"bert"}',
    "lfs.safetensors": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n",
    "page.safetensors": "<html>404</html>",
    "page.json": "<!DOCTYPE html><html></html>",
    "cut.safetensors": "\x00\x01\x00\x00\x00\x00\x00\x00{}",
    "picture.png": "%PDF-1.4",
    "text.txt": "hello",
    "tokenizer.json": '{"added_tokens": [], "model": {}}',
}
ANSWERS = (
    ("explian bert-base-uncased", "explian: no such command; did you mean explain?"),
    ("bert-base-uncased explain", "explain: the command comes first: weigh explain bert-base-uncased"),
    ("bert-base-uncased explian", "explian: the command comes first: weigh explain bert-base-uncased"),
    ("cache gpt2 llama-3-8b", "'llama-3-8b': one argument too many; expected only SOURCE"),
    ("design llama-3.2-1b", "llama-3.2-1b: a model is named by an option here: --like llama-3.2-1b"),
    ("fits gpt2 --devices 2", "no option --devices; weigh parallel has --tp"),
    ("parallel gpt2 --device a100", "no option --device; weigh fits has --device"),
    ("count gpt2 --explain", "no option --explain; there is a command of that name: weigh explain"),
    ("cache gpt2 --seq 32k", "--seq: '32k' may mean 32768 or 32000; write the number"),
    ("LLaMA 3 8B", "a name with blanks is written as one word: weigh llama-3-8b"),
    ("fits gpt2 --gib 80GB", "--gib: expected a number without a unit, such as 80; found '80GB'"),
    ("sweep gpt2 n_layer=1:3", "n_layer=1:3: a field of the config is set by an option: --set n_layer=1:3"),
    ("adapters gpt2 lora:rank=8", "lora has no field rank; did you mean r?"),
    ("adapters gpt2 dora", "dora: no such adapter; write lora:use_dora=true"),
    ("cache gpt2 --seq 1,024", "--seq: write 1024, found '1,024'"),
    ("weigh gpt2", "weigh is written twice: weigh gpt2"),
    ("brt-base", "brt-base: no such preset or file; did you mean bert-base-uncased or bart-base?"),
    ("lama", "lama: no such preset or file; did you mean llama-7b, llama-13b or llama-30b?"),
    ('{"model_type":"bert"}', '{"model_type":"bert"}: a config\'s text is read from standard input: weigh - < config.json'),
    ("zamba2-1.2b", "zamba2-1.2b: no such preset or file; zamba2 is a model type that is known: give its config.json"),
    ("bert-base-uncased --clas BertModel", "no option --clas; did you mean --class?"),
    (
        "bert-base-uncased --class BertForMaskLM",
        "class: no class 'BertForMaskLM' of model type 'bert' (did you mean BertForMaskedLM?)",
    ),
    ("fits gpt2 --device 4090", "device: no '4090'; did you mean rtx-4090?"),
    (
        "bert-base-uncasd",
        "bert-base-uncasd: no such preset or file; did you mean bert-base-uncased, bert-base-cased or bert-large-uncased?",
    ),
    ("nosuchdir/", "nosuchdir/: no such file or directory"),
    ("/dev/null", "/dev/null is empty; expected a config as a JSON object"),
    ("near.json --strict", "hiden_size: bert has no such field (did you mean hidden_size?)"),
    ("div.json", "hidden_size (770) is not divisible by num_attention_heads (12); change one of them"),
    ("notype.json", 'model_type: the config does not say what it is (add "model_type", such as "bert", or name a class with --class)'),
    ("str.json", "hidden_size: expected a whole number, found the string 'big' (the class default is 768)"),
    ("neg.json", "hidden_size: -5 is not possible, the smallest is 1 (the class default is 768)"),
    ("list.json", "list.json holds a list, expected an object with the config's keys"),
    ("empty.json", "empty.json is empty; expected a config as a JSON object"),
    ("frac.json", "num_hidden_layers: expected a whole number, found 1.5 (the class default is 12)"),
    ("bert.json --class BertForMaskdLM", "class: no class 'BertForMaskdLM' of model type 'bert' (did you mean BertForMaskedLM?)"),
    ("bert.json --set hidden_size", "--set hidden_size: expected key=value, such as num_hidden_layers=6"),
    ("bert.json --set hidden_sise=770", "hidden_sise: bert has no such field (did you mean hidden_size?)"),
    (
        "qwen2-vl-2b --set num_hidden_layers=2",
        "num_hidden_layers: qwen2_vl has no such field (did you mean text_config.num_hidden_layers?)",
    ),
    (
        "clip-vit-base-patch32 --set num_hidden_layers=2",
        "num_hidden_layers: clip has no such field (did you mean text_config.num_hidden_layers or vision_config.num_hidden_layers?)",
    ),
    ("bert.json --josn", "no option --josn; did you mean --json?"),
    ("bert.json --depth -1", "--depth: expected a whole number from 1 to 999,999,999, found '-1'"),
    ("bert.json --lang fr", "lang: expected one of en, zh, found 'fr'"),
    ("bert.json --json --csv", "--json and --csv contradict each other"),
    ("lfs.safetensors", "lfs.safetensors: a pointer of Git LFS, in place of the file; git lfs pull will fetch the file itself (at byte 0)"),
    ("page.safetensors", "page.safetensors: a web page, in place of a file; fetch the file itself (at byte 0)"),
    (
        "verify bert.json",
        "bert.json: a config or another JSON file, where weights are expected; name the checkpoint, or the directory that holds both",
    ),
    ("flops clip-vit-base-patch32 --seq 128", "seq: CLIPModel has learned positions for 77 tokens; 128 are too many"),
    ("flops bert-base-uncased --seq 10000", "seq: BertModel has learned positions for 512 tokens; 10,000 are too many"),
    ("flops bert-base-uncased --decoder-seq 5", "decoder_seq: BertModel has no decoder beside an encoder"),
    ("cache llama-3-8b --engine vlm", "engine: no 'vlm'; did you mean vllm?"),
    (
        "cache phi-2 --engine llama.cpp --dtype q8_0",
        "dtype: K has heads of 80 elements, which blocks of 32 do not divide: llama.cpp refuses this",
    ),
    ("memory gpt2 --training --precision amp --dtype bfloat16", "precision: amp keeps the weights in float32, found dtype bfloat16"),
    (
        "memory gpt2 --training --precision mixed --dtype float32",
        "precision: mixed keeps the weights in bfloat16 or float16, found dtype float32",
    ),
    (
        "memory gpt2 --training --quantization bnb-4bit",
        "quantization: packed weights are not trained; weigh adapters --quantization trains an adapter on them",
    ),
    (
        "memory gpt2 --training --attention flash --device cuda",
        "attention: the flash kernels of a GPU take bfloat16 or float16; found float32",
    ),
    ("adapters gpt2 lora:r=8 --dtype int8", "dtype: expected one of float64, float32, float16, bfloat16, found 'int8'"),
    ("adapters gpt2 lora:r=8,r=9", "r: given twice"),
    ("adapters gpt2 lora:r=8,peft_type=IA3", "peft_type: given twice"),
    ("adapters gpt2 lora:lora_alpha=x", "lora_alpha: expected a number, found 'x'"),
    ("adapters gpt2 bitfit:x=1", "bitfit has no fields; found x"),
    ("parallel gpt2 --attention magic", "attention: expected one of eager, sdpa, flash, found 'magic'"),
    ("adapters gpt2 lora:use_dora=maybe", "use_dora: expected true or false, found 'maybe'"),
    (
        "adapters gpt2 loha:target_modules=c_attn --quantization bnb-4bit",
        "loha: not counted beside bnb-4bit, where the library refuses it or takes sizes from what is packed",
    ),
    (
        "memory bert-base-uncased --optimizer zzz",
        "optimizer: expected one of sgd, momentum, adam, adamw, amsgrad, adamax, nadam, radam, rmsprop, adagrad, adadelta, asgd, rprop, adafactor, adam8bit, adamw8bit, lion8bit, lion, muon, found 'zzz'",
    ),
    ("memory bert-base-uncased --optimizer adamx", "optimizer: no 'adamx'; did you mean adamax, adam or radam?"),
    ("fits llama-3-8b", "device: say one of --device and --gib, such as --device a100-80g or --gib 24"),
    ("fits llama-3-8b --device rtx4091", "device: no 'rtx4091'; did you mean rtx-4090?"),
    ("parallel llama-3-8b --tp 3", "tp: 3 does not divide the model's 32 attention heads"),
    ("reconcile abc bert-base-uncased", "'abc' is not a number; expected one such as 109,482,240 or 110M or 1.1亿"),
    ("reconcile bert-base-uncased 110M", "the number comes first: weigh reconcile 110M bert-base-uncased"),
    ("reconcile −5 bert-base-uncased", "'−5' is negative; expected a count such as 109,482,240 or 110M or 1.1亿"),
    ("bert_base_chinse", "bert_base_chinse: no such preset or file; did you mean bert-base-chinese, bert-base-cased or bert-base-ner?"),
    (
        "gpt-4o-mini",
        "gpt-4o-mini: no such preset or file; its sizes have not been published; weigh counts from a config or a checkpoint",
    ),
    ("page.json", "page.json is a web page, in place of a config; fetch the file itself"),
    ("tokenizer.json", "model_type: a tokenizer's file, and no config (name the config.json beside it)"),
    ("memory gpt2 --dtype fp16", "dtype: fp16 is called float16 here"),
    ("count --model gpt2", "no option --model; the model is named without one: weigh count gpt2"),
    ("fits gpt2 --vram 24", "no option --vram; did you mean --gib?"),
    ("flops gpt2 --sequence-length 5", "no option --sequence-length; did you mean --seq?"),
    ("adapters gpt2 lorra:r=8", "lorra:r=8: no such adapter; did you mean lora, xlora or glora?"),
    ("audit nosuch.md", "nosuch.md: cannot be read: No such file or directory"),
    ("cut.safetensors", "cut.safetensors: the header should have 256 bytes, the file has 2 after the length; it is cut off (at byte 8)"),
    (
        "picture.png",
        "picture.png: a document (PDF), which holds no model; known formats: safetensors, torch, tar, GGUF, ONNX, TensorFlow, Keras, npz, npy, pickle, Flax, "
        "TensorFlow Lite, ExecuTorch, CTranslate2, Core ML, OpenVINO, zip",
    ),
    (
        "text.txt",
        "text.txt: no reader knows this format; known: safetensors, torch, tar, GGUF, ONNX, TensorFlow, Keras, npz, npy, pickle, Flax, TensorFlow Lite, "
        "ExecuTorch, CTranslate2, Core ML, OpenVINO, zip",
    ),
    ("compare bert-base-uncased", "compare: expected two models or more"),
    ("solve bert-base-uncased hidden_size", "solve: for how many parameters? --params 80M, or --active 13B; or --flops, --cache, --memory"),
    ("sweep bert-base-uncased", "sweep: over which sizes? Say, for example, --set num_hidden_layers=2:24"),
    ("audit empty", "empty: no text in this folder; known: .md, .markdown, .txt, .rst, .org, .tex, .html, .htm, .ipynb"),
    ("completion tcsh", "SHELL: expected one of bash, fish, powershell, zsh, found 'tcsh'"),
    ("help explian", "explian: no such command; did you mean explain?"),
    (
        "explain bert-base-uncased --module encoder.leyer",
        "the model has no module 'encoder.leyer'; at the top it has embeddings, encoder, pooler",
    ),
)


@pytest.mark.parametrize(("typed", "answer"), ANSWERS, ids=[typed for typed, _ in ANSWERS])
def test_the_answer_names_the_error_and_a_way_forward(
    typed: str, answer: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(typed.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"weigh: {answer}\n"


@pytest.mark.parametrize("typed", [typed for typed, _ in ANSWERS])
def test_the_answer_is_wholly_in_the_readers_language(
    typed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert main(typed.split()) == 2
    shown = capsys.readouterr().err
    assert any("\u4e00" <= letter <= "\u9fff" for letter in shown)
    assert not is_english(shown), shown


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "empty").mkdir()


def is_english(text: str) -> bool:
    """Tell whether three words of an English sentence stand one after the other; a command that is quoted is none."""
    return bool(re.search(r"(?<![\w-])(?!weigh )[a-z]+(?: [a-z]+){2}", re.sub(r"weigh \S+ \S+( \S+)?|git lfs pull", "", text)))


def test_an_english_sentence_in_a_chinese_answer_is_found() -> None:
    assert is_english("weigh: x.json：no reader knows this format")
    assert not is_english("weigh: 数字写在前面：weigh reconcile 110M bert-base-uncased")
