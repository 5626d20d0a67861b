"""Run the tests on every Python and PyTorch that Elman promises, from a wheel that was built from the sdist.

Each environment is a fresh one, without the sources on its path: the tests of the checkout meet the installed
package, then the demo and a prediction run in a folder outside of the checkout. ``lowest`` installs the lowest
version that pyproject.toml names of everything a user needs. A Python that is not here is said to be missing.

    make versions                                                    all environments, one after the other
    python tests/campaign/versions.py --only 3.13-2.13.0 -- -n 2     one of them, with options for pytest
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = "plot,track,demo,docs,dev"
TOOLS = ("docs", "dev")  # nobody who uses Elman needs these
# These read what a checkout has and a wheel has not: the benchmarks, and recipes beside the source.
IN_A_CHECKOUT = (
    "tests/cli/test_bench.py",
    "tests/cli/test_translate_bench.py",
    "tests/cli/test_commands.py::test_a_wrong_name_is_one_line_on_stderr",
    "tests/cli/test_guide.py::test_every_command_does_what_the_page_says[exposure.md]",
    "tests/cli/test_guide.py::test_every_command_does_what_the_page_says[predict.md]",
    "tests/recipes/test_recipe_files.py::test_recipes_are_found_beside_the_source",
    "tests/test_regressions.py::test_the_help_of_a_measurement_is_its_own",
)
TABLE = "text\tlabel\n" + "a good film\tgood\na bad film\tbad\n" * 20


@dataclass(frozen=True)
class Environment:
    """A Python, a PyTorch, and whether all else is as old as pyproject.toml allows."""

    python: str
    torch: str
    lowest: bool = False

    @property
    def name(self) -> str:
        """How it is asked for: ``3.11-2.13.0`` or ``lowest``."""
        return "lowest" if self.lowest else f"{self.python}-{self.torch}"


ENVIRONMENTS = (
    Environment("3.11", "2.13.0"),
    Environment("3.12", "2.13.0"),
    Environment("3.13", "2.13.0"),
    Environment("3.11", "2.11.0"),
    Environment("3.11", "2.11.0", lowest=True),
)


def main() -> int:
    """Go through the environments; one line each at the end, and the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[e.name for e in ENVIRONMENTS], metavar="NAME")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/versions", help="where they are installed")
    parser.add_argument("pytest", nargs="*", help="options for pytest, after --")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wheel = build_wheel(options.folder / "dist")
    results = {}
    for environment in ENVIRONMENTS:
        if not options.only or environment.name in options.only:
            folder = options.folder / environment.name
            results[environment.name] = try_environment(environment, folder, wheel, options.pytest)
    print("\n".join(f"{name}: {result}" for name, result in results.items()))
    return int(any(result.startswith("failed") for result in results.values()))


def build_wheel(folder: Path) -> Path:
    """The wheel of the sdist of this checkout: what a package index would hold."""
    shutil.rmtree(folder, ignore_errors=True)
    builder = folder.parent / "builder"
    make_venv(sys.executable, builder)
    run(builder / "bin/python", "-m", "pip", "install", "--quiet", "build")
    run(builder / "bin/python", "-m", "build", "--outdir", folder, ROOT)  # the wheel comes from the sdist
    (wheel,) = folder.glob("*.whl")
    return wheel


def try_environment(environment: Environment, folder: Path, wheel: Path, options: list[str]) -> str:
    """What became of the tests and of a user's first commands."""
    interpreter = find_python(environment.python)
    if interpreter is None:
        return f"missing: there is no Python {environment.python} on this machine"
    try:
        python = install(environment, interpreter, folder, wheel)
        use_as_a_stranger(python, folder / "outside")
        left_out = [f"--deselect={test}" for test in IN_A_CHECKOUT]
        summary = (
            run(python, "-m", "pytest", *left_out, *(options or ["-n", "2"]), cwd=ROOT).strip().splitlines()[-1]
        )
    except subprocess.CalledProcessError as error:
        (folder / "failure.log").write_text(error.stdout)
        return f"failed: {' '.join(map(str, error.cmd))[-80:]} (see {folder / 'failure.log'})"
    return f"passed: {summary.strip('= ')}"


def find_python(version: str) -> str | None:
    """The interpreter of this version, on the path or among those of pyenv."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [f"python{version}", *map(str, sorted(versions.glob(f"{version}.*/bin/python"), reverse=True))]
    for place in filter(None, map(shutil.which, places)):
        # A shim of pyenv is on the path though its Python may not be.
        if subprocess.run([place, "-c", ""], capture_output=True, check=False).returncode == 0:
            return place
    return None


def install(environment: Environment, interpreter: str, folder: Path, wheel: Path) -> Path:
    """A fresh environment with the wheel and everything its tests need: its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    make_venv(interpreter, folder)
    python = folder / "bin/python"
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lowest_versions()) if environment.lowest else "")
    pip = (python, "-m", "pip", "install", "--quiet", "--constraint", constraints)
    run(*pip, f"torch=={environment.torch}")
    run(*pip, f"{wheel}[{EXTRAS}]")
    return python


def lowest_versions() -> list[str]:
    """``name==version`` for each ``name>=version`` that pyproject.toml asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(t for name in extras if name not in TOOLS for t in extras[name])]
    found = (re.match(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", text) for text in wanted)
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


def use_as_a_stranger(python: Path, outside: Path) -> None:
    """The demo, a training and a prediction, in a folder that is not the checkout."""
    outside.mkdir()
    (outside / "films.tsv").write_text(TABLE)
    elman = python.with_name("elman")
    run(elman, "demo", cwd=outside)
    run(elman, "train", "classifier", "--train", "films.tsv", "--out", "films", "--epochs", "5", cwd=outside)
    answer = run(elman, "predict", "films", "films.tsv", cwd=outside)
    assert "good" in answer, answer


def make_venv(interpreter: str, folder: Path) -> None:
    """An empty virtual environment."""
    run(interpreter, "-m", "venv", folder)


def run(*command: object, cwd: Path | None = None) -> str:
    """What a command prints; an error if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"OMP_NUM_THREADS": "1"}
    print("+", *command, file=sys.stderr, flush=True)
    words = list(map(str, command))
    done = subprocess.run(
        words,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, words, done.stdout)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
