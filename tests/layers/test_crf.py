"""The CRF against the enumeration of all its paths, and the laws that hold whatever the size."""

import copy
import itertools
import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from elman.errors import ModelError
from elman.layers.crf import CRF, Constraints, scaled_forward
from elman.layers.crf.chain import Chain, frame
from elman.layers.crf.forward_backward import messages, total_of

seeds = st.integers(0, 10_000)
sizes = st.lists(st.integers(0, 4), min_size=1, max_size=3)
# With moves this far apart log Z is summed message by message, with the others by matrix products.
spreads = st.sampled_from([1.0, 60.0])
close = {"rtol": 1e-9, "atol": 1e-9}


def mask_of(lengths: list[int]) -> Tensor:
    return torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]


def random_crf(tags: int, constrained: bool, spread: float = 1.0) -> CRF:
    rules = Constraints(*(torch.rand(shape) < 0.7 for shape in [(tags,), (tags, tags), (tags,)]))
    crf = CRF(tags, rules if constrained else None).double()
    for parameter in crf.parameters():
        parameter.data.normal_(std=spread)
    return crf


def random_case(seed: int, tags: int, lengths: list[int], constrained: bool, spread: float = 1.0):
    """A CRF, and scores whose padding is NaN."""
    torch.manual_seed(seed)
    crf, mask = random_crf(tags, constrained, spread), mask_of(lengths)
    scores = torch.randn(*mask.shape, tags, dtype=torch.float64) * 2
    return crf, scores.masked_fill(~mask[..., None], torch.nan), mask


def score_of(crf: CRF, x: Tensor, path: tuple[int, ...]) -> Tensor:
    if not path:
        return x.new_zeros(())
    moves = sum((crf.transitions[a, b] for a, b in itertools.pairwise(path)), x.new_zeros(()))
    return crf.begin[path[0]] + crf.end[path[-1]] + moves + sum(x[i, y] for i, y in enumerate(path))


def keeps_rules(crf: CRF, path: tuple[int, ...]) -> bool:
    allowed, edge = crf.get_buffer("allowed"), len(crf.begin)
    return all(allowed[a, b] for a, b in itertools.pairwise((edge, *path, edge)))


def every_path(crf: CRF, x: Tensor, *, free: bool = False) -> dict[tuple[int, ...], Tensor]:
    paths = itertools.product(range(x.shape[1]), repeat=len(x))
    return {path: score_of(crf, x, path) for path in paths if free or keeps_rules(crf, path)}


def log_sum(values) -> Tensor:
    return torch.stack(list(values)).logsumexp(0)


def rows(scores: Tensor, mask: Tensor) -> list[Tensor]:
    return [x[m] for x, m in zip(scores, mask, strict=True)]


def random_tags(mask: Tensor, tags: int) -> Tensor:
    return torch.randint(tags, mask.shape).masked_fill(~mask, -100)


def feasible(crf: CRF, scores: Tensor, mask: Tensor) -> bool:
    return bool(crf.log_partition(scores, mask).isfinite().all())


@given(seeds, st.integers(1, 3), sizes, st.booleans(), spreads)
def test_log_partition_is_the_sum_over_all_allowed_paths(seed, tags, lengths, constrained, spread):
    crf, scores, mask = random_case(seed, tags, lengths, constrained, spread)
    for found, x in zip(crf.log_partition(scores, mask), rows(scores, mask), strict=True):
        paths = every_path(crf, x)
        expected = log_sum(paths.values()) if paths else torch.tensor(-torch.inf).double()
        torch.testing.assert_close(found, expected, **close)


@given(seeds, st.integers(1, 3), sizes, spreads)
def test_the_likelihood_is_free_and_the_probability_keeps_the_rules(seed, tags, lengths, spread):
    crf, scores, mask = random_case(seed, tags, lengths, True, spread)
    gold = random_tags(mask, tags)
    likelihood = crf.log_likelihood(scores, gold, mask)
    probability = crf.log_probability(scores, gold, mask)
    for i, x in enumerate(rows(scores, mask)):
        path, free, ruled = (
            tuple(gold[i, : len(x)].tolist()),
            every_path(crf, x, free=True),
            every_path(crf, x),
        )
        torch.testing.assert_close(likelihood[i], free[path] - log_sum(free.values()), **close)
        if path in ruled:
            expected = ruled[path] - log_sum(ruled.values())
            torch.testing.assert_close(probability[i], expected, **close)
        else:
            assert probability[i] == -torch.inf


