"""The scores of attention as data."""

from __future__ import annotations

from typing import Any

from elman.layers.attention import Additive, Bilinear, Dot, ScaledDot
from elman.live_page.page_parts import Describer, PageParts


def _describe_additive(score: Additive, parts: PageParts) -> Any:
    return parts.describe({"kind": "additive", "W": score.W, "U": score.U, "v": score.v})


def _describe_bilinear(score: Bilinear, parts: PageParts) -> Any:
    return parts.describe({"kind": "bilinear", "W_s": score.W_s})


def _describe_dot(score: Dot, parts: PageParts) -> Any:
    return {"kind": "scaled" if isinstance(score, ScaledDot) else "dot"}


SCORE_LAYERS: dict[type, Describer] = {
    Additive: _describe_additive,
    Bilinear: _describe_bilinear,
    Dot: _describe_dot,
}
"""How these scores are described."""
