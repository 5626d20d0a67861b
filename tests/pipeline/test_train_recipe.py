"""From a recipe to a model folder: what is held out, where files are looked for, how a run goes on."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import elman
from elman import artifact
from elman.errors import ConfigError, DataError, ModelError
from elman.pipeline import run_recipe
from elman.pipeline.recipe import Recipe, build, recipe_class
from elman.tasks.classifier.task import Classifier, ClassifierDataConfig
from elman.text.batching import BucketBatches
from tests.campaign.small_runs import fingerprint
from tests.tasks.topics import TINY, examples, fresh, table


def recipe(folder: Path, **data: object) -> Recipe:
    """A tiny recipe of twelve updates, an evaluation after every third."""
    files = {"train": table(folder / "a.tsv", 40), "valid": table(folder / "b.tsv", 10, 1)}
    training = {"updates": 12, "evaluate_every": 3, "lr": 0.02}
    settings = {"data": files | {"batch_tokens": 32} | data, "model": TINY, "training": training}
    return build({"task": "classifier"} | settings)


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def changed(one: Recipe, **training: object) -> Recipe:
    return replace(one, training=replace(one.training, **training))


@pytest.fixture
def interrupted(monkeypatch):
    """Trains and is interrupted by Ctrl-C within the seventh update."""

    def train(chosen: Recipe, out: Path, **options: bool) -> None:
        honest, calls = Classifier.loss, []

        def loss(self, batch, progress):
            calls.append(batch)
            if len(calls) == 7:
                signal.raise_signal(signal.SIGINT)
            return honest(self, batch, progress)

        with monkeypatch.context() as patch:
            patch.setattr(Classifier, "loss", loss)
            assert run_recipe(chosen, out, **options) is None
        assert len(calls) == 7

    return train


def test_the_same_recipe_gives_the_same_bits(tmp_path):
    chosen = recipe(tmp_path)
    for name in ("one", "two"):
        run_recipe(chosen, tmp_path / name)
    assert weights(tmp_path / "one") == weights(tmp_path / "two")
    run_recipe(changed(chosen, seed=1), tmp_path / "three")
    assert weights(tmp_path / "one") != weights(tmp_path / "three")


@pytest.mark.parametrize("kind", ["words", "bpe"])
def test_a_resumed_run_ends_with_the_bits_of_one_never_interrupted(tmp_path, interrupted, kind):
    chosen = recipe(tmp_path)
    size = 270 if kind == "bpe" else 0
    chosen = replace(chosen, tokens=replace(chosen.tokens, kind=kind, size=size))
    run_recipe(chosen, tmp_path / "whole")
    interrupted(chosen, tmp_path / "cut")
    with pytest.raises(ModelError, match="--resume"):
        artifact.load(tmp_path / "cut")
    assert run_recipe(chosen, tmp_path / "cut", resume=True) is not None
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")


def test_a_finished_run_can_be_resumed_and_is_the_same(tmp_path):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "m")
    before = weights(tmp_path / "m")
    run_recipe(chosen, tmp_path / "m", resume=True)
    assert weights(tmp_path / "m") == before


@pytest.mark.parametrize(
    ("training", "key"), [({"beta1": 0.5}, "training.beta1"), ({"updates": 13}, "training.updates")]
)
def test_other_settings_are_not_resumed_and_are_named(tmp_path, interrupted, training, key):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    with pytest.raises(ModelError, match=key):
        run_recipe(changed(chosen, **training), tmp_path / "m", resume=True)
    assert run_recipe(chosen, tmp_path / "m", resume=True) is not None, "the refusal did no harm"


def test_a_longer_time_limit_may_be_given_when_resuming(tmp_path, interrupted):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    assert run_recipe(changed(chosen, minutes=9.0), tmp_path / "m", resume=True) is not None


def test_other_data_are_not_resumed(tmp_path, interrupted):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    with open(chosen.data.train, "a") as file:
        file.write("who is that\ttime\n")
    with pytest.raises(ModelError, match="other data"):
        run_recipe(chosen, tmp_path / "m", resume=True)


def edit(path: str, change: Callable[[list[str]], list[str]]) -> None:
    header, *rows = Path(path).read_text().splitlines()
    Path(path).write_text("\n".join([header, *change(rows)]) + "\n")


def shuffle_labels(lines: list[str]) -> list[str]:
    texts, labels = zip(*(line.split("\t") for line in lines), strict=True)
    return ["\t".join(pair) for pair in zip(texts, reversed(labels), strict=True)]


@pytest.mark.parametrize("part", ["train", "valid"])
@pytest.mark.parametrize("change", [shuffle_labels, lambda lines: lines[::-1]], ids=["labels", "lines"])
def test_data_of_the_same_size_are_other_data(tmp_path, interrupted, part, change):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    edit(getattr(chosen.data, part), change)
    with pytest.raises(ModelError, match=f"data.{part} was 'contents of SHA-256"):
        run_recipe(chosen, tmp_path / "m", resume=True)


def test_a_moved_file_and_another_way_to_write_its_name_are_the_same_data(tmp_path, interrupted, monkeypatch):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "whole")
    interrupted(chosen, tmp_path / "cut")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moved").mkdir()
    (tmp_path / "b.tsv").rename(tmp_path / "moved" / "c.tsv")
    renamed = replace(chosen, data=replace(chosen.data, train="./a.tsv", valid="moved/../moved/c.tsv"))
    assert run_recipe(renamed, tmp_path / "cut", resume=True) is not None
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")


def test_a_test_file_may_be_given_when_resuming(tmp_path, interrupted):
    chosen = recipe(tmp_path)
    interrupted(chosen, tmp_path / "m")
    judged = replace(chosen, data=replace(chosen.data, test=table(tmp_path / "t.tsv", 6, 2)))
    assert "test" in run_recipe(judged, tmp_path / "m", resume=True).metrics


def test_nothing_to_resume_is_said(tmp_path):
    with pytest.raises(ModelError, match="no checkpoint to resume from"):
        run_recipe(recipe(tmp_path), tmp_path / "m", resume=True)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_model_stays_as_it_is_until_the_one_that_replaces_it_is_complete(tmp_path, interrupted):
    chosen, m = recipe(tmp_path), tmp_path / "m"
    other = replace(changed(chosen, seed=5), tokens=replace(chosen.tokens, lower=True, min_count=3))
    run_recipe(chosen, m)
    old = files(m)
    with pytest.raises(ConfigError, match=r"m holds a model: .*--overwrite"):
        run_recipe(other, m)
    interrupted(other, m, overwrite=True)
    assert files(m) == old
    assert artifact.load(m).classify(["when"])
    with pytest.raises(ConfigError, match=r"m/\.run holds a run that was interrupted: .*--resume"):
        run_recipe(other, m, overwrite=True)
    run_recipe(other, m, resume=True)
    run_recipe(other, tmp_path / "whole")
    assert fingerprint(m) == fingerprint(tmp_path / "whole")


def test_a_run_that_fails_leaves_the_model_that_it_began_with(tmp_path):
    chosen, m = recipe(tmp_path), tmp_path / "m"
    run_recipe(chosen, m)
    old = files(m)
    with pytest.raises(ModelError, match="loss is nan"):
        run_recipe(changed(chosen, lr=1e30), m, init=m, overwrite=True)
    assert files(m) == old


def test_a_run_without_an_update_leaves_nothing_behind(tmp_path):
    """Neither an empty folder where there was none, nor anything in the folder of a model."""
    with pytest.raises(DataError):
        run_recipe(recipe(tmp_path, train="none.tsv"), tmp_path / "new" / "m")
    assert not (tmp_path / "new").exists()
    run_recipe(recipe(tmp_path), tmp_path / "m")
    before = sorted((tmp_path / "m").iterdir())
    with pytest.raises(DataError):
        run_recipe(recipe(tmp_path, train="none.tsv"), tmp_path / "m", overwrite=True)
    assert sorted((tmp_path / "m").iterdir()) == before


def test_init_starts_from_another_model(tmp_path):
    """A run too slow to move ends where it started."""
    chosen = recipe(tmp_path)
    first = run_recipe(chosen, tmp_path / "first")
    still = changed(chosen, lr=1e-12, updates=1, weight_decay=0.0)
    second = run_recipe(still, tmp_path / "second", init=tmp_path / "first")
    texts = [e.text for e in examples(5)]
    for one, two in zip(first.model.classify(texts), second.model.classify(texts), strict=True):
        assert one.probabilities == pytest.approx(two.probabilities, abs=1e-5)


def test_init_never_delivers_worse_than_it_began_with(tmp_path, capsys):
    """At this learning rate the network forgets all that it knew."""
    chosen = recipe(tmp_path)
    run_recipe(changed(chosen, updates=60), tmp_path / "first")
    run_recipe(changed(chosen, lr=100.0), tmp_path / "second", init=tmp_path / "first")
    assert "nothing is better than the model it began with" in capsys.readouterr().err
    assert weights(tmp_path / "first") == weights(tmp_path / "second")


def test_init_with_another_network_is_refused(tmp_path):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "first")
    other = replace(chosen, model=replace(chosen.model, hidden=7))
    with pytest.raises(ConfigError, match=r"model\.hidden is 7, but .*first was trained with 6"):
        run_recipe(other, tmp_path / "second", init=tmp_path / "first")
    assert not (tmp_path / "second").exists()


def test_init_takes_the_options_of_the_recipe(tmp_path):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "first")
    other = replace(chosen, model=replace(chosen.model, dropout=0.3, label_smoothing=0.1, class_weights=True))
    run_recipe(other, tmp_path / "second", init=tmp_path / "first")
    assert artifact.load(tmp_path / "second").config == other.model


@pytest.mark.parametrize("given_first", [False, True])
def test_init_with_vectors_needs_a_model_with_vectors(tmp_path, given_first):
    file = tmp_path / "vectors.txt"
    file.write_text("when 1 2\nunseen 2 1\n")
    plain = recipe(tmp_path)
    given = replace(plain, model=replace(plain.model, vectors=str(file)))
    first, second = (given, plain) if given_first else (plain, given)
    run_recipe(first, tmp_path / "first")
    with pytest.raises(ConfigError, match="first was trained with"):
        run_recipe(second, tmp_path / "second", init=tmp_path / "first")


def test_init_keeps_the_words_and_vectors_of_the_model(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("when 1 2\nunseen 2 1\nother 3 3\n")
    chosen = recipe(tmp_path, valid="", holdout=0.0)  # the last weights are delivered
    chosen = replace(chosen, model=replace(chosen.model, vectors=str(file), casing=True))
    run_recipe(chosen, tmp_path / "first")
    file.write_text("when 7 7 7\n")
    run_recipe(chosen, tmp_path / "second", init=tmp_path / "first")
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("first", "second"))
    assert torch.equal(one["words.embed.0.given"], two["words.embed.0.given"])
    assert len(two["words.embed.0.given"]) == 3, "the padding and two words that were not trained"
    assert not torch.equal(one["words.embed.0.own"], two["words.embed.0.own"])
    for name in ("vocab.json", "further.json", "spelling.json", "labels.json"):
        assert (tmp_path / "first" / name).read_text() == (tmp_path / "second" / name).read_text()


def test_init_with_other_tokens_is_refused(tmp_path):
    chosen = recipe(tmp_path)
    run_recipe(chosen, tmp_path / "first")
    other = replace(chosen, tokens=replace(chosen.tokens, lower=True))
    with pytest.raises(ConfigError, match="first has other tokens"):
        run_recipe(other, tmp_path / "second", init=tmp_path / "first")


@pytest.mark.parametrize("frozen", [False, True])
def test_a_resumed_run_with_vectors_and_spelling_has_the_same_bits(tmp_path, interrupted, frozen):
    file = tmp_path / "vectors.txt"
    file.write_text("when 1 2\nunseen 2 1\n")
    chosen = recipe(tmp_path)
    words = {"vectors": str(file), "freeze_vectors": frozen, "characters": "lstm", "affixes": 2}
    chosen = replace(chosen, model=replace(chosen.model, **words))
    run_recipe(chosen, tmp_path / "whole")
    interrupted(chosen, tmp_path / "cut")
    assert run_recipe(chosen, tmp_path / "cut", resume=True) is not None
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")
    one, two = (artifact.load(tmp_path / name) for name in ("cut", "whole"))
    assert one.classify(["unseen When", ""]) == two.classify(["unseen When", ""])


def held(folder: Path, count: int, **data: object) -> tuple[list, list]:
    file = table(folder / "a.tsv", count)
    return Classifier.split(ClassifierDataConfig(train=file, **data))


def test_a_tenth_is_held_out_and_nothing_is_lost_or_seen_twice(tmp_path):
    train, valid = held(tmp_path, 50)
    assert (len(train), len(valid)) == (45, 5)
    lines = [int(e.where.rpartition(":")[2]) for e in train + valid]
    assert sorted(lines) == list(range(2, 52))
    assert held(tmp_path, 50) == (train, valid), "the same every time"


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.5, 25), (0.001, 1)])
def test_as_much_is_held_out_as_asked(tmp_path, share, count):
    train, valid = held(tmp_path, 50, holdout=share)
    assert (len(train), len(valid)) == (50 - count, count)


def test_one_example_is_too_few_to_hold_out(tmp_path):
    with pytest.raises(DataError, match="too few examples"):
        held(tmp_path, 1)


def test_where_nothing_can_be_held_out_it_is_said_and_trained_on(tmp_path):
    (tmp_path / "few.tsv").write_text("a b\tx\nb c\ty\n" * 10)
    with pytest.warns(UserWarning, match="nothing can be held out of 20 examples, 18 of them duplicates"):
        outcome = run_recipe(recipe(tmp_path, train=str(tmp_path / "few.tsv"), valid=""), tmp_path / "m")
    assert outcome.metrics["valid"] == {}


def test_a_test_file_that_is_missing_is_found_before_training(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        run_recipe(recipe(tmp_path, test="none.tsv"), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_without_validation_the_last_weights_are_kept(tmp_path):
    chosen = recipe(tmp_path, valid="", holdout=0.0)
    outcome = run_recipe(chosen, tmp_path / "m")
    assert outcome.metrics["valid"] == {}
    assert "not evaluated" in (tmp_path / "m" / "README.md").read_text()


def test_paths_may_begin_with_a_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("ELMAN_TEST_DATA", str(tmp_path))
    chosen = recipe(tmp_path, train="$ELMAN_TEST_DATA/a.tsv", valid="${ELMAN_TEST_DATA}/b.tsv")
    assert run_recipe(chosen, tmp_path / "m") is not None


@pytest.mark.parametrize("path", ["$ELMAN_NOT_SET/a.tsv", "${ELMAN_NOT_SET}/a.tsv"])
def test_a_variable_that_is_not_set_is_named(tmp_path, path):
    with pytest.raises(ConfigError, match="ELMAN_NOT_SET, which is not set"):
        run_recipe(recipe(tmp_path, train=path), tmp_path / "m")


def test_no_training_data_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"data\.train"):
        run_recipe(recipe_class("classifier")(), tmp_path / "m")


def test_the_folder_says_what_was_done(tmp_path):
    chosen = recipe(tmp_path, test=table(tmp_path / "c.tsv", 20, 2))
    outcome = run_recipe(chosen, tmp_path / "m")
    stored = json.loads((tmp_path / "m" / "config.json").read_text())
    del stored["elman"], stored["sha256"]
    assert build(stored) == chosen
    metrics = json.loads((tmp_path / "m" / "metrics.json").read_text())
    assert metrics == json.loads(json.dumps(outcome.metrics))
    assert metrics["test"]["examples"] == 20
    card = (tmp_path / "m" / "README.md").read_text()
    assert f"accuracy {metrics['test']['accuracy']:.2f}" in card
    assert all(label in card for label in ("time", "place"))


def test_the_best_weights_are_delivered(tmp_path):
    outcome = run_recipe(changed(recipe(tmp_path), lr=0.3), tmp_path / "m")
    log = [json.loads(line) for line in (tmp_path / "m" / "metrics.jsonl").open()]
    accuracies = [line["scores"]["accuracy"] for line in log if "scores" in line]
    assert len(accuracies) == 4
    assert outcome.metrics["valid"]["accuracy"] == max(accuracies)
    again = artifact.load(tmp_path / "m")
    valid = again.encode(examples(10, 1))
    assert again.evaluate_dataset(valid)["accuracy"] == max(accuracies)


def test_batches_cover_an_epoch_and_shares_a_batch():
    data = fresh().encode(examples(23))
    plan = BucketBatches(data, tokens=32, seed=0, weigh=len)
    for epoch in (0, 1):
        seen = [tuple(row.tolist()) for batch in plan(epoch, 0) for (row,) in batch.rows]
        assert sorted(seen) == sorted(tuple(row.tolist()) for (row,) in data.rows)
        assert plan.count(epoch) == len(list(plan(epoch, 0)))
        rest = [batch.labels for batch in plan(epoch, 2)]
        assert rest == [batch.labels for batch in plan(epoch, 0)][2:]
    batch = next(plan(0, 0))
    shares = [plan.shard(batch, rank, 3) for rank in range(3)]
    assert sum(map(plan.weight, shares)) == plan.weight(batch)


def test_python_trains_by_a_dict_and_by_a_file(tmp_path):
    table(tmp_path / "a.tsv", 40)
    data = {"train": str(tmp_path / "a.tsv")}
    said = {"task": "classifier", "data": data, "model": TINY, "training": {"epochs": 1}}
    model = elman.train(said, tmp_path / "one", set=["model.hidden=3"])
    assert model.config.hidden == 3
    toml = tmp_path / "recipe.toml"
    tiny = "\n".join(f"{key} = {value}" for key, value in (TINY | {"hidden": 3}).items())
    toml.write_text(
        f"task = 'classifier'\n[data]\ntrain = '{tmp_path}/a.tsv'\n[model]\n{tiny}\n[training]\nepochs = 1\n"
    )
    elman.train(toml, tmp_path / "two")
    one, two = load_file(tmp_path / "one/model.safetensors"), elman.load(tmp_path / "two").net
    assert all(torch.equal(one[name], value) for name, value in two.state_dict().items())


def test_init_takes_new_labels_and_words_and_says_so(tmp_path, capsys):
    chosen = recipe(tmp_path)
    first = run_recipe(chosen, tmp_path / "first")
    (tmp_path / "more.tsv").write_text("text\tlabel\n" + "why is that\tcause\nwhen was it\ttime\n" * 6)
    data = replace(chosen.data, train=str(tmp_path / "more.tsv"), valid="", holdout=0.0)
    still = replace(changed(chosen, lr=1e-12, updates=1, weight_decay=0.0), data=data)
    second = run_recipe(still, tmp_path / "second", init=tmp_path / "first")
    said = capsys.readouterr().err
    expected = "first: 1 new label (cause), 3 new words, 1 label without examples kept\n"
    assert f"starts from {tmp_path / expected}" in said
    texts = [e.text for e in examples(5)]
    for one, two in zip(first.model.classify(texts), second.model.classify(texts), strict=True):
        kept = {label: two.probabilities[label] for label in one.probabilities}
        total = sum(kept.values())
        assert {k: p / total for k, p in kept.items()} == pytest.approx(one.probabilities, abs=1e-4)
