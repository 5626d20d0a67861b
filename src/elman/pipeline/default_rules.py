"""What the plain command chooses: settings for each kind of data, and the measurements that chose them.

`elman train TASK …` and ``Task.train(rows)`` follow these rules where the user says nothing; recipes never do.
The rules are read downward: a later one has the last word. A value may be a function of the facts; the
documentation shows its docstring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from elman.pipeline.default_facts import Facts
from elman.pipeline.lm_choices import (
    choose_char_dropout,
    choose_eval_tokens,
    choose_lm_dropout,
    choose_lm_embedding,
    choose_lm_epochs,
    choose_lm_units,
    choose_ngram_least,
    is_read_soon,
    learns_text,
    learns_words,
)
from elman.pipeline.seq2seq_choices import (
    choose_pieces,
    choose_sentence_epochs,
    choose_spelling_epochs,
    spells,
    spells_in_order,
    spells_little,
    translates_little,
)
from elman.tasks.registry import TASKS


class Rule(NamedTuple):
    """Settings for the runs of which ``when`` is true; ``says`` tells people which these are."""

    task: str  # "": every task
    says: str
    when: Callable[[Facts], bool]
    sets: Mapping[str, Any]


def classifier_epochs(facts: Facts) -> int:
    """as many as read 2,600,000 words in all: 3 at least, 10 at most, 20 where there are under 1,000 texts"""
    most = 20 if facts.examples + facts.unlabelled_texts < 1000 else 10
    return max(3, min(most, round(2_600_000 / max(1, facts.words + facts.unlabelled_words))))


def lower_rate(facts: Facts) -> float:
    """a quarter of the task's usual rate"""
    return _usual_rate(facts) / 4


def low_rate(facts: Facts) -> float:
    """a tenth of the task's usual rate"""
    return _usual_rate(facts) / 10


def _usual_rate(facts: Facts) -> float:
    return float(TASKS[facts.task].load().defaults.training["lr"])


