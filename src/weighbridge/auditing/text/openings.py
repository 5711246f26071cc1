"""What a sentence that names no model is about, by its words before the first number: the model above it, or something else."""

from __future__ import annotations

import re
from bisect import bisect_left

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_text

_SENTENCE = pattern(r"[。!?！？;；]|\.(?!\d)(?=\s|$)")
_NUMBER = pattern(r"\d")
_WORD = pattern(r"[A-Za-z]+")
_COMMAND = pattern(r"\\[A-Za-z]+\*?")
"""A command of TeX, which is no word of the sentence."""
_KNOWN = frozenset(
    """
    a about above account accounts activated active activation activations actual actually add added addition additional additionally adds after again all alone already also altogether always amount amounts an and any
    approximately approx answer answers architecture are area around as at attention attn available away b backbone base based basic be because before begin below beside besides between bf bias biases bit bits block blocks both bottom bpe bring brings but by byte bytes cache calculated
    calculation can card case checkpoint checkpoints come comes comprise comprises comprising compute computed config configs configuration consist consisting consists contain contained containing contains context contribute contributes cost costs
    count counted counting counts d decode decoder decoders deep default dense depth describe described detail details dim dimension dimensional dimensionality dimensions do does down dtype due each eight either eleven embed embedded embedding embeddings employ employs
    encode encoder encoders end entire entries equal equals especially estimated even every exact exactly example except expand expanded expands expert experts explicitly extra far feature features feed feedforward few ff ffn figure figures fill final find first five float fold for
    familiar forward four fp from full fully further g gain gains gate gated gating gb gelu get gets gib give given gives giving gqa gradient gradients grand group grouped groups had half has have having head heads height hence here hidden hold holding holds how however huge hyperparameter
    hyperparameters i if in include included includes including increase increases indeed individual inner input inside instead int intermediate internal into is it its itself just just k key keys know kv l large latent layer layernorm layernorms layers lead leads leave leaves left
    length less let linear list listed ln lm load loaded long look looks m made main make makes many mask masked matrices matrix max maximum mb means mean medium memory mha mib mini mixture mixtures mlp mlps mm model modelling moe more most mqa mtp multi multihead multiple multiply n name namely need needed needs
    network next nine no non norm normal normalisation normalization norms not note now num number numbers o occupies occupy of official on once one only operate operates optimizer or original otherwise our out output outputs over overall own p pair pairs param parameter
    parameters params part parts per pick picks piece pieces place plain plus point pool pooler pooling position positional positions precision precisely projection projections provide provides published put q qkv quantised quantized query querys queries rank rather read really recommended relative relu remain remaining remains require requires
    residual respectively rest result results rms rmsnorm rmsnorms roughly round rounded rounding routed router routers routes row rows s same say scale segment select selected selects self sentencepiece sequence serve serving set sets setting settings seven several shape shapes share
    shared shares show shown shows simple simply since single six size sized sizes small so softmax some special specifically specification specifications specs stack stacked stacks stage standard stands start state stated states step still storage store stored stream structure style sub sublayer sublayers subword such
    sum summary sums swiglu table tables tail take taken takes ten tensor tensors term terms than that the them then there therefore these things this those three thus tie tied times tiny to together token tokenizer tokenizers tokens top total totaling totalling totals transformer transformers turn twelve twice two
    flop flops gflop gflops mac macs gmac gmacs built massive encompass encompasses encompassing boasts boast integrates integrate possesses possess maintains totalling executes generation
    sequences inputs process processes processing handle handles accept accepts native natively support supports supported long longer texts documents tokenization badges stat stats
    innovative specific significant significantly advancement represents notable notably compact lightweight powerful optimized optimised efficient efficiently robust
    composed comprised built usually across well instance byte bulk reside resides balanced advanced efficiency approach sensitive modern popular famous relatively widely widely-used practice
    architecturally structured structurally employed featured featuring features mechanism mechanisms despite although though within technically concretely internally basically essentially particular particularly configured
    utilize utilizes utilise utilises utilizing leverage leverages adopt adopts incorporate incorporates apply applies causal autoregressive pretrained accordingly consequently therefore hence access total totalling developed released publicly seq len nparams nlayers nheads nlayer nhead dmodel nembd dhead
    type types typical typically under unit units untied up upon us use used uses using usual v value values vector vectors via vocab vocabulary vs want was we weigh weighing weighs weight weights were what when where which while whole whose why wide widen widens width widths will window windows with within without word wordpiece
    turns recall remember amounts comes split innovations innovation enhancements improvements upgrades changes
    words work works would x y yes yet yield yields you your z zero
    alibi bpe flashattention geglu gqa mla prenorm rope silu sentencepiece swish
    """.split()
)
"""Words of sentences that go on about the same model. Any word before the first number may be what the sentence is about."""
_KNOWN_CHINESE = pattern(
    "光是|光|加载|载入|部署|本身|自身|仅仅|大致|粗略|估算|估计|换算|折合|忽略|不计|不含|实际上|实际|理论上|理论|具体来说|具体|来说|来看|而言|可见|此时|其实|子层|单元|形状|尺寸|"
    "层面|方面|拥有|具备|预培训|后培训|培训|预训练|后训练|阶段|设计|优化|实现|通过|支持|结合|配合|机制|技术报告|技术|特点|因果|语言|自回归|深度|总体|核心|关键|基于|构建|论文|报告|给出|提到|总参|"
    "隐藏层|隐藏|隐层|参数个数|参数数量|参数总量|参数量|参数|模型|网络|结构|架构|编码器|编码层|注意力|前馈|中间|维度|维|层数|层|头数|头|词表|词汇表|词汇|词典|字典|词向量|词嵌入|嵌入|位置|长度|最大|序列|上下文|窗口|大小|规模|数量|总数|总量|总计|总共|总|共计|"
    "一共|共有|共|合计|加起来|大约|大概|差不多|约|左右|其中|分别|每一个|每一|每个|每|一个|这个|这些|这里|这样|这|该|它的|它|其|由|组成|堆叠|包含|包括|含有|含|具有|采用|使用|用|设置|设为|设|配置|为|是|有|的|和|与|以及|及|而|则|也|就|都|了|又|再|还|加上|加|"
    "所以|因此|于是|那么|那|即|也就是|就是|也就|说|可以|得到|得出|得|等于|等|如下|如|例如|比如|下面|上面|以上|对应|对于|对|于|在|里|中|上|下|内|个|块|组|种|份|次|第|标准|基础|原始|官方|完整|整个|整体|全部|所有|单个|单|多头|多|查询|键值|键|值|矩阵|向量|"
    "权重|偏置|归一化|投影|线性|输入|输出|最后|最终|首先|然后|接着|此外|另外|同样|同时|专家|路由|共享|激活|稠密|稀疏|显存|内存|缓存|占用|占|需要|需|大|小|只|仅|达到|达|超过|接近|存储|精度|字节|训练|推理|时|按|把|将|从|到|以|并|且|或|若|当|会|要|能|被|所|后|前|我们|我|假设|取|令|已知|"
    "精心|专门|依然|仍然|仍|通常|一般|往往|主要|尤其|特别|显著|极大|大幅|有效|充分|进一步|相对|相应|各自|背后|当中|之间|作为|属于|位于|凭借|借助|利用|引入|沿用|继承|保留|保持|维持|详细|直接|完全|几乎|恰好|正好|刚好|准确|精确|所谓|称为|叫做|名为|定义|表示|意味着|说明|表明|显示|看出|看到|"
    "注意|值得|必须|应该|能够|提供|赋予|带来|形成|构成|捕捉|学习|表达|建模|改进|改动|强大|高效|优秀|出色|先进|经典|典型|常见|现代|主流|著名|简单|复杂|紧凑|轻量级|轻量|庞大|巨大|惊人|良好|丰富|稳定|灵活|独立|相同|一致|性能|效率|能力|效果|质量|资源|平衡|优势|亮点|细节|原理|理念|本质|要点|过程|流程|"
    "步骤|顺序|方式|方法|容量|宽度|厚度|概括|归纳|划分|步|关于|根据|按照|依据|随着|由于|因为|为了|这意味着|换句话说|总的来说|总体上|整体上|结构上|架构上|规模上|配置上|"
    "推导|推算|求出|算出|列出|明确|虽然|尽管|虽|竟然|居然|可是|堪称|号称|介绍|以下|当前|目前|终端|截图|读出|信息|打印|参考|查阅|查看|可知|得知|知道|了解|回顾|先|其次|不同|区别|负责|堆|"
    "自注意力|交叉注意力|升维|降维|全连接|函数|神经元|节点|张量|子模块|"
    "可训练|可|微调|但是|但|词元|非|标记|一层|一|两|二|三|四|五|六|七|八|九|十|百|千|万|亿|比|多少|几|分|数|量|池化|掩码|类型|句子|片段|分段|段|词|字|符|令牌|版本|版|变换|映射|残差|连接|模块|部分|组件|计算|统计|公式|结果|答案|问题|优化器|梯度|状态|已经|已|均|才|亦|高|更|最"
)


