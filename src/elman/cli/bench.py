"""elman bench: the benchmarks of bench/."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from elman.errors import ConfigError


@click.command(
    short_help="Run a benchmark of a checkout.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("name")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(name: str, options: tuple[str, ...]) -> None:
    """Run one of the benchmarks in the folder bench/ of a checkout.

    Options after the name go to the benchmark; all have --json and --help.

    \b
    Examples:
      elman bench recurrence
      elman bench recurrence --threads 1 --json
    """
    folder = Path(__file__).parents[3] / "bench"
    if not folder.is_dir():
        raise ConfigError("the benchmarks are not installed: run `elman bench` in a checkout of Elman")
    scripts = {path.stem: path for path in sorted(folder.glob("*.py"))}
    if name not in scripts:
        raise ConfigError(f"unknown benchmark {name!r}; there are {', '.join(scripts)}")
    done = subprocess.run([sys.executable, str(scripts[name]), *options], check=False)
    sys.exit(done.returncode)
