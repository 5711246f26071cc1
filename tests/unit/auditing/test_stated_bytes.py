"""Bytes whose every condition a Chinese passage says, and what is no contradiction of them."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("某模型 48 层、4 个 KV 头、每头 128 维,FP16 下每个 token 的 KV 缓存约 {}。", "96 KB", "69 KB"),
        ("40 层、8 个 KV 头、头维 128、2 bytes/元素,每 token 160 KiB,4096 个 token 约 {}。", "640 MiB", "460 MiB"),
        ("一个 9B 的模型,训练时每个参数需要 16 字节,总共需要 {} 显存。", "144 GB", "114 GB"),
        ("| 优化器状态 | Φ × 8 | 9B 模型 ⇒ {} |", "72 GB", "27 GB"),
        ("单层:1024 × 1024 × 16 × 2 字节 = 33.6 MB\n\n× 24 层 = {}", "806 MB", "608 MB"),
    ],
)
def test_bytes_follow_from_what_is_said(text: str, right: str, wrong: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text for claim in audit(text.format(wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "32 层、32 个头、每头 128 维,采用 MLA 后每个 token 的 KV 缓存只有 70 KB。",
        "每层每个 token 需要 16 KB = 2 × 32 × 128 × 2 字节。32 层 4096 个 token 需要 2 GB。",
        "32 层、8 个 KV 头、头维 128,FP16 每个 token 128 KB;8 路并发时 4096 个 token 约 4 GB。",
        "如果 80 层、64 个头、每头 128 维,FP16 每个 token 的 KV 要 2.5 MB,换成 GQA 只要 320 KB。",
        "一个 7B 的模型,每个参数 2 字节是 14GB,再加上激活共 18GB。",
        "带宽:0.5 byte × 7B × 20 token/sec = 70 GB/sec",
    ],
)
def test_other_conditions_are_no_contradiction(text: str) -> None:
    assert audit(text).wrong == ()
