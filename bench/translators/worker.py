"""A system in a process of its own, and how to talk with it: a JSON value a line, asked and answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from translators import Burst, Job, Translations, Translator

JOEY = "joeynmt"


class Remote:
    """A `Translator` somewhere else; between two calls its process sleeps."""

    def __init__(self, system: str, folder: Path, *, python: str, threads: int) -> None:
        self.system = system
        paths = (str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", ""))
        variables = {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        # Kept by the system until it is closed, so that nobody has to read it meanwhile.
        self.log = open(folder / f"{system}.log", "w+", encoding="utf-8")  # noqa: SIM115
        self.process = subprocess.Popen(
            [python, "-m", "translators.worker", system, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=os.environ | variables,
        )

    def __enter__(self) -> Remote:
        self.parameters = int(self._answer())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()
        self.log.close()

    def train(self, seconds: float) -> Burst:
        return Burst(**self._ask(["train", seconds]))

    def translate(self, *precision: str) -> Translations:
        """Elman takes a precision; JoeyNMT has only one on a CPU."""
        return Translations(**self._ask(["translate", *precision]))

    def _ask(self, command: list[Any]) -> Any:
        assert self.process.stdin
        print(json.dumps(command), file=self.process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            sys.exit(f"{self.system} failed:\n{self.log.read()}")
        return json.loads(line)


def serve(translator: Translator, commands: TextIO, answers: TextIO) -> None:
    """Do what is asked until nothing more is."""
    verbs: dict[str, Callable[..., Burst | Translations]] = {
        "train": translator.train,
        "translate": translator.translate,
    }
    print(translator.parameters, file=answers, flush=True)
    for line in commands:
        verb, *values = json.loads(line)
        print(json.dumps(asdict(verbs[verb](*values))), file=answers, flush=True)


def main(system: str, folder: Path) -> None:
    import torch

    # What a library prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    job = Job.load(folder)
    torch.set_num_threads(job.threads)
    translator: Translator
    if system == JOEY:
        from translators.joey import Joey

        translator = Joey(job, folder)
    else:
        from translators.elman_translator import ElmanTranslator

        translator = ElmanTranslator(job, folder, system)
    serve(translator, sys.stdin, answers)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