@given(seeds, st.integers(1, 3), sizes, st.booleans(), spreads)
def test_gradients_are_those_of_the_sum_over_all_paths(seed, tags, lengths, constrained, spread):
    crf, scores, mask = random_case(seed, tags, lengths, constrained, spread)
    assume(feasible(crf, scores, mask))
    weight = torch.randn(len(mask), dtype=torch.float64)
    inputs = [scores.requires_grad_(), *crf.parameters()]
    found = torch.autograd.grad(crf.log_partition(scores, mask) @ weight, inputs)
    sums = torch.stack([log_sum(every_path(crf, x).values()) for x in rows(scores, mask)])
    unused = 0 * crf.begin.sum()  # a batch of empty rows depends on nothing
    expected = torch.autograd.grad(sums @ weight + unused, inputs, allow_unused=True)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, torch.zeros_like(ours) if theirs is None else theirs, **close)


@given(seeds, st.integers(1, 3), sizes, st.booleans(), spreads, st.integers(1, 9))
def test_the_n_best_are_the_first_of_all_paths_sorted(seed, tags, lengths, constrained, spread, n):
    crf, scores, mask = random_case(seed, tags, lengths, constrained, spread)
    assume(feasible(crf, scores, mask))
    best, (found, found_scores) = crf.viterbi(scores, mask), crf.n_best(scores, mask, n)
    for i, x in enumerate(rows(scores, mask)):
        ranked = sorted(every_path(crf, x).items(), key=lambda item: -item[1])[:n]
        expected = torch.stack([score for _, score in ranked]).detach()
        assert [tuple(p[: len(x)].tolist()) for p in found[i, : len(ranked)]] == [p for p, _ in ranked]
        torch.testing.assert_close(found_scores[i, : len(ranked)], expected, **close)
        assert (found_scores[i, len(ranked) :] == -torch.inf).all()
        assert tuple(best.tags[i, : len(x)].tolist()) == ranked[0][0]
        torch.testing.assert_close(best.scores[i], expected[0], **close)
    assert not best.tags[~mask].any()
    assert not found.transpose(0, 1)[:, ~mask].any()


@pytest.mark.parametrize("n", [1, 4, 27, 40])
def test_paths_of_equal_score_are_still_distinct(n):
    crf, mask = CRF(3), mask_of([3, 1])
    tags, scores = crf.n_best(torch.zeros(2, 3, 3), mask, n)
    for row, count in ((0, min(n, 27)), (1, min(n, 3))):
        assert (scores[row] == 0).sum() == count
        assert len(set(map(tuple, tags[row, :count].tolist()))) == count


@given(seeds, st.integers(1, 3), sizes, st.booleans(), spreads)
def test_marginals_are_sums_of_path_probabilities(seed, tags, lengths, constrained, spread):
    crf, scores, mask = random_case(seed, tags, lengths, constrained, spread)
    assume(feasible(crf, scores, mask))
    with torch.no_grad():
        found = crf.marginals(scores, mask)
    for i, x in enumerate(rows(scores, mask)):
        paths, expected = every_path(crf, x), torch.zeros_like(found[i])
        total = log_sum(paths.values())
        for path, score in paths.items():
            expected[range(len(path)), path] += (score - total).exp().detach()
        torch.testing.assert_close(found[i], expected, **close)


@given(seeds, st.integers(1, 3), sizes, st.booleans(), spreads)
def test_a_piece_is_as_likely_as_all_paths_that_run_through_it(seed, tags, lengths, constrained, spread):
    crf, scores, mask = random_case(seed, tags, lengths, constrained, spread)
    assume(feasible(crf, scores, mask))
    given_tags = random_tags(mask, tags)
    spans = [(i, *span) for i, n in enumerate(lengths) for span in itertools.combinations(range(n + 1), 2)]
    found = crf.pieces(scores, given_tags, mask, torch.tensor(spans).view(-1, 3).long())
    for (i, start, stop), log_p in zip(spans, found, strict=True):
        paths, piece = (every_path(crf, scores[i][mask[i]]), tuple(given_tags[i, start:stop].tolist()))
        through = [score for path, score in paths.items() if path[start:stop] == piece]
        if through:
            expected = log_sum(through) - log_sum(paths.values())
            torch.testing.assert_close(log_p, expected, rtol=1e-8, atol=1e-8)
        else:
            assert log_p == -torch.inf


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("lengths", [[4], [2, 0, 3]])
def test_samples_are_as_frequent_as_they_are_likely(constrained, lengths):
    crf, scores, mask = random_case(3, 3, lengths, constrained)
    count = 20_000
    drawn = crf.sample(scores, mask, count, torch.Generator().manual_seed(1))
    for i, x in enumerate(rows(scores, mask)):
        paths = every_path(crf, x)
        total = log_sum(paths.values())
        seen = [tuple(path[: len(x)].tolist()) for path in drawn[i]]
        assert set(seen) <= paths.keys()
        for path, score in paths.items():
            p = (score - total).exp().item()
            # Six deviations, and one draw for what is too rare to have a deviation.
            assert abs(seen.count(path) - count * p) <= 6 * math.sqrt(count * p * (1 - p)) + 1


