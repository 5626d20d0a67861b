"""Labelling: a tag for each word of a sentence."""

from typing import TYPE_CHECKING

from elman.tasks.spec import FILES, LM_READERS, NETWORK, TRAINING, UNLABELLED, Flag, TaskSpec

if TYPE_CHECKING:
    from elman.tasks.tagger.task import *

SPEC = TaskSpec(
    name="tagger",
    home="elman.tasks.tagger.task:Tagger",
    title="a tagger",
    verbs=("predict",),
    usage="predict THIS_FOLDER texts.txt",
    next_command='echo "A sentence of yours." | elman predict {} --format raw',
    help="""Train a tagger: parts of speech, chunks, entities, slots.

    The defaults read words and their characters with a bidirectional LSTM; a CRF predicts tags that
    mark spans (BIO, IOB1, BIOES), a softmax all others. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train tagger --train train.conllu --valid dev.conllu --column upos --out models/pos
      elman train tagger --train ner.conll --out models/ner --vectors glove.txt
    """,
    flags={
        "--train": Flag(
            "data.train", "CoNLL-U, CoNLL columns, or JSONL, JSON or Parquet.", "FILE", required=True
        ),
        **FILES,
        **UNLABELLED,
        "--words": Flag("data.words", "Name of the column of words, or of texts with spans.", "COLUMN"),
        "--column": Flag(
            "data.column",
            "Tag column: a name or number, or several (upos,xpos); default: upos, or the last.",
            "COLUMN",
        ),
        "--tokens": Flag("tokens.kind", "Tokenizer for raw text: words or whitespace."),
        "--output": Flag("model.output", "Output: softmax, crf or autoregressive; default: crf for spans."),
        **NETWORK,
        **LM_READERS,
        **TRAINING,
    },
)
__getattr__ = SPEC.export
