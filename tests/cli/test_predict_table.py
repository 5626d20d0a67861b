"""elman predict on a table: the table again, with the answers beside its rows."""

import csv
import gzip
import io
import json
import sys
from functools import partial
from pathlib import Path

import pytest

import elman as front
from tests.cli.lm_folder import call
from tests.tasks import meetings, names, topics, toy_pairs


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    """A folder with an untrained model of each task that predicts."""
    folder = tmp_path_factory.mktemp("models")
    front.save(topics.fresh(), folder / "topics")
    front.save(meetings.fresh(), folder / "pairs")
    front.save(names.fresh(), folder / "names")
    strings = toy_pairs.made()
    strings.net.float()
    front.save(strings, folder / "strings")
    return folder


@pytest.fixture
def elman(models, tmp_path, monkeypatch, capsys):
    """The command in this process, in an empty folder; the model is named alone."""
    monkeypatch.chdir(tmp_path)
    run = partial(call, monkeypatch, capsys)
    return lambda verb, model, *more, **given: run(verb, str(models / model), *more, **given)


def labels(models, texts: list[str]) -> list[tuple[str, float]]:
    model = front.load(models / "topics", front.Classifier)
    return [(p.label, round(p.confidence, 4)) for p in model.classify(texts)]


TEXTS = [f"{e.text}, {i}" for i, e in enumerate(topics.examples(500))]


def table(path: str, texts: list[str], delimiter: str = ",") -> str:
    """A table whose text is its second column, with quotes, line ends and a label that is not asked for."""
    with open(path, "w", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(["Id", "Text", "Category"])
        rows.writerows([i, text, 'a "b"\nc'] for i, text in enumerate(texts))
    return Path(path).read_bytes().decode()


@pytest.mark.parametrize("given", ["file", "stdin"])
def test_500_rows_have_500_answers_and_the_header_stays(elman, models, given):
    text = table("data.csv", TEXTS)
    done = (
        elman("predict", "topics", "data.csv")
        if given == "file"
        else (elman("predict", "topics", "-", "--format", "csv", stdin=text))
    )
    assert done.code == 0, done.err
    header, *rows = csv.reader(io.StringIO(done.out, newline=""))
    assert header == ["Id", "Text", "Category", "label", "confidence"]
    before = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[:3] for row in rows] == before
    assert [(row[3], float(row[4])) for row in rows] == labels(models, [row[1] for row in before])
    name = "data.csv" if given == "file" else "stdin"
    assert done.err == f'answered 500 rows of {name}: text = "Text"\n'


def test_every_kind_of_file_gets_the_same_answers(elman, models):
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    table("a.csv", TEXTS[:20])
    answers = labels(models, TEXTS[:20])
    for name in ("b.tsv", "b.jsonl", "b.json", "b.parquet", "b.xlsx", "b.csv.gz", "b.csv.xz"):
        assert elman("predict", "topics", "a.csv", "--out", name).code == 0
        assert elman("predict", "topics", name, "--out", f"c{name[1:]}").code == 0
        done = elman("predict", "topics", f"c{name[1:]}", "--json")
        rows = [json.loads(line) for line in done.out.splitlines()]
        assert [(r["label"], float(r["confidence"])) for r in rows] == answers, name
        assert [(r["label_predicted"], float(r["confidence_predicted"])) for r in rows] == answers
        assert all(r["label_predicted2"] == r["label"] for r in rows), "JSON says label and probabilities"
        assert [r["Text"] for r in rows] == TEXTS[:20]
    assert gzip.decompress(Path("b.csv.gz").read_bytes()).decode() == elman("predict", "topics", "a.csv").out


def test_a_name_that_the_table_has_already_gets_a_suffix_and_that_is_said(elman):
    Path("a.tsv").write_text("text\tlabel\nwhen\tx\n")
    done = elman("predict", "topics", "a.tsv")
    assert done.out.splitlines()[0] == "text\tlabel\tlabel_predicted\tconfidence"
    assert done.out.splitlines()[1].startswith("when\tx\t")
    assert done.err.endswith('the table has a column "label", so the answer is in "label_predicted"\n')


def test_rows_without_a_text_stay_and_have_no_answer(elman, models):
    Path("a.jsonl").write_text('{"text": "when"}\n{"text": " "}\n{"text": null}\n{"other": 1}\n')
    done = elman("predict", "topics", "a.jsonl")
    found = [json.loads(line) for line in done.out.splitlines()]
    [(label, sure)] = labels(models, ["when"])
    assert found[0] == {"text": "when", "label": label, "confidence": sure}
    assert found[3] == {"other": 1, "label": None, "confidence": None}
    assert [row["label"] for row in found[1:]] == [None] * 3
    assert done.err == 'answered 4 rows of a.jsonl: text = "text", 3 rows without text have no answer\n'
    Path("a.csv").write_text("text,n\n,1\nwhen,2\n")
    assert elman("predict", "topics", "a.csv").out == f"text,n,label,confidence\n,1,,\nwhen,2,{label},{sure}\n"