def test_draws_come_from_the_generator():
    crf, scores, mask = random_case(0, 3, [4, 2], False)
    first, second = (crf.sample(scores, mask, 50, torch.Generator().manual_seed(7)) for _ in "ab")
    assert torch.equal(first, second)
    assert len(first[0].unique(dim=0)) > 1


bio = Constraints(  # O, B, I: no I but after B or I
    begin=torch.tensor([True, True, False]),
    step=torch.tensor([[True, True, False], [True, True, True], [True, True, True]]),
    end=torch.tensor([True, True, True]),
)


@given(seeds, st.lists(st.integers(1, 30), min_size=1, max_size=4), st.sampled_from([1.0, 1e3]))
def test_nothing_decoded_or_drawn_breaks_the_constraints(seed, lengths, spread):
    torch.manual_seed(seed)
    crf, mask = CRF(3, bio), mask_of(lengths)
    scores = (torch.rand(*mask.shape, 3) * 2 - 1) * spread
    scores[..., 2] += spread  # what is not allowed everywhere is what the scores want
    n_best = crf.n_best(scores, mask, 3)
    many = torch.cat([n_best.tags, crf.sample(scores, mask, 5), crf.viterbi(scores, mask).tags[:, None]], 1)
    real = torch.cat([n_best.scores > -torch.inf, torch.ones(len(mask), 6, dtype=torch.bool)], 1)
    for i, n in enumerate(lengths):
        for path in many[i][real[i]]:
            assert keeps_rules(crf, tuple(path[:n].tolist()))
    assert not crf.marginals(scores, mask)[:, 0, 2].any()


def test_not_even_the_luckiest_draw_lifts_what_is_forbidden(monkeypatch):
    monkeypatch.setattr(Tensor, "exponential_", lambda self, generator: self.zero_())
    late = Constraints(torch.tensor([False, True, True]), bio.step, bio.end)
    crf = CRF(3, late)
    drawn = crf.sample(torch.zeros(1, 3, 3), mask_of([3]), 1)
    assert keeps_rules(crf, tuple(drawn[0, 0].tolist()))


@given(seeds, sizes, st.booleans(), spreads)
def test_a_batch_is_its_rows_one_by_one(seed, lengths, constrained, spread):
    crf, scores, mask = random_case(seed, 3, lengths, constrained, spread)
    assume(feasible(crf, scores, mask))
    gold = random_tags(mask, 3).masked_fill(~mask, 0)

    def answers(x: Tensor, y: Tensor, m: Tensor) -> list[Tensor]:
        likelihood, probability = crf.log_likelihood(x, y, m), crf.log_probability(x, y, m)
        best, several = crf.viterbi(x, m), crf.n_best(x, m, 3)
        return [likelihood, probability, crf.log_partition(x, m), best.scores, several.scores]

    together = answers(scores, gold, mask)
    for i, n in enumerate(lengths):
        alone = answers(scores[i : i + 1, :n], gold[i : i + 1, :n], mask[i : i + 1, :n])
        for ours, expected in zip(together, alone, strict=True):
            torch.testing.assert_close(ours[i : i + 1], expected, **close)


@pytest.mark.parametrize("filler", [torch.nan, torch.inf, -torch.inf, 1e30])
@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_padding_is_inert_in_values_and_gradients(filler, spread):
    crf, scores, mask = random_case(1, 3, [4, 0, 2], False, spread)
    gold = random_tags(mask, 3)

    def answers(value: float, tag: int) -> list[Tensor]:
        x = scores.masked_fill(~mask[..., None], value).requires_grad_()
        loss = crf.log_likelihood(x, gold.masked_fill(~mask, tag), mask).sum()
        marginals = crf.marginals(x, mask)
        inputs = [x, *crf.parameters()]
        return [loss, marginals, *torch.autograd.grad(loss, inputs), crf.viterbi(x, mask).tags]

    for ours, expected in zip(answers(filler, -100), answers(0.0, 0), strict=True):
        assert ours.isfinite().all()
        assert torch.equal(ours, expected)


