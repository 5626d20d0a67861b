"""The alternatives to each task, by their names in the table."""

from __future__ import annotations

from dataclasses import dataclass

from baselines import Baseline
from baselines.crf_tuned import run_crfsuite
from baselines.fasttext_tuned import run_fasttext, run_fasttext_tutorial
from baselines.joint_ngrams import run_phonetisaurus
from baselines.linear_text import run_logistic
from baselines.text_models import run_kneser_ney, run_plain_lstm
from baselines.yoyodyne_lstm import run_yoyodyne


@dataclass(frozen=True)
class System:
    """How to run a baseline, how often, and on which corpora."""

    run: Baseline
    seeds: int = 3  # 1: it does the same each time
    corpora: str = ""  # how the names of its corpora begin

    def __contains__(self, corpus: str) -> bool:
        return corpus.startswith(self.corpora)


SYSTEMS: dict[str, dict[str, System]] = {
    "classifier": {
        "TF-IDF + LR": System(run_logistic, seeds=1),
        "fastText": System(run_fasttext),
        "fastText, tutorial": System(run_fasttext_tutorial),
    },
    "tagger": {"CRFsuite": System(run_crfsuite, seeds=1)},
    "lm": {"Kneser-Ney": System(run_kneser_ney, seeds=1), "nn.LSTM": System(run_plain_lstm)},
    "seq2seq": {
        "Phonetisaurus": System(run_phonetisaurus, seeds=1, corpora="cmudict"),
        "Yoyodyne": System(run_yoyodyne),
    },
}