CLASSIFIER = (
    # A fifth of TREC's training data, seed 0: the options without rules have 83.8 % right; with n-grams 85.5,
    # with the spelling of words, which n-grams then have, too, 87.1. All rules together: 87.7, seed 1 86.9.
    # One cycle of ten epochs is as good as early stopping (86.2 and 86.4), and its length is known.
    # 400 lines of TREC, ATIS, SST-2 and R8, judged on 1,500 others (R8: 800), means of three draws: n-grams by
    # logistic regression (C 100) 71.4, 89.4, 65.4, 91.7; mixed with two further models by cross-validation
    # 71.0, 89.8, 67.4, 92.4. With the network, of R8 two draws: each counts the same 72.4, 91.7, 64.8, 94.1; as
    # 40 other examples say 72.3, 91.6, 66.8, 94.2. The network with 10 epochs instead of 20, one draw: TREC
    # 66.5 and 72.9, ATIS 89.9 and 91.1, SST-2 61.1 and 63.8.
    Rule(
        "classifier",
        "every text",
        lambda facts: not facts.trained,
        {
            "model.ngrams": True,
            "model.pool": "attention",
            "model.label_smoothing": 0.1,
            "training.lr": 4e-3,
            "training.schedule": "one_cycle",
            "training.warmup": 0.1,
            "training.ema_decay": 0.99,
            "training.epochs": classifier_epochs,
            "training.patience": 0,
        },
    ),
    # Logistic regression computes a score for each text and label at once: of 100 million it takes about 2 GB.
    Rule(
        "classifier",
        "more than 100 million pairs of a text and a label",
        lambda facts: facts.examples * len(facts.classes) > 100_000_000,
        {"model.ngrams": False},
    ),
    # TREC, and SST-2's dev set: attention 87.3 and 81.0, words moved for the worst by a tenth 87.3 and 81.4, by
    # three tenths 84.6 and 80.6, neither 86.2 and 81.3. Seed 0.
    Rule(
        "classifier",
        "texts of words, up to 1,000,000 in all",
        lambda facts: not facts.trained and not facts.reads_characters and facts.words <= 1_000_000,
        {"model.characters": "cnn", "model.casing": True},
    ),
    # The moved words cost as much time again. Two fifths of R8's training data, each judged by a model of the
    # rest (420,000 words): 5 epochs without them 97.1 in 139 s of a crowded core, 7 epochs 97.2 in 184 s, 4
    # epochs with them 96.9 in 199 s. In chunks of 64 words 7 epochs 97.6 in 188 s; of another fifth 5 epochs
    # 96.4, where 7 without chunks have 96.9.
    Rule(
        "classifier",
        "the same, up to 300,000",
        lambda facts: not facts.trained and not facts.reads_characters and facts.words <= 300_000,
        {"model.adversarial": 0.1},
    ),
    # The network alone, four times four fifths of TREC's training data: 128 units 85.5 (two seeds), 89.0 (two),
    # 85.7, 84.1, 200 units 86.4 (two), 88.4, 86.6, 85.6 in one and a half times the time; 256 units 90.0 of the
    # second in twice the time. 400 lines of ATIS, one draw: 85.0 and 91.6 (128 units on another draw: 92.1).
    Rule(
        "classifier",
        "the same, up to 100,000",
        lambda facts: not facts.trained and not facts.reads_characters and facts.words <= 100_000,
        {"model.hidden": 200},
    ),
    # 400 lines of the training data, judged on 1,500 others, the network alone by 360 of them and by all: TREC
    # 70.6 and 72.9, ATIS 89.4 and 91.1, R8 94.1 and 95.3, SST-2 64.7 and 63.8; four fifths of TREC, with
    # n-grams, 87.5 and 87.6. One draw each, seed 0. Means of five networks of 320 lines and three of all 400:
    # TREC, two draws, 70.8 and 71.8, 69.5 and 71.7, SST-2 62.8 and 64.5, 63.2 and 63.8, ATIS 91.1 and 92.6.
    Rule(
        "classifier",
        "up to 100,000 words without a file to validate on, nor `--minutes`",
        lambda facts: facts.held and facts.words <= 100_000 and not facts.minutes,
        {"training.refit": True},
    ),
    # A part of SST-2's training data, 692 labels and 4,836 texts, one run each: the network by itself, trained
    # on labels only after it read the texts, 69.4 without and 73.6 with; on guesses, too, 75.8 and 75.6, and
    # where it and its n-grams (76.1) count the same 76.2 and 77.0.
    Rule(
        "classifier",
        "text without labels",
        lambda facts: facts.unlabelled_texts > 0,
        {"pretraining.vectors": True},
    ),
    # Where one class is rare, accuracy hardly tells whether it is ever found.
    Rule(
        "classifier",
        "a class with a tenth of the most frequent one's examples, but ten at least",
        lambda facts: 10 <= facts.rarest <= facts.most_frequent / 10,
        {"model.metric": "macro_f1"},
    ),
    # 2,500 texts of 256 words, two epochs: 46 s of one core with the n-grams, so 25,000 take eight minutes.
    Rule(
        "classifier",
        "more than 1,000,000 words, over 100 a text",
        lambda facts: not facts.trained and facts.words > 1_000_000 and facts.mean > 100,
        {"model.max_tokens": 256, "model.chunk": 64, "training.epochs": 2, "data.batch_tokens": 8192},
    ),
)


def learns_by_likelihood(facts: Facts) -> bool:
    """Whether likelihood is trained for, from nothing."""
    return facts.objective == "likelihood" and not facts.trained


TAGGER = (
    # Seed 0, without and with words that are moved for the worst, in one and a half times the time: a ninth of
    # CoNLL-2000's training data, F1 94.24 and 94.75; EWT's dev set, accuracy 95.30 and 95.42; SNIPS' slots,
    # 118,000 words, F1 94.67 and 95.39 (but 94.80 and 94.44 on test data); WNUT-17's dev set, 63,000 words,
    # 29.91 and 24.18.
    Rule(
        "tagger",
        "150,000 to 300,000 words",
        lambda facts: 150_000 <= facts.words <= 300_000 and learns_by_likelihood(facts),
        {"model.adversarial": 0.1},
    ),
    # Few sentences: those that were held out are many of them.
    Rule(
        "tagger",
        "up to 100,000 words without a file to validate on, nor `--minutes`",
        lambda facts: facts.held and facts.words <= 100_000 and not facts.minutes and not facts.trained,
        {"training.refit": True, "training.patience": 0},
    ),
)

