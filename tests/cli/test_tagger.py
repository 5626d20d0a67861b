"""Train, evaluate and predict with taggers as a person meets them: streams, files, exit codes."""

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from elman.cli import main
from elman.text.spans import tags_to_spans
from tests.tasks.names import conll, conllu, examples

QUICK = ["--hidden", "16", "--epochs", "15", "--batch", "64", "--dropout", "0", "--lr", "0.02"]
TINY = ["--hidden", "4", "--epochs", "1", "--batch", "64"]


class Done(NamedTuple):
    code: int
    out: bytes
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with files, a tagger m of spans in columns, and u of two columns of CoNLL-U."""
    folder = tmp_path_factory.mktemp("names")
    for name, count, seed in (("a", 150, 0), ("b", 30, 1)):
        conll(folder / f"{name}.conll", count, seed)
        conllu(folder / f"{name}.conllu", count, seed)
    for model, kind, more in (("m", "conll", []), ("u", "conllu", ["--column", "upos,xpos"])):
        files = ["--train", f"a.{kind}", "--valid", f"b.{kind}"]
        done = subprocess.run(
            [sys.executable, "-m", "elman", "train", "tagger", *files, "--out", model, *QUICK, *more],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (folder / f"{model}.json").write_text(json.dumps([done.stdout, done.stderr]))
    return folder


@pytest.fixture
def elman(made, monkeypatch, capfdbinary):
    """The command in this process, called in the folder of ``made``."""

    def call(*arguments: str, stdin: str | bytes = "") -> Done:
        monkeypatch.chdir(made)
        monkeypatch.setattr(sys, "argv", ["elman", *arguments])
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Done(code, out, err.decode())

    return call


SOME = examples(8, seed=5, columns=("pos", "ner"))


@pytest.mark.parametrize(
    ("model", "scores"), [("m", ["f1", "precision", "recall", "accuracy"]), ("u", ["accuracy", "xpos_f1"])]
)
def test_training_learns_and_says_results_on_stdout_and_progress_on_stderr(made, model, scores):
    out, err = json.loads((made / f"{model}.json").read_text())
    said = dict(line.rsplit(" ", 1) for line in out.splitlines())
    assert all(float(said[f"valid {name}"]) > 95 for name in scores)
    assert "valid tokens" not in said
    assert err.splitlines()[-2] == f"model: {model}"
    assert "Warning" not in err


def test_the_card_says_what_it_is(made):
    card = (made / "m" / "README.md").read_text()
    assert "column 3: 8 tags, spans in BIO, trained as BIOES, output crf" in card
    card = (made / "u" / "README.md").read_text()
    assert "column upos: 4 tags, output softmax" in card


def test_evaluate_prints_scores_and_each_kind_of_span(elman):
    done = elman("evaluate", "m", "b.conll")
    assert (done.code, done.err) == (0, "read 30 sentences from b.conll: tags = column 3\n")
    assert done.lines[0].startswith("f1 ")
    assert "sentences 30" in done.lines
    at = done.lines.index("column 3")
    assert done.lines[at + 1].split() == ["label", "precision", "recall", "F1", "spans"]
    gold = [span.label for e in examples(30, 1) for span in tags_to_spans(e.tags[0])]
    counts = {line.split()[0]: int(line.split()[-1]) for line in done.lines[at + 2 :]}
    assert counts == {label: gold.count(label) for label in ("LOC", "PER")}


def test_evaluate_json_is_one_object_and_nothing_else(elman):
    done = elman("evaluate", "m", "b.conll", "--json")
    assert (done.code, done.out.count(b"\n")) == (0, 1)
    scores = json.loads(done.out)
    assert {"accuracy", "tokens", "f1", "sentences"} <= scores.keys()
    assert scores["tokens"] == sum(len(e.words) for e in examples(30, 1))
    assert 95 < scores["f1"] <= 100
    assert scores["labels"].keys() == {"LOC", "PER"}
    both = json.loads(elman("evaluate", "u", "b.conllu", "--json").out)
    assert both["labels"].keys() == {"upos", "xpos"}
    assert both["labels"]["upos"].keys() == {"NOUN", "DET", "VERB", "ADP"}


def test_tags_that_were_never_trained_count_as_wrong(elman, made):
    (made / "new.conll").write_text("Ann NOUN B-ORG\n\nsaw VERB O\n")
    scores = json.loads(elman("evaluate", "m", "new.conll", "--json").out)
    assert (scores["accuracy"], scores["recall"], scores["tokens"]) == (50, 0, 2)


def test_a_line_of_words_in_is_a_line_of_tags_out(elman, made):
    text = "".join(" ".join(e.words) + "\n" for e in SOME) + "\n  \nAnn"
    expected = [" ".join(e.tags[1]) for e in SOME] + ["", "", "B-PER"]
    (made / "plain.txt").write_text(text)
    done = elman("predict", "m", "plain.txt")
    assert (done.code, done.err, done.lines) == (0, "", expected)
    for stdin in (text, text.replace("\n", "\r\n"), "\ufeff" + text):
        assert elman("predict", "m", stdin=stdin).out == done.out
    both = elman("predict", "u", "plain.txt").lines
    assert both[0] == "\t".join(" ".join(tags) for tags in SOME[0].tags)


def test_more_sentences_than_are_run_together_come_out_in_order(elman):
    some = examples(700, seed=4)
    done = elman("predict", "m", stdin="".join(" ".join(e.words) + "\n" for e in some))
    right = [" ".join(e.tags[0]) == line for e, line in zip(some, done.lines, strict=True)]
    assert sum(right) > 0.95 * len(right)


def test_raw_text_comes_out_as_words_with_their_tags(elman):
    done = elman("predict", "u", "--format", "raw", stdin="Ann saw York.\n")
    words = done.lines[0].split()
    assert words[:3] == ["Ann/NOUN/B-PER", "saw/VERB/O", "York/NOUN/B-LOC"]
    assert words[3].startswith("./")


def test_top_prints_the_likeliest_answers_on_one_line(elman):
    done = elman("predict", "m", "--top", "3", stdin="Ann Smith saw\n\nin\n")
    first, empty, _ = ([a.rsplit(" ", 1) for a in line.split("\t")] for line in done.lines)
    assert first[0][0] == "B-PER I-PER O"
    chances = [float(chance) for _, chance in first]
    assert len(chances) == 3
    assert chances == sorted(chances, reverse=True)
    assert 0.5 < sum(chances) <= 1.0002
    assert empty == [["", "1.0000"]]


def test_predict_json_has_confidences_spans_and_the_n_best(elman):
    done = elman("predict", "m", "--json", "--top", "2", stdin="Ann Smith saw Ännchen\n\n")
    first, empty = map(json.loads, done.lines)
    assert list(first) == ["words", "tags", "confidence", "spans", "n_best"]
    assert first["words"] == ["Ann", "Smith", "saw", "Ännchen"]
    assert first["tags"][:3] == ["B-PER", "I-PER", "O"]
    assert all(0 < chance <= 1 for chance in first["confidence"])
    span = first["spans"][0]
    assert 0 < span.pop("confidence") <= 1
    assert span == {"label": "PER", "start": 0, "end": 2, "text": "Ann Smith"}
    assert [answer.keys() for answer in first["n_best"]] == [{"tags", "probability"}] * 2
    assert first["n_best"][0]["tags"] == first["tags"]
    nothing = {"words": [], "tags": [], "confidence": [], "spans": []}
    assert empty == nothing | {"n_best": [{"tags": [], "probability": 1.0}]}
    both = json.loads(elman("predict", "u", "--json", stdin="Ann\n").lines[0])
    assert list(both) == ["words", "upos", "xpos"]
    assert both["xpos"]["tags"] == ["B-PER"]
    assert both["upos"]["spans"] == []


def rows(*words: str, end: str = "\n") -> str:
    """CoNLL-U without tags."""
    made = [[str(i), word, "l", "_", "_", "F=1", "0", "root", "_", "_"] for i, word in enumerate(words, 1)]
    return "".join("\t".join(cells) + end for cells in made)


UNTAGGED = {
    "plain": rows("Ann", "saw") + "\n",
    "no final newline": rows("Ann", "saw").rstrip("\n"),
    "no final blank line": rows("Ann", "saw"),
    "CRLF": rows("Ann", "saw", end="\r\n") + "\r\n" + rows("York", end="\r\n") + "\r\n",
    "BOM": "\ufeff" + rows("Ann") + "\n",
    "BOM before a comment": "\ufeff# x\n" + rows("Ann") + "\n",
    "comments": "# newdoc\n# text = Ann saw\n" + rows("Ann", "saw") + "\n# end\n",
    "blank lines": "\n\n" + rows("Ann") + "\n\n\n" + rows("saw") + "\n  \n",
    "ranges and empty nodes": (
        "1-2\tAnnsaw" + "\t_" * 8 + "\n" + rows("Ann", "saw") + "2.1\tthat" + "\t_" * 8 + "\n\n"
    ),
    "other line ends within": "# a\u2028b\x0cc\n" + rows("Ann\u0085", "sa\u00a0w") + "\n",
    "only comments": "# nothing\n",
}


@pytest.mark.parametrize("text", UNTAGGED.values(), ids=UNTAGGED.keys())
def test_conllu_comes_out_as_it_was_but_for_the_columns(elman, made, text):
    given = text.encode()
    (made / "plain.conllu").write_bytes(given)
    done = elman("predict", "u", "plain.conllu")
    assert (done.code, done.err) == (0, "")
    assert elman("predict", "u", "--format", "conllu", stdin=given).out == done.out
    before, after = given.split(b"\n"), done.out.split(b"\n")
    for old, new in zip(before, after, strict=True):
        if b"\tl\t" not in old:  # no word
            assert new == old
            continue
        was, now = old.split(b"\t"), new.split(b"\t")
        assert now[:3] + now[5:] == was[:3] + was[5:]
        assert now[3].decode() in ("NOUN", "DET", "VERB", "ADP")
        assert now[4].decode() in ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def test_what_is_tagged_already_is_tagged_anew(elman, made):
    right = (made / "b.conllu").read_bytes()
    wrong = right.replace(b"NOUN", b"X").replace(b"B-PER", b"O")
    (made / "wrong.conllu").write_bytes(wrong)
    done = elman("predict", "u", "wrong.conllu")
    assert done.out == elman("predict", "u", "b.conllu").out
    assert b"\tX\t" in wrong
    assert b"\tX\t" not in done.out


def test_other_encodings_come_out_as_they_went_in(elman, made):
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        given = (rows("Ännchen", "saw") + "\n" + rows("York") + "\n").encode(encoding)
        (made / "other.conllu").write_bytes(given)
        out = elman("predict", "u", "other.conllu", "--encoding", encoding).out
        assert out.decode(encoding).replace("NOUN", "_") != out.decode(encoding)
        assert len(out.decode(encoding).split("\n")) == 6
        assert out[:3] == given[:3]
        assert "Ännchen" in out.decode(encoding)


def test_columns_are_filled_and_added(elman, made):
    (made / "words.conll").write_text("Ann\nSmith\nsaw\n\nYork\n")
    assert elman("predict", "m", "words.conll").out == (b"Ann B-PER\nSmith I-PER\nsaw O\n\nYork B-LOC\n")
    (made / "tabs.txt").write_text("Ann\tx y\tO\n\n")
    done = elman("predict", "m", "tabs.txt", "--format", "columns")
    assert done.out == b"Ann\tx y\tB-PER\n\n"
    done = elman("predict", "u", "words.conll")
    assert done.out.startswith(b"Ann NOUN B-PER\nSmith NOUN I-PER\n")


def test_files_of_columns_print_lines_where_json_or_top_is_asked(elman):
    done = elman("predict", "u", "b.conllu", "--json")
    assert [json.loads(line)["words"] for line in done.lines] == [list(e.words) for e in examples(30, 1)]
    assert len(elman("predict", "m", "b.conll", "--top", "2").lines) == 30


def test_words_and_tags_in_two_files(elman, made):
    some = examples(60)
    (made / "seq.in").write_text("".join(" ".join(e.words) + "\n" for e in some))
    (made / "seq.out").write_text("".join(" ".join(e.tags[0]) + "\n" for e in some))
    (made / "two.toml").write_text(
        "task = 'tagger'\n[data]\ntrain = ['seq.in', 'seq.out']\n[model]\nhidden = 4\n[training]\nepochs = 1\n"
    )
    assert elman("train", "two.toml", "--out", "two").code == 0
    done = elman("evaluate", "two", "seq.in", "seq.out", "--json")
    assert json.loads(done.out)["sentences"] == 60


@pytest.mark.parametrize("output", ["softmax", "crf", "autoregressive"])
def test_every_output_can_be_chosen(elman, made, output):
    train = ["train", "tagger", "--train", "a.conllu", "--out", output, *TINY, "--output", output]
    assert elman(*train, "--cell", "gru").code == 0
    assert json.loads((made / output / "config.json").read_text())["model"]["output"] == output
    assert len(elman("predict", output, stdin="Ann saw\n").lines[0].split()) == 2


def test_init_adds_the_tags_and_words_that_are_new(elman, made):
    train = ["train", "tagger", "--out", "on", "--overwrite", "--init", "m", *QUICK[:2], "--epochs", "1"]
    done = elman(*train, "--train", "b.conll")
    assert (done.code, "starts from m: no new labels, no new words\n" in done.err) == (0, True)
    (made / "org.conll").write_text("Ann NOUN B-PER\n\n\nthe DET O\nUN NOUN B-ORG\n")
    done = elman(*train, "--train", "org.conll", "--valid", "b.conll")
    assert done.code == 0, done.err
    assert "starts from m: 1 new label (S-ORG), 1 new word, " in done.err
    assert "without examples kept" in done.err
    assert "S-ORG" in (made / "on" / "labels.json").read_text()


TRAIN = ["train", "tagger", "--out", "x", "--train"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*TRAIN, "a.conllu", "--column", "pos"], "unknown column 'pos'; CoNLL-U has id, form"),
        ([*TRAIN, "a.conllu", "--column", "upos,upos"], "given twice"),
        ([*TRAIN, "a.conllu", "--column", "upos,"], "unknown column ''"),
        ([*TRAIN, "a.conll", "--column", "4"], "a.conll:1: there is no column 4"),
        ([*TRAIN, "a.conll", "--column", "ner"], "'ner'"),
        ([*TRAIN, "a.conll", "--output", "hmm"], "model.output"),
        ([*TRAIN, "a.conll", "--tokens", "bpe"], "tokens.kind"),
        ([*TRAIN, "a.conll", "--set", "model.scheme=XYZ"], "model.scheme"),
        ([*TRAIN, "a.conll", "--set", "model.tag_size=0"], "tag_size is 0"),
        ([*TRAIN, "a.conll", "--set", "model.pool=max"], "model.pool"),
        ([*TRAIN, "a.conll", "--valid", "blank.conll"], "blank.conll: the file has no sentences"),
        ([*TRAIN, "empty.conll"], "empty.conll: the file is empty"),
        ([*TRAIN, "blank.conll"], "blank.conll: the file has no sentences"),
        ([*TRAIN, "ragged.conll"], "ragged.conll:2: expected 2 columns, found 1"),
        ([*TRAIN, "words.txt"], "words.txt:1: expected a word and a tag, found one column"),
        ([*TRAIN, "nine.conllu"], "nine.conllu:2: expected 10 columns"),
        (["evaluate", "m", "empty.conll"], "empty.conll: the file is empty"),
        (["evaluate", "m", "b.conll", "--label", "2"], "--label is not for a tagger"),
        (["evaluate", "m", "b.conll", "--column", "2"], "b.conll:1: the tag"),
        (["evaluate", "m", "b.conll", "--column", "2,3"], "2 columns of tags, the tagger has 1"),
        (["evaluate", "u", "b.conll"], "column 'upos'"),
        (["evaluate", "m", "b.conll", "b.conll", "b.conll"], "not in 3"),
        (["predict", "m", "empty.conll"], "empty.conll: the file is empty"),
        (["predict", "m", "nothing.conllu"], "nothing.conllu: no such file"),
        (["predict", "u", "nine.conllu"], "nine.conllu:2: expected 10 columns"),
        (["predict", "u", "b.conllu", "--encoding", "utf-99"], "unknown encoding 'utf-99'"),
        (["predict", "m", "b.conllu"], "the tagger fills 3, which CoNLL-U does not have"),
        (["predict", "u", "words.txt", "--top", "2"], "--top is for a tagger of one column"),
        (["predict", "m", "latin.txt"], "latin.txt:1: "),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(elman, made, arguments, said):
    (made / "empty.conll").write_text("")
    (made / "blank.conll").write_text("\n\n")
    (made / "words.txt").write_text("Ann\nsaw\n")
    (made / "ragged.conll").write_text("Ann NOUN\nsaw\n")
    (made / "nine.conllu").write_text("# x\n1\tAnn" + "\t_" * 7 + "\n\n")
    (made / "latin.txt").write_bytes("caf\xe9\n".encode("latin-1"))
    done = elman(*arguments)
    assert done.code == 1
    assert done.out == b""
    (mistake,) = (line for line in done.err.splitlines() if not line.startswith("read "))
    assert mistake.startswith("elman: ")
    assert said in mistake
    assert not (made / "x" / "config.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["predict", "m", "--format", "xml"], "'xml'"),
        (["train", "tagger", "--train", "a.conll"], "--out"),
        (["train", "tagger", "--out", "x"], "--train"),
    ],
)
def test_a_wrong_call_is_exit_code_2(elman, arguments, said):
    done = elman(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert said in done.err


def test_comments_in_four_columns_are_not_trained_on_and_documents_are_no_words(elman, made):
    """Fault 2 of issue 20: comments became tags, so that there were no spans and no F1."""
    rows = ["-DOCSTART- -X- -X- O\n\n"]
    for i, example in enumerate(examples(40)):
        words = zip(example.words, *example.tags, strict=True)
        rows += [f"# sent_id = {i}\n", *(f"{word} _ _ {tag}\n" for word, tag in words), "\n"]
    (made / "commented.conll").write_text("".join(rows))
    done = elman("train", "tagger", "--train", "commented.conll", "--out", "commented", *TINY)
    assert done.code == 0, done.err
    assert any(line.startswith("valid f1") for line in done.lines)
    (tagset,) = json.loads((made / "commented" / "labels.json").read_text())
    assert {label.partition("-")[2] for label in tagset["labels"]} == {"", "PER", "LOC"}
    assert "DOCSTART" not in (made / "commented" / "vocab.json").read_text()


def test_what_is_no_word_is_written_back_byte_for_byte(elman, made):
    mark, comment, remark = "-DOCSTART-\tO\r\n", "# sent_id = 0\n", "#\ta remark\n"
    text = f"{mark}\n{comment}Ann\tN\t?\n#\tN\t?\n{remark}  \n# newdoc\n#\tN\t? \nsaw\tN\t?\t\n{mark}York\tN\t?"
    done = elman("predict", "m", "--format", "columns", stdin=text)
    assert done.code == 0, done.err
    pattern = re.escape(text).replace(r"\?", r"(?:O|[BI]-\w+)")
    assert re.fullmatch(pattern, done.out.decode()), done.out