def opens_with_another(text: str, first: int, last: int = -1) -> bool:
    """Tell whether a sentence is about something else than the model above: ``The reward model has``, ``策略网络由``, ``There are 4 layers in the critic``.

    Args:
        first: Where the number, or its label, begins.
        last: Where the two end.

    >>> opens_with_another("Each of the 12 layers has 12 heads", 22), opens_with_another("The reward model has 12 layers", 21)
    (False, True)
    """
    start, stop = sentence_of(text, first)
    if _THIS_MODEL.match(text, start) and (clauses := [m.end() for m in _TURNS.finditer(text, start, first)]):
        start = clauses[-1]  # ``该模型由 TII 训练，有 60 层``
    number = _NUMBER.search(text, start, first)
    opening = text[start : number.start() if number is not None else first]
    behind = _CLAUSE.split(text[last:stop])[0] if number is None and 0 < last <= stop and _NO_SUBJECT.fullmatch(opening) else ""
    return _has_others(opening) or _has_others(behind) or _OF_ITS_OWN.search(opening) is not None


def turns_in_clause(text: str, named: int, first: int) -> bool:
    """Tell whether a Chinese sentence turns to something else, in a clause behind the name of its model: ``BERT 有 1.1 亿参数，奖励模型有 3 亿``.

    Args:
        named: Where the name ends.
        first: Where the number, or its label, begins.

    >>> [turns_in_clause(text, 4, text.index("3")) for text in ("BERT 很常用，参数量 3 亿", "BERT 很常用，奖励模型有 3 亿参数")]
    [False, True]
    """
    clause = max((m.end() for m in _TURNS.finditer(text, named, first)), default=0)
    number = _NUMBER.search(text, clause, first) if clause else None
    opening = text[clause : number.start() if number is not None else first] if clause else ""
    return _HAN.search(opening) is not None and _has_others(opening)


