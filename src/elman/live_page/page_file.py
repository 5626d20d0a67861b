"""A page in which a model runs: one file, without a server and without a network."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

from elman.errors import ModelError
from elman.files.atomic_files import write_result
from elman.live_page.describe_network import NETWORK_LAYERS
from elman.live_page.describe_reading import READING_LAYERS
from elman.live_page.describe_scores import SCORE_LAYERS
from elman.live_page.join_scripts import join_scripts
from elman.live_page.operation_script import print_operations, print_steps
from elman.live_page.page_parts import PageParts
from elman.live_page.weight_table import WeightTable
from elman.number_format import format_size
from elman.state import eval_mode
from elman.tasks.base import Task

LIMIT = 5_000_000  # bytes of a page: what a browser opens at once, and a mail carries
_HERE = Path(__file__).parent
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def write_page(task: Task, out: Path, *, text: str | None = None, half: bool = False) -> int:
    """Write the page of a model; how many bytes it has.

    The page opens with ``text``; where that is None, a language model has written one. ``half`` stores weights
    in 16 bits, and the page says so.
    """
    page = build_page(task, text=text, half=half).encode()
    if len(page) > LIMIT:
        remedy = (
            "" if getattr(task.net, "ngrams", None) is None else ", or without n-grams (model.ngrams = false)"
        )
        remedy += "" if half else ", or store the weights in 16 bits with --half"
        raise ModelError(
            f"the page would have {format_size(len(page))}, more than the {format_size(LIMIT)} that a page may "
            f"have: train a smaller model, with a smaller model.hidden or fewer tokens{remedy}"
        )
    write_result(out, page)
    return len(page)


def build_page(task: Task, *, text: str | None = None, half: bool = False, entry: str = "main.js") -> str:
    """The page as HTML."""
    data, printed = describe_model(task, text=text, half=half)
    parts = {
        "title": html.escape(data["info"]["title"]),
        "style": (_HERE / "style.css").read_text("utf-8"),
        "data": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        # A name of a stranger's formula must not end the script.
        "script": join_scripts(_HERE, entry, printed).replace("</", "<\\/"),
    }
    template = (_HERE / "page.html").read_text("utf-8")
    # In one pass: what is put in is not looked at again.
    return _PLACE.sub(lambda place: parts[place[1]], template)


def describe_model(
    task: Task, *, text: str | None = None, half: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """The data of a page, and the modules that are printed for it."""
    parts = PageParts(NETWORK_LAYERS | READING_LAYERS | SCORE_LAYERS, WeightTable(half=half))
    with eval_mode(task.net):
        network = parts.describe(task.blueprint())
        opening = task.sample_text() if text is None else text
    title, _, facts = task.card_info()
    rounded = ["weights: rounded to 16 bits"] if half else []
    info = {"task": network["kind"], "title": title, "facts": [*facts, *rounded]}
    info |= {"labels": network.get("labels"), "separator": network.get("separator", "")}
    data = {"info": info, "text": opening, "network": network, "formulas": parts.formulas_to_json()}
    data |= {"weights": parts.weights.pack()}
    return data, {"operations.js": print_operations(), "steps.js": print_steps(parts.steps)}
