"""elman train: from one's own file, or from a recipe, to a model folder."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from elman.cli.completion import Verbs, recipes
from elman.cli.flags import FILES, PAIRS, TRAINING, WORDS, Flag, Spread, flagged
from elman.cli.running import How, run, run_options


class Train(Verbs):
    """A group in which a file RECIPE.toml is a command too."""

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name.endswith(".toml"):
            return _recipe_command(name)
        return super().get_command(context, name)

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        return super().shell_complete(context, incomplete) + recipes(incomplete)


@click.group(cls=Train, subcommand_metavar="TASK|RECIPE.toml ...")
def train() -> None:
    """Train a model: a task on your own file, or a recipe.

    \b
    Examples:
      elman train classifier --train questions.tsv --out models/questions
      elman train tagger --train train.conllu --column upos --out models/pos
      elman train lm --train book.txt --tokens chars --out models/book
      elman train seq2seq --train train.en train.de --out models/en-de
      elman train recipes/trec.toml --out models/trec --set model.hidden=256
      elman train recipes/trec.toml --out models/trec --resume
    """


@train.command(options_metavar="--train FILE --out DIR [OPTIONS]")
@flagged(
    {
        "--train": Flag(
            "data.train", "TSV, CSV or JSONL with columns text and label.", "FILE", required=True
        ),
        **FILES,
        "--text": Flag("data.text", "Name or number of the text's column.", "COLUMN"),
        "--label": Flag("data.label", "Name or number of the label's column.", "COLUMN"),
        "--tokens": Flag("tokens.kind", "words, whitespace, chars, bytes, bpe or unigram."),
        **WORDS,
        **TRAINING,
    }
)
@run_options
def classifier(how: How, data: dict[str, Any]) -> None:
    """Train a text classifier.

    The defaults give a good model on a few thousand lines in a few minutes: a bidirectional LSTM, its
    outputs pooled by their maximum. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train classifier --train train.tsv --valid dev.tsv --out models/topics
      elman train classifier --train mails.csv --text body --label folder --cell gru --out models/mails
    """
    from elman.learning.recipe import build

    run(build({"task": "classifier"} | data), how)


@train.command(options_metavar="--train FILE --out DIR [OPTIONS]")
@flagged(
    {
        "--train": Flag("data.train", "CoNLL-U, or CoNLL columns.", "FILE", required=True),
        **FILES,
        "--column": Flag(
            "data.column",
            "Of the tags: a name or number, or several (upos,xpos). Default: upos, or the last.",
            "COLUMN",
        ),
        "--tokens": Flag("tokens.kind", "How raw text is cut later: words or whitespace."),
        "--output": Flag("model.output", "softmax, crf or feedback; default: crf for spans."),
        **WORDS,
        **TRAINING,
    }
)
@run_options
def tagger(how: How, data: dict[str, Any]) -> None:
    """Train a tagger: parts of speech, chunks, entities, slots.

    The defaults read words and their characters with a bidirectional LSTM; tags that mark spans (BIO,
    IOB1, BIOES) are decided together by a CRF, others one by one. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train tagger --train train.conllu --valid dev.conllu --column upos --out models/pos
      elman train tagger --train ner.conll --out models/ner --vectors glove.txt
    """
    from elman.learning.recipe import build

    run(build({"task": "tagger"} | data), how)


@train.command(options_metavar="--train FILE --out DIR [OPTIONS]")
@flagged(
    {
        "--train": Flag("data.train", "Text, one line after the other.", "FILE", required=True),
        **FILES,
        "--tokens": Flag("tokens.kind", "words, whitespace, chars, bytes, bpe or unigram."),
        "--size": Flag("tokens.size", "The most tokens that are known.", "N", int),
        **WORDS,
        "--hidden": Flag("model.hidden", "Units of a layer.", "N", int),
        "--embedding": Flag("model.embedding", "Features of a token.", "N", int),
        **TRAINING,
        "--epochs": Flag("training.epochs", "Times that the text is read.", "N", int),
        "--batch": Flag("data.batch", "Streams of text side by side.", "N", int),
        "--steps": Flag("data.steps", "Tokens of a window, through which gradients go.", "N", int),
    }
)
@run_options
def lm(how: How, data: dict[str, Any]) -> None:
    """Train a language model: what comes next in a text.

    The text may be larger than memory: it is encoded once, into a cache folder. Without --valid its last
    tenth is held out. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train lm --train book.txt --tokens chars --out models/book
      elman train lm --train train.txt --valid valid.txt --minutes 10 --out models/wiki
    """
    from elman.learning.recipe import build

    run(build({"task": "lm"} | data), how)


@train.command(
    cls=Spread,
    options_metavar="--train FILE [FILE] --out DIR [OPTIONS]",
    short_help="Train a sequence-to-sequence model: any text for a text.",
)
@flagged(
    {
        **PAIRS,
        **WORDS,
        "--hidden": Flag("model.hidden", "Units of a layer.", "N", int),
        "--embedding": Flag("model.embedding", "Features of a token.", "N", int),
        "--context": Flag(
            "model.context",
            "What of the source each step sees. By attention: between, current, previous, feeding; "
            "without: first, every, aligned.",
        ),
        "--score": Flag("model.score", "Of attention: bilinear, dot, scaled or additive."),
        **TRAINING,
    }
)
@run_options
def seq2seq(how: How, data: dict[str, Any]) -> None:
    """Train a sequence-to-sequence model: translation, spelling to sound, any text for a text.

    Line i of the first file belongs to line i of the second; a table has columns source and target. The
    defaults read subwords with a bidirectional LSTM and write with another, with attention between its
    layers. Any key of a recipe can be set with --set.

    \b
    Examples:
      elman train seq2seq --train train.en train.de --valid val.en val.de --out models/en-de
      elman train seq2seq --train pairs.tsv --source-tokens chars --target-tokens words --out models/g2p
      elman train seq2seq --train faq.csv --source question --target answer --joint --out models/faq
    """
    from elman.learning.recipe import build

    run(build({"task": "seq2seq"} | data), how)


def _recipe_command(path: str) -> click.Command:
    @click.command(name=path, options_metavar="--out DIR [OPTIONS]")
    @run_options
    def recipe(how: How, sets: tuple[str, ...]) -> None:
        """Train by a recipe: a file that says the task, the data and all settings that are not the default.

        Folders of data named in it are looked for under the one that ELMAN_DATA names.

        \b
        Examples:
          elman train recipes/trec.toml --out models/trec --set model.hidden=256
          elman train recipes/trec.toml --out models/trec --seeds 3
        """
        from elman.learning.recipe import read

        run(read(path, sets), how)

    return recipe
