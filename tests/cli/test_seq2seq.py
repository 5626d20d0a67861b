"""Sequence to sequence as a person meets it: train, evaluate, translate."""

import json
import sys

import pytest
from safetensors.numpy import load_file

import elman as package
from elman.cli.model_args import chunks
from elman.cli.recipe_flags import _repeat_option
from elman.tasks.seq2seq.search import DecodingConfig
from tests.cli.lm_folder import call, store
from tests.cli.pairs_folder import make, pairs

SMALL = ["--hidden", "4", "--embedding", "4", "--epochs", "1", "--layers", "1"]
SMALL += ["--decoder", "luong", "--source-tokens", "words", "--target-tokens", "words"]
TRAIN = ["train", "seq2seq", "--out", "x", "--train"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    make(folder)
    return folder


@pytest.fixture
def elman(made, monkeypatch, capsys):
    """The command in this process, called in the folder of ``made``."""
    monkeypatch.chdir(made)
    return lambda *arguments, stdin="": call(monkeypatch, capsys, *arguments, stdin=stdin)


@pytest.fixture(scope="module")
def model(made):
    return package.load(made / "m")


@pytest.mark.parametrize(
    "files",
    [
        ["--train", "a.en", "a.de", "--valid", "b.en", "b.de"],
        ["--train=a.en", "a.de", "--valid", "b.en", "--valid", "b.de"],
        ["--train", "a.tsv", "--valid", "b.tsv"],
        ["--train", "a.jsonl", "--valid", "b.csv", "--source", "en", "--target", "de"],
    ],
)
def test_two_files_or_a_table_train_the_same_model(elman, made, files):
    rows = [json.dumps({"de": t, "en": s}) + "\n" for s, t in pairs(300)]
    (made / "a.jsonl").write_text("".join(rows))
    lines = [f'"{t}",{s}\n' for s, t in pairs(40, seed=1)]
    (made / "b.csv").write_text("de,en\n" + "".join(lines))
    done = elman("train", "seq2seq", *files, "--out", "new", "--overwrite", *SMALL)
    assert done.code == 0, done.err
    assert "model: new" in done.err.splitlines()[-3:]
    first = made / "first.json"
    weights = {n: w.tolist() for n, w in load_file(made / "new" / "model.safetensors").items()}
    if first.exists():
        assert json.loads(first.read_text()) == weights
    first.write_text(json.dumps(weights))


def test_the_words_after_an_option_belong_to_it_up_to_the_next_option():
    several = {"--train", "--valid"}

    def spread(text):
        return " ".join(_repeat_option(text.split(), several))

    assert spread("--train a b --hidden 5") == "--train a --train b --hidden 5"
    assert spread("--valid a b c --train=d e") == "--valid a --valid b --valid c --train=d --train e"
    assert spread("--set k=v --train - b -h") == "--set k=v --train - --train b -h"
    assert spread("x --hidden 5 y") == "x --hidden 5 y"


def test_the_card_names_both_files_and_the_verb(elman, made):
    assert elman(*TRAIN[:2], "--train", "b.en", "b.de", "--out", "card", *SMALL).code == 0
    card = (made / "card" / "README.md").read_text()
    assert "- training data: b.en and b.de, " in card
    assert "elman translate THIS_FOLDER texts.txt" in card


def test_tokens_can_be_joint(elman, made):
    assert elman(*TRAIN[:2], "--train", "b.tsv", "--out", "joint", *SMALL, "--joint").code == 0
    stored = json.loads((made / "joint" / "config.json").read_text())
    assert stored["tokens"]["joint"] is True
    assert (made / "joint" / "vocab.json").exists()


def test_evaluate_has_the_scores_of_the_model_signed_by_sacrebleu(elman, made, model):
    done = elman("evaluate", "m", "b.en", "b.de", "--json")
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    found = json.loads(done.out)
    signature = found.pop("signature")
    examples = [package.tasks.seq2seq.task.Seq2SeqExample(s, (t,)) for s, t in pairs(40, seed=1)]
    assert found == pytest.approx(model.evaluate_dataset(model.encode(examples)), abs=1e-6)
    assert {"bleu", "chrf", "exact", "edit_rate", "examples"} <= found.keys()
    assert found["exact"] > 80
    assert signature["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert "|nc:6|nw:0|" in signature["chrf"]
    lines = elman("evaluate", "m", "b.tsv").out.splitlines()
    assert lines[0] == f"bleu {found['bleu']:.2f}"
    assert f"signature of bleu: {signature['bleu']}" in lines


def test_any_of_several_references_may_be_the_right_one(elman, made):
    answers = elman("translate", "m", "b.en").out
    (made / "own.de").write_text(answers)
    (made / "wrong.de").write_text("nichts\n" * 40)
    found = json.loads(elman("evaluate", "m", "b.en", "wrong.de", "own.de", "--json").out)
    assert (found["exact"], found["edit_rate"]) == (100, 0)
    assert found["bleu"] == pytest.approx(100)
    assert found["signature"]["bleu"].startswith("nrefs:2|")


def test_how_to_search_is_an_option_of_evaluate(elman, made, model):
    greedy = model.translate(
        [s for s, _ in pairs(40, seed=1)], beam=1, config=DecodingConfig(length_penalty=0.0)
    )
    (made / "greedy.de").write_text("".join(f"{text}\n" for text in greedy))
    done = elman("evaluate", "m", "b.en", "greedy.de", "--beam", "1", "--length-penalty", "0", "--json")
    assert json.loads(done.out)["exact"] == 100
    short = json.loads(elman("evaluate", "m", "b.tsv", "--max-tokens", "1", "--json").out)
    assert short["exact"] < 50


def test_a_precision_is_chosen_by_its_name(elman, model):
    done = elman("translate", "m", "b.en", "--precision", "bfloat16", "--json")
    scores = [json.loads(line)["answers"][0]["score"] for line in done.out.splitlines()]
    exact = [some[0].score for some in model.translations([s for s, _ in pairs(40, seed=1)])]
    assert scores != pytest.approx(exact, abs=1e-5), "it was rounded"
    assert scores == pytest.approx(exact, abs=0.1)


def test_models_write_together(elman):
    alone = elman("translate", "m", "b.en").out
    assert elman("translate", "m", "b.en", "--with", "m").out == alone
    both = json.loads(elman("evaluate", "m", "b.tsv", "--with", "other", "--json").out)
    assert "nats_per_token" not in both  # that would be of one of them


def test_without_sacrebleu_the_sentence_says_what_to_install(elman, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    done = elman("evaluate", "m", "b.tsv")
    assert (done.code, done.out) == (1, "")
    assert "pip install sacrebleu" in done.err.splitlines()[-1]


@pytest.mark.parametrize("verb", ["predict", "translate"])
def test_a_line_in_is_a_line_out_and_a_blank_one_is_blank(elman, made, model, verb):
    lines = ["red dog", "", "one two big cat", "   ", "unheard of words", "cat"]
    text = "".join(f"{line}\n" for line in lines)
    (made / "texts.txt").write_text(text)
    done = elman(verb, "m", "texts.txt")
    assert (done.code, done.err) == (0, "")
    answers = done.out.split("\n")[:-1]
    assert (answers[0], answers[5]) == ("rot Hund", "Katze")
    assert (answers[1], answers[3]) == ("", "")
    assert answers == model.translate(line.strip() for line in lines)
    assert elman(verb, "m", stdin=text).out == done.out
    assert elman(verb, "m", "-", "--n-best", "2", stdin="\n").out == "\n"


def test_more_lines_than_are_run_together_come_out_in_order(elman):
    some = pairs(1100, seed=4)
    done = elman("translate", "m", "--beam", "1", stdin="".join(f"{s}\n" for s, _ in some))
    right = [t == got for (_, t), got in zip(some, done.out.splitlines(), strict=True)]
    assert sum(right) > 0.8 * len(right)


def test_what_is_typed_is_answered_line_by_line(monkeypatch):
    read = []

    def typed():
        for line in "abc":
            read.append(line)
            yield line

    monkeypatch.setattr(sys.stdin.__class__, "isatty", lambda self: True, raising=False)
    some = chunks(typed(), "-", 512)
    assert next(some) == ["a"]
    assert read == ["a"]
    assert next(chunks(typed(), "file.txt", 512)) == ["a", "b", "c"]


@pytest.mark.parametrize("option", ["--n-best", "--top"])
def test_the_best_answers_stand_on_one_line_with_their_scores(elman, model, option):
    done = elman("predict", "m", option, "7", stdin="red dog\ncat\n")
    first, second = done.out.splitlines()
    expected = model.translations(["red dog", "cat"], n_best=7, beam=7)
    for line, answers in ((first, expected[0]), (second, expected[1])):
        assert line.split("\t") == [f"{a.text} {a.score:.4f}" for a in answers]
    assert first.startswith("rot Hund -0.")


def test_json_has_every_answer_with_its_score_tokens_and_their_log_probs(elman):
    done = elman("translate", "m", "--json", "--n-best", "3", "--length-penalty", "0", stdin="red dog\n\n")
    first, blank = map(json.loads, done.out.splitlines())
    assert first["text"] == "red dog"
    assert first["answers"][0]["text"] == "rot Hund"
    assert len(first["answers"]) == 3
    for one in first["answers"]:
        assert sum(one["log_probs"]) == pytest.approx(one["score"])
        assert one["tokens"] == one["text"].split()
    assert blank["answers"] == [{"text": "", "score": 0.0, "tokens": [], "log_probs": []}]


def test_an_answer_ends_at_a_string_that_was_said(elman):
    assert elman("translate", "m", "--stop", "rot", stdin="big red dog cat\n").out == "groß \n"
    assert elman("translate", "m", "--max-tokens", "1", stdin="big red dog\n").out == "groß\n"


def test_attention_is_drawn_for_every_line_that_is_not_blank(elman, made):
    pytest.importorskip("matplotlib")
    done = elman("translate", "m", "--attention", "look.png", stdin="red dog\n\ncat\n")
    assert done.out == "rot Hund\n\nKatze\n"
    assert done.err == "attention of line 1: look.png\nattention of line 3: look-3.png\n"
    assert [p.name for p in sorted(made.glob("look*"))] == ["look-3.png", "look.png"]
    assert (made / "look-3.png").read_bytes()[1:4] == b"PNG"


def test_attention_is_shown_as_text_and_as_numbers(elman, model):
    lines = elman("translate", "m", "--show-attention", stdin="red dog\n").out.splitlines()
    assert lines[0] == "rot Hund"
    assert [line.split()[0] for line in lines[1:4]] == ["rot", "Hund", "</s>"]
    done = elman("translate", "m", "--show-attention", "--json", stdin="red dog\n\n")
    found, blank = map(json.loads, done.out.splitlines())
    looked = found["attention"]
    assert (looked["source"], looked["target"]) == (["red", "dog"], ["rot", "Hund", "</s>"])
    weights = model.align("red dog", "rot Hund").weights
    assert looked["weights"] == pytest.approx(weights.numpy(), abs=1e-6)
    assert "attention" not in blank


def test_of_several_models_the_mean_of_their_attention_is_shown(elman, model, made):
    other = package.load(made / "other")
    options = ["--show-attention", "--json", "--with", "other"]
    found = json.loads(elman("translate", "m", *options, stdin="red dog\n").out)
    each = [m.align("red dog", found["answers"][0]["text"]).weights for m in (model, other)]
    mean = (each[0] + each[1]) / 2
    assert found["attention"]["weights"] == pytest.approx(mean.numpy(), abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*TRAIN, "b.en", "short.de"], "b.en has 40 lines, short.de has 39 lines; line i of one"),
        ([*TRAIN, "empty.txt", "b.de"], "empty.txt: the file is empty"),
        ([*TRAIN, "b.en", "empty.txt"], "empty.txt: the file is empty"),
        ([*TRAIN, "blank.txt", "blank.txt"], "blank.txt: there are no pairs"),
        ([*TRAIN, "b.en", "hole.de"], "b.en:2: the target is empty"),
        ([*TRAIN, "nothing.en", "b.de"], "nothing.en: no such file"),
        ([*TRAIN, "b.en", "b.de", "b.de"], "one file or two, not 3"),
        ([*TRAIN, "b.tsv", "--target", "goal"], "b.tsv:1: the header must have one column 'goal'"),
        ([*TRAIN, "b.en"], "b.en:1: no header with 'source', 'target'"),
        ([*TRAIN, "b.tsv", "--valid", "b.en", "short.de"], "short.de has 39 lines"),
        ([*TRAIN, "b.tsv", "--decoder", "all"], "model.decoder is 'all'"),
        ([*TRAIN, "b.tsv", "--score", "cosine"], "model.score is 'cosine'"),
        ([*TRAIN, "b.tsv", "--source-tokens", "letters"], "tokens.source.kind is 'letters'"),
        ([*TRAIN, "b.tsv", "--joint", "--source-tokens", "chars"], "cut alike"),
        ([*TRAIN, "b.tsv", "--set", "model.hiden=3"], "did you mean 'hidden'?"),
        (["evaluate", "m", "b.en", "short.de"], "b.en has 40 lines, short.de has 39 lines"),
        (["evaluate", "m", "empty.txt"], "empty.txt: the file is empty"),
        (["evaluate", "m", "b.tsv", "--target", "goal"], "one column 'goal'"),
        (["evaluate", "m", "b.tsv", "--label", "2"], "--label is not for a seq2seq"),
        (["evaluate", "m", "b.tsv", "--cache"], "--cache is not for a seq2seq"),
        (["evaluate", "m", "b.tsv", "--with", "none"], "none: there is no such folder"),
        (["translate", "m", "empty.txt"], "empty.txt: the file is empty"),
        (["translate", "m", "b.en", "--with", "joint"], "must have the same tokens"),
        (["translate", "m", "b.en", "--n-best", "4", "--beam", "2"], "n_best is 4"),
        (["translate", "m", "b.en", "--length-penalty", "-1"], "--length-penalty is -1.0; it must be from 0"),
        (["translate", "m", "b.en", "--max-tokens", "0"], "--max-tokens is 0; it must be at least 1"),
        (["translate", "m", "b.en", "--beam", "0"], "--beam is 0; it must be from 1"),
        (
            ["translate", "m", "b.en", "--attention", "no/such/a.png"],
            "no/such/a.png: there is no folder no/such",
        ),
        (["translate", "m", "b.en", "--attention", "a.gif"], "a.gif: a picture ends in .png, .svg or .pdf"),
        (["translate", "plain", "b.en", "--show-attention"], "there is no attention to show"),
        (["predict", "m", "b.en", "--format", "raw"], "--format raw is for taggers"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(elman, made, arguments, said):
    (made / "empty.txt").write_text("")
    (made / "blank.txt").write_text("\n\n")
    targets = (made / "b.de").read_text().splitlines(keepends=True)
    (made / "short.de").write_text("".join(targets[:-1]))
    (made / "hole.de").write_text("".join([targets[0], "\n", *targets[2:]]))
    if arguments[1] == "plain" and not (made / "plain").exists():
        assert elman(*TRAIN[:2], "--train", "b.tsv", "--out", "plain", *SMALL, "--decoder", "plain").code == 0
    if "joint" in arguments and not (made / "joint").exists():
        assert elman(*TRAIN[:2], "--train", "b.tsv", "--out", "joint", *SMALL, "--joint").code == 0
    done = elman(*arguments)
    assert (done.code, done.out) == (1, "")
    (mistake,) = (line for line in done.err.splitlines() if not line.startswith("read "))
    assert mistake.startswith("elman: ")
    assert said in mistake
    assert not (made / "x" / "config.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "c", "--beam", "2"],
        ["predict", "c", "--length-penalty", "0"],
        ["predict", "c", "--with", "m"],
        ["predict", "c", "--attention", "a.png"],
        ["evaluate", "c", "c.tsv", "--beam-factor", "3"],
    ],
)
def test_what_writes_is_not_for_what_labels(elman, made, arguments):
    if not (made / "c").exists():
        (made / "c.tsv").write_text("text\tlabel\n" + "a\tx\nb\ty\n" * 10)
        small = ["--hidden", "4", "--epochs", "1"]
        assert elman("train", "classifier", "--train", "c.tsv", "--out", "c", *small).code == 0
    done = elman(*arguments, stdin="a\n")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"elman: {arguments[-2]} is for seq2seq models, not for a classifier\n"
    assert elman("translate", "c", stdin="a\n").err == ("elman: c holds a classifier: elman predict uses it\n")
    assert elman("predict", "c", "--top", "2", stdin="a\n").code == 0


def test_a_language_model_has_other_verbs_than_predict(elman, made):
    store(made / "lm")
    assert elman("predict", "lm", stdin="a\n").err == (
        "elman: lm holds a language model: elman generate, complete and score use it\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "seq2seq", "--out", "x"], "--train"),
        (["train", "seq2seq", "--train", "a.tsv"], "--out"),
        (["translate"], "DIR"),
    ],
)
def test_a_wrong_call_is_exit_code_2(elman, arguments, said):
    done = elman(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    ("arguments", "example"),
    [
        (["train", "seq2seq"], "elman train seq2seq --train train.en train.de"),
        (["translate"], "elman translate models/en-de"),
        (["average"], "elman average models/"),
    ],
)
def test_help_has_examples(elman, arguments, example):
    done = elman(*arguments, "--help")
    assert (done.code, done.err) == (0, "")
    assert f"  {example}" in done.out


def test_the_search_for_each_answer_is_written_as_a_tree(elman, made):
    arguments, lines = ["translate", "m", "--beam", "2"], "red dog\n\nbig dog\n"
    done, plain = (elman(*arguments, *more, stdin=lines) for more in (["--beam-tree", "t.txt"], []))
    assert (done.code, done.out) == (0, plain.out)
    assert done.err == "beam tree: t.txt\nbeam tree: t-3.txt\n"
    lines = (made / "t.txt").read_text().splitlines()
    assert lines[0] == "<s>"
    assert sum(line.endswith("  best") and "</s>" in line for line in lines) == 1
    best = next(i for i, line in enumerate(lines) if line.endswith("  best"))
    assert [line.split()[-2] for line in lines[1:best]][:2] == ["rot", "Hund"]


def test_inspect_shows_what_every_token_of_the_answer_rests_on(elman, made):
    pytest.importorskip("matplotlib")
    done = elman("inspect", "m", "--text", "red dog", "--json", "--out", "pictures")
    assert done.code == 0
    told = json.loads(done.out)["text"]
    assert told["alignment"]["target"] == ["rot", "Hund", "</s>"]
    assert [s["answer"] for s in told["saliency"]] == ["rot", "Hund", "</s>"]
    drawn = {path.stem for path in (made / "pictures").iterdir()}
    assert drawn >= {"attention", "saliency", "surprisal", "gates-encoder-1-forward", "gates-decoder-1-forward"}
    lines = elman("inspect", "m", "--text", "red dog").out.splitlines()
    at = lines.index("attention: where the model looked most for each token")
    assert lines[at + 1].split()[:3] == ["rot", "←", "red"]
