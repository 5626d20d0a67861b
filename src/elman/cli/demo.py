"""elman demo: train on data that is installed already, and show the result."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import elman.demo
from elman.cli.terminal import FOLDER, option, overwrite_option, print_table, say, typed_command
from elman.folders.output_folder import check_may_begin
from elman.interruption import exit_code
from elman.ranges import PositiveFloat

if TYPE_CHECKING:
    from elman.demo.demonstration import Demo


@click.command()
@click.argument("task", type=click.Choice([*elman.demo.DEMOS]), default="seq2seq")
@option("--out DIR", "The model folder to write.  [default: models/demo-TASK, anew each time]", type=FOLDER)
@overwrite_option
@option(
    "--minutes N",
    "Stop training after N minutes at the latest.  [default: a fixed number of updates, the same in each run]",
    type=PositiveFloat,
)
def demo(task: str, out: Path | None, overwrite: bool, minutes: float | None) -> None:
    """Train a small model in a minute or two and show what it can do.

    \b
    seq2seq     letters to sounds, on the CMU Pronouncing Dictionary (pip install "elman[demo]")
    lm          sentences and completions, on the docstrings of Python, NumPy and PyTorch
    classifier  the type of a parameter, from what they say of it
    tagger      their sentences with capitals and punctuation restored

    On a terminal it ends with a prompt for your own input; Ctrl-D leaves it.

    \b
    Examples:
      elman demo
      elman demo classifier --out models/types
      elman demo tagger --minutes 0.5
    """
    import torch

    # On a machine with other work, threads that share steps as small as these wait for each other.
    torch.set_num_threads(1)
    folder = out or Path("models") / f"demo-{task}"
    check_may_begin(folder, overwrite=overwrite or out is None)
    say("reading the data")
    play(elman.demo.prepare_demo(task, minutes or 0.0), task, folder)


def play(demo: Demo[Any], task: str, out: Path) -> None:
    """Train, evaluate, show examples, print the next commands, and on a terminal answer."""
    from elman.folders.run_folder import give_up_run
    from elman.pipeline import run_recipe
    from elman.pipeline.recipe import build

    say(f"{demo.about}\n")
    data = out / "data"
    data.mkdir(parents=True, exist_ok=True)
    outcome = run_recipe(build(demo.recipe(data)), out, command=typed_command(), overwrite=True)
    if outcome is None:
        give_up_run(out)
        say(f"interrupted; elman demo {task} starts again")
        raise click.exceptions.Exit(exit_code())
    header, rows, caption = demo.results(outcome.model)
    click.echo()
    print_table(header, rows, caption=caption)
    click.echo()
    for line in demo.examples(outcome.model):
        click.echo(line)
    for path in demo.pictures(outcome.model, out) if find_spec("matplotlib") else ():
        click.echo(f"\nplot: {path}")
    click.echo(f"\nThe model is in {out}. Next:")
    for command in demo.commands(out):
        click.echo(f"  {command}")
    if sys.stdin.isatty() and sys.stdout.isatty():
        _prompt(demo, outcome.model)


def _prompt(demo: Demo[Any], model: Any) -> None:
    """Answer what is typed until Ctrl-D or Ctrl-C: writing at each key, where a terminal tells keys."""
    from elman.demo.docstring_lm import DocstringDemo

    click.echo(f"\nNow you: {demo.ask} (Ctrl-D ends).")
    if isinstance(demo, DocstringDemo) and find_spec("termios"):
        from elman.cli.live_completion import complete_live

        complete_live(model.complete, lambda line: click.echo(demo.continue_text(model, line)))
        return
    while True:
        try:
            text = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return
        if text:
            click.echo(f"  {demo.answer(model, text)}")
