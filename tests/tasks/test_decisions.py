"""Decisions on labels, by hand: what counts how much, what is withheld, what is right."""

import math

import pytest
import torch
from torch.nn.functional import logsigmoid

from elman.errors import ConfigError, ModelError
from elman.metrics import ConfusedPair, LabelScore
from elman.tasks.classifier.task import ClassifierExample
from elman.tasks.label_data import MultilabelExample
from elman.tasks.label_decision import LabelAnswers, LossOptions
from elman.tasks.results import best_two, confusion_table, label_table, rank_columns, word_index
from elman.tasks.sigmoid_decision import SigmoidDecision
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.temperature import Calibration, Quality, find_minimum, fit_temperature, mean_temperature
from elman.text.vocab import Labels

NAMES = ("a", "b", "c")
LOGITS = torch.tensor([[2.0, 0.0, -1.0], [-1.0, 0.5, 0.0], [0.0, 1.0, 3.0]])
ONE, SEVERAL = SoftmaxDecision(), SigmoidDecision()
HOT = Calibration(2.0)


def test_a_likelihood_with_weights_and_smoothing_is_the_weighted_mean():
    golds, weights = [0, 2, 2], torch.tensor([1.0, 5.0, 0.25])
    log_p = LOGITS.log_softmax(-1)
    plain = -(log_p[0, 0] + log_p[1, 2] + log_p[2, 2]) / 3
    assert ONE.loss(LOGITS, golds, LossOptions()).item() == pytest.approx(plain.item())
    weighed = -(log_p[0, 0] + 0.25 * (log_p[1, 2] + log_p[2, 2])) / 1.5
    options = LossOptions(weights=weights)
    table = torch.eye(3)[golds]
    for right in (golds, ONE.tabulate(golds, 3), table, [table[0], 2, 2]):
        assert ONE.loss(LOGITS, right, options).item() == pytest.approx(weighed.item())
    assert ONE.weight(golds, None) == 3
    assert ONE.weight(golds, weights) == ONE.weight([*table], weights) == 1.5
    assert ONE.weight([table[0], 2, 2], weights) == 1.5
    smooth = 0.7 * plain - 0.3 * log_p.mean()
    assert ONE.loss(LOGITS, golds, LossOptions(0.3)).item() == pytest.approx(smooth.item())


def test_rare_labels_weigh_as_much_as_frequent_ones():
    golds = [0, 0, 0, 1]  # c never occurs, and counts as if once
    expected = (5 / 3) / torch.tensor([3.0, 1.0, 1.0])
    torch.testing.assert_close(ONE.weigh(golds, 3), expected)
    torch.testing.assert_close(ONE.weigh([*torch.eye(3)[golds]], 3), expected)
    # Of five texts one has a, four have b, none has c.
    sets = [(0, 1), (1,), (1,), (1,), ()]
    torch.testing.assert_close(SEVERAL.weigh(sets, 3), torch.tensor([4.0, 1.0, 4.0]))


def test_of_several_labels_each_loss_counts_and_rare_ones_more():
    golds, weights = [(0,), (), (0, 2)], torch.tensor([3.0, 1.0, 2.0])
    right = torch.tensor([[1.0, 0, 0], [0, 0, 0], [1, 0, 1]])
    for smoothing in (0.0, 0.2):
        target = right * (1 - smoothing) + smoothing / 2
        each = -(weights * target * logsigmoid(LOGITS) + (1 - target) * logsigmoid(-LOGITS))
        found = SEVERAL.loss(LOGITS, golds, LossOptions(smoothing, weights))
        assert found.item() == pytest.approx(each.sum().item() / 3)
        assert SEVERAL.loss(LOGITS, right, LossOptions(smoothing, weights)).item() == pytest.approx(
            found.item()
        )
    assert SEVERAL.weight(golds, weights) == 3


def test_answers_are_in_the_order_of_their_probability():
    first, second, third = ONE.predict(LOGITS, NAMES)
    assert (first.label, first.labels, [*first.probabilities]) == ("a", ("a",), ["a", "b", "c"])
    assert [*second.probabilities] == ["b", "c", "a"]
    assert third.confidence == third.probabilities["c"] == max(third.probabilities.values())
    assert ONE.decide(LOGITS, NAMES) == [0, 1, 2]
    assert (ONE.join(1, NAMES), SEVERAL.join((2, 0), NAMES)) == ("b", "c;a")


def test_a_label_is_given_from_its_threshold_on_and_all_are_sure_together():
    decision = SigmoidDecision(delimiter="|", threshold=0.5, thresholds={"c": 0.6})
    z = torch.tensor([[0.0, 1.0, math.log(0.6 / 0.4) + 1e-6], [-0.001, -1.0, 0.1]])
    assert decision.decide(z, NAMES) == [(0, 1, 2), ()]
    both, none = decision.predict(z, NAMES)
    assert (both.label, both.labels) == ("b|c|a", ("b", "c", "a"))
    p = torch.sigmoid(z.double())
    assert both.confidence == pytest.approx(p[0].prod().item())
    assert (none.label, none.labels) == ("", ())
    assert none.confidence == pytest.approx((1 - p[1]).prod().item())
    assert [*none.probabilities] == ["c", "a", "b"]
    assert decision.list_parts(NAMES) == {"kind": "sigmoid", "temperature": 1.0, "thresholds": [0.5, 0.5, 0.6]}