def test_rows_that_cannot_be_read_are_refused_together_before_anything_is_written(elman):
    Path("a.csv").write_text("text,n\nwhen,1\nwhere\nwhen,2,3\n")
    Path("out.csv").write_text("old")
    done = elman("predict", "topics", "a.csv", "--out", "out.csv")
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        "elman: a.csv:3: expected 2 columns, found 1; a.csv:4: expected 2 columns, found 3 "
        "(2 bad rows of 3; mend them)\n"
    )
    assert Path("out.csv").read_text() == "old"
    done = elman("predict", "topics", "--format", "csv", stdin=Path("a.csv").read_text())
    assert (done.code, done.err) == (1, "elman: stdin:3: expected 2 columns, found 1\n")


def test_a_file_is_written_whole_or_not_at_all_and_never_over_its_input(elman, monkeypatch):
    before = table("a.csv", TEXTS * 2)
    done = elman("predict", "topics", "a.csv", "--out", "./a.csv")
    assert (done.code, Path("a.csv").read_bytes().decode()) == (1, before)
    assert "is the file that is read" in done.err
    asked = []

    def fail(self, rows, options):
        asked.append(rows)
        if len(asked) == 1:
            yield from honest(self, rows, options)
        raise KeyboardInterrupt

    honest = front.Classifier.predict_rows
    monkeypatch.setattr(front.Classifier, "predict_rows", fail)
    assert elman("predict", "topics", "a.csv", "--out", "b.csv").code != 0
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


def test_the_column_is_the_one_that_was_trained_on_or_that_is_asked_for(elman):
    Path("a.csv").write_text("body,n\nwhen,1\n")
    assert elman("predict", "topics", "a.csv").err.endswith('text = "body"\n')
    Path("a.csv").write_text("A,B\nwhen,where\n")
    refused = elman("predict", "topics", "a.csv")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(
        "elman: a.csv:1: this row does not name 'text'; say which column it is by --text NAME"
    )
    assert elman("predict", "topics", "a.csv", "--text", "B").err == 'answered 1 row of a.csv: text = "B"\n'
    twice = elman("predict", "topics", "a.csv", "--text", "A", "--text", "B")
    assert twice.err == "elman: --text was given 2 times, but a classifier reads text: name 1\n"


def test_a_name_of_training_goes_before_what_others_call_such_columns(elman, tmp_path):
    rows = "".join(f"{e.text},{e.label}\n" for e in topics.examples(40))
    Path("train.csv").write_text("Review,Category\n" + rows)
    recipe = {"data": {"holdout": 0.0}}
    front.Classifier.train("train.csv", out="m", epochs=1, hidden=4, recipe=recipe)
    Path("a.csv").write_text("text,Review\nx,when\n")
    assert elman("predict", tmp_path / "m", "a.csv").err.endswith('of a.csv: text = "Review"\n')
    Path("a.csv").write_text("text,n\nx,1\n")
    assert elman("predict", tmp_path / "m", "a.csv").err == 'answered 1 row of a.csv: text = "text"\n'


def test_a_table_without_header_is_read_by_number(elman, models):
    Path("a.tsv").write_text("when is it\ttime\nwhere is it\tplace\n")
    answers = labels(models, ["when is it", "where is it"])
    assert elman("predict", "topics", "a.tsv").err.endswith("where the table has no header: --text 1\n")
    done = elman("predict", "topics", "a.tsv", "--text", "1")
    assert (
        done.err == "answered 2 rows of a.tsv: text = column 1, no header, so the first row is answered, too\n"
    )
    assert done.out == "".join(
        f"{text}\t{gold}\t{label}\t{sure}\n"
        for (text, gold), (label, sure) in zip(
            [("when is it", "time"), ("where is it", "place")], answers, strict=True
        )
    )


def test_top_adds_a_column_for_each_rank(elman):
    Path("a.csv").write_text("text\nwhen\n")
    header, row = csv.reader(elman("predict", "topics", "a.csv", "--top", "5").out.splitlines())
    assert header == ["text", "label", "confidence", "label_2", "confidence_2"]
    assert {row[1], row[3]} == {"time", "place"}
    assert float(row[2]) >= float(row[4])


def test_below_the_threshold_the_answer_is_the_other_one_in_rows_and_lines(elman):
    Path("a.csv").write_text("text\nwhen\n")
    unsure = ["--threshold", "1", "--otherwise", "ask"]
    assert elman("predict", "topics", "a.csv", *unsure).out.splitlines()[1].startswith("when,ask,0.")
    assert elman("predict", "topics", *unsure, stdin="when\nwhere\n").out == "ask\nask\n"
    assert elman("predict", "topics", "--threshold", "1", stdin="when\n").out == "\n"
    assert elman("predict", "topics", "--threshold", "0", stdin="when\n").out in ("time\n", "place\n")
    for wrong, said in ((["--otherwise", "x"], "--threshold"), ([*unsure, "--top", "2"], "--top")):
        done = elman("predict", "topics", *wrong, stdin="when\n")
        assert done.code == 1
        assert said in done.err
    assert elman("predict", "names", *unsure, stdin="Ann\n").err.startswith("elman: --threshold is for models")


