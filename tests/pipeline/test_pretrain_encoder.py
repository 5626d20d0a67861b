"""Unlabelled text: read first, resumable, the same bits each time, in the record, and worth it."""

import json
import re
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import elman
from elman import artifact
from elman.errors import ConfigError, DataError
from elman.pipeline import pretrain_encoder, run_recipe
from elman.pipeline.recipe import Recipe, build
from elman.pipeline.training_data import TrainingData
from elman.tasks.encoder_pretraining import EncoderPretraining
from elman.tasks.results import GuessedData
from elman.training.training_config import TrainingConfig
from tests.tasks.test_label_guesses import write_topics
from tests.tasks.topics import TINY, fresh, table


def write_text(path: Path, count: int = 60) -> str:
    """Lines of words, some of which the training data of `topics` does not have."""
    path.write_text(
        "".join(f"the river is in the town of ruritania {i % 3}\n" for i in range(count)) + "once\n"
    )
    return str(path)


def recipe(folder: Path, **pretraining: object) -> Recipe:
    files = {"train": table(folder / "a.tsv", 60), "valid": table(folder / "b.tsv", 10, 1)}
    data = {**files, "unlabelled": write_text(folder / "u.txt"), "batch_tokens": 64}
    training = {"updates": 8, "evaluate_every": 4, "lr": 0.02}
    first = {"epochs": 2, "batch_tokens": 128} | pretraining
    sections = {"data": data, "model": TINY, "training": training, "pretraining": first}
    return build({"task": "classifier", **sections})


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def interrupt(monkeypatch: pytest.MonkeyPatch, owner: type, chosen: Recipe, out: Path) -> None:
    """Train, and be interrupted by Ctrl-C within the third update of a phase."""
    honest, calls = owner.loss, []

    def loss(self, batch, progress):
        calls.append(batch)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return honest(self, batch, progress)

    with monkeypatch.context() as patch:
        patch.setattr(owner, "loss", loss)
        assert run_recipe(chosen, out) is None


def test_the_same_text_gives_the_same_bits_and_none_gives_others(tmp_path):
    chosen = recipe(tmp_path)
    for name in ("one", "two"):
        run_recipe(chosen, tmp_path / name)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    run_recipe(recipe(tmp_path, lr=0.5), tmp_path / "three")
    assert weights(tmp_path / "one") != weights(tmp_path / "three")
    run_recipe(recipe(tmp_path, vectors=True), tmp_path / "four")
    assert weights(tmp_path / "one") != weights(tmp_path / "four")


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("owner", [EncoderPretraining, elman.Classifier])
def test_a_run_that_is_cut_in_either_phase_ends_with_the_same_bits(tmp_path, monkeypatch, owner, refit):
    chosen = recipe(tmp_path, vectors=refit)
    if refit:
        data, training = replace(chosen.data, valid=""), replace(chosen.training, refit=True, patience=0)
        chosen = replace(chosen, data=data, training=training)
    run_recipe(chosen, tmp_path / "whole")
    interrupt(monkeypatch, owner, chosen, tmp_path / "cut")
    first = json.loads((tmp_path / "cut" / "run.json").read_text()).get("pretraining")
    assert (first is None) is (owner is EncoderPretraining)
    assert run_recipe(chosen, tmp_path / "cut", resume=True) is not None
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")
    sessions = json.loads((tmp_path / "cut" / "run.json").read_text())["sessions"]
    assert [session["finished"] for session in sessions] == [False, True]


def test_words_of_the_text_get_rows_but_not_those_that_occur_once(tmp_path):
    run_recipe(recipe(tmp_path), tmp_path / "model")
    known = artifact.load(tmp_path / "model").featurizer.tokenizer.items
    assert "ruritania" in known
    assert "once" not in known


def test_the_folder_says_what_was_read(tmp_path, capsys):
    run_recipe(recipe(tmp_path), tmp_path / "model")
    run = json.loads((tmp_path / "model" / "run.json").read_text())
    assert run["data"]["unlabelled"][0]["file"].endswith("u.txt")
    assert run["pretraining"]["perplexity"] > 1
    assert run["pretraining"]["tokens"] > 200
    card = (tmp_path / "model" / "README.md").read_text()
    texts, tokens = run["pretraining"]["texts"], run["pretraining"]["tokens"]
    said = f"u.txt; {texts:,} texts, {tokens:,} tokens with those of the training data"
    assert re.search(rf"^- unlabelled text: .*{said}$", card, re.MULTILINE)
    assert "as a language model" in capsys.readouterr().err


@pytest.mark.parametrize("held", [0, 3])
@pytest.mark.parametrize(
    ("options", "tokens", "epochs"),
    [({"epochs": 5}, 100, 5), ({}, 100, 8), ({}, 200_000, 4), ({}, 10_000_000, 1)],
)
def test_the_first_phase_reads_800_000_tokens_in_all_and_no_text_over_and_over(
    tmp_path, monkeypatch, capsys, options, tokens, epochs, held
):
    training = {"minutes": 4.0, "checkpoint_minutes": 3.0, "seed": 7}
    first = {**options, "share": 0.25, "lr": 0.5}
    data = {"unlabelled": "u.txt"}
    chosen = build({"task": "classifier", "data": data, "training": training, "pretraining": first})
    seen = []

    def fit(net, batches, loss, settings, validation, resume):
        seen.append((settings, validation, resume))
        return iter(())

    monkeypatch.setattr(pretrain_encoder, "fit", fit)
    monkeypatch.setattr(pretrain_encoder, "follow", lambda *given, **options: None)
    task = SimpleNamespace(tokens=tokens, held=[0] * held, net=None, loss=None, unit="tokens", metric="m")
    task.validate, task.build_batches = dict, lambda *given: given
    monkeypatch.setattr(elman.Classifier, "pretraining", lambda model, texts: task)
    assert pretrain_encoder.pretrain_encoder(chosen, fresh(), ["a"] * 1500, tmp_path, {}) is None
    ((settings, validation, resume),) = seen
    assert (settings.lr, settings.epochs, settings.minutes) == (0.5, epochs, 1.0)
    assert (settings.checkpoint_minutes, settings.seed, settings.patience) == (3.0, 7, 2 if held else 0)
    assert ((validation is None), resume) == (not held, None)
    assert capsys.readouterr().err == (
        f"1,500 texts ({tokens:,} tokens) are read first, {epochs} times, up to 1 minutes, "
        "as a language model of the encoder\n"
    )


