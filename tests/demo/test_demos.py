"""Each demo on a little data, from its recipe to its answers."""

from collections import Counter
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from elman import artifact
from elman.demo import DEMOS, pronunciation
from elman.demo.demonstration import Demo
from elman.demo.docstring_lm import DocstringDemo
from elman.demo.parameter_types import ParameterTypeDemo
from elman.demo.pronunciation import PronunciationDemo, nearest_word
from elman.demo.punctuation import OWN, PunctuationDemo, build_passages, f1_of_changes, strip_marks
from elman.pipeline import run_recipe
from elman.pipeline.recipe import build

SENTENCES = {
    f"file {i}": [f"Return the name of file {i} as it was.", f"If file {i} is open, close it."]
    for i in range(60)
}
TYPES = {f"whether to use the number {i}": "bool" for i in range(60)} | {
    f"how many things of kind {i}": "int" for i in range(60)
}
SOUNDS = {
    "".join(letters): [tuple(sound.upper() for sound in letters)]
    for letters in product("abcdef", repeat=4)
    if letters[0] != "f"
}
MINUTES = 0.01
ALL: dict[str, Demo[Any]] = {
    "seq2seq": PronunciationDemo(SOUNDS, MINUTES),
    "lm": DocstringDemo(SENTENCES, MINUTES),
    "classifier": ParameterTypeDemo(TYPES, MINUTES),
    "tagger": PunctuationDemo(build_passages(SENTENCES), MINUTES),
}


def test_every_demo_is_tried_here():
    assert set(ALL) == set(DEMOS)


@pytest.mark.parametrize("task", ALL)
def test_a_demo_trains_a_model_shows_it_and_leaves_it(task: str, tmp_path: Path):
    demo = ALL[task]
    data = tmp_path / "data"
    data.mkdir()
    outcome = run_recipe(build(demo.recipe(data)), tmp_path, overwrite=True)
    assert outcome is not None
    header, rows, caption = demo.results(outcome.model)
    assert {len(row) for row in rows} == {len(header)}
    assert rows[-1][0].startswith("LSTM")
    assert caption
    assert len(list(demo.examples(outcome.model))) > 3
    for path in demo.pictures(outcome.model, tmp_path):
        assert path.read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path) in demo.commands(tmp_path)[0]
    left = artifact.load(tmp_path)
    assert demo.answer(left, "return the") == demo.answer(outcome.model, "return the") != ""


class Knowing:
    """In the place of a model: says what is right, or else the same of all."""

    def __init__(self, demo: Demo[Any], wrong: Any = None) -> None:
        self.demo, self.wrong = demo, wrong

    def translate(self, words: list[str]) -> list[str]:
        return [self.wrong or " ".join(self.demo.data[word][0]) for word in words]

    def classify(self, texts: list[str]) -> list[Any]:
        return [SimpleNamespace(label=self.wrong or self.demo.data[text]) for text in texts]

    def tag(self, rows: list[Any]) -> list[Any]:
        tags = {one.words: one.tags for some in self.demo.data.values() for one in some}
        return [[self.wrong] * len(words) if self.wrong else tags[words] for words in rows]


def test_the_table_of_a_demo_compares_the_model_with_what_is_simpler():
    demo = ALL["classifier"]
    gold = [demo.data[text] for text in demo.keys("test")]
    common = Counter(demo.data[text] for text in demo.keys("train")).most_common(1)[0][0]
    share = f"{100 * gold.count(common) / len(gold):.1f}"
    header, rows, caption = demo.results(Knowing(demo))
    assert header == (f"{len(gold)} held-out descriptions", "accuracy %", "macro F1 %")
    assert (rows[0][:2], rows[-1]) == (("always the commonest", share), ("LSTM", "100.0", "100.0"))
    assert demo.results(Knowing(demo, common)).rows[-1][1:] == rows[0][1:]
    assert caption == "2 types; more is better"

    demo = ALL["seq2seq"]
    rows = demo.results(Knowing(demo)).rows
    assert rows[-1] == ("LSTM with attention", "0.0", "0.0")
    assert float(rows[0][2]) > 0
    assert demo.results(Knowing(demo, "X Y Z Q")).rows[-1][1:] == ("100.0", "100.0")

    demo = ALL["tagger"]
    rows = demo.results(Knowing(demo)).rows
    assert rows[-1] == ("LSTM", "100.0", "100.0")
    assert rows[0][0] == "leave all as it is"
    assert float(rows[0][1]) < float(rows[1][1]) <= 100


