"""What Tab completes: verbs, options, tasks, recipes and files, as the shells ask for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from elman.cli.app import VARIABLE, elman
from tests.cli.lm_folder import call

SHELLS = ["bash", "zsh", "fish"]


def completed(*words: str) -> list[tuple[str, str]]:
    """Kind and value of every completion of the last word."""
    *before, last = words
    bash = get_completion_class("bash")(elman, {}, "elman", VARIABLE)
    return [(item.type, item.value) for item in bash.get_completions(before, last)]


def test_verbs_come_in_the_order_of_their_use():
    assert completed("")[:3] == [("plain", "demo"), ("plain", "train"), ("plain", "evaluate")]
    assert completed("tra") == [("plain", "train"), ("plain", "translate")]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["predict", "--to"], "--top"),
        (["train", "lm", "--bp"], "--bptt"),
        (["train", "some.toml", "--res"], "--resume"),
        (["train", "seq2seq", "--train", "a", "b", "--jo"], "--joint"),
        (["--comp"], "--completion"),
    ],
)
def test_options_are_completed(words: list[str], option: str):
    assert completed(*words) == [("plain", option)]


def test_after_train_come_tasks_and_recipes(tmp_path: Path, monkeypatch):
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "trec.toml").touch()
    (tmp_path / "recipes" / "notes.md").touch()
    (tmp_path / "tall.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("train", "t") == [("plain", "tagger"), ("plain", "tall.toml")]
    assert completed("train", "rec") == [("plain", "recipes/trec.toml")]
    assert completed("train", "recipes/t") == [("plain", "recipes/trec.toml")]
    assert completed("train", "[") == []


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "mod"],
        ["predict", "models/x", "te"],
        ["evaluate", "models/x", "a.en", "te"],
        ["train", "classifier", "--train", "te"],
        ["train", "seq2seq", "--train", "a.en", "te"],
        ["train", "tagger", "--device", "cuda", "--vectors", "te"],
    ],
)
def test_files_are_left_to_the_shell(words: list[str]):
    assert completed(*words) == [("file", words[-1])]


def test_choices_are_completed():
    assert completed("demo", "l") == [("plain", "lm")]
    assert completed("predict", "m", "--format", "co") == [("plain", "conllu"), ("plain", "columns")]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_asks_for_completions(shell: str, monkeypatch, capsys):
    done = call(monkeypatch, capsys, "--completion", shell)
    assert done.code == 0
    assert f"{VARIABLE}={shell}_complete" in done.out


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completes_a_verb(tmp_path: Path):
    command = tmp_path / "elman"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/run.py" "$@"\n')
    command.chmod(0o755)
    (tmp_path / "run.py").write_text("import sys\nsys.argv[0] = 'elman'\nfrom elman.cli import main\nmain()\n")
    script = (
        'eval "$(elman --completion bash)"\n'
        "COMP_WORDS=(elman train cl) COMP_CWORD=2\n"
        "_elman_completion elman cl train\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("classifier\n", "")