def test_pairs_read_two_columns(elman, models):
    some = meetings.examples(10)
    Path("a.csv").write_text(
        "id,sentence1,sentence2\n" + "".join(f"{i},{e.first},{e.second}\n" for i, e in enumerate(some))
    )
    rows = list(csv.DictReader(elman("predict", "pairs", "a.csv").out.splitlines()))
    model = front.load(models / "pairs", front.Pairs)
    assert [row["label"] for row in rows] == [
        p.label for p in model.classify([(e.first, e.second) for e in some])
    ]
    turned = elman("predict", "pairs", "a.csv", "--text", "sentence2", "--text", "sentence1")
    assert turned.err == 'answered 10 rows of a.csv: first = "sentence2", second = "sentence1"\n'


def test_texts_become_texts_and_spans(elman, models):
    Path("a.csv").write_text('n,source,text\n1,ab,"Ann saw New York. Bob, too."\n2,,\n')
    strings, spans = (
        list(csv.DictReader(elman("predict", m, "a.csv").out.splitlines())) for m in ("strings", "names")
    )
    (answer,) = front.load(models / "strings", front.Seq2Seq).translations(["ab"])
    assert [(row["prediction"], row["score"]) for row in strings] == [
        (answer[0].text, str(round(answer[0].score, 4))),
        ("", ""),
    ]
    assert elman("translate", "strings", "a.csv").out == elman("predict", "strings", "a.csv").out
    text = spans[0]["text"]
    found = json.loads(spans[0]["spans"])
    assert [text[span["start"] : span["end"]] for span in found] == [span["text"] for span in found]
    (expected,) = front.load(models / "names", front.Tagger).spans([text])
    assert [(span["start"], span["end"], span["label"]) for span in found] == [s[1:4] for s in expected]
    assert spans[1]["spans"] == ""


def test_lines_become_a_table_where_the_output_is_one(elman, models):
    Path("a.txt").write_text("when, is it\n\nwhere\n")
    assert elman("predict", "topics", "a.txt", "--out", "a.csv").code == 0
    rows = list(csv.reader(Path("a.csv").read_text().splitlines()))
    (first, sure), (last, also) = labels(models, ["when, is it", "where"])
    header = ["text", "label", "confidence"]
    assert rows == [header, ["when, is it", first, str(sure)], ["", "", ""], ["where", last, str(also)]]
    assert elman("predict", "topics", "a.txt", "--out", "labels.txt").out == ""
    assert Path("labels.txt").read_text() == elman("predict", "topics", "a.txt").out


def test_lines_that_begin_like_a_table_are_pointed_out(elman):
    done = elman("predict", "topics", stdin="id,text,label\n1,when,x\n")
    assert (done.code, done.out.count("\n")) == (0, 2)
    assert done.err == (
        "standard input is read as lines of text, but begins like a table: --format csv (or tsv) reads one\n"
    )
    assert elman("predict", "topics", stdin="when is it, really\n").err == ""


def test_memory_does_not_grow_with_the_rows(elman, monkeypatch):
    """As many rows are held as are answered together, and no more."""
    table("a.csv", TEXTS * 4)
    held = []
    honest = front.Classifier.predict_rows

    def count(self, rows, options):
        held.append(len(rows))
        return honest(self, rows, options)

    monkeypatch.setattr(front.Classifier, "predict_rows", count)
    assert elman("predict", "topics", "a.csv", "--out", "b.csv").code == 0
    assert (sum(held), max(held)) == (2000, 512)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.txt", "--text", "x"], "--text names a column, but lines have none"),
        (["a.csv", "--out", "no/where.csv"], "there is no folder no"),
        (["a.csv", "--json", "--out", "b.csv"], "--json writes JSON lines, not csv"),
        (["a.csv", "--format", "raw"], "--format raw is for taggers"),
        (["nothing.csv"], "nothing.csv: no such file"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(elman, arguments, said):
    Path("a.csv").write_text("text\nwhen\n")
    Path("a.txt").write_text("when\n")
    done = elman("predict", "topics", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert said in done.err


def test_what_is_no_text_is_not_for_a_terminal(elman, monkeypatch):
    pytest.importorskip("pyarrow")
    Path("a.csv").write_text("text\nwhen\n")
    assert elman("predict", "topics", "a.csv", "--out", "a.parquet").code == 0
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "not for a terminal: give --out FILE" in elman("predict", "topics", "a.parquet").err
