"""The Chinese of pages that a script writes in English: headings, sentences and the heads of tables; rows of figures stay as they are.

A sentence that is not listed here stays English, so that a page whose script has changed is still whole.
"""

from __future__ import annotations

import re

GENERATED = ("accuracy", "coverage", "census-report")
"""Pages of docs that a script writes, in English."""

SENTENCES = (
    # coverage
    (r"^# Coverage$", "# 覆盖范围"),
    (r"Of the ([\d,]+) classes of ([\d,]+) model types that transformers ([\d.]+) can build,\nWeighbridge agrees with ([\d,]+) \((.*?)%\) tensor for tensor: names, shapes, order, ties and buffers, on\nthe default of each class and (\d+) random ones. All classes of ([\d,]+) types agree.",
     r"transformers \3 能构建的 \2 种模型类型共 \1 个类，其中 \4 个（\5%）在每个类的默认配置和 \6 份随机配置上与 Weighbridge 逐张量一致：名称、形状、次序、共享与缓冲区。"
     r"有 \7 种类型的所有类都一致。"),
    (r"A class counts if the library builds it.*?these come from\n",
     "库能用默认配置（没有默认值的字段另给几个值）在 meta 设备上构建的类都算；没有配置点名的内部类（如 `BartEncoder`）也在内。`truth/census.json` 列出每个类，以及不能构建的原因。"
     "`scripts/truth --coverage` 重新统计；这里的数字来自\n"),
    (r"\| model type \| classes that agree \| classes that can be built \|", "| 模型类型 | 一致的类 | 能构建的类 |"),
    (r"^## Outside these figures$", "## 不在这些数字之内的"),
    (r"(\d+) more classes do not build from their default config.*?published config may build them\. (\d+) of them are described, from such configs or under another type; these (\d+) are not, and are refused by name:",
     r"另有 \1 个类不能用默认配置构建，或者需要统计时没有安装的库（timm、SciPy、Pillow、natten、detectron2）；公布的配置也许能构建它们。其中 \2 个已按这样的配置或在别的类型下描述；以下 \3 个没有，按名称拒绝："),
    (r"^- PatchTSTEncoder: it takes the number of patches beside the config; PatchTSTModel works it out and holds it\.$",
     "- PatchTSTEncoder：它在配置之外另取图块数；PatchTSTModel 会算出这个数并含有它。"),
    (r"^- (\w+): it is built inside (\w+), from the keys that begin with t2u_\.$", r"- \1：它在 \2 之内构建，取以 t2u_ 开头的键。"),
    (r"^- (\w+): its tower is timm's (\w+), which is not described\.$", r"- \1：它的塔是 timm 的 \2，没有描述。"),
    (r"^- emu3: its image tokenizer is not described; its text model, emu3_text_model, is\.$", "- emu3：没有描述它的图像分词器；文本模型（emu3_text_model）已描述。"),
    (r"^- (\w+): transformers ([\d.]+) builds it from no config: all its layers reuse keys, and none makes them\.$",
     r"- \1：transformers \2 用任何配置都不能构建它：它的所有层都复用键，没有一层生成键。"),
    (r"^- pe_audio_video: its towers share weights in a way that is not described; each tower is: pe_audio, pe_video, pe_audio_video_encoder\.$",
     "- pe_audio_video：它的几个塔以一种没有描述的方式共享权重；各个塔（pe_audio、pe_video、pe_audio_video_encoder）都已描述。"),
    (r"^## Not described$", "## 没有描述的"),
    (r"These are refused by name; no number is guessed\.", "这些按名称拒绝，不猜任何数字。"),
    # accuracy
    (r"^# Accuracy of the costs$", "# 开销的准确度"),
    (r"Written by `python -m truth accuracy` on ([\d-]+), with torch ([\d.]+) and transformers ([\d.]+)\.",
     r"由 `python -m truth accuracy` 写成，\1，torch \2，transformers \3。表中各行的说明取自所引的来源（英文）。"),
    (r"^## Held to oracles$", "## 与独立的实现对照"),
    (r"\| figure \| oracle \| cases \| worst error \|", "| 数字 | 对照 | 样例 | 最大误差 |"),
    (r"\| caches, engine `reference` \| every tensor in `past_key_values` after a forward of a small random config \| (\d+) cases of (\d+) types \|",
     r"| 缓存，`reference` 规则 | 小的随机配置前向一次后 `past_key_values` 中的每个张量 | \2 种类型的 \1 个样例 |"),
    (r"\| activations, eager, float32, no dropout, with and without the loss \| `saved_tensors_hooks` in a forward, each storage once \| (\d+) cases of (\d+) types \|",
     r"| 激活值，eager，float32，不用 dropout，有损失与没有损失 | 前向时的 `saved_tensors_hooks`，每块存储一次 | \2 种类型的 \1 个样例 |"),
    (r"\| adapters, PEFT ([\d.]+) \| trainable, total, saved elements and bytes of the live library on random small bases \| (\d+) cases of (\d+) methods \|",
     r"| 适配器，PEFT \1 | 真实的库在随机小模型上的可训练、总计、保存的元素与字节 | \3 种方法的 \2 个样例 |"),
    (r"\| 0; AdaMSS of a rank above 1 is a bound, since it clusters the weights \|", "| 0；秩大于 1 的 AdaMSS 要对权重聚类，只给上界 |"),
    (r"\| training with an adapter \| bytes of parameters, of gradients and of AdamW's states after a step, in float32 and bfloat16; `FlopCounterMode` of a forward with LoRA \| (\d+) cases of (\d+) methods \|",
     r"| 带适配器的训练 | 一步之后参数、梯度与 AdamW 状态的字节数，float32 与 bfloat16；带 LoRA 前向的 `FlopCounterMode` | \2 种方法的 \1 个样例 |"),
    (r"\| part of a model trained, the rest frozen \| trainable and all parameters, gradients, AdamW's states of live models after `requires_grad_` on random modules \| (\d+) cases \|",
     r"| 只训练一部分，其余冻结 | 对随机模块调用 `requires_grad_` 后，真实模型的可训练参数、全部参数、梯度与 AdamW 状态 | \1 个样例 |"),
    (r"\| files packed in several groups \| bytes that compressed-tensors ([\d.]+) makes of a small live Llama; (\d+) more are those that ModelOpt ([\d.]+) writes \| (\d+) random configs \| 0 bytes \|",
     r"| 分若干组压缩的文件 | compressed-tensors \1 压缩一个真实的小 Llama 所得的字节数；另有 \2 份由 ModelOpt \3 写成 | \4 份随机配置 | 0 字节 |"),
    (r"\| optimizer states \| states after one step of small live models \| (\d+) optimizers of ([^|]*) \| 0 bytes \|",
     r"| 优化器状态 | 真实小模型一步之后的状态 | \2 的 \1 种优化器 | 0 字节 |"),
    (r"\| activations, fused attention, dropout, loss, 16 bits, in all combinations \| the same hooks \| (\d+) cases of (\d+) types, (\d+) of them equal \|",
     r"| 激活值，融合注意力、dropout、损失、16 位的各种组合 | 同样的 hook | \2 种类型的 \1 个样例，其中 \3 个相等 |"),
    (r"\| peak of a training step, ([^|]*), other configs \| the same tracker, or all live storages under a dispatch mode \| (\d+) cases, half of them within ([\d.]+)% \|",
     r"| 一步训练的峰值，\1，另外的配置 | 同一跟踪器，或 dispatch 模式下全部存活的存储 | \2 个样例，半数误差不超过 \3% |"),
    (r"，eager attention, float32, no dropout，另外的配置", "，eager 注意力，float32，不用 dropout，另外的配置"),
    (r"，full checkpointing，另外的配置", "，全部重算激活，另外的配置"),
    (r"，fused attention，另外的配置", "，融合注意力，另外的配置"),
    (r"\| 0 bytes \|$", "| 0 字节 |"),
    (r"\| peak of a training step \| torch's memory tracker under fake tensors, eager attention, float32, no dropout \| (\d+) cases of (\d+) types \|",
     r"| 一步训练的峰值 | 假张量下 torch 的内存跟踪器，eager 注意力，float32，不用 dropout | \2 种类型的 \1 个样例 |"),
    (r"Nothing here ran on a GPU: what depends on its kernels, the flash kernel's shapes among them, is called an estimate\. So are peaks: of ([\d,]+) random cases in five ways to run, those recorded among them, nine in ten were within 1% and the worst ([\d.]+)% off\.",
     r"这里没有在 GPU 上运行过：取决于 GPU 内核的数字（包括 flash 内核的形状）一律称为估计。峰值也是估计：五种运行方式下的 \1 个随机样例（含记录在案的）中，十之九误差在 1% 以内，最大误差为 \2%。"),
    (r"Each row of a collection of published figures, beside ours with the error; where it is wrong at its source, the row says in which way\.",
     "一批公布的数字，每行都与我们的数字及误差并列；来源本身有误的，行内写明错在哪里。"),
    (r"\| figures of \| rows \| asked \| not asked, with the reason at the end \|", "| 内容 | 行数 | 已问 | 未问，理由见文末 |"),
    (r"The notebook of mt0-large with IA3 prints ([\d,]+) parameters in all: ours as built from the config, ([\d,]+), and ([\d,]+) × ([\d,]+) = ([\d,]+) for the head, "
     r"which is tied as built and untied by the loaded file, are ([\d,]+) \((\+?[\d.]+%)\)\.",
     r"mt0-large 加 IA3 的那本 notebook 打印的总参数为 \1：按配置构建的 \2，加上输出头的 \3 × \4 = \5（构建时共享，加载的文件使其分开），得 \6（\7）。"),
    (r"None of these stood in the figures above; what engines print and what pages say\.", "以上的数字里都没有这些：推理引擎打印的，网页上写的。"),
    (r"The PEFT library's comparison on ([\w.-]+): published / ours\..*?in its header\.",
     r"PEFT 库在 \1 上的比较：公布值 / 我们的。文件除保存的内容外还有自己的文件头。其余数字都相等，只有以下不同：LoRA-FA 的优化器只训练 B；AdaLoRA 的文件是在放弃部分秩之后写的；"
     "adaption prompt 与 LN tuning 按基座的类型以 16 位保存；GLoRA 的那个版本不保存空路径。AdaMSS 的文件头里每个模块有 65 个张量。"),
    (r"The same library's runs: what its allocator reserved at most on one GPU \(bfloat16 base, batch 4, texts of up to 768 tokens\)\.[^\n]*",
     "同一个库的运行记录：一块 GPU 上分配器最多预留的字节数（基座 bfloat16，批大小 4，文本不超过 768 个词元）。我们的数字含基座、适配器（至少是基座的类型）、梯度和 AdamW 的状态，"
     "不含激活值（运行记录不说明文本长度），也不含分配器多占的部分：是下界。"),
    (r"^## Beside published figures$", "## 与公布的数字并列"),
    (r"^## Published runs of adapters$", "## 公布的适配器实验"),
    (r"^## Adapters in documentation, notebooks and issues$", "## 文档、notebook 和 issue 中的适配器"),
    (r"^## Lines of PEFT, from logs and tutorials$", "## 日志与教程中 PEFT 打印的行"),
    (r"Trainable and all parameters that `print_trainable_parameters` is said to print, with the settings beside it; the number of the file is GitHub's\. All less trainable is the model alone: where that is not our count of it, it stands beside the difference \(another model, a resized vocabulary or an older PEFT may have printed the line\)\.",
     "据称由 `print_trainable_parameters` 打印的可训练参数与全部参数，以及写在旁边的设置；文件的编号取自 GitHub。全部参数减去可训练参数就是模型本身：与我们的计数不等时，在差的旁边写出（可能是另一个模型、改过大小的词表，或较旧的 PEFT 打印的）。"),
    (r"\| model \| adapter \| published \| ours \| difference \| file \|", "| 模型 | 适配器 | 公布值 | 我们的 | 差 | 文件 |"),
    (r"^## Elements that come out of convolutions and products$", "## 卷积与矩阵乘积输出的元素"),
    (r"`outputs` of `weigh flops --json`, in millions, beside timm's tables \(fvcore's activation count\), which are rounded to two digits behind the point\.",
     "`weigh flops --json` 的 `outputs`，以百万计，与 timm 的表格（fvcore 的 activation 数）并列；后者取到小数点后两位。"),
    (r"The tables of DeepSpeed's documentation beside its estimates as `weigh parallel` makes them \(`documented` in the JSON\): rounded to two digits behind the point, or to MiB\.",
     "DeepSpeed 文档里的表格，与 `weigh parallel` 按它的公式所作的估计并列（JSON 中的 `documented`）：取到小数点后两位，或取整到 MiB。"),
    (r"^## Arithmetic of one pass$", "## 一次前向的运算量"),
    (r"What tools and tables print, beside ours in the convention that gives it, or in the nearest \(`Model\.reconcile_flops`\)\. Rounded figures are met as far as they are printed\.",
     "各种工具与表格给出的数字，与我们按给出该数字的口径（没有时取最接近的口径）算得的并列（`Model.reconcile_flops`）。取整的数字比到所印的位数为止。"),
    (r"^## Not asked$", "## 没有对照的"),
    (r"^## Further figures, from logs and pages$", "## 日志与网页中的其他数字"),
    (r"^## Peaks of training with adapters$", "## 带适配器的训练的峰值"),
    (r"^## Many devices$", "## 多设备"),
    (r"\| model \| figure \| published \| ours \| difference \| convention \|", "| 模型 | 数字 | 公布值 | 我们的 | 差 | 口径 |"),
    (r"\| model \| figure \| published \| why \|", "| 模型 | 数字 | 公布值 | 原因 |"),
    (r"\| model \| figure \| published \| ours \| difference \| source \|", "| 模型 | 数字 | 公布值 | 我们的 | 差 | 来源 |"),
    (r"\| model \| figure \| published \| ours \| difference \|", "| 模型 | 数字 | 公布值 | 我们的 | 差 |"),
    (r"\| model \| image \| published \| ours \| difference \|", "| 模型 | 图像 | 公布值 | 我们的 | 差 |"),
    (r"\| run \| trainable \| total \| file, bytes \|", "| 实验 | 可训练 | 总计 | 文件字节数 |"),
    (r"\| figure \| rows \| why \|", "| 数字 | 行数 | 原因 |"),
    (r"\(a lower bound, which holds\)", "（下界，成立）"),
    (r"no question of ours fits: the config is not published, or the figure is of another thing", "没有合适的问题：配置没有公布，或数字说的是别的东西"),
    (r"a run's own allocator and batch lengths decide it", "取决于那次运行自己的分配器与批的长度"),
    (r"kernels and allocator of the run are in it; ours is a lower bound", "其中含那次运行的内核与分配器；我们的是下界"),
    # census
    (r"^# A census of stated totals$", "# 各软件包所称参数量的普查"),
    (r"How many parameters packages say that models have, against what the models' configs make: counted by `weigh census`, reproduced by",
     "各软件包说模型有多少参数，与模型的配置实际构成的数目对照：由 `weigh census` 计数，用下面的命令重现："),
    (r"which fetches the wheels by pip.*?What is read:", "它用 pip 取得各个 wheel，只读不运行，凡是配置在预设之中、或随包附带的模型，逐条判断。读的是："),
    (r": the size in the name of each config that it carries", "：所附每份配置名称中的大小"),
    (r": `params` in the metadata of each preset", "：每个预设元数据中的 `params`"),
    (r": its model configs, which state no totals", "：所附的模型配置，没有写总数"),
    (r": `n_parameters` of each `ModelMeta`", "：每个 `ModelMeta` 的 `n_parameters`"),
    (r": `model_size_in_billions` of each specification", "：每条规格的 `model_size_in_billions`"),
    (r"\| package \| totals stated \| of known models \| exact \| convention \| rounded \| wrong \| not weighed \|",
     "| 软件包 | 所称的总数 | 其中已知模型 | 精确 | 另一口径 | 取整 | 错误 | 无法称量 |"),
    (r"- \*exact\*: the class of the config, as built or as loaded\.", "- *精确*：配置所指的类，构建时或加载后。"),
    (r"- \*convention\*: another legitimate way of counting gives it exactly\.", "- *另一口径*：另一种正当的数法恰好给出它。"),
    (r"- \*rounded\*: a legitimate count, rounded\.", "- *取整*：一个正当的数目，取过整。"),
    (r"- \*wrong\*: no way of counting gives it\.", "- *错误*：没有一种数法给出它。"),
    (r"- \*not weighed\*: the config makes no model that is described\.", "- *无法称量*：配置不构成有描述的模型。"),
    (r"^## Configs that packages carry$", "## 软件包所附的配置"),
    (r"Each is a row of the census, whether or not a total is stated for it\.", "每份都是普查的一行，不论有没有写总数。"),
    (r"\| package \| configs \| weighed \| unknown type \| no config of a model \| smallest \| largest \|",
     "| 软件包 | 配置 | 已称量 | 未知类型 | 不是模型配置 | 最小 | 最大 |"),
    (r"Why the others are not weighed:", "其余无法称量的原因："),
    (r"\| package \| reason \| configs \| for example \|", "| 软件包 | 原因 | 配置 | 例如 |"),
    (r"^## Wrong$", "## 错误"),
    (r"Farthest first\. The last column is the count of the class that the config names\.", "相差最远的在前；实际值是配置所指的类的参数量。"),
    (r"\| package \| model \| stated \| true \| off by \|", "| 软件包 | 模型 | 所称 | 实际 | 相差 |"),
    (r"^## Conventions$", "## 口径"),
    (r"Which ways of counting the exact ones that are not the class itself come from:", "精确、但不是类本身的那些数字，出自哪些数法："),
    (r"\| package \| way of counting \| claims \| for example \|", "| 软件包 | 数法 | 条数 | 例如 |"),
)  # fmt: skip
"""What stands on those pages, as patterns, and how it is said in Chinese."""


def in_chinese(text: str) -> str:
    """Say a page that a script writes in Chinese; its figures stay.

    >>> in_chinese("# Coverage\\n\\nThese are refused by name; no number is guessed.")
    '# 覆盖范围\\n\\n这些按名称拒绝，不猜任何数字。'
    """
    for pattern, chinese in SENTENCES:
        text = re.sub(pattern, chinese, text, flags=re.M | re.S)
    return text
