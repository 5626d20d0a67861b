"""Three output layers against the enumeration of all tag sequences."""

from itertools import pairwise, product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from elman.cells import GRU
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.heads import CRFHead, Head, SoftmaxHead, TagRows
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.temperature import Calibration

TAGS = ("O", "B", "I")
SIZE = 4
FULL = len(TAGS) ** 3  # a beam that keeps every sequence of three tags

seeds = st.integers(0, 10_000)
lengths = st.lists(st.integers(0, 3), min_size=1, max_size=3)


def rules():
    found = Tagset.learn("ner", [["O", "O", "O", "B", "I", "B"]], "")
    assert set(found.labels.items) == set(TAGS)
    return found.constraints(), found.labels.items


def head(kind: str, constrained: bool = False) -> nn.Module:
    allowed = rules()[0] if constrained else None
    made = {
        "softmax": lambda: SoftmaxHead(SIZE, len(TAGS)),
        "crf": lambda: CRFHead(SIZE, len(TAGS), allowed),
        "autoregressive": lambda: AutoregressiveHead(
            GRU(SIZE + 2, 3), len(TAGS), allowed, features=2, beam=FULL
        ),
    }[kind]()
    for weight in made.parameters():
        nn.init.normal_(weight)
    return made.double().eval()


KINDS = ["softmax", "crf", "autoregressive"]
CASES = [("softmax", False), *product(("crf", "autoregressive"), (False, True))]


def case(sizes: list[int]) -> tuple[Tensor, Tensor]:
    """Outputs of an encoder; those of the padding are far off."""
    mask = torch.arange(max(sizes))[None] < torch.tensor(sizes)[:, None]
    ys = torch.randn(*mask.shape, SIZE, dtype=torch.float64)
    return ys.masked_fill(~mask[..., None], 1e3), mask


def legal(path: tuple[int, ...]) -> bool:
    names = [rules()[1][i] for i in path]
    return all(pair != ("O", "I") for pair in pairwise(["O", *names]))


def every_path(made: Head, y: Tensor, constrained: bool) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of tags for a sentence (n, H), by the loss."""
    paths = list(product(range(len(TAGS)), repeat=len(y)))
    ys = y.expand(len(paths), -1, -1)
    tags = torch.tensor(paths, dtype=torch.long).reshape(len(paths), len(y))
    p = (-made.loss(ys, tags, torch.ones_like(tags, dtype=torch.bool))).exp().tolist()
    return {path: q for path, q in zip(paths, p, strict=True) if not constrained or legal(path)}


def renormalised(found: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    total = sum(found.values())
    return {path: p / total for path, p in found.items()}


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, length=st.integers(0, 3))
def test_the_probabilities_of_all_sequences_sum_to_one(kind, seed, length):
    torch.manual_seed(seed)
    ys, _ = case([length])
    assert sum(every_path(head(kind), ys[0], False).values()) == pytest.approx(1)


@pytest.mark.parametrize(("kind", "constrained"), CASES)
@given(seed=seeds, sizes=lengths, n=st.integers(1, FULL))
def test_the_n_best_are_those_of_the_enumeration(kind, constrained, seed, sizes, n):
    torch.manual_seed(seed)
    made, (ys, mask) = head(kind, constrained), case(sizes)
    tags, scores = made.n_best(ys, mask, n)
    assert torch.equal(made.best(ys, mask), tags[:, 0])
    for i, length in enumerate(sizes):
        paths = every_path(made, ys[i, :length], constrained)
        if kind == "crf":  # its probabilities are among what is allowed
            paths = renormalised(paths)
        expected = sorted(paths.items(), key=lambda item: -item[1])[:n]
        pairs = zip(tags[i].tolist(), scores[i].exp().tolist(), strict=True)
        found = [(tuple(path[:length]), p) for path, p in pairs if p > 0]
        assert found == [(path, pytest.approx(p, rel=1e-5)) for path, p in expected]
        assert not tags[i, :, length:].any()


@pytest.mark.parametrize(("kind", "constrained"), CASES)
@given(seed=seeds, sizes=lengths)
def test_marginals_and_pieces_are_those_of_the_enumeration(kind, constrained, seed, sizes):
    torch.manual_seed(seed)
    made, (ys, mask) = head(kind, constrained), case(sizes)
    marginals = made.marginals(ys, mask)
    assert not marginals[~mask].any()
    for i, length in enumerate(sizes):
        paths = renormalised(every_path(made, ys[i, :length], constrained))
        for place, tag in product(range(length), range(len(TAGS))):
            expected = sum(p for path, p in paths.items() if path[place] == tag)
            assert marginals[i, place, tag].item() == pytest.approx(expected, abs=1e-6)
        for start in range(length):
            run = torch.randint(0, len(TAGS), (mask.shape[1],)).tolist()
            rows = TagRows(torch.tensor([run]), torch.tensor([i]), torch.tensor([[0, start, length]]))
            (log_p,) = made.pieces(ys, mask, rows)
            wanted = tuple(run[start:length])
            expected = sum(p for path, p in paths.items() if path[start:] == wanted)
            assert log_p.exp().item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, sizes=lengths)
def test_padding_is_inert_and_one_by_one_is_all_together(kind, seed, sizes):
    torch.manual_seed(seed)
    made, (ys, mask) = head(kind, True), case(sizes)
    tags = torch.randint(0, len(TAGS), mask.shape)
    together = made.loss(ys, tags, mask), made.marginals(ys, mask), *made.n_best(ys, mask, 3)
    for i, n in enumerate(sizes):
        one = slice(i, i + 1), slice(0, n)
        best = made.n_best(ys[one], mask[one], 3)
        alone = made.loss(ys[one], tags[one], mask[one]), made.marginals(ys[one], mask[one]), *best
        torch.testing.assert_close(together[0][i], alone[0][0])
        torch.testing.assert_close(together[1][i, :n], alone[1][0])
        assert torch.equal(together[2][i, :, :n], alone[2][0])
        torch.testing.assert_close(together[3][i], alone[3][0])


@pytest.mark.parametrize("kind", ["crf", "autoregressive"])
@given(seed=seeds, n=st.integers(1, 5))
def test_what_the_scheme_forbids_is_never_answered(kind, seed, n):
    """Even where the scores want nothing else."""
    torch.manual_seed(seed)
    made = head(kind, True)
    inside = rules()[1].index("I")
    made.emit.bias.data[inside] += 50
    ys, mask = case([3, 2, 1])
    tags, scores = made.n_best(ys, mask, n)
    for i, length in enumerate([3, 2, 1]):
        for path, score in zip(tags[i].tolist(), scores[i].tolist(), strict=True):
            assert score == -torch.inf or legal(tuple(path[:length]))


@pytest.mark.parametrize("kind", ["softmax", "crf"])
def test_with_a_temperature_the_best_of_a_sentence_are_those_of_it_alone(kind):
    torch.manual_seed(0)
    made = head(kind)
    made.calibration = Calibration(2.0)
    ys, mask = case([3, 1, 2])
    together = made.n_best(ys, mask, 3)
    for row, size in enumerate((3, 1, 2)):
        alone = made.n_best(ys[row : row + 1, :size], mask[row : row + 1, :size], 3)
        torch.testing.assert_close(together.scores[row], alone.scores[0])
        assert torch.equal(together.tags[row, :, :size], alone.tags[0])
        assert together.scores[row].exp().sum() <= 1 + 1e-9
    best = made.best(ys, mask)
    assert torch.equal(best[0], together.tags[0, 0])
    assert not best[~mask].any()