LANGUAGE_MODEL = (
    # 900,000 words of WikiText-2, 10,000 of them known, one busy core; perplexity of validation text by the
    # network alone / with n-grams. One minute: 2 × 200 units 151 / 113 (557 updates; lr 0.008: 171 / 119), 1
    # × 300 124 / 102; in 48 s of CPU 1 × 256 114 / 97, 2 × 128 118 / 99. Three minutes: 2 × 300, lr 0.008 109
    # / 95; 2 × 200 88 / 81; 1 × 300 78 / 74. A plain nn.LSTM script: 390 and 257; Kneser-Ney 5-grams: 137.
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {
            "data.streams": 20,
            "data.bptt": 35,
            "model.layers": 1,
            "model.hidden": choose_lm_units,
            "model.embedding": choose_lm_embedding,
            "model.dropout": choose_lm_dropout,
            "model.input_dropout": 0.0,
            "training.lr": 0.016,
            "training.epochs": choose_lm_epochs,
        },
    ),
    # An update of 2 × 200 units takes 56 ms with 512 samples of 10,000 words, 71 with 1,024, 190 with all. In a
    # minute 512 samples came to 146, 1,024 to 151, all words to 224; adaptive softmax in three minutes to 140
    # (lr 0.004), where samples had 88 (lr 0.016). Without the frequencies all words came to 317, with them to
    # 288 (lr 0.004).
    Rule(
        "lm",
        "a text of 50,000 words or more, on a CPU",
        lambda facts: learns_words(facts) and facts.device == "cpu",
        {"model.softmax_samples": 512, "model.frequency_bias": True},
    ),
    # 950,000 characters of tiny Shakespeare, one busy core, one minute, nats: 2 × 256 units tied, 32 streams
    # (the plain defaults) 1.91; 1 × 384, 32 streams 1.78; 2 × 200, 16 streams 1.70; 1 × 256, 16 streams 1.66.
    # A plain nn.LSTM script: 1.99. In bits, of a tenth that is held out and of the tenth after it, which is
    # another play: 10 epochs of cosine 2.01 and 2.31 in 214 s; 4 epochs of one cycle, each from another place,
    # 2.03 and 2.31 in 91 s; 6 with dropout 0.3 2.03 in 131 s.
    Rule(
        "lm",
        "a text of 50,000 characters or more, on a CPU",
        lambda facts: learns_text(facts) and facts.reads_characters and facts.device == "cpu",
        {
            "data.streams": 16,
            "data.bptt": 64,
            "data.random_start": True,
            "model.layers": 1,
            "model.hidden": choose_lm_units,
            "model.embedding": 64,
            "model.tied": False,
            "model.dropout": choose_char_dropout,
            "model.input_dropout": 0.0,
            "training.lr": 0.006,
            "training.schedule": "one_cycle",
            "training.warmup": 0.1,
            "training.epochs": choose_lm_epochs,
        },
    ),
    # The end of a text is held out, and what comes after the text is like its end: of the last tenth of tiny
    # Shakespeare 2.31 bits a character without, 2.08 with its end, four epochs each (Kneser-Ney: 2.19).
    Rule(
        "lm",
        "the same, read in a few minutes, without a file to validate on, nor `--minutes`",
        lambda facts: learns_text(facts) and facts.device == "cpu" and facts.held and is_read_soon(facts),
        {"training.refit": True},
    ),
    # They cost 1 s and 40 MB a million words, and pay at every budget that was measured: 151 -> 113 after a
    # minute, 78 -> 74 after three. Those that occur twice take a fifth of the memory: 140 instead of 137 by
    # themselves.
    Rule(
        "lm",
        "a text of 50,000 to 50 million words",
        lambda facts: learns_words(facts) and facts.tokens <= 50_000_000,
        {"model.ngrams": 5, "model.ngram_least": choose_ngram_least},
    ),
)