_THIS_MODEL = pattern(
    r"[\s\W]*(?:(?:该|此|这个|这款|这一)(?:大语言|语言|大|小|基座|基础|开源|预训练)*(?:模型|系列|架构|网络)(?!的)|它(?!们|的))"
)
"""The beginning of a Chinese sentence about the model at hand."""
_TURNS = pattern(r"[，；;：:]|,(?!\d)")
_HAN = pattern("[\u4e00-\u9fff]")


def sentence_of(text: str, place: int) -> tuple[int, int]:
    """Return where the sentence of a place begins and ends."""
    ends = _sentence_ends(text)
    after = bisect_left(ends, place)
    start = place if text[place - 1 : place] == "." else ends[after - 1] + 1 if after else 0
    return start, ends[after] if after < len(ends) else len(text)


@once_for_each_text
def _sentence_ends(text: str) -> tuple[int, ...]:
    """Return where the signs stand that end the sentences of a line."""
    return tuple(m.start() for m in _SENTENCE.finditer(text))


def _has_others(words: str) -> bool:
    """Tell whether words are not all such as go on about the same model."""
    words = _COMMAND.sub(" ", words)
    foreign = sum(len(word) for word in _WORD.findall(words) if word.lower() not in _KNOWN)
    return foreign > _LETTERS or any("\u4e00" <= letter <= "\u9fff" for letter in _KNOWN_CHINESE.sub("", words))


_NO_SUBJECT = pattern(r"\W*(?:(?:and|so|here|then|but)\W+)?(?:there (?:are|is)|on|in|with|at)\W*(?:\w+ )?\W*", re.IGNORECASE)
"""The beginning of a sentence whose subject stands behind the number."""
_OF_ITS_OWN = pattern(r"^\W*an?\W*$|\bsame\b.*\bbut\b", re.IGNORECASE)
"""The beginning of a sentence that brings in something new: ``A 3-layer network with``, ``The same, but with``."""
_CLAUSE = pattern(r"[,，、:：()（）]")
_LETTERS = 2
"""Letters of unknown words that are no words: symbols, a plural's s."""
