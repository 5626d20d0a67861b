"""Commands and options within the sentences and tables of the docs can be typed."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import click
import pytest

from elman.errors import ElmanError
from elman.tasks.registry import TASKS
from tests.cli.typed import ROOT, commands, parse

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
READING = ["evaluate m f", "predict m", "translate m", "generate m", "complete m", "score m"]
TRAINING = [f"train {task} --train f --out m" for task in TASKS]
TRAINING += [f"{place} --vectors f" for place in TRAINING]
TUNING = "tune classifier --train f --minutes 1 --out m"
PLACES = ["", *TRAINING, *READING, TUNING, "inspect m", "compare"]
OTHERS = {
    "--set",
    "--set a.b=c",
    "--set KEY=VALUE",
    "--max-restarts N",
    "--max-restarts 3",
}  # for any, or of torchrun


def inline(page: Path, beginning: str) -> Iterator[list[str]]:
    """Line by line, what stands between backticks and begins so, with a value for what stands for one."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for line in text.splitlines():
        found = re.findall(rf"`({beginning}[^`…]*)`", line)
        yield [re.sub(r"\b(N|F|K)\b", "3", code) for code in found if code not in OTHERS]


def allowed(options: str) -> bool:
    """Whether some verb takes them: the text of an option need not say whose it is."""
    # The settings of verbs that read are of two kinds only; they are checked when they are used.
    settings = "--set" in options and not re.search(r"--set (cache|dynamic)\.", options)
    for place in TRAINING if settings else PLACES:
        try:
            parse(f"elman {place} {options}".replace("  ", " "))
        except (click.ClickException, ElmanError):
            continue
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_within_sentences_exist(page: Path):
    named = {option for _, command in commands() for one in command.params for option in one.opts}
    for codes in inline(page, "--[a-z]"):
        unknown = [code for code in codes if code not in named and not allowed(code)]
        assert not unknown or allowed(" ".join(codes)), unknown  # one may need the other


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_within_sentences_exist(page: Path):
    for code in chain.from_iterable(inline(page, "elman [a-z]")):
        if not re.search(r"\b[A-Z]{3,}\b", code):
            with suppress(click.MissingParameter):  # a sentence may leave out what is clear
                parse(code)


def test_an_option_that_does_not_exist_is_noticed():
    assert allowed("--set model.hidden=3")
    assert not allowed("--set model.hiden=3")
    assert not allowed("--hiden 3")
    assert not allowed("--score dott")
