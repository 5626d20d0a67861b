"""An evaluation of answers, source by source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from elman.metrics import CountedScore, count_bleu, count_chrf, count_edits, count_right
from elman.tasks.judgement import Judgement
from elman.tasks.seq2seq.data import Seq2SeqDataset
from elman.tasks.seq2seq.evaluation import bleu_tokenizer, report_answers, single_spaced
from elman.tasks.seq2seq.translation import Translation
from elman.tasks.seq2seq.wrong_answers import edit_tokens, find_mistakes, trace_mistakes
from elman.text.vocab import UNK

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


def judge_answers(
    task: Seq2Seq, data: Seq2SeqDataset, answers: Sequence[Translation], others: Sequence[Seq2Seq]
) -> Judgement:
    """The report, and what each answer adds to the scores; ``others`` are models that wrote along."""
    texts, right = single_spaced(data, [answer.text for answer in answers])
    exact, cut = np.array([text in those for text, those in zip(texts, right, strict=True)]), edit_tokens(task)

    def count() -> dict[str, CountedScore]:
        return {
            "bleu": count_bleu(texts, right, tokenize=bleu_tokenizer(task)),
            "chrf": count_chrf(texts, right),
            "exact": count_right(exact),
            "edit_rate": count_edits([*map(cut, texts)], [[*map(cut, those)] for those in right]),
        }

    sources = [np.array(row.source, np.int64) for row in data.rows]
    words = task.tokenizers.source.level == "word"
    return Judgement(
        report_answers(task, data, answers, others),
        "examples",
        count,
        tokens=np.array([*map(len, sources)], np.int64),
        unseen=np.array([int((source == UNK).sum()) for source in sources], np.int64) if words else None,
        right=exact,
        mistakes=lambda: find_mistakes(task, data, answers, np.flatnonzero(~exact).tolist()),
        # What several models wrote together is not the answer of one.
        trace=None if others else lambda mistakes: trace_mistakes(task, mistakes),
    )
