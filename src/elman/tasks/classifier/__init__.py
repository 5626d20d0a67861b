"""Classification: one label for a text, or several."""

from typing import TYPE_CHECKING

from elman.tasks.spec import (
    FILES,
    LM_READERS,
    NETWORK,
    TABLE_FILES,
    TOKENS,
    TRAINING,
    UNLABELLED,
    Flag,
    TaskSpec,
)

if TYPE_CHECKING:
    from elman.tasks.classifier.task import *

SPEC = TaskSpec(
    name="classifier",
    home="elman.tasks.classifier.task:Classifier",
    title="a classifier",
    verbs=("predict",),
    usage="predict THIS_FOLDER texts.txt",
    next_command='echo "a text of yours" | elman predict {} --top 3',
    help="""Train a text classifier.

    The defaults give a good model on a few thousand lines in a few minutes: a bidirectional LSTM with
    attention, beside a linear model of n-grams. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train classifier --train train.tsv --valid dev.tsv --out models/topics
      elman train classifier --train mails.csv --text body --label folder --cell gru --out models/mails
      elman train classifier --train tagged.csv --multi --label tags --out models/tags
    """,
    flags={
        "--train": Flag(
            "data.train",
            f"A table with columns text and label ({TABLE_FILES}), or a folder of texts by class.",
            "FILE",
            required=True,
        ),
        **FILES,
        **UNLABELLED,
        "--text": Flag("data.text", "Name or number of the text column.", "COLUMN"),
        "--label": Flag("data.label", "Name or number of the label column.", "COLUMN"),
        "--multi": Flag("data.multi", "Several labels a text, or none (a list, or one column).", type=bool),
        "--label-delimiter": Flag(
            "data.label_delimiter", "Between the labels of a text; default: ; | or ,", "SIGN"
        ),
        **TOKENS,
        **NETWORK,
        **LM_READERS,
        "--metric": Flag(
            "model.metric",
            "What chooses the best weights: accuracy or macro_f1; with --multi micro_f1, macro_f1 or exact.",
            "NAME",
        ),
        **TRAINING,
    },
)
__getattr__ = SPEC.export
