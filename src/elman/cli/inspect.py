"""elman inspect: what a model is, how it was trained, and what it does while it reads a text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from elman.cli.inspect_exposure import exposure_json, exposure_on_files, plot_exposure, show_exposure
from elman.cli.inspect_memory import memory_json, plot_layer_memory, show_memory
from elman.cli.inspect_model import model_json, plot_training, read_model_folder, show_model
from elman.cli.inspect_text import explanation_json, plot_explanation, show_explanation
from elman.cli.model_args import cell_option, model_argument
from elman.cli.terminal import FOLDER, option, picture_format_option, print_table
from elman.errors import ConfigError
from elman.files.picture_files import PictureFolder, plan_picture
from elman.ranges import PositiveInt

if TYPE_CHECKING:
    from elman.cli.inspect_model import InspectedModel
    from elman.inspect.executors import ExecutorChoice


@click.command(short_help="Describe a model and explain its answers.")
@model_argument
@option("--text", "Explain the model on this text: gates, saliency, surprisal.")
@option(
    "--word N",
    "Explain only the tag of word N, token N of the answer, or the prediction of token N.",
    type=PositiveInt,
)
@option(
    "--exposure FILE",
    "Measure exposure bias on these examples; repeat for two files.",
    multiple=True,
    type=click.Path(),
)
@option("--horizon", "Show how far back each unit remembers on --text (gradients through time).", is_flag=True)
@option("--executors", "Show which executor runs each recurrent cell, and why.", is_flag=True)
@option("--out DIR", "Write plots into this folder.", type=FOLDER)
@picture_format_option
@cell_option
@option("--json", "Print one JSON object on stdout, nothing else.", "as_json", is_flag=True)
def inspect(folder: Path, out: Path | None, format: str | None, as_json: bool, **asked: Any) -> None:
    """Describe the model in DIR: its layers, formulas, training and scores.

    With --text it also explains one answer: the gates of every layer, the saliency of each token
    (gradient × input: red for the answer, blue against it), the attention weights, and the surprisal of each
    token. The answer is a classifier's label, the tag of each word, the next token of a language model, or
    each token of a translation, each compared with the next best one.

    With --exposure it measures exposure bias: how much worse a language model, a sequence-to-sequence model
    or an autoregressive tagger gets when it reads its own output instead of the right tokens, by position
    and after k tokens of its own.

    With --horizon it measures memory on --text: how many tokens back each unit of a recurrent layer still
    feels what it read, by the gradient ∂h_t/∂x_{t-k}.

    With --executors it shows what runs each recurrent cell, in training and in prediction, and why no faster
    executor does.

    \b
    Examples:
      elman inspect models/topics
      elman inspect models/topics --text "How far is the moon?" --out pictures --format pdf
      elman inspect models/pos --text "Time flies." --word 2
      elman inspect models/lm --text "$(cat page.txt)" --horizon --out pictures
      elman inspect models/pos --executors
      elman inspect models/en-de --exposure test.en --exposure test.de --out pictures
    """
    pictures = _plan_pictures(out, format)
    for name, needs in (("word", "says which word of a text"), ("horizon", "measures memory on a text")):
        if asked[name] and asked["text"] is None:
            raise ConfigError(f"--{name} {needs}, but --text is missing")
    seen = read_model_folder(folder)
    found, views = model_json(seen), [*_look(seen, folder.resolve().name, **asked)]
    if pictures is not None:
        pictures.folder.mkdir(parents=True, exist_ok=True)
        plot_training(seen, pictures, about=folder.resolve().name)
        for view in views:
            view.plot(pictures)
    if as_json:
        click.echo(json.dumps(found | {view.key: view.json() for view in views}, ensure_ascii=False))
        return
    show_model(found)
    for view in views:
        view.show()


class ModelView(NamedTuple):
    """One way to look at a model: as JSON under a key, as text on stdout, as pictures in a folder."""

    key: str
    json: Callable[[], Any]
    show: Callable[[], None]
    plot: Callable[[PictureFolder], None]


def _look(
    seen: InspectedModel,
    name: str,
    *,
    text: str | None,
    word: int | None,
    exposure: tuple[str, ...],
    horizon: bool,
    executors: bool,
) -> Iterator[ModelView]:
    """What was asked for; ``name`` is the model's in the headings of pictures."""
    from elman.inspect.executors import executor_choices
    from elman.inspect.memory_horizon import text_memory
    from elman.inspect.plots import describe_subject
    from elman.inspect.text_explanation import explain

    if text is not None:
        about, read = describe_subject(name, text), explain(seen.model, text, word=word)
        plot = partial(plot_explanation, read, about=about)
        yield ModelView("text", partial(explanation_json, read), partial(show_explanation, read), plot)
        if horizon:
            memory = text_memory(seen.model, text)
            plot = partial(plot_layer_memory, memory, about=about)
            yield ModelView("memory", partial(memory_json, memory), partial(show_memory, memory), plot)
    if exposure:
        run = exposure_on_files(seen, exposure)
        plot = partial(plot_exposure, run, about=name)
        yield ModelView("exposure", partial(exposure_json, run), partial(show_exposure, run), plot)
    if executors:
        choices = executor_choices(seen.model.net)
        rows = [asdict(choice) for choice in choices]
        yield ModelView("executors", lambda: rows, partial(_show_executors, choices), lambda pictures: None)


def _plan_pictures(out: Path | None, format: str | None) -> PictureFolder | None:
    """Where plots go, if they can be drawn; None where none are asked for."""
    if out is None:
        if format is not None:
            raise ConfigError("--format is that of plots, but --out is missing: which folder?")
        return None
    pictures = PictureFolder(out, format or "png")
    plan_picture(pictures.path("any"))
    return pictures


def _show_executors(choices: list[ExecutorChoice]) -> None:
    """A row for each cell and mode, on stdout."""
    from elman.inspect.executors import ROWS, STEPS

    click.echo(f"\nexecutors on the CPU, for {ROWS} sequences of up to {STEPS} tokens")
    print_table(
        ["layer", "cell", "mode", "executor", "why not a faster one", "recurrence"],
        [[c.name, c.cell, c.mode, c.executor, _join_reasons(c), c.structure] for c in choices],
    )


def _join_reasons(choice: ExecutorChoice) -> str:
    """Why not a faster executor, unless it is what the class of the recurrence says already."""
    return "; ".join(f"{n}: {r}" for n, r in choice.reasons.items() if r not in choice.structure)