def test_what_is_exactly_as_likely_as_the_threshold_is_kept():
    (one,) = ONE.predict(LOGITS[:1], NAMES)
    assert ONE.withhold(one, one.confidence, "?") == one
    other = ONE.withhold(one, one.confidence + 1e-9, "?")
    assert (other.label, other.labels, other.confidence) == ("?", ("?",), one.confidence)
    assert ONE.withhold(one, 1.1, "")[2] == ()
    (some,) = SEVERAL.predict(torch.tensor([[0.0, 1.0, -1.0]]), NAMES)
    assert some.labels == ("b", "a")
    assert SEVERAL.withhold(some, 0.5, "?").labels == ("b", "a")
    kept = SEVERAL.withhold(some, 0.5001, "?")
    assert (kept.label, kept.labels) == ("b", ("b",))
    assert SEVERAL.withhold(some, 0.99, "?").labels == ("?",)
    assert SEVERAL.withhold(some, 0.99, "")[::2] == ("", ())


def test_the_temperature_divides_and_that_of_a_mean_is_the_geometric_one():
    torch.testing.assert_close(SoftmaxDecision(HOT).log_probs(LOGITS), (LOGITS.double() / 2).log_softmax(-1))
    torch.testing.assert_close(SigmoidDecision(HOT).log_probs(LOGITS), logsigmoid(LOGITS.double() / 2))
    assert mean_temperature(
        [Calibration(1.0), Calibration(8.0), Calibration(1.0)]
    ).temperature == pytest.approx(2)
    assert SoftmaxDecision(HOT).mean([SoftmaxDecision(Calibration(8.0))]).temperature == pytest.approx(4)
    one = SigmoidDecision(HOT, threshold=0.2, thresholds={"a": 0.4})
    mean = one.mean([SigmoidDecision(Calibration(8.0), threshold=0.6, thresholds={"b": 0.1})])
    assert mean.temperature == pytest.approx(4)
    assert mean.threshold == pytest.approx(0.4)
    assert mean.thresholds == pytest.approx({"a": 0.5, "b": 0.15})
    assert SigmoidDecision(HOT, "|", 0.1, {"a": 0.2}).reset() == SigmoidDecision(delimiter="|")
    assert SoftmaxDecision(HOT).reset() == SoftmaxDecision()


def test_a_report_has_its_scores_by_hand_and_a_matrix_of_what_was_taken_for_what():
    answers = LabelAnswers(LOGITS, [0, 2, 2], NAMES)
    found = SoftmaxDecision(HOT).report(answers)
    log_p = (LOGITS.double() / 2).log_softmax(-1)
    assert found.scores["accuracy"] == pytest.approx(200 / 3)
    assert found.scores["nll"] == pytest.approx(-(log_p[0, 0] + log_p[1, 2] + log_p[2, 2]).item() / 3)
    assert found.scores["examples"] == 3
    sure, right = SoftmaxDecision(HOT).confidences(answers)
    assert sure == pytest.approx(log_p.exp().max(-1).values.tolist())
    assert right == [True, False, True]
    matrix = found.tables[-1]
    assert [*matrix.header] == ["", "a", "b", "c"]
    assert [*map(list, matrix.rows)] == [["a", "1", "0", "0"], ["b", "0", "0", "0"], ["c", "0", "1", "1"]]
    several = LabelAnswers(LOGITS, [(0,), (), (1, 2)], NAMES)
    report = SigmoidDecision(thresholds={"b": 0.55}).report(several)
    # Given: a; nothing of b and c, of which c is at a half; b and c.
    assert report.scores["exact"] == pytest.approx(100 / 3)
    assert [row[-1] for row in report.tables[0].rows] == ["0.50", "0.55", "0.50"]
    assert report.record["labels"]["b"]["threshold"] == 0.55
    sure, right = SEVERAL.confidences(several)
    assert sure == pytest.approx(torch.sigmoid(LOGITS).flatten().tolist())
    assert right == [True, False, False, False, False, False, False, True, True]


def test_a_label_is_contrasted_with_the_next_one_or_with_its_absence():
    one = ONE.contrast(LOGITS[2:], NAMES)
    assert (one.answer, one.other) == ("c", "b")
    assert one.margin(LOGITS).tolist() == [-1.0, -0.5, 2.0]
    some = SEVERAL.contrast(LOGITS[1:2], NAMES)
    assert (some.answer, some.other) == ("b", "not b")
    assert some.margin(LOGITS).tolist() == [0.0, 0.5, 1.0]


