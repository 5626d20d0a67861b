"""elman tune: a search over the settings that matter."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from elman.cli.ordered_group import OrderedGroup
from elman.cli.recipe_flags import SpreadCommand, with_recipe_flags
from elman.cli.terminal import FOLDER, add_options, device_option, option, say
from elman.errors import ConfigError
from elman.interruption import exit_code
from elman.ranges import FoldCount, NonNegativeInt, PositiveFloat, ThreadCount
from elman.tasks.registry import TASKS
from elman.tasks.spec import TaskSpec

COMMAND = (sys.executable, "-m", "elman.cli.trial_process")
OF_TRAIN = {"--minutes", "--tensorboard", "--wandb", "--mlflow"}  # flags that a search has not, or its own


@dataclass(frozen=True)
class TuneOptions:
    """The options of a search that are not part of a recipe."""

    out: Path
    minutes: float
    jobs: int
    folds: int
    trials: int
    resume: bool
    overwrite: bool
    device: str


@click.group(cls=OrderedGroup, subcommand_metavar="TASK ...", short_help="Search for better settings.")
def tune() -> None:
    """Search for the settings that suit your data, within so many minutes.

    The first trial has the settings that `elman train` would choose; the result is never worse than it on the
    validation data. What you give as an option stays as it is, all else that matters is searched.

    \b
    Examples:
      elman tune classifier --train questions.tsv --minutes 30 --out tuned
      elman tune tagger --train train.conllu --column upos --minutes 60 --jobs 4 --out tuned
    """


def _with_tune_options(command: Callable[..., None]) -> Callable[..., None]:
    @wraps(command)
    def wrapper(**options: Any) -> None:
        asked = TuneOptions(**{f.name: options.pop(f.name) for f in fields(TuneOptions)})
        command(asked, **options)

    folds = "Judge every trial by the mean over K folds of --train; the best is then trained on all of it."
    options = (
        option("--minutes N", "How long to search.", type=PositiveFloat, required=True),
        option("--out DIR", "The folder for the recipe, the model and the trials.", type=FOLDER, required=True),
        option(
            "--jobs N", "Trainings at a time, one thread each; 0: one per core.", type=ThreadCount, default=0
        ),
        option("--trials N", "The most trials; 0: as many as the time allows.", type=NonNegativeInt, default=0),
        option("--folds K", folds, type=FoldCount, default=0),
        option("--set KEY=VALUE", "Set any key of a recipe: it is not searched.", "sets", multiple=True),
        option(
            "--resume", "Go on with an interrupted search, or one that is to have more minutes.", is_flag=True
        ),
        option("--overwrite", "Replace a search in --out; its model stays until the new one.", is_flag=True),
        device_option,
    )
    return add_options(wrapper, options)


def _task_command(spec: TaskSpec) -> click.Command:
    """``elman tune TASK``, with the flags of ``elman train TASK``."""

    @with_recipe_flags({name: flag for name, flag in spec.flags.items() if name not in OF_TRAIN})
    @_with_tune_options
    def command(options: TuneOptions, data: dict[str, Any]) -> None:
        if data.get("task", spec.name) != spec.name:
            raise ConfigError(f"this is a search for {spec.title}: leave out --set task={data['task']}")
        _run_search({"task": spec.name} | data, options)

    several = any(flag.several for flag in spec.flags.values())
    examples = re.findall(rf"elman train {spec.name} .*", spec.help)
    first = re.sub(r" --out \S+", " --minutes 30 --out tuned", examples[0].replace(" train ", " tune ", 1))
    make = click.command(
        spec.name,
        cls=SpreadCommand if several else click.Command,
        help=f"""Search for the settings of {spec.title} that suit your data.

        --out gets the best settings (recipe.toml, which `elman train` takes) and the model trained with them, a
        table of all trials (trials.csv), and a picture of what mattered (tune.png).

        \b
        Examples:
          {first}
        """,
        short_help=f"Settings of {spec.title}.",
        options_metavar=f"--train {spec.flags['--train'].metavar} --minutes N --out DIR [OPTIONS]",
    )
    return make(command)


def _run_search(data: dict[str, Any], options: TuneOptions) -> None:
    from elman.cli.tuning_report import follow_search, report_search
    from elman.devices import choose_device
    from elman.folders.output_folder import parse_folder
    from elman.folders.search_folder import claim_for_search
    from elman.pipeline.machine import count_cores
    from elman.pipeline.trial_run import Launcher
    from elman.pipeline.tune_settings import Search
    from elman.pipeline.tuning_length import SearchRequest
    from elman.pipeline.tuning_plan import make_plan, read_plan
    from elman.pipeline.tuning_study import TuningStudy
    from elman.text.optional_packages import import_optional

    if options.folds == 1:
        raise ConfigError("--folds is 1, which leaves nothing to train on; give 2 or more")
    import_optional("optuna", "tune", "to search for settings")  # before anything is read
    device = choose_device(options.device)
    jobs = options.jobs or (count_cores() if device == "cpu" else 1)
    request = SearchRequest(data, options.minutes, jobs, options.folds, options.trials, device)
    with claim_for_search(parse_folder(options.out), resume=options.resume, overwrite=options.overwrite) as out:
        plan = read_plan(out, request) if options.resume else make_plan(request)
        plan.write(out)
        launcher = Launcher(COMMAND, device, plan.folds)
        search = Search(out, plan, request, TuningStudy(out, plan), launcher)
        try:
            follow_search(search)
        except KeyboardInterrupt:
            say("to resume, run the same command with --resume")
            raise click.exceptions.Exit(exit_code()) from None
        report_search(search)


for task in TASKS.values():
    tune.add_command(_task_command(task))