def test_a_row_without_tokens_has_only_the_empty_path():
    crf, none = random_crf(3, True), torch.zeros(2, 0, dtype=torch.bool)
    scores, tags = torch.zeros(2, 0, 3, dtype=torch.float64), torch.zeros(2, 0, dtype=torch.long)
    zero = torch.zeros(2, dtype=torch.float64)
    assert torch.equal(crf.log_partition(scores, none), zero)
    assert torch.equal(crf.log_likelihood(scores, tags, none), zero)
    assert torch.equal(crf.viterbi(scores, none).scores, zero)
    assert crf.n_best(scores, none, 2).scores.tolist() == [[0, -math.inf]] * 2
    assert crf.sample(scores, none, 4).shape == (2, 4, 0)


def test_a_gap_in_the_mask_ends_one_sequence_and_begins_another():
    crf, scores, _ = random_case(0, 3, [5], True)
    gap = torch.tensor([[True, True, False, True, True]])
    apart = [crf.log_partition(x, torch.ones(1, 2, dtype=torch.bool)) for x in (scores[:, :2], scores[:, 3:])]
    torch.testing.assert_close(crf.log_partition(scores, gap), sum(apart), **close)


@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_derivatives_are_those_of_finite_differences(spread):
    crf, scores, mask = random_case(5, 3, [3, 0, 2], False, spread)
    gold, spans = random_tags(mask, 3), torch.tensor([[0, 0, 2], [2, 1, 2]])
    scores = scores.nan_to_num(0).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, *_: crf.log_likelihood(x, gold, mask), (scores, *crf.parameters())
    )
    assert torch.autograd.gradcheck(lambda x, *_: crf.marginals(x, mask), (scores, *crf.parameters()))
    assert torch.autograd.gradcheck(lambda x, *_: crf.pieces(x, gold, mask, spans), (scores, *crf.parameters()))


