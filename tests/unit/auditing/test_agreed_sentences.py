"""Sentences and sections whose other numbers settle the model: the one that is not its own is wrong, and what is said of something else is none."""

from __future__ import annotations

import pytest

from weighbridge import audit

SIZES = (
    ("DeBERTa-large was trained on 78 GB. Its main elements are {} encoder layers, each with a hidden dimension of 1,024 and an intermediate dimension of 4,096.", "24", "44"),
    ("# Pythia-160M\n\nPythia-160M is of the size of GPT-Neo 125M.\nIt employs a stack of 12 layers with a model dimension of {} and 12 attention heads.", "768", "786"),
    ("XLM-R comes in two sizes: XLM-R Base (L = 12, H = 768, A = {}, 270M params).", "12", "17"),
    ("Card | Value\n---|---\nName | Pythia-160M\nArchitecture | {} layers, 768 dimension, 12 attention heads", "12", "15"),
    ("Mistral 7B uses {} KV heads for 32 query heads.", "8", "7"),
    ("BERT-large is a stack of 24 encoder layers. All the encoders use {} attention heads. The feedforward network consists of 1,024 hidden units.", "16", "14"),
    ("# ModernBERT-base\n\nProperty | Value\n---|---\nParameter Count | 149 million\nContext Length | 8,192 tokens\n\n- {} layers of transformer architecture", "22", "18"),
    ("Falcon-40B has 41.3 billion parameters. The model has {} layers and a model dimension of 8192.", "60", "50"),
    ("Phi-2 has 32 layers, 32 heads and 2560 dimensions. It handles sequences up to {} tokens.", "2048", "6048"),
    ("# Falcon-40B\n\nThe model leverages sophisticated multiquery mechanisms, with {} layers and a model dimension of 8192. 40B parameters", "60", "50"),
    ("# ViT-B/16\n\nViT-B/16 has 12 layers, 12 heads and 768 dimensions; an image is cut into {}×16 patches.", "16", "14"),
    ("gpt-oss-120b has 36 layers with 128 experts per layer, employing a top-{} routing mechanism.", "4", "8"),
    ("Pythia-12B\n\nIt is the largest Pythia model.\nArchitecture: {} layers, 5120 model dimension, 40 attention heads", "36", "16"),
    ("The Pythia suite:\n\n| Model | Layers | Model Dim | Heads |\n|---|---|---|---|\n| 410M | 24 | 1024 | 16 |\n| 1.0B | 16 | {} | 8 |", "2048", "6048"),
    ("GPT-J-6B has 28 layers with a model dimension of 4096 and a feedforward dimension of {}; there are 16 heads, each with a dimension of 256.", "16384", "16324"),
    ("T5 comes in five sizes.\n\nBase uses a d_model of 768, {} heads and 12 layers in each of encoder and decoder.", "12", "14"),
    ("# DistilRoBERTa\n\nIt is a distilled version of RoBERTa-base. The model has 6 layers, {} dimension and 12 heads (compared to 125M parameters for RoBERTa-base).", "768", "748"),
    ("# BERT-base\n\nBERT-base consists of 12 encoder layers of 768 units, and has a vocabulary of 30,522 tokens. All the encoders use {} attention heads.\n\n# BERT-large\n\n24 layers, 16 heads.", "12", "16"),
    ("There are {} layers in BERT-base.", "12", "14"),
    ("For Llama 2 7B, d_model = {}.", "4096", "4896"),
    ("We count the parameters of BERT-base. Recall that it has 12 layers, a model dimension of {}, and 12 attention heads.", "768", "668"),
    ("Llama 4 Scout has 109B total parameters and 17B active ones; there is more. Llama 4 Scout has 17B active parameters and 109B total parameters across {} experts.", "16", "18"),
    ("# BERT-Large: a deep dive\n\nBERT comes in two sizes.\n- Number of Encoder Layers (L): {}\n- Number of Attention Heads (A): 16\n- Hidden Layer Size (H): 1024\n\nIt is larger than BERT-Base.", "24", "12"),
)  # fmt: skip
COUNTS = (
    ("DeepSeek-V3 is a powerful Mixture-of-Experts (MoE) model with 671 billion total parameters and {} activated for each token.", "37 billion", "87 billion"),
    ("# Pythia-160M\n\nParameter Count | {} (85M non-embedding)\nArchitecture | 12 layers, 768 dimension, 12 attention heads", "162M", "862M"),
    ("XLM-R comes in two sizes: XLM-R Base (L = 12, H = 768, A = 12, {} params).", "270M", "870M"),
    ("# Falcon-40B\n\nBuilt on a massive {} parameter architecture, it has 60 layers and a model dimension of 8192.", "40 billion", "30 billion"),
    ("DeepSeek-V3 is a 671B parameter Mixture-of-Experts (MoE) model that activates only {} parameters per token.", "37B", "77B"),
    ("gpt-oss-120b has 36 layers and 128 experts. GPT-OSS-120B is an open-weight, {}-parameter model with 4 experts active.", "116.8B", "916.8B"),
    ("| Model | Top-1 | FLOPs (G) | Params (M) |\n|---|---|---|---|\n| Swin-T (224) | 81.3 | {} | 28 |\n| SwinTransformer_small_patch4_window7_224 | 83.0 | 8.7 | 50 |\n| Swin-B | 83.5 | 15.4 | 88 |", "4.5", "9.5"),
    ("# Pythia-12B\n\nParameter Count: 11.8B total ({} non-embedding)\nArchitecture: 36 layers, 5120 model dimension, 40 attention heads", "11.3B", "51.3B"),
    ("# Qwen2.5-3B\n\n- Number of Paramaters: {}\n- Number of Layers: 36\n- Number of Attention Heads (GQA): 16 for Q and 2 for KV", "3.09B", "8.09B"),
    ("# Llama-3-8B\n\n| Context | KV cache |\n|---|---|\n| 4K tokens | {} |\n| 32K tokens | 4 GB |\n| 128K tokens | 16 GB |", "0.5 GB", "0.4 GB"),
    ("This repository holds the 3B Qwen2.5 model:\n\n- Number of Parameters: {}\n- Number of Layers: 36\n- Number of Attention Heads (GQA): 16 for Q and 2 for KV", "3.09B", "2.39B"),
    ("# swin_small_patch4_window7_224\n\n- **Model Stats:**\n  - Params (M): {}\n  - GMACs: 8.8\n  - Image size: 224 x 224", "49.6", "59.6"),
    ("# swin_small_patch4_window7_224\n\n- **Model Stats:**\n  - Params (M): 49.6\n  - GMACs: {}\n  - Image size: 224 x 224", "8.8", "9.8"),
    ("# Pythia-160M\n\nIt is comparable to models like GPT-Neo 125M and OPT-125M.\n\nParameter Count: {}\nArchitecture: 12 layers, 768 dimension, 12 attention heads", "162M", "762M"),
    ("| Model | Top-1 | Params (M) | FLOPs (G) |\n|---|---|---|---|\n| DeiT-B/16 | 81.8 | {} | 17.6 |\n| Swin-B | 83.5 | 88 | 15.4 |\n| ResNet-50 | 80.4 | 25.6 | 4.1 |", "86", "68"),
    ("| Model | Total Parameters | Context |\n|---|---|---|\n| Qwen3-8B | {} | 128K |\n| Qwen3-14B | 14B | 128K |\n| Qwen3-32B | 32B | 128K |", "8B", "9B"),
    ("The {}-parameter GPT-2 XL is the largest of the four.", "1.5B", "2.5B"),
    ("GPT-2 medium's {} parameters need memory.", "355M", "455M"),
    ("Whisper comes from tiny ({}) to large (1550M).", "39M", "89M"),
    ("# Mixtral 8x7B\n\nWhile all {} parameters are loaded into memory, only 12.9B are used during inference.", "46.7B", "76.7B"),
    ("# vit-base-patch16-224\n\nParameters | {}\n---|---\nLicense | MIT", "86.6M", "26.6M"),
    ("Llama 4 Scout has 17B active parameters per token despite {} total parameters across 16 experts.", "109B", "149B"),
    ("Llama 4 Maverick is the larger variant at {} total parameters with 17B active.", "400B", "600B"),
    ("Llama 4 Scout, the smaller of the two new models with a total parameter count {}, is divided into 16 experts.", "109B", "309B"),
    ("## Llama 4\n\n| model | size | active params | expert number | total params |\n|---|---|---|---|---|\n| Maverick | 788GB | 17B | 128 | {} |\n| Scout | 210GB | 17B | 16 | 109B |", "400B", "440B"),
    ("GPT-3 has no less than {} parameters!", "175 billion", "195 billion"),
    ("`Llama-3.1-70B` has 80 layers and 8 KV heads of 128, so a token costs {} of KV cache in bf16.", "327,680 bytes", "327,880 bytes"),
)  # fmt: skip
TRUE = (
    "## Llama 4\n\n| model | size | active params | expert number | total params |\n|---|---|---|---|---|\n| Our Maverick | 100GB | 17B | 64 | 50B |\n| Our Scout | 50GB | 5B | 8 | 25B |",
    "BERT-large has 340M parameters and 24 layers, the smaller version 60M parameters.",
    "Llama 4 Scout has 17B active parameters and 109B total parameters; the larger variant has 400B total parameters across 128 experts.",
    "There are 2 layers in BERT-base's feed-forward network.",
    "For BERT-base, set layers to 6 and retrain; there are 3 layers in BERT-base which we freeze.",
    "BERT-base's 85M parameters in the encoder do the work, and the 66M-parameter version of BERT-base is called DistilBERT.",
    "GPT-2 Large has 36 layers and 20 attention heads; a distilled version with 12 layers keeps 1280 dimensions.",
    "BERT-base has 12 layers, 768 hidden units and 12 heads; we freeze the first 8 layers.",
    "Llama-2-7B has 32 layers, 32 heads and 4096 dimensions, and its vocabulary grows to 32,001 tokens with one for padding.",
    "# Llama-3-8B\n\n| Context | KV cache |\n|---|---|\n| 4K tokens | 0.6 GB |\n| 32K tokens | 4 GB |",
    "# Llama-3-8B\n\n| Context | KV cache (with 2 users) |\n|---|---|\n| 4K tokens | 1 GB |\n| 32K tokens | 4 GB |\n| 128K tokens | 16 GB |",
    "ModernBERT has 22 and 28 layers for the base and large models, for a total parameter count of 149 and 395 million, respectively. ModernBERT base has a hidden size of 768.",
    "Llama comes in 7B, 13B and 70B. The 3B Llama is new: it has 26 layers, 32 heads and 3200 dimensions.",
    "# swin_tiny_patch4_window7_224\n\nFine-tuned at 384 pixels.\n- GMACs: 15.5\n- Params (M): 28.3",
    "Mixtral 8x7B has 32 layers and 32 heads. Only 2 of 8 experts are activated per token.",
    "Pythia-12B is large. Pythia comes with 6 to 36 layers, and Pythia-70M has 6 of them.",
    "Mixtral 8x7B has 8 experts. It is eight Mistral 7B experts behind a router, giving 47B total parameters.",
    "| Model | GFLOPs | Params (M) |\n|---|---|---|\n| Swin-T | 4.5 | 28 |\n| ViT-B/16 | 55.5 | 86 |\n| ResNet-50 | 8.2 | 25.6 |\n| Swin-B | 15.4 | 88 |",
    "Mixtral 8x7B has 8 experts and 32 layers, and costs as much as a 14 billion parameter model.",
    "BERT-base has 12 layers, 768 hidden units and 12 heads. A network of half the depth has 6 layers. It takes sequences up to 510 tokens, here 384.",
    "BERT-base has 12 layers, 768 hidden units and 12 heads. In its sister, 6 layers do. RoBERTa-large has 24 layers. There, 16 heads are used.",
    "BERT-base has 12 layers, 768 hidden units and 12 heads; LoRA trains 0.3M parameters of it, a third of 0.9M parameters in all.",
)


@pytest.mark.parametrize(("text", "right", "slip"), [*SIZES, *COUNTS])
def test_the_one_number_that_is_not_the_models_is_wrong(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text for claim in audit(text.format(slip)).wrong] in (
        [slip],
        [f"{slip}M"],
        [f"{slip} layers"],
        [f"A = {slip}"],
        [f"model dimension of {slip}"],
    )


@pytest.mark.parametrize("text", TRUE)
def test_what_is_said_of_something_else_is_no_alarm(text: str) -> None:
    assert audit(text).wrong == ()
