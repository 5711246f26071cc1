"""Texts that nobody wrote to be read: what an audit could stumble over, as long as a line may be."""

from __future__ import annotations

import json

NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["BERT has 110M parameters."]}],
}

ARTICLES: dict[str, str] = {
    "nothing": "", "a line break": "\n" * 50_000, "brackets": "[" * 50_000, "brackets that close": "[" * 20_000 + "]" * 20_000, "round brackets": "(" * 20_000 + "1" + ")" * 20_000, "braces": "{" * 50_000,
    "bars": "|" * 50_000, "a table of bars": "|a|\n|-|\n" + "|1" * 20_000, "a table of 3,000 rows": "| n | p |\n|---|---|\n" + "| BERT | 110M |\n" * 3000, "stars": "*" * 50_000, "backquotes": "`" * 50_001, "dollars": "$" * 50_001,
    "digits": "1" * 100_000, "digits with commas": "1," * 50_000, "signs": "+-" * 25_000, "a sum of 5,000": " + ".join(["1"] * 5000) + " = 5000", "products": " × ".join(["9"] * 3000) + " = 5", "powers of powers": "2^2^2^2^2^99999 = 5",
    "a power": "9**9**9**9 = 1", "a power in LaTeX": "$10^{10^{10^{10}}} = 5$", "a number of 10^9 digits": "10^999999999 parameters", "beyond a float": "1e999999 parameters and 1e-999999", "a division by nothing": "5 / 0 = 1, 5 % 0 = 2, 0^0 = 1, 0/0 = 0",
    "roots": "\\sqrt{" * 5000 + "2" + "}" * 5000, "fractions": "$" + "\\frac{1}{" * 3000 + "2" + "}" * 3000 + "$", "environments": "\\begin{aligned}" * 3000, "commands": "\\newcommand{\\a}{\\a\\a}\\a = 5", "many names": "7B " * 8000,
    "names of models": "bert-base-uncased " * 3000, "a long word": "a" * 200_000, "a long word of letters and digits": "a1" * 100_000, "dots": "." * 100_000, "quotes": '"' * 100_000, "HTML": "<div>" * 10_000, "a script": "<script>alert(1)</script>" * 1000,
    "entities": "&lt;" * 20_000, "comments": "<!--" * 10_000, "headings": "#" * 50_000, "lists in lists": "".join(" " * n + "- 110M\n" for n in range(500)), "quotations": ">" * 20_000 + " 110M", "links": "[a](b)" * 10_000, "ampersands": "&" * 50_000, "a result behind brackets": "(" * 50_000 + " 110,000 of", "a count behind a line of signs": "The embeddings of BERT-base hold" + "=" * 30_000 + " 23,837,184 parameters", "formulas that are all alike": "= " + "\\text{```\xa0" * 5_000, "controls": "\x1b[2J110M\x07 \u202eM011" * 500,
    "zero bytes": "\0" * 10_000 + "110M", "letters that join": "\u200d" * 10_000, "marks": "e" + "\u0301" * 20_000, "digits of other scripts": "١١٠M 一亿一千万 参数 １１０Ｍ ²³ ½ Ⅷ 〇" * 500, "a code block that does not end": "```python\n" + "x = 5\n" * 3000, "equations": "H = 768\n" * 3000,
    "every size": "\n".join(f"hidden size {n}" for n in range(2000)), "formulas": "V*H + S*H = 5\n" * 1000, "claims that differ": "\n".join(f"{n} × {n + 1} = {n * n}" for n in range(1500)), "Python": "__import__('os').system('true') = 1", "a template": "{0.__class__} {} %s %(a)s ${jndi:x}",
    "an empty config": "```json\n{}\n```", "a config nested without end": "```json\n" + '{"a":' * 5000 + "\n```", "a config with 10^18 layers": '```json\n{"model_type": "bert", "num_hidden_layers": 1000000000000000}\n```',
}  # fmt: skip

NOTEBOOKS: dict[str, str] = {
    "no notebook": "x",
    "an empty object": "{}",
    "cells that are a number": json.dumps({**NOTEBOOK, "cells": 5}),
    "a cell that is null": json.dumps({**NOTEBOOK, "cells": [None]}),
    "a source that is a number": json.dumps({**NOTEBOOK, "cells": [{"cell_type": "markdown", "source": 5}]}),
    "nested without end": "[" * 100_000,
    "a key twice": '{"cells": [], "cells": []}',
    "a million cells": json.dumps({**NOTEBOOK, "cells": [{"cell_type": "markdown", "source": "110M"}] * 3000}),
    "half a pair": json.dumps({**NOTEBOOK, "cells": [{"cell_type": "markdown", "source": ["\ud800"]}]}),
}