# Judged on validation parts: 1,500 words of CMUdict's dev set, forms of EWT's dev set (lemma, UPOS and features
# to form), 1,000 held-out pairs of Tatoeba; seed 0, share of exact answers or BLEU; ranking in a beam of 8.
SEQ2SEQ = (
    # Letters are what such words have in common; subwords of a few thousand words are mostly seen once.
    Rule("seq2seq", "single words to words or phonemes", spells, {"tokens.source.kind": "chars"}),
    Rule(
        "seq2seq",
        "the same with features, `walk V;PST`",
        lambda facts: spells(facts) and facts.features,
        {"tokens.source.kind": "chars+features"},
    ),
    Rule(
        "seq2seq",
        "single words to single words",
        lambda facts: spells(facts) and facts.target_mean < 1.5,
        {"tokens.target.kind": "chars"},
    ),
    Rule(
        "seq2seq",
        "single words to several of at most 300, such as phonemes",
        lambda facts: spells(facts) and facts.target_mean >= 1.5,
        {"tokens.target.kind": "whitespace"},
    ),
    # 3,600 words of CMUdict, 40 epochs: 49.9 (Phonetisaurus 44.5); in about the same time three networks of one
    # layer have 47.7. 1,000 forms of EWT, 60 epochs: 89.8; 40 epochs of one layer 86.4, of 96 units with
    # dropout 0.5 77.9.
    Rule(
        "seq2seq",
        "single words, at most 20,000",
        spells_little,
        {
            "model.hidden": 128,
            "model.embedding": 128,
            "model.metric": "edit_rate",
            "data.batch_tokens": 512,
            "training.epochs": choose_spelling_epochs,
            "training.patience": 0,
        },
    ),
    # With CTC 3,600 words of CMUdict go from 49.9 to 50.4, ranked by it, too, to 50.6; 10,000 words have 59.2
    # (Phonetisaurus 54.1).
    Rule(
        "seq2seq", "the same, no longer than 3:2", spells_in_order, {"model.ctc": 0.3, "model.ctc_ranking": 0.2}
    ),
    # 1,000 forms of EWT: 90.1, ranked with weight 0.2 90.7, with 0.5 91.1; of 5,000 forms 93.7 and 93.5.
    Rule(
        "seq2seq",
        "the same, at most 2,000",
        lambda facts: spells_in_order(facts) and facts.examples <= 2000,
        {"model.ctc_ranking": 0.5},
    ),
    # 1,000 forms of EWT, edits per 100 letters: 3.1 without, 2.5 with copying and CTC. 5,000 forms with CTC,
    # exact: 93.4 without copying, 93.5 with it.
    Rule(
        "seq2seq",
        "single words to words of which half the letters are theirs",
        lambda facts: spells_little(facts) and facts.target_mean < 1.5 and facts.shared >= 0.5,
        {"model.copying": True, "model.label_smoothing": 0.0},
    ),
    # 20,000 pairs of Tatoeba, five minutes: BLEU 25.9; 128 units 24.2; two layers of 256 units and 8,000
    # subwords, of which one epoch takes two minutes, 3.5.
    Rule(
        "seq2seq",
        "sentences on a CPU, at most a million words",
        translates_little,
        {
            "tokens.source.size": choose_pieces,
            "tokens.target.size": choose_pieces,
            "model.hidden": 192,
            "model.embedding": 128,
            "data.batch_tokens": 1024,
            "training.epochs": choose_sentence_epochs,
        },
    ),
    Rule("seq2seq", "the same", translates_little, {"model.layers": 1}),
)

RULES: tuple[Rule, ...] = (
    *CLASSIFIER,
    *TAGGER,
    *LANGUAGE_MODEL,
    *SEQ2SEQ,
    # Evaluations at the ends of epochs would be none in a large corpus, and most of the time in a small one.
    # Half of a run without a better one is enough: before that, a schedule may still come to its best part.
    Rule(
        "",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.1, "training.patience": 20},
    ),
    # To read the 217,000 tokens of a validation text takes 10 s: much of a minute, and a schedule that falls
    # to zero has its best weights at the end.
    Rule(
        "lm",
        "`--minutes` without `--epochs`",
        lambda facts: facts.timed,
        {"training.evaluation_share": 0.05, "data.eval_tokens": choose_eval_tokens},
    ),
    # A model that is trained on begins where the rate of training from nothing would undo what it knows.
    Rule("", "`--init`", lambda facts: facts.trained, {"training.lr": lower_rate, "training.warmup": 0.1}),
    # What a model writes itself is noisy to learn from: small steps, and some likelihood to hold on to. Half a
    # minute on reversed letters, exact answers: from 100 the rate of training from nothing ended at 86 by risk,
    # 91 by reinforce, 98 by mixer, a tenth of it at 100 each. From 93.7 a tenth led to 100, 98.7 and 99.7; a
    # model of 2 × 256 units went from 92.3 to 98.7, 97.0 and 97.7. A tenth of likelihood held risk back (97.7).
    Rule(
        "",
        "`--init` with an objective",
        lambda facts: facts.trained and facts.objective != "likelihood",
        {"training.lr": low_rate, "training.grad_clip": 0.5},
    ),
    Rule(
        "",
        "objective risk or reinforce",
        lambda facts: facts.objective in ("risk", "reinforce"),
        {"objective.likelihood": 0.02},
    ),
    # With 0 epochs the minutes alone end a run, and the schedule comes to its end with them. This stands last.
    Rule("", "`--minutes` without `--epochs`", lambda facts: facts.timed, {"training.epochs": 0}),
)
