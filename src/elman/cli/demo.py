"""elman demo: trains on data that is there already, and shows what came of it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from elman.cli.terminal import INTERRUPTED, say, table

if TYPE_CHECKING:
    from elman.demo import Demo

NAMES = ("seq2seq", "lm", "classifier", "tagger")


@click.command()
@click.argument("task", type=click.Choice(NAMES), default="seq2seq")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The model folder to write.  [default: models/demo-TASK]",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    default=1.75,
    show_default=True,
    help="Train no longer than that, also where the machine is busy.",
)
def demo(task: str, out: Path | None, minutes: float) -> None:
    """Train a small model in a minute or two and show what it can do.

    \b
    seq2seq     letters to sounds, on the CMU Pronouncing Dictionary (pip install 'elman[demo]')
    lm          sentences and completions, on the docstrings of Python, NumPy and PyTorch
    classifier  the type of a parameter, from what they say of it
    tagger      their sentences with capitals and punctuation restored

    On a terminal it ends with a prompt for your own input; Ctrl-D leaves it.

    \b
    Examples:
      elman demo
      elman demo classifier --out models/types
      elman demo tagger --minutes 3
    """
    import torch

    from elman.demo import DEMOS

    # On a machine with other work, threads that share steps as small as these wait for each other.
    torch.set_num_threads(1)
    say("reading what is installed here")
    play(DEMOS[task](minutes), task, out or Path("models") / f"demo-{task}")


def play(demo: Demo, task: str, out: Path) -> None:
    """Train, judge, show, say what to type next, and on a terminal answer."""
    from elman.learning import learn
    from elman.learning.recipe import build

    say(f"{demo.about}\n")
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    outcome = learn(build(demo.recipe(data)), out)
    if outcome is None:
        say(f"elman demo {task} begins again")
        raise click.exceptions.Exit(INTERRUPTED)
    header, rows, caption = demo.results(outcome.model)
    click.echo()
    table(header, rows, caption=caption)
    click.echo()
    for line in demo.examples(outcome.model):
        click.echo(line)
    for path in demo.pictures(outcome.model, out):
        click.echo(f"\ndrawn: {path}")
    click.echo(f"\nThe model is in {out}. Next:")
    for command in demo.commands(out):
        click.echo(f"  {command}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        _prompt(demo, outcome.model)


def _prompt(demo: Demo, model: Any) -> None:
    """Answer what is typed until Ctrl-D or Ctrl-C: writing at each key, where a terminal tells keys."""
    from elman.demo.writing import Writing

    click.echo(f"\nNow you: {demo.ask} (Ctrl-D ends).")
    if isinstance(demo, Writing) and find_spec("termios"):
        from elman.cli.typing_line import type_along

        type_along(model.complete, lambda line: click.echo(demo.continued(model, line)))
        return
    while True:
        try:
            text = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return
        if text:
            click.echo(f"  {demo.answer(model, text)}")
