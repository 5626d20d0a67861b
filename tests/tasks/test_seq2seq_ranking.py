"""Answers of a beam ranked by decoder and encoder together."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from elman.decoding import Hypothesis
from elman.errors import ConfigError
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.ranking import rank_hypotheses
from elman.tasks.seq2seq.search_tree import search_tree
from elman.tasks.seq2seq.task import Seq2Seq
from elman.tasks.seq2seq.translation import Translation
from elman.text.vocab import BOS, PAD, UNK
from tests.tasks.toy_pairs import made

TEXTS = ["abc", "bca", "cca", "abcab"]
SHORT = {"beam": 4, "max_tokens": 3}  # all of them can be spelt


def build(**options: float) -> Seq2Seq:
    """A model with a speller that writes letters alone."""
    model = made(ctc=0.3, **options)
    for net in model.net.members:
        net.softmax.b.data[[PAD, BOS, UNK]] = -1e9
    return model


def spell(model: Seq2Seq, text: str, answer: Translation) -> float:
    """log p_CTC of an answer, by the mean probability of all members."""
    row = model.encode_pair(text, answer.text)
    batch, found = model.collate([row]), []
    for net in model.net.members:
        encoded = net.encode(batch.source, batch.mask)
        found.append((-net.speller.nll(encoded, batch.target, batch.target_mask)).exp())
    return torch.stack(found).mean().log().item()


@pytest.mark.parametrize("members", [1, 2])
@torch.no_grad()
def test_both_judges_count(members: int) -> None:
    plain, both = (build(ctc_ranking=weight, members=members) for weight in (0.0, 0.7))
    config = replace(plain.decoding_config, **SHORT, n_best=4)
    found = zip(
        TEXTS, plain.translations(TEXTS, config=config), both.translations(TEXTS, config=config), strict=True
    )
    for text, alone, ranked in found:
        expected = {a.text: a.score + 0.7 * spell(plain, text, a) / len(a.log_probs) for a in alone}
        assert {a.text: a.score for a in ranked} == pytest.approx(expected)
        assert [a.score for a in ranked] == sorted((a.score for a in ranked), reverse=True)


def test_the_best_is_chosen_among_the_whole_beam() -> None:
    model = build(ctc_ranking=5.0)
    config = replace(model.decoding_config, **SHORT)
    ranked = model.translations(TEXTS, config=replace(config, n_best=4))
    assert [best[0] for best in model.translations(TEXTS, config=config)] == [some[0] for some in ranked]
    alone = build().translations(TEXTS, config=config)
    assert [best[0].text for best in alone] != [some[0].text for some in ranked]


def test_what_the_encoder_cannot_spell_is_ranked_by_the_decoder() -> None:
    plain, both = build(), build(ctc_ranking=5.0)
    batch = plain.collate([plain.encode_pair("a")])
    written = [[Hypothesis([4] * n, [-1.0] * (n + 1), -1.0 / n) for n in (5, 1, 4)]]
    config = replace(plain.decoding_config, n_best=3)
    (ranked,) = rank_hypotheses([both.net], batch, written, config, 5.0)
    assert [len(one.tokens) for one in ranked] == [1, 5, 4]
    assert [one.score for one in ranked[1:]] == [-1 / 5, -1 / 4]


def test_the_tree_of_a_search_ends_in_the_same_answer() -> None:
    model = build(ctc_ranking=5.0)
    config = replace(model.decoding_config, **SHORT)
    for text in TEXTS:
        nodes = search_tree([model], text, config).nodes
        place: int | None = next(i for i, node in enumerate(nodes) if node.fate == "best")
        path: list[str] = []
        while place:
            path.insert(0, nodes[place].text)
            place = nodes[place].parent
        assert [t for t in path if t != "</s>"] == model.translations([text], config=config)[0][0].tokens


def test_ranking_needs_what_is_trained() -> None:
    with pytest.raises(ConfigError, match="ctc above 0"):
        Seq2SeqConfig(ctc_ranking=0.5)
