"""Pairs: one label for two texts."""

from typing import TYPE_CHECKING

from elman.tasks.spec import FILES, LM_READERS, NETWORK, TABLE_FILES, TOKENS, TRAINING, Flag, TaskSpec

if TYPE_CHECKING:
    from elman.tasks.pairs.task import *

SPEC = TaskSpec(
    name="pairs",
    home="elman.tasks.pairs.task:Pairs",
    title="a classifier of pairs",
    verbs=("predict",),
    usage="predict THIS_FOLDER pairs.tsv",
    next_command="printf 'a text of yours\\tanother one\\n' | elman predict {} --top 2",
    help="""Train a classifier of pairs: two texts, one label.

    Paraphrase or not, entailment, duplicate question, the answer to a question or not. Both texts are read
    by one bidirectional LSTM and compared. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train pairs --train questions.tsv --out models/duplicates
      elman train pairs --train nli.jsonl --first premise --second hypothesis --attention soft --out models/nli
    """,
    short_help="Train a classifier of pairs: two texts, one label.",
    flags={
        "--train": Flag(
            "data.train", f"A table with columns first, second, label: {TABLE_FILES}.", "FILE", required=True
        ),
        **FILES,
        "--first": Flag("data.first", "Name or number of the column of first texts.", "COLUMN"),
        "--second": Flag("data.second", "Name or number of the column of second texts.", "COLUMN"),
        "--label": Flag("data.label", "Name or number of the label column.", "COLUMN"),
        **TOKENS,
        **NETWORK,
        **LM_READERS,
        "--attention": Flag("model.attention", "Between the two texts: none or soft."),
        "--metric": Flag("model.metric", "What chooses the best weights: accuracy or macro_f1.", "NAME"),
        **TRAINING,
    },
)
__getattr__ = SPEC.export
