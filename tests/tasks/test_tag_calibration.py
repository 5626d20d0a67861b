"""A temperature of tags, against the enumeration of all tag sequences; how sure tags are, against a count."""

import pytest
import torch

from elman import artifact
from elman.errors import ModelError
from elman.metrics import calibration_error
from elman.tasks.tagger import tag_calibration
from elman.tasks.tagger.heads import CRFHead, SoftmaxHead
from elman.tasks.temperature import Calibration
from tests.tasks.names import examples, fresh, trained
from tests.tasks.test_heads import CASES, TAGS, case, every_path, head, renormalised
from tests.unsigned import drop_digests

SCALED = [one for one in CASES if one[0] != "autoregressive"]


@pytest.mark.parametrize(("kind", "constrained"), SCALED)
@pytest.mark.parametrize(("seed", "length", "temperature"), [(0, 1, 0.4), (1, 2, 3.0), (2, 3, 0.4)])
def test_the_temperature_divides_the_score_of_a_whole_sequence(kind, constrained, seed, length, temperature):
    torch.manual_seed(seed)
    made, (ys, mask) = head(kind, constrained), case([length])
    plain = every_path(made, ys[0], constrained)
    before = made.n_best(ys, mask, 4)
    best = made.best(ys, mask)
    made.calibration = Calibration(temperature)
    expected = renormalised({path: p ** (1 / temperature) for path, p in plain.items()})
    after = made.n_best(ys, mask, 4)
    assert torch.equal(made.best(ys, mask), best)
    assert torch.equal(after.tags, before.tags)
    for tags, score in zip(after.tags[0].tolist(), after.scores[0].exp().tolist(), strict=True):
        assert not score or score == pytest.approx(expected[tuple(tags)], abs=1e-6)
    marginals = made.marginals(ys, mask)[0]
    for place in range(length):
        for tag in range(len(TAGS)):
            share = sum(p for path, p in expected.items() if path[place] == tag)
            assert marginals[place, tag].item() == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(("most", "expected"), [(1000, 7), (7, 7), (3, 3), (4, 4)])
def test_a_temperature_is_fitted_to_sentences_from_all_over_the_data(monkeypatch, most, expected):
    """All where they are few, else every n-th."""
    model, seen = fresh(), []
    data = model.encode(examples(7))
    monkeypatch.setattr(tag_calibration, "SENTENCES", most)

    def listen(head, column, chunks):
        seen.extend(tags for chunk in chunks for tags in chunk.tags)
        return Calibration(1.0)

    monkeypatch.setattr(tag_calibration, "_fit", listen)
    tag_calibration.calibrate_heads(model, data)
    assert len(seen) == expected


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_the_loss_knows_no_temperature(kind):
    made, (ys, mask) = head(kind), case([3, 2])
    tags = torch.zeros_like(mask, dtype=torch.long)
    before = made.loss(ys, tags, mask)
    made.calibration = Calibration(3.0)
    assert torch.equal(made.loss(ys, tags, mask), before)


def test_scores_and_stored_temperatures_are_those_of_the_answers(tmp_path):
    columns = ("pos", "ner")
    model, some = fresh(columns=columns), examples(60, seed=5, columns=columns)
    assert [type(h) for h in model.heads] == [SoftmaxHead, CRFHead]
    trained(model, examples(12, columns=columns), 12)
    data = model.encode(some)
    before, tags = model.evaluate_dataset(data), model.predictions(data)
    scores = model.calibrate(data)
    assert model.predictions(data) == tags
    assert {name: scores[name] for name in ("accuracy", "ner_f1")} == {
        name: before[name] for name in ("accuracy", "ner_f1")
    }
    for prefix, made in zip(("", "ner_"), model.heads, strict=True):
        assert made.calibration.temperature != 1
        assert scores[f"{prefix}nll"] < before[f"{prefix}nll"]
        assert scores[f"{prefix}ece"] <= before[f"{prefix}ece"]
    answers = [tagging[0] for tagging in model.analyse([e.words for e in some])]
    sure = [p for one in answers for p in one.confidence]
    gold, guess = [t for e in some for t in e.tags[0]], [t for one in answers for t in one.tags]
    right = [g == p for g, p in zip(gold, guess, strict=True)]
    assert scores["ece"] == pytest.approx(calibration_error(sure, right), abs=1e-4)
    assert max(sure) <= 1
    artifact.save_model(model, tmp_path)
    loaded = artifact.load(tmp_path)
    assert [h.calibration for h in loaded.heads] == [h.calibration for h in model.heads]
    assert "temperature of ner: " in (tmp_path / "README.md").read_text()
    (drop_digests(tmp_path) / "decision.json").write_text('[{"temperature": 0}, {"temperature": 1}]')
    with pytest.raises(ModelError, match=r"decision\.json: the file is damaged"):
        artifact.load(tmp_path)


def test_tags_that_training_never_saw_are_wrong_and_have_no_likelihood():
    model = fresh()
    strange = examples(1)[0]._replace(words=("Ann", "in"), tags=(("B-NEW", "O"),))
    scores = model.evaluate_dataset(model.encode([strange]))
    assert scores["nll"] < float("inf")
    assert model.confidences(model.encode([strange])).right[0] is False
