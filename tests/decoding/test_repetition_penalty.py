"""The repetition penalty against Hugging Face's own cases, and in a beam against every way to write."""

import math

import pytest
import torch

from elman.decoding import AtTokens, Beam, Greedy, History, RepetitionPenalty, rollout
from elman.errors import ConfigError
from tests.decoding.tables import END, outcomes, table


def history(*rows: list[int]) -> History:
    return History(torch.tensor(rows), torch.arange(len(rows)))


def test_it_divides_positive_logits_and_multiplies_negative_ones():
    """The case of Hugging Face's test of its RepetitionPenaltyLogitsProcessor."""
    logits = torch.full((2, 10), 0.1)
    logits[0, 0], logits[1, 5] = -0.1, 0.4
    expected = logits.clone()
    expected[0, 0], expected[0, 1], expected[1, 0], expected[1, 5] = -0.2, 0.05, 0.05, 0.2
    torch.testing.assert_close(RepetitionPenalty(2.0)(history([0, 1], [5, 0]), logits), expected)


def test_a_token_of_the_prompt_counts_and_often_is_once():
    logits = torch.tensor([[3.0, -1.0, 2.0]])
    penalised = RepetitionPenalty(4.0, prompt=(1, 1))(history([0, 0, 0]), logits)
    assert penalised.tolist() == [[0.75, -4.0, 2.0]]
    assert RepetitionPenalty(4.0)(History(torch.zeros(1, 0).long(), torch.arange(1)), logits).equal(logits)


def test_what_is_forbidden_stays_forbidden():
    logits = torch.tensor([[-math.inf, 1.0]])
    assert RepetitionPenalty(0.5)(history([0]), logits).tolist() == [[-math.inf, 1.0]]


def test_a_beam_ranks_by_what_the_penalty_leaves_and_says_the_models_log_probabilities():
    limit, penalty = 4, 3.0
    for seed in range(5):
        model = table(seed)

        def penalised(tokens, model=model):
            costs = model.log_probs(0, tokens)
            return sum(x * (penalty if tokens[i] in tokens[:i] else 1) for i, x in enumerate(costs))

        best = max(outcomes(model.size, limit), key=penalised)
        rules = {"stop": AtTokens((END,)), "limit": limit, "constraints": [RepetitionPenalty(penalty)]}
        beam = Beam(width=300, length_penalty=0.0)
        [[found]] = beam(model.step, model.state, start=model.start, **rules)
        assert tuple(found.tokens) == best
        assert found.score == pytest.approx(penalised(best))
        assert found.log_probs == pytest.approx(model.log_probs(0, best))


def test_a_large_penalty_changes_what_is_written_not_what_it_is_worth():
    model = table(3)
    rules = {"start": model.start, "stop": AtTokens(()), "limit": 6}
    plain, other = (
        rollout(model.step, model.state, Greedy(), constraints=constraints, **rules)
        for constraints in ([], [RepetitionPenalty(1e6)])
    )
    assert plain.tokens.tolist() != other.tokens.tolist()
    tokens = tuple(other.tokens[0, other.mask[0]].tolist())
    assert other.log_probs[0, other.mask[0]].tolist() == pytest.approx(model.log_probs(0, tokens))


@pytest.mark.parametrize("penalty", [0.0, -1.0, math.nan, math.inf])
def test_a_penalty_out_of_range_is_named(penalty):
    with pytest.raises(ConfigError, match=r"^penalty is .*; it must be a"):
        RepetitionPenalty(penalty)
