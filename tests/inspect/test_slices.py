"""Parts of the data: every example in one slice of each kind, with the scores of a file of these alone."""

import numpy as np
import pytest

from elman.inspect import judge_examples, score_slices
from elman.metrics import count_right
from elman.tasks.judgement import Judgement
from elman.tasks.results import Report
from tests.inspect.models import classifier, lm
from tests.tasks import topics


def test_a_slice_scores_as_its_examples_alone_do():
    model = classifier()
    some = [(e.text, e.label) for e in topics.examples(80, seed=5)] + [("zebra of quagga", "time")] * 3
    found = score_slices(judge_examples(model, some))
    lengths = [one for one in found if one.by == "length"]
    assert sum(one.count for one in lengths) == 83
    for one in lengths:
        ends = [int(n) for n in one.name.split() if n.isdigit()]
        alone = [row for row in some if ends[0] <= len(row[0].split()) <= ends[-1]]
        scores = model.evaluate(alone)
        assert len(alone) == one.count
        assert one.scores == pytest.approx({name: scores[name] for name in one.scores})
    none, over = (one for one in found if one.by == "unseen words")
    assert (none.name, none.count, over.name, over.count) == ("none", 80, "over 25 %", 3)
    assert over.scores["accuracy"] == pytest.approx(model.evaluate(some[-3:])["accuracy"])


def judgement(tokens, unseen) -> Judgement:
    scores = {"accuracy": count_right([True] * len(tokens))}
    return Judgement(Report({}), "examples", lambda: scores, np.array(tokens), np.array(unseen))


@pytest.mark.parametrize("tokens", [[1], [5, 5, 5, 5, 5], [1, 1, 1, 1, 9], [*range(1, 101)], [3, 0, 2]])
def test_every_example_is_in_one_slice_of_each_kind(tokens):
    found = score_slices(judgement(tokens, [0] * len(tokens)))
    for by in ("length", "unseen words"):
        counts = [one.count for one in found if one.by == by]
        assert sum(counts) == len(tokens)
        assert all(counts)
    assert max(one.count for one in found if one.by == "length") >= len(tokens) / 4


def test_quarters_are_quarters_where_all_lengths_differ():
    found = score_slices(judgement([*range(1, 101)], [0] * 100))
    assert [one.count for one in found if one.by == "length"] == [25, 25, 25, 25]


def test_shares_on_a_border_belong_to_the_slice_below_it():
    found = score_slices(judgement([10, 10, 10, 20, 4, 10], [0, 1, 2, 5, 1, 3]))
    names = {one.name: one.count for one in found if one.by == "unseen words"}
    assert names == {"none": 1, "up to 10 %": 1, "10 to 25 %": 3, "over 25 %": 1}


def test_a_model_of_characters_has_no_unseen_words():
    assert {one.by for one in score_slices(judge_examples(lm("chars"), ["once upon", "a tide"]))} == {"length"}


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_lines_of_a_text_add_up_to_its_perplexity(kind):
    model, lines = lm(kind), ["once upon a tide", "", "the end", "go on"]
    judged = judge_examples(model, lines)
    scores = model.evaluate_dataset(model.encode(lines))
    assert judged.report.scores == pytest.approx(scores)
    assert judged.scores["perplexity"]() == pytest.approx(scores["perplexity"])
    assert judged.tokens.tolist() == [len(model.tokenizer.encode(line)) + 1 for line in lines]
    assert judged.scores["nats_per_line"]() == pytest.approx(scores["nats_per_token"] * scores["tokens"] / 4)