def test_several_processes_read_no_text(tmp_path, monkeypatch):
    monkeypatch.setattr(pretrain_encoder, "count_processes", lambda: 2)
    with pytest.raises(ConfigError, match=r"^unlabelled text is read by one process only"):
        pretrain_encoder.read_texts(recipe(tmp_path), TrainingData([], [], None, []), None)


def test_the_second_phase_has_the_minutes_that_the_first_one_left():
    training = TrainingConfig(minutes=2.0)
    assert pretrain_encoder.leave_minutes(training, {"seconds": 30.0}).minutes == 1.5
    assert pretrain_encoder.leave_minutes(training, {"seconds": 300.0}).minutes == 0.01
    assert pretrain_encoder.leave_minutes(training, {}) == training
    assert pretrain_encoder.leave_minutes(TrainingConfig(), {"seconds": 30.0}) == TrainingConfig()


def test_it_is_said_how_good_guesses_are_and_whether_they_are_used(capsys):
    pretrain_encoder.say_guesses({})
    pretrain_encoder.say_guesses({"right": 81.25, "right_without": 79.0, "guessed": 1234})
    pretrain_encoder.say_guesses({"right": 80.0, "right_without": 81.0, "guessed": 0})
    assert capsys.readouterr().err.splitlines() == [
        "the labels of 1,234 texts are guessed: in cross-validation 81.2 % are right, 79 % without this text",
        "no label is guessed: in cross-validation 80 % are right, 81 % without this text",
    ]


def test_texts_without_labels_make_a_better_model():
    rows, test = write_topics(60), write_topics(300, 2)
    texts = [e.text for e in write_topics(800, 1)]
    given = {"model": TINY, "training": {"lr": 0.01, "epochs": 8}, "pretraining": {"epochs": 2}}
    with_text = elman.Classifier.train([e[:2] for e in rows], recipe=given, unlabelled=texts, device="cpu")
    del given["pretraining"]
    without = elman.Classifier.train([e[:2] for e in rows], recipe=given, device="cpu")
    scores = [m.evaluate_dataset(m.encode(test))["accuracy"] for m in (with_text, without)]
    assert scores[0] > 94 > scores[1]


@pytest.mark.parametrize("held", ["file", "share"])
def test_what_judges_the_model_is_neither_read_nor_guessed(tmp_path, monkeypatch, held):
    chosen = recipe(tmp_path)
    chosen = chosen if held == "file" else replace(chosen, data=replace(chosen.data, valid=""))
    data = replace(chosen.data, test=table(tmp_path / "c.tsv", 10, 2))
    judging = [
        e.text for part in (chosen.task_class.split(data)[1], chosen.task_class.read_test(data)) for e in part
    ]
    with Path(data.unlabelled).open("a") as file:
        file.write("".join(f"{text.upper()} !\n" for text in judging))
    seen: list[str] = []

    def guess(model, dataset, texts, options):
        seen.extend(texts)
        return GuessedData(dataset)

    monkeypatch.setattr(elman.Classifier, "guess_labels", guess)
    run_recipe(replace(chosen, data=data), tmp_path / "model")
    assert len(judging) >= 16
    assert "the river is in the town of ruritania 1" in seen
    assert not {text.upper() + " !" for text in judging} & {*seen}


def test_a_file_of_text_without_words_is_refused_in_one_line(tmp_path):
    chosen = recipe(tmp_path)
    Path(chosen.data.unlabelled).write_text("\n  \n")
    with pytest.raises(DataError, match=r"u\.txt: the unlabelled text is empty$"):
        run_recipe(chosen, tmp_path / "model")


def test_a_tagger_reads_the_text_too(tmp_path):
    rows = [(["the", "dog", "barks"], ["D", "N", "V"]), (["a", "cat", "sleeps"], ["D", "N", "V"])] * 10
    texts = ["the horse sleeps", "a horse barks"] * 20
    tiny = {**TINY, "characters": "", "affixes": 0}
    given = {"model": tiny, "training": {"updates": 3}, "pretraining": {"epochs": 1}}
    model = elman.Tagger.train(rows, valid=rows, recipe=given, unlabelled=texts, device="cpu")
    assert "horse" in model.featurizer.tokenizer.items
    assert model.record.run["pretraining"]["texts"] == 4


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"data": {"unlabelled": "missing.txt"}}, DataError, "missing.txt"),
        ({"pretraining": {"epochs": 3}}, ConfigError, "data.unlabelled"),
        ({"init": "model", "data": {"unlabelled": "u.txt"}}, ConfigError, "give one of them"),
    ],
)
def test_what_does_not_go_together_is_said(tmp_path, monkeypatch, change, error, said):
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "u.txt")
    train = {"train": table(tmp_path / "a.tsv", 20)}
    init = change.get("init")
    with pytest.raises(error, match=said):
        elman.train(
            {
                "task": "classifier",
                "pretraining": change.get("pretraining", {}),
                "data": train | change.get("data", {}),
            },
            init=init,
            device="cpu",
        )
