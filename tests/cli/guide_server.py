"""The command, imported once: it forks for each call that comes through a socket, with the caller's files.

It is a program of its own, so that neither pytest nor the shape checks are in the way.
"""

import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import torch

import elman.cli.app
import elman.cli.bench
import elman.cli.demo
import elman.cli.train
import elman.cli.tune
import elman.demo
import elman.inspect.comparison as comparison
import elman.inspect.text_comparison as text_comparison
import elman.pipeline
from elman.pipeline.recipe import build
from elman.pipeline.recipe_file import format_recipe

# What some calls import later, each for itself.
for name in ("torch._dynamo", "sacrebleu", "matplotlib.figure", "matplotlib.backends.backend_agg"):
    with suppress(ImportError):
        import_module(name)

SHORT = {
    "classifier": "--hidden 8 --set model.embedding=8 --epochs 1",
    "tagger": "--hidden 8 --set model.embedding=8 --epochs 1",
    "lm": "--hidden 8 --embedding 8 --layers 1 --epochs 1",
    "seq2seq": "--hidden 8 --embedding 8 --epochs 1",
}


def serve(address: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        server.settimeout(300)  # it ends by itself if pytest was killed
        for _ in range(1000):
            caller = server.accept()[0]
            caller.setblocking(True)
            if os.fork() == 0:
                answer(caller)
            caller.close()


def answer(caller: socket.socket) -> None:
    """Be the command that was called, then end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, files, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    folder, arguments = json.loads(message)
    os.chdir(folder)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(i, "w" if i else "r") for i in range(3))
    if arguments[:1] == ["train"]:
        arguments += SHORT.get(arguments[1], "").split()
    sys.argv = ["elman", *arguments]
    make_quick(arguments)
    code = 1
    try:
        code = elman.cli.app.call()
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.send(str(code).encode())
        os._exit(0)


def make_quick(arguments: list[str]) -> None:
    """Read what takes long, but leave it at that."""
    elman.cli.demo.play = lambda demo, task, out: None
    elman.demo.prepare_demo = lambda task, minutes: None
    elman.cli.bench.subprocess = Measured
    elman.cli.tune._run_search = leave_recipe
    small = {"steps": 3, "memory_updates": 2, "words": 50, "little_updates": 2}
    comparison.Comparison = functools.partial(comparison.Comparison, **small)
    brief = {"updates": 2, "minutes": None}
    whole = text_comparison.TextComparison
    text_comparison.TextComparison = lambda **given: whole(**given | brief)
    if any(word.endswith(".toml") or word.startswith("recipe:") for word in arguments[1:2]):
        elman.cli.train.run_training = lambda recipe, how: None
        torch.cuda.is_available = lambda: True


def leave_recipe(data: dict[str, object], options: elman.cli.tune.TuneOptions) -> None:
    """In place of a search: the recipe of what was given."""
    options.out.mkdir()
    (options.out / "recipe.toml").write_text(format_recipe(build(data)))


class Measured:
    """In place of a measurement: all options that it is given stand in its file."""

    @staticmethod
    def run(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        script = Path(command[1]).read_text()
        unknown = [o for o in command if re.match("--[a-z]", o) and o not in script]
        return subprocess.CompletedProcess(command, 2 if unknown else 0)


with suppress(TimeoutError):
    serve(sys.argv[1])
