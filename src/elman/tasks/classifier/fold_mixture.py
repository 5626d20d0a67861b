"""How much the network and the n-grams of few texts count, chosen by answers to texts that were not learnt."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import cross_entropy

from elman.number_format import format_number
from elman.shapes import Float, Int, Tensor
from elman.tasks.label_data import LabelDataset
from elman.tasks.label_decision import LabelAnswers
from elman.tasks.logistic_regression import fit_mixture

if TYPE_CHECKING:
    from elman.tasks.classifier.task import Classifier

# Standard errors by which the network has to make answers likelier, else it counts nothing. Draws of 400 lines,
# judged on 1,500 others: the errors, then accuracy by n-grams alone, with the network as 40 lines say, and as
# all lines say in folds. TREC 4.9: 72.5, 73.1, 73.1; 2.7: 70.1, 71.7, 72.8; ATIS 2.3: 91.1, 92.7, 92.6;
# SST-2 1.2: 68.7, 68.3, 67.0, and 0.0: 66.9, 65.8, 66.9.
_SURE = 1.64


def choose_by_folds(task: Classifier, dataset: LabelDataset, said: Tensor) -> str:
    """See `Task.choose_by_folds`: the mixture, and the temperature of what it says."""
    ngrams = task.ngram_answers
    assert ngrams is not None
    assert task.net.mix is not None
    w = choose_mixture(said, ngrams, torch.tensor(dataset.labels))
    task.net.mix.copy_(w)
    parts = (w[0] * said + w[1] * ngrams, said, ngrams)
    mixed, network, counted = (LabelAnswers(z, dataset.labels, task.labels.items) for z in parts)
    task.decision = task.decision.calibrate(mixed)
    scores = [task.judge_answers(part).scores[task.metric] for part in (mixed, network, counted)]
    both, *each = (format_number(score, 3) for score in scores)
    nothing = "" if w[0] else "; the network counts nothing: n-grams alone may be as good"
    return f"{task.metric} {both} (network {each[0]}, n-grams {each[1]}){nothing}"


def choose_mixture(
    network: Float[Tensor, "N Y"], ngrams: Float[Tensor, "N Y"], gold: Int[Tensor, " N"]
) -> Float[Tensor, " 2"]:
    """The weights of the logits of both; where n-grams alone may be as good, the network counts nothing."""
    both = fit_mixture([network, ngrams], lambda z: cross_entropy(z, gold))
    alone = fit_mixture([ngrams], lambda z: cross_entropy(z, gold))
    costs = [
        cross_entropy(z, gold, reduction="none") for z in (both[0] * network + both[1] * ngrams, alone * ngrams)
    ]
    gain = (costs[1] - costs[0]).double()
    if gain.mean() <= _SURE * gain.std() / sqrt(len(gain)):
        return torch.stack([torch.zeros(()), alone[0]])
    return both