def test_the_three_likeliest_types_are_shown_with_their_probabilities():
    chances = {"int": 0.5, "bool": 0.3, "str": 0.15, "float": 0.05}
    model = SimpleNamespace(classify=lambda texts: [SimpleNamespace(probabilities=chances)])
    assert ALL["classifier"].answer(model, "how many") == "int 50 %  bool 30 %  str 15 %"


COUNTS = {"seq2seq": len(SOUNDS), "lm": 120, "classifier": 120}
COUNTS["tagger"] = sum(len(one.words) for some in ALL["tagger"].data.values() for one in some)


@pytest.mark.parametrize("task", ALL)
def test_a_demo_says_what_it_learns_from_and_what_to_type_next(task: str, tmp_path: Path):
    demo, folder = ALL[task], tmp_path / "my models"
    assert f" {COUNTS[task]:,} " in demo.about
    commands = demo.commands(folder)
    assert len(commands) == len(demo.next_commands) > 1
    assert all(f"'{folder}'" in line for line in commands), "a blank in a name is quoted"
    tests = [line for line in commands if line.startswith("elman evaluate")]
    assert all(line.endswith(f"'{folder}/data/test.{demo.extension}'") for line in tests)
    assert bool(tests) == (task != "lm")


def test_a_language_model_writes_two_sentences_for_each_beginning_and_completes_words():
    asked = []

    class Writer:
        def generate(self, prompt, way, *, n, config):
            asked.append((prompt, way.temperature, way.seed, n, config.max_tokens))
            return [SimpleNamespace(text=f"{prompt} {i}") for i in range(n)]

        def complete(self, text):
            return [SimpleNamespace(text=f"{text}{i}", probability=i / 4) for i in (1, 2)]

    demo = ALL["lm"]
    lines = [*demo.examples(Writer())]
    assert [line for line in lines if not line.startswith("  ")] == [
        *("Sentences it writes:", "", "Words it completes:")
    ]
    written = lines[1 : lines.index("")]
    assert len(written) == 2 * len({prompt for prompt, *_ in asked}) == 6
    assert {(temperature, seed, n, most) for _, temperature, seed, n, most in asked} == {(0.5, 1, 2, 60)}
    assert lines[-1] == "  a list of str…  a list of str1 25 %  a list of str2 50 %"
    assert demo.continue_text(Writer(), "If") == "If 0"
    assert asked[-1] == ("If", 0.5, None, 1, 60)