def test_cards_say_thresholds_and_temperature():
    fitted = Calibration(1.5, Quality(1.0, 4.0), Quality(0.5, 3.0))
    assert SoftmaxDecision(fitted).facts(NAMES) == [
        "labels: a, b, c",
        "temperature: 1.5 (validation ECE 4.00 before, 3.00 after)",
    ]
    assert HOT.facts(" of b") == ["temperature of b: 2"]
    assert SEVERAL.facts(NAMES)[1:] == ["threshold: 0.50 for all labels"]
    said = SigmoidDecision(thresholds={"a": 0.25, "b": 0.5, "c": 0.125}).facts(NAMES)[1]
    assert said.startswith("thresholds: a 0.25, b 0.50, c 0.12")
    assert SoftmaxDecision().to_json() == {}
    assert SoftmaxDecision(fitted).to_json() == {"kind": "softmax", **fitted.to_json()}
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="temperature is "):
            Calibration.from_json({"temperature": wrong})


def test_one_label_and_several_are_encoded_each_by_their_own():
    labels = Labels.build(NAMES)
    one, some = ClassifierExample("x", "b", "f:1"), MultilabelExample("x", ("c", "a"), "f:1")
    assert ONE.encode(one, labels) == labels.id("b", "")
    assert SEVERAL.encode(some, labels) == (labels.id("c", ""), labels.id("a", ""))
    with pytest.raises(ConfigError, match=r"^the model gives one label a text; leave out --multi$"):
        ONE.encode(some, labels)
    with pytest.raises(ConfigError, match=r"^the model gives several labels a text; say --multi$"):
        SEVERAL.encode(one, labels)


def test_fifty_answers_are_enough_for_a_temperature():
    logits = torch.tensor([[4.0, 0.0]]).repeat(50, 1)
    gold = torch.tensor([0] * 40 + [1] * 10)  # less sure than it says

    def fit(count):
        z = logits[-count:]
        return fit_temperature(lambda t: (z.double() / t).log_softmax(-1), gold[-count:], z.argmax(-1))

    assert fit(50).temperature > 1.5
    assert fit(49) == Calibration()


@pytest.mark.parametrize(("texts", "hot"), [(49, False), (50, True)])
def test_fifty_texts_are_enough_for_a_temperature_of_several_labels(texts, hot):
    logits = torch.tensor([[4.0, -4.0]]).repeat(texts, 1)
    golds = [(0, 1) if i % 4 == 0 else () if i % 4 == 1 else (0,) for i in range(texts)]
    found = SigmoidDecision(delimiter="|").calibrate(LabelAnswers(logits, golds, ("a", "b")))
    assert (found.temperature > 1.5) is hot
    assert (found.calibration == Calibration()) is not hot
    assert found.delimiter == "|"


@pytest.mark.parametrize("least", [-3.0, 0.25, 1.9, 2.0])
def test_the_minimum_is_found_wherever_it_is(least):
    asked = []

    def f(x):
        asked.append(x)
        return abs(x - least) ** 1.5

    assert find_minimum(f, -3.0, 2.0) == pytest.approx(least, abs=1e-4)
    assert len(asked) == 27  # one a step, and two at first
    assert all(-3 <= x <= 2 for x in asked)


def test_tables_of_labels_and_confusions_are_for_people():
    table = label_table("by label", {"x": LabelScore(50.0, 100.0, 66.66, 1234)}, "words")
    assert (table.title, [*table.header]) == ("by label", ["label", "precision", "recall", "F1", "words"])
    assert [*map(list, table.rows)] == [["x", "50.0", "100.0", "66.7", "1,234"]]
    long = "w " * 100
    shown = confusion_table("t", [ConfusedPair("a", "b", 1234, "two\n words"), ConfusedPair("b", "a", 1, long)])
    assert [*shown.rows[0]] == ["a → b", "1,234", "two words"]
    assert shown.rows[1][2] == ("w " * 30)[:59] + "…"
    assert confusion_table("t", [ConfusedPair("a", "b", 1, "x" * 60)]).rows[0][2] == "x" * 60
    assert shown.left_columns == (0, 2)


def test_columns_of_further_answers_have_numbers_and_words_are_counted_from_one():
    ranked = rank_columns({"label": str, "p": float}, 3)
    assert [*ranked] == ["label", "p", "label_2", "p_2", "label_3", "p_3"]
    assert [*ranked.values()] == [str, float] * 3
    assert [word_index(1, 3), word_index(3, 3)] == [0, 2]
    for wrong in (0, 4, -1):
        with pytest.raises(ConfigError, match=rf"^word {wrong} was asked for, but the answer has 3, counted"):
            word_index(wrong, 3, "answer")
    best, other = best_two(torch.tensor([[0.0, 2.0, 1.0], [3.0, 2.0, 1.0]]))
    assert (best.tolist(), other.tolist()) == ([1, 0], [2, 1])
    with pytest.raises(ModelError, match="knows a single answer"):
        best_two(torch.zeros(2, 1))
