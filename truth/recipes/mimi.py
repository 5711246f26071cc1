"""Mimi's random configs: EnCodec's."""

from __future__ import annotations

from truth.recipes import encodec

draw = encodec.draw
