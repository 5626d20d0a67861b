"""The colours of the page: text is readable on all that it stands on, in light and in dark."""

import re

import pytest

from tests.live_page.runtime import SCRIPTS

STYLE = (SCRIPTS / "style.css").read_text("utf-8")
BLOCKS = {
    "light": ":root {",
    "dark": ':root[data-theme="dark"] {',
    "dark system": ':root:not([data-theme="light"]) {',
}
READABLE = 4.5  # WCAG 2.2, level AA
PAIRS = [
    ("ink", "back"),
    ("ink", "panel"),
    ("soft", "panel"),
    ("soft", "back"),
    ("ink", "mark"),
    ("wrong", "panel"),
]
PAIRS += [("accent", "back"), ("on-accent", "accent"), ("ink", "low")]


def colours(block: str) -> dict[str, str]:
    inside = STYLE.split(BLOCKS[block])[1].split("}")[0]
    return dict(re.findall(r"--([\w-]+): (#\w{6})", inside))


def luminance(colour: str) -> float:
    shares = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_text_is_readable_on_its_ground(block, text, ground):
    bright, dim = sorted((luminance(colours(block)[name]) for name in (text, ground)), reverse=True)
    assert (bright + 0.05) / (dim + 0.05) >= READABLE


def test_dark_is_the_same_by_the_switch_and_by_the_system():
    assert colours("dark") == colours("dark system")
    assert colours("dark").keys() == colours("light").keys()
