"""Mimi's random configs: EnCodec's."""

from __future__ import annotations

from truth.recipes import seanet

draw = seanet.draw
