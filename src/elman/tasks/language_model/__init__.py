"""Language models: how likely is a text, and what comes next."""

from typing import TYPE_CHECKING

from elman.ranges import NonNegativeInt, OptionalSize, Size
from elman.tasks.spec import FILES, NETWORK, TOKENS, TRAINING, Flag, TaskSpec

if TYPE_CHECKING:
    from elman.tasks.language_model.task import *

SPEC = TaskSpec(
    name="lm",
    home="elman.tasks.language_model.task:LanguageModel",
    title="a language model",
    verbs=("generate", "complete", "score"),
    usage="generate THIS_FOLDER",
    next_command='elman generate {} --prompt "a beginning of yours"',
    help="""Train a language model, which predicts the next token of a text.

    The text may be larger than memory: it is encoded once, into a cache folder. Without --valid the
    last tenth of it is the validation data. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train lm --train book.txt --tokens chars --out models/book
      elman train lm --train train.txt --valid valid.txt --minutes 10 --out models/wiki
    """,
    flags={
        "--train": Flag(
            "data.train",
            "Plain text, read line after line, or a table with a text column.",
            "FILE",
            required=True,
        ),
        **FILES,
        "--text": Flag("data.text", "Name or number of the text column of a table.", "COLUMN"),
        **TOKENS,
        "--size": Flag("tokens.size", "Maximum size of the vocabulary.", "N", NonNegativeInt),
        **NETWORK,
        "--hidden": Flag("model.hidden", "Hidden size.", "N", Size),
        "--embedding": Flag("model.embedding", "Size of the token embeddings.", "N", Size),
        **TRAINING,
        "--batch": Flag("data.streams", "Parallel streams of text in a batch.", "N", OptionalSize),
        "--bptt": Flag("data.bptt", "Steps of truncated backpropagation through time.", "N", Size),
    },
)
__getattr__ = SPEC.export
