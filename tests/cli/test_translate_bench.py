"""`elman bench translate`: what it trains on, what it tells, and what it says where something is missing."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

from translators import Burst, Translations  # noqa: E402
from translators.corpus import Corpus, pairs_of, split, tatoeba  # noqa: E402
from translators.results import Measurements, row  # noqa: E402

PAIRS = [
    (f"{one} {other} it", f"{un} le {autre} bien !")
    for one, un in [("I", "je"), ("you", "tu"), ("we", "nous"), ("they", "ils")]
    for other, autre in [("see", "vois"), ("eat", "mange"), ("run", "cours"), ("read", "lis")]
]


def bench(*options: str, data: Path | None = None) -> "subprocess.CompletedProcess[str]":
    variables = {key: value for key, value in os.environ.items() if key != "ELMAN_DATA"}
    if data is not None:
        variables["ELMAN_DATA"] = str(data)
    command = [sys.executable, "-m", "elman", "bench", "translate", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder such as ELMAN_DATA names."""
    path = tmp_path / "tatoeba-en-fr" / "fra.txt.gz"
    path.parent.mkdir()
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{english}\t{french}\n" for english, french in PAIRS)
    return tmp_path


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz")), max_size=30),
    st.integers(0, 10),
    st.integers(0, 5),
)
def test_a_sentence_that_is_held_out_is_in_no_pair_and_has_all_its_translations(pairs, count, held):
    kept, out = split(pairs, count=count, held=held)
    judged = {one.source: one.targets for one in out}
    assert not judged.keys() & {source for source, _ in kept}
    assert all([t for s, t in pairs if s == source] == judged[source] for source in judged)
    assert len(judged) == min(held, len({source for source, _ in pairs}))
    assert len(kept) == min(count, sum(source not in judged for source, _ in pairs))


def test_blanks_of_french_typography_are_plain_ones(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("Really?\tAh\u00a0bon\u202f? Si\u2009!\n", encoding="utf-8")
    assert pairs_of(path) == [("Really?", "Ah bon ? Si !")]


def test_right_answers_in_subwords_have_a_bleu_of_100(data):
    path = data / "tatoeba-en-fr" / "fra.txt.gz"
    corpus = tatoeba(path, pairs=12, held=4, subwords=280)
    right = [" ".join(corpus.target.tokens(held.targets[0])) for _, held in corpus.held]
    assert corpus.bleu(right) == pytest.approx(100)
    assert corpus.bleu(right[::-1]) < 100


def test_a_ratio_is_the_median_over_rounds_the_first_burst_left_out(data):
    path = data / "tatoeba-en-fr" / "fra.txt.gz"
    corpus: Corpus = tatoeba(path, pairs=12, held=4, subwords=280)
    slow, fast = Measurements(7), Measurements(8)
    for system, tokens in ((slow, [9, 1, 2, 100]), (fast, [1, 2, 6, 400])):
        system.bursts.extend(Burst(0.5, 1, n) for n in tokens)
    slow.answers.append(Translations(2.0, [""] * 4))
    fast.answers.append(Translations(2.0, ["a b"] * 3 + [""]))
    told = row("fast", {"slow": slow, "fast": fast}, corpus)
    assert (told.tokens_per_answer, told.written_ratio) == (1.5, 2.5)
    assert (told.tokens_ratio, told.tokens_per_s, told.sentences_ratio) == (3, 12, 1)
    assert (told.updates, told.train_s, told.sentences_per_s) == (4, 2.0, 2.0)


def test_systems_train_for_the_asked_time_in_turns_and_json_is_all_that_is_printed(data):
    sizes = ("--pairs", "12", "--held", "4", "--subwords", "280", "--hidden", "8", "--batch", "40")
    times = ("--minutes", "0.02", "--burst", "0.4", "--repeats", "1", "--threads", "1")
    done = bench("--systems", "input-feeding", "gnmt", *sizes, *times, "--json", data=data)
    assert done.returncode == 0, done.stderr
    feeding, gnmt = json.loads(done.stdout)["results"]
    assert (feeding["system"], gnmt["system"]) == ("input-feeding", "gnmt")
    assert feeding["tokens_ratio"] == feeding["sentences_ratio"] == feeding["written_ratio"] == 1
    assert min(feeding["train_s"], gnmt["train_s"]) >= 1.2
    assert done.stderr.count("tokens/s") == 3


def test_without_the_data_the_folder_is_asked_for():
    done = bench("--systems", "gnmt")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ELMAN_DATA is not set: export ELMAN_DATA=FOLDER, which holds ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "JoeyNMT needs an environment of its own (pip install torch"),
        (("--joey", "nowhere/python"), "--joey nowhere/python: No such file or directory; "),
        (("--joey", sys.executable), f"--joey {sys.executable}: ModuleNotFoundError: No module"),
        (("--minutes", "0"), "--minutes is 0.0; it must be above 0"),
    ],
)
def test_what_is_missing_is_said_in_one_line(data, options, message):
    done = bench(*options, data=data)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(message)