@given(seeds, st.sampled_from([1.0, 30.0, 1e3]))
def test_matrix_products_agree_with_messages_wherever_they_apply(seed, spread):
    torch.manual_seed(seed)
    moves = torch.rand(5, 5) * (scaled_forward.RANGE - 1)
    assert scaled_forward.worthwhile(moves)
    mask = mask_of([20, 7, 0])
    chain = frame((torch.rand(3, 20, 4) * 2 - 1) * spread, mask, moves.requires_grad_())
    xs = chain.xs.detach().requires_grad_()
    quick = scaled_forward.ScaledLogPartition.apply(xs, moves)
    slow = total_of(messages(Chain(xs.double(), moves.double())))
    torch.testing.assert_close(quick, slow, rtol=1e-6, atol=1e-3)
    for ours, theirs in zip(
        torch.autograd.grad(quick.sum(), [xs, moves]), torch.autograd.grad(slow.sum(), [xs, moves]), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("rules", [None, bio])
@pytest.mark.parametrize("spread", [0.1, 1e3])
def test_long_chains_of_large_scores_keep_their_digits_in_float32(rules, spread):
    mask = mask_of([500, 433])
    crf, scores = CRF(3, rules), (torch.rand(2, 500, 3) * 2 - 1) * 1e3
    crf.transitions.data.normal_(std=spread)
    wide = copy.deepcopy(crf).double()
    best = crf.viterbi(scores, mask).tags
    assert torch.equal(best, wide.viterbi(scores.double(), mask).tags)
    several = wide.n_best(scores.double(), mask, 5).tags
    assert torch.equal(crf.n_best(scores, mask, 5).tags, several)
    gradients = []
    for each, x in ((crf, scores), (wide, scores.double())):
        x = x.requires_grad_()
        each.log_probability(x, best, mask).sum().backward()
        gradients.append(x.grad)
    tight = {"rtol": 1e-3, "atol": 1e-3}
    torch.testing.assert_close(gradients[0].double(), gradients[1], **tight)
    exact = wide.marginals(scores.double(), mask)
    torch.testing.assert_close(crf.marginals(scores, mask).double(), exact, **tight)
    likelihood = wide.log_likelihood(scores.double(), best, mask)
    torch.testing.assert_close(
        crf.log_likelihood(scores, best, mask).double(), likelihood, rtol=1e-5, atol=1e-2
    )


def test_a_small_difference_decides_at_the_end_of_a_long_chain():
    crf, mask = CRF(3), mask_of([500])
    scores = torch.full((1, 500, 3), 1e3)
    scores[:, :-1, 1:] = 0
    scores[0, -1] = torch.tensor([1e3, 1e3 + 1e-3, 1e3 + 2e-3])
    assert crf.viterbi(scores, mask).tags[0, -1] == 2
    assert crf.n_best(scores, mask, 1).tags[0, 0, -1] == 2


def test_a_tag_that_only_an_unlikely_one_leads_to_is_not_lost():
    crf, mask = CRF(3, bio), mask_of([2])
    scores = torch.tensor([[[1000.0, 0.0, 0.0], [0.0, 0.0, 1000.0]]])  # O I is forbidden, B I and O O tie
    torch.testing.assert_close(crf.marginals(scores, mask)[0, 1], torch.tensor([1 / 3, 1 / 3, 1 / 3]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_and_half_scores_compute_in_float32(dtype):
    crf, mask = CRF(4), mask_of([6, 3])
    scores, gold = (torch.randn(2, 6, 4) * 30).to(dtype), torch.zeros(2, 6, dtype=torch.long)
    expected = crf.log_likelihood(scores.float(), gold, mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = crf.log_likelihood(scores, gold, mask)
        torch.autograd.backward(found.sum())
        torch.testing.assert_close(crf.marginals(scores, mask), crf.marginals(scores.float(), mask))
    inside = crf.transitions.grad.clone()
    crf.zero_grad()
    expected.sum().backward()
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)
    assert torch.equal(inside, crf.transitions.grad)


def test_all_questions_are_answered_in_inference_mode():
    crf, scores, mask = random_case(0, 3, [3, 1], False)
    expected = crf.marginals(scores, mask)
    with torch.inference_mode():
        assert torch.equal(crf.marginals(scores, mask), expected)
        crf.log_likelihood(scores, random_tags(mask, 3), mask)


def test_constraints_travel_with_the_weights():
    crf = CRF(3)
    crf.load_state_dict(CRF(3, bio).state_dict())
    scores = torch.tensor([[[0.0, 0.0, 9.0], [0.0, 0.0, 9.0]]])
    assert crf.viterbi(scores, mask_of([2])).tags.tolist() == [[1, 2]]


def test_no_path_at_all_is_an_error_where_one_is_asked_for():
    never = Constraints(bio.begin, torch.zeros(3, 3, dtype=torch.bool), bio.end)
    crf, scores, mask = CRF(3, never), torch.zeros(2, 4, 3), mask_of([1, 4])
    assert crf.log_partition(scores, mask)[1] == -torch.inf
    asks = [crf.viterbi, crf.marginals, lambda x, m: crf.n_best(x, m, 2), lambda x, m: crf.sample(x, m, 2)]
    for ask in asks:
        with pytest.raises(ModelError, match="the constraints allow no sequence of 4 tags"):
            ask(scores, mask)


def test_what_does_not_fit_is_said_in_one_sentence():
    crf, scores, mask = CRF(3), torch.zeros(1, 2, 3), mask_of([2])
    tags = torch.zeros(1, 2, dtype=torch.long)
    with pytest.raises(ModelError, match="the constraints are for 3 tags, the CRF is for 4"):
        CRF(4, bio)
    with pytest.raises(ModelError, match="scores must be \\(batch, time, 4 tags\\)"):
        CRF(4).log_partition(scores, mask)
    with pytest.raises(ModelError, match="one path or more, not 0"):
        crf.n_best(scores, mask, 0)
    for span in ([0, 1, 1], [0, 0, 3], [0, -1, 1]):
        with pytest.raises(ModelError, match="in row 0, which has 2 tokens"):
            crf.pieces(scores, tags, mask, torch.tensor([span]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_halves_it_sums_in_float32(dtype):
    crf, scores, mask = CRF(3), torch.randn(2, 4, 3).to(dtype), torch.ones(2, 4).bool()
    tags = torch.zeros(2, 4).long()
    half = CRF(3).to(dtype)
    for name, rest in (("log_probability", (tags, mask)), ("marginals", (mask,)), ("viterbi", (mask,))):
        ours, plain = (getattr(one, name)(xs, *rest) for one, xs in ((half, scores), (crf, scores.float())))
        torch.testing.assert_close(ours, plain)
