"""Sequence to sequence: a text is read, another is written."""

from typing import TYPE_CHECKING

from elman.ranges import Size
from elman.tasks.spec import FILES, NETWORK, TABLE_FILES, TRAINING, Flag, TaskSpec

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import *

SPEC = TaskSpec(
    name="seq2seq",
    home="elman.tasks.seq2seq.task:Seq2Seq",
    title="a sequence-to-sequence model",
    verbs=("translate",),
    usage="translate THIS_FOLDER texts.txt",
    next_command='echo "a text of yours" | elman translate {} --n-best 3',
    short_help="Train a sequence-to-sequence model: from a text to a text.",
    help="""Train a sequence-to-sequence model: translation, spelling to sound, from any text to a text.

    Line i of the first file belongs to line i of the second; a table has columns source and target, and may
    have one of features. A bidirectional LSTM reads, an LSTM with attention writes: subwords of sentences,
    letters of single words. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train seq2seq --train train.en train.de --valid val.en val.de --out models/en-de
      elman train seq2seq --train pairs.tsv --source-tokens chars --target-tokens words --out models/g2p
      elman train seq2seq --train forms.tsv --source 1 --target 2 --features 3 --out models/forms
      elman train seq2seq --train faq.csv --source question --target answer --joint --out models/faq
    """,
    flags={
        "--train": Flag(
            "data.train",
            f"Sources and targets, line by line, or one table: {TABLE_FILES}.",
            "FILE [FILE]",
            required=True,
            several=True,
        ),
        "--valid": FILES["--valid"]._replace(metavar="FILE [FILE]", several=True),
        "--test": FILES["--test"]._replace(metavar="FILE [FILE]", several=True),
        "--encoding": FILES["--encoding"],
        "--skip-bad": FILES["--skip-bad"],
        "--source": Flag("data.source", "Name or number of the source column of a table.", "COLUMN"),
        "--target": Flag("data.target", "Name or number of the target column.", "COLUMN"),
        "--features": Flag(
            "data.features", "Column of features (V;PST): whole symbols behind the source.", "COLUMN"
        ),
        "--source-tokens": Flag(
            "tokens.source.kind",
            "Tokenizer: words, whitespace, chars, chars+features, bytes, bpe or unigram; default: bpe, of "
            "single words chars.",
        ),
        "--target-tokens": Flag("tokens.target.kind", "The same for the targets."),
        "--joint": Flag("tokens.joint", "One shared vocabulary for source and target.", type=bool),
        **NETWORK,
        "--hidden": Flag("model.hidden", "Hidden size.", "N", Size),
        "--embedding": Flag("model.embedding", "Size of the token embeddings.", "N", Size),
        "--decoder": Flag(
            "model.decoder",
            "Decoder. With attention: gnmt, luong, bahdanau, input-feeding; else plain, context, transducer.",
        ),
        "--score": Flag("model.score", "Attention score: bilinear, dot, scaled or additive."),
        **TRAINING,
    },
)
__getattr__ = SPEC.export
