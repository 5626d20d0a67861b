"""`elman bench defaults`: how corpora become files, what is kept, and how two files become one table."""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from elman.tasks.classifier.task import ClassifierDataConfig, read_examples
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.data import encode_lines, learn_tokenizer

BENCH = Path(__file__).parents[2] / "bench"
sys.path.append(str(BENCH))

import defaults  # noqa: E402
from baselines import OURS, BenchSet, Outcome, wall_limit  # noqa: E402
from baselines.bench_sets import prepare  # noqa: E402
from baselines.classifier_sets import read_rows  # noqa: E402
from baselines.comparison_table import show_table  # noqa: E402
from baselines.holdout import make_splits  # noqa: E402
from baselines.outcome_file import OutcomeFile  # noqa: E402
from baselines.pair_sets import read_groups, score_texts  # noqa: E402
from baselines.plain_command import run_process  # noqa: E402
from baselines.tagger_sets import read_sentences  # noqa: E402
from baselines.text_sets import first_lines, read_tokens  # noqa: E402
from unlabelled import split_rows, summarize  # noqa: E402

QUESTIONS = [f'{"HUM" if n % 3 else "NUM"}:x What is "number {n}" ?' for n in range(450)]


def write(path: Path, lines: list[str], encoding: str = "utf-8") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in lines)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(encoding)))
    else:
        path.write_bytes(text.encode(encoding))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder such as ELMAN_DATA names, with little in it."""
    folder = tmp_path / "data"
    write(folder / "trec/TREC.train", [*QUESTIONS, "LOC:city Where is Bogotá ?"], "latin-1")
    write(folder / "trec/TREC.test", ["HUM:ind Who ?"], "latin-1")
    for part in ("train", "dev", "test"):
        lines = [f"W{part[0].upper()}{n}  W AH {n}" for n in range(1200)]
        write(folder / f"g2p-cmudict-0.7b/cmudict-0.7b.{part}", [*lines, f"{lines[0]} X"])
    tweet = ["The\tO", "\t", "Alps\tB-location", "", "now\tO"]
    for name in ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"):
        write(folder / "wnut17" / name, tweet)
    for part in ("train", "test"):
        write(folder / f"conll2000-chunking/{part}.txt.gz", ["He PRP B-NP", "sees VBZ B-VP", "", "it PRP B-NP"])
    write(folder / "tinyshakespeare/input.txt", [f"line {n}" for n in range(100)])
    for part in ("train", "valid", "test"):
        write(folder / f"wikitext-2/{part}.txt", [" ", f" = {part} = ", " a b <unk> a "])
    return folder


def test_a_table_of_texts_is_read_by_the_command_as_it_was_written(data, tmp_path):
    corpus = prepare("trec", data, tmp_path)
    read = [(e.text, e.label) for e in read_examples(ClassifierDataConfig(), str(corpus.train))]
    assert read == read_rows(corpus.train)
    assert ("Where is Bogotá ?", "LOC") in read
    assert ('What is "number 1" ?', "HUM") in read
    assert corpus.valid is None


def test_few_examples_are_drawn_once_and_nothing_else_is_given_to_validate_by(data, tmp_path):
    many, few = (prepare(name, data, tmp_path) for name in ("trec", "trec-400"))
    drawn = read_rows(few.train)
    assert len(drawn) == 400
    assert Counter(drawn) <= Counter(read_rows(many.train))
    assert few.valid is None
    assert read_rows(prepare("trec-400", data, tmp_path).train) == drawn


def test_a_tenth_has_the_text_of_the_others_without_their_labels(data, tmp_path):
    write(data / "reuters-r8/train.txt.gz", [f"grain\ttext {n}" for n in range(50)])
    write(data / "reuters-r8/test.txt.gz", ["grain\ta text"])
    alone, helped = (prepare(name, data, tmp_path) for name in ("r8-tenth", "r8-tenth-text"))
    tenth = [text for text, _ in read_rows(alone.train)]
    assert [text for text, _ in read_rows(helped.train)] == tenth
    assert len(tenth) == 5
    assert alone.options == ()
    option, file = helped.options
    assert option == "--unlabelled"
    assert sorted([*Path(file).read_text().splitlines(), *tenth]) == sorted(f"text {n}" for n in range(50))


@pytest.mark.parametrize("judge", ["valid", "test"])
def test_a_split_has_each_label_with_its_share_and_nothing_that_judges_among_its_texts(judge):
    rows = [(f"text {n}", "rare" if n % 10 == 0 else "often") for n in range(500)]
    test = [(f"test {n}", "often") for n in range(20)] + [("text 3", "often")]
    split = split_rows(rows, test, 1, judge)
    assert Counter(label for _, label in split.labelled) == {"often": 45, "rare": 5}
    judged = {text for text, _ in split.judged}
    assert judged == {text for text, _ in test} if judge == "test" else len(judged) == 100
    given = {text for text, _ in split.labelled}
    assert not given & {*split.texts}
    assert not judged & {*split.texts}
    assert len(given | {*split.texts} | judged) == (520 if judge == "test" else 500)
    assert split_rows(rows, test, 1, judge) == split
    assert split_rows(rows, test, 2, judge) != split


def test_text_takes_away_so_much_of_the_error():
    runs = [
        {"corpus": "x", "judge": "test", "text": text, "accuracy": right, "seconds": 3.0}
        for text, right in ((False, 70.0), (True, 78.0), (False, 90.0), (True, 90.0))
    ]
    said = summarize(runs)
    assert "without 80.00 (3 s), with 84.00 (3 s), error -20.0 %" in said


def test_what_would_come_too_late_is_ended_and_not_begun(monkeypatch):
    monkeypatch.setattr(wall_limit, "_end", [0.0])
    wall_limit.set_limit(0.2 / 60)
    with pytest.raises(RuntimeError, match="ended with -9"):
        run_process([sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(RuntimeError, match="was up before it began"):
        run_process([sys.executable, "-c", ""])


def test_sentences_have_words_and_tags_alone(data, tmp_path):
    tweets = prepare("wnut17", data, tmp_path)
    sentences = [(list(e.words), list(e.tags[0])) for e in read_sentences(tweets, tweets.train)]
    assert sentences == [(["The"], ["O"]), (["Alps"], ["B-location"]), (["now"], ["O"])]
    chunks = prepare("conll2000", data, tmp_path)
    assert "PRP" not in chunks.train.read_text()
    assert [e.tags[0] for e in read_sentences(chunks, chunks.test)] == [("B-NP", "B-VP"), ("B-NP",)]


def test_running_text_is_cut_at_the_ends_of_lines(data, tmp_path):
    corpus = prepare("shakespeare", data, tmp_path)
    parts = [path.read_text() for path in (corpus.train, corpus.test)]
    assert "".join(parts) == (data / "tinyshakespeare/input.txt").read_text()
    assert parts[0].endswith("\n")
    assert len(parts[1]) == pytest.approx(sum(map(len, parts)) / 10, abs=20)
    assert list(first_lines([["a", "b"], ["c"], ["d"]], 5)) == [["a", "b"], ["c"]]


def test_words_that_are_not_in_the_training_text_are_unknown(data, tmp_path):
    corpus = prepare("wikitext-900k", data, tmp_path)
    assert read_tokens(corpus, corpus.test) == [
        "</s>",
        "=",
        "<unk>",
        "=",
        "</s>",
        "a",
        "b",
        "<unk>",
        "a",
        "</s>",
    ]


@pytest.mark.parametrize("name", ["wikitext-900k", "shakespeare"])
def test_a_baseline_predicts_as_many_tokens_as_the_command(data, tmp_path, name):
    corpus = prepare(name, data, tmp_path)
    lines = corpus.test.read_text().splitlines()
    tokenizer = learn_tokenizer(lines, TokenizerConfig(kind=corpus.options[1]))
    assert len(encode_lines(lines, tokenizer)) == len(read_tokens(corpus, corpus.test))


def test_words_to_train_on_have_one_pronunciation_and_words_to_judge_by_all(data, tmp_path):
    corpus = prepare("cmudict-1000", data, tmp_path)
    train, valid, test = map(read_groups, (corpus.train, corpus.valid, corpus.test))
    assert (len(train), len(valid), len(test)) == (1000, 125, 1200)
    assert {len(sounds) for _, sounds in train} == {1}
    assert ("WT0", ["W AH 0", "W AH 0 X"]) in test
    answers = [sounds[-1] for _, sounds in test]
    assert score_texts(corpus, answers) == 100.0
    assert score_texts(corpus, ["nothing", *answers[1:]]) == pytest.approx(100 - 100 / 1200)


def test_a_tenth_of_each_label_is_held_out_and_few_examples_are_judged_in_five_folds(data, tmp_path):
    corpus = prepare("trec", data, tmp_path)
    rows = [(str(n), "ab"[n % 10 == 0]) for n in range(2000)]

    def read(path: Path) -> list[tuple[str, str]]:
        return rows if path == corpus.train else []

    ((kept, held),) = make_splits(corpus, read, label=lambda row: row[1])
    assert Counter(label for _, label in held) == {"a": 180, "b": 20}
    assert kept == [row for row in rows if row in kept]  # in their order
    assert sorted(kept + held) == sorted(rows)
    folds = make_splits(corpus, read_rows, label=lambda row: row[1])
    assert len(folds) == 5
    assert sorted(row for _, held in folds for row in held) == sorted(read_rows(corpus.train))


def outcome(corpus: str, system: str, seed: int, score: float, metric: str = "accuracy") -> Outcome:
    return Outcome(corpus, system, seed, metric, score, 2.0)


def test_a_line_compares_the_means_with_the_best_of_the_others():
    lines = show_table(
        [
            *(outcome("trec", OURS, seed, score) for seed, score in enumerate((91.0, 92.0, 93.0))),
            *(outcome("trec", "fastText", seed, score) for seed, score in enumerate((89.0, 91.0))),
            outcome("trec", "TF-IDF + LR", 0, 91.5),
            outcome("wikitext-900k", "nn.LSTM", 0, 130.0, "perplexity"),
            outcome("wikitext-900k", "Kneser-Ney", 0, 140.0, "perplexity"),
            outcome("wikitext-900k", OURS, 0, 131.0, "perplexity"),
        ]
    ).splitlines()[2:]
    trec, wikitext = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    assert trec[1:4] == ["92.00 ± 1.00 (2 s)", "TF-IDF + LR 91.50 (2 s)", "**+0.50**"]
    assert trec[4] == "fastText 90.00 ± 1.41 (2 s)"
    assert wikitext[2].startswith("nn.LSTM 130.00")
    assert wikitext[3] == "-1.00"


@pytest.fixture
def bench(monkeypatch, capsys) -> Callable[..., str]:
    """What the bench prints with these options."""

    def run(*options: str, data: Path | None = None) -> str:
        monkeypatch.setattr(sys, "argv", ["defaults", *options])
        monkeypatch.delenv("ELMAN_DATA", raising=False)
        if data is not None:
            monkeypatch.setenv("ELMAN_DATA", str(data))
        defaults.main()
        return capsys.readouterr().out

    return run


def test_outcomes_are_kept_and_files_are_joined(tmp_path, bench):
    files = [OutcomeFile(tmp_path / name) for name in ("a.jsonl", "b.jsonl")]
    files[0].add(outcome("trec", OURS, 0, 92.0))
    files[1].add(outcome("trec", "fastText", 0, 90.0))
    assert ("trec", OURS, 0) in OutcomeFile(files[0].path)
    assert ("trec", OURS, 1) not in OutcomeFile(files[0].path)
    assert "**+2.00**" in bench("--join", *(str(file.path) for file in files))


def test_what_is_known_is_not_computed_again(data, tmp_path, bench):
    known = tmp_path / "known.jsonl"
    known.write_text(json.dumps(outcome("trec-400", OURS, 0, 77.5).plain()) + "\n")
    printed = bench("--only", "trec-400", "--ours-only", "--seeds", "1", "--json", str(known), data=data)
    assert "77.50" in printed
    assert len(known.read_text().splitlines()) == 1


def test_without_the_folder_of_corpora_it_says_what_to_set(bench):
    with pytest.raises(SystemExit, match="ELMAN_DATA"):
        bench("--only", "trec")


def test_a_run_that_fails_is_told_and_the_others_go_on(data, tmp_path, bench, monkeypatch):
    def fail(corpus: BenchSet, seed: int) -> Outcome:
        if not seed:
            raise RuntimeError("no memory")
        return outcome(corpus.name, OURS, seed, 50.0)

    monkeypatch.setattr(defaults, "run_plain_command", fail)
    kept = tmp_path / "kept.jsonl"
    printed = bench("--only", "trec", "--ours-only", "--seeds", "2", "--json", str(kept), data=data)
    assert "50.00" in printed
    assert [json.loads(line)["seed"] for line in kept.read_text().splitlines()] == [1]


def test_a_corpus_that_is_not_there_is_named(data, bench):
    with pytest.raises(SystemExit, match=r"reuters-r8/train\.txt\.gz: no such file; choose among"):
        bench("--only", "r8", data=data)