def test_words_are_shown_with_how_they_sound_and_a_sign_where_the_model_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
):
    demo, asked = ALL["seq2seq"], []
    held = demo.keys("test")
    known = held[0]
    monkeypatch.setattr(pronunciation, "_OWN", ("quux", known))

    class Half:
        def translate(self, words: list[str]) -> list[str]:
            asked.append(words)
            return [" ".join(word.upper()) if i % 2 == 0 else "X" for i, word in enumerate(words)]

    head, *lines = demo.examples(Half())
    assert head == "Held-out words, how they sound, and what it says:"
    shown = held[:: len(held) // 8][:8]
    right = [" ".join(word.upper()) for word in shown]
    assert lines[:8] == [
        f"  {word:16} {sounds:32} {sounds if i % 2 == 0 else 'X   ✗'}"
        for i, (word, sounds) in enumerate(zip(shown, right, strict=True))
    ]
    assert lines[8:] == ["", "Words and names that no dictionary has:", f"  {'quux':16} Q U U X"]
    assert asked == [shown, ["quux"]]
    assert demo.answer(Half(), "Ab cd") == "A B  |  X"


def test_where_the_model_looks_is_drawn_for_the_longest_held_out_word(tmp_path: Path):
    pytest.importorskip("matplotlib")
    words = {**SOUNDS, **{f"{'a' * n}b": [("A",)] for n in range(5, 60)}}
    demo, seen = PronunciationDemo(words, MINUTES), []

    class Looking(Knowing):
        def align(self, word: str, answer: str) -> Any:
            seen.append((word, answer))
            return SimpleNamespace(weights=torch.ones(1, 1), source=["a"], target=["b"])

    assert [*demo.pictures(Looking(demo), tmp_path)] == [tmp_path / "attention.png"]
    longest = max(map(len, demo.keys("test")[:200]))
    ((word, answer),) = seen
    assert (len(word), answer) == (longest, " ".join(words[word][0]))


def test_passages_are_shown_without_their_signs_and_with_those_of_the_model():
    demo = ALL["tagger"]
    lines = [*demo.examples(Knowing(demo, "X."))]
    passages = [one for name in demo.keys("test") for one in demo.data[name]][:40:14]
    assert lines[0] == "Passages from files that it has not seen, first without:"
    for i, one in enumerate(passages):
        plain, marked, blank = lines[1 + 3 * i : 4 + 3 * i]
        assert (plain, blank) == (f"  {' '.join(one.words)}", "")
        assert marked == "  " + " ".join(f"{word.capitalize()}." for word in one.words)
    rest = lines[1 + 3 * len(passages) :]
    assert rest[0] == "And text that is from no such file:"
    assert len(rest) == 1 + len(OWN)
    rows = demo.file_text("test").split("\n\n")
    assert [len(some.splitlines()) for some in rows[:-1]] == [
        len(one.words) for name in demo.keys("test") for one in demo.data[name]
    ]
    first = next(one for name in demo.keys("test") for one in demo.data[name])
    assert rows[0].splitlines()[0] == f"{first.words[0]} {first.tags[0]}"


def test_the_nearest_word_has_most_of_a_beginning_in_common():
    known = ["bat", "batman", "cat"]
    assert [nearest_word(word, known) for word in ("batmobile", "bar", "zoo", "a")] == [
        "batman",
        "bat",
        "cat",
        "bat",
    ]


def test_the_words_that_are_shown_come_from_all_over_the_held_out_ones():
    class Echo:
        def translate(self, words: list[str]) -> list[str]:
            return [word.upper() for word in words]

    demo = PronunciationDemo(SOUNDS, MINUTES)
    held = demo.keys("test")
    shown = [line.split()[0] for line in list(demo.examples(Echo()))[1:9]]
    assert shown == [held[i * (len(held) // 8)] for i in range(8)]
    assert held.index(shown[-1]) > len(held) / 2


@pytest.mark.parametrize("task", ["lm", "classifier"])  # a tagger's lines are words
def test_what_is_held_out_is_in_no_other_file(task: str, tmp_path: Path):
    ALL[task].recipe(tmp_path)
    train, valid, test = (
        set(next(tmp_path.glob(f"{part}.*")).read_text().splitlines()) - {"text\tlabel"}
        for part in ("train", "valid", "test")
    )
    assert train
    assert valid
    assert test
    assert len(train | valid | test) == len(train) + len(valid) + len(test)


def test_a_line_without_words_has_no_answer(tmp_path: Path):
    outcome = run_recipe(build(ALL["tagger"].recipe(tmp_path)), tmp_path / "m")
    assert outcome is not None
    assert ALL["tagger"].answer(outcome.model, "...") == ""
    assert strip_marks(ALL["tagger"].answer(outcome.model, "Stop, (this) is it.")) == strip_marks(
        "stop this is it"
    )


def test_f1_of_changes_counts_only_changes():
    assert f1_of_changes(["x", "X", "x."], ["x", "X", "x,"]) == 50.0
    assert f1_of_changes(["x", "X"], ["x", "x"]) == 0.0
    assert f1_of_changes(["X", "x.", "x", "x,"], ["X", "x.", "x", "x,"]) == 100.0
