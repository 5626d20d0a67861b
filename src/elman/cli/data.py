"""elman data: the corpora of the recipes, fetched and checked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from elman.cli.ordered_group import OrderedGroup
from elman.cli.terminal import FOLDER, option, print_table, progress_bar, say
from elman.corpora.catalogue import Corpus, find_corpus, read_catalogue
from elman.corpora.corpus_check import check_corpus
from elman.errors import ConfigError, DataError
from elman.number_format import format_size
from elman.recipes.recipe_files import PREFIX, find_recipe, recipe_corpora

out_option = option(
    "--out DIR", "Where the corpora are. [default: the folder that ELMAN_DATA names]", type=FOLDER
)
ARCHIVE = click.Path(dir_okay=False, path_type=Path)


@click.group(cls=OrderedGroup, short_help="Fetch the corpora of the recipes, or check them.")
def data() -> None:
    """Fetch the corpora of the recipes, or say which are there and whole.

    \b
    Examples:
      elman data check
      elman data get trec
      elman data get recipe:trec --out corpora
    """


@data.command(short_help="Fetch corpora from their public homes.")
@click.argument("names", nargs=-1, required=True, metavar="NAME|recipe:NAME...")
@out_option
@option("--from FILE", "Use this archive, downloaded before.", "archive", type=ARCHIVE)
def get(names: tuple[str, ...], out: Path | None, archive: Path | None) -> None:
    """Fetch corpora from their public homes: licence and citation are shown, checksums compared.

    What is there and whole is left alone; what was interrupted goes on. recipe:NAME means all that the recipe
    reads. Without --out they go to the folder that ELMAN_DATA names, where recipes look for them.

    \b
    Examples:
      elman data get trec wikitext-2
      elman data get recipe:trec --out corpora
    """
    root, corpora = _find_root(out), [find_corpus(name) for name in _expand_names(names)]
    if archive and len(corpora) > 1:
        raise ConfigError("--from is the archive of one corpus: name that one alone")
    for corpus in corpora:
        _get(corpus, root, archive)
    if os.environ.get("ELMAN_DATA") != str(root):
        say(f"recipes look for it there after: export ELMAN_DATA={root.resolve()}")


def _get(corpus: Corpus, root: Path, archive: Path | None) -> None:
    from elman.corpora.fetch_corpus import fetch_corpus

    say(f"{corpus.title}, {format_size(corpus.size)}")
    say(f"  licence: {corpus.licence}")
    say(f"  cite: {corpus.citation}")
    with _show_bytes(corpus) as progress:
        folder = fetch_corpus(corpus, root, progress, archive)
    say(f"  {len(corpus.files)} file{'s'[: len(corpus.files) > 1]}, whole by SHA-256")
    click.echo(folder)


@contextmanager
def _show_bytes(corpus: Corpus) -> Iterator[Callable[[int], None]]:
    with progress_bar() as bar:
        task = bar.add_task(corpus.name, total=corpus.archive.size if corpus.archive else None)
        yield lambda done: bar.update(task, completed=done)


@data.command(short_help="Say which corpora are there and whole.")
@click.argument("names", nargs=-1, metavar="[NAME|recipe:NAME]...")
@out_option
def check(names: tuple[str, ...], out: Path | None) -> None:
    """List the corpora, their licences, and which are there and whole by their SHA-256.

    The exit code is 1 if a file is damaged, or if one of the corpora that are named is missing.

    \b
    Examples:
      elman data check
      elman data check recipe:trec --out corpora
    """
    root = _find_root(out)
    chosen = [find_corpus(name) for name in _expand_names(names)] or [*read_catalogue().values()]
    rows, bad = [], []
    for corpus in chosen:
        counts = Counter(check_corpus(corpus, root).values())
        state = next(iter(counts)) if len(counts) == 1 else ", ".join(f"{n} {s}" for s, n in counts.items())
        rows.append([corpus.name, format_size(corpus.size), state, corpus.licence])
        if counts["damaged"] or (names and counts["missing"]):
            bad.append(corpus.name)
    print_table(["corpus", "size", "here", "licence"], rows, left_columns=(0, 2, 3))
    if bad:
        raise DataError(f"not whole in {root}: elman data get {' '.join(bad)}")


def _find_root(out: Path | None) -> Path:
    """The folder of the corpora."""
    if out:
        return out
    if not os.environ.get("ELMAN_DATA"):
        raise ConfigError("say where the corpora are: --out DIR, or export ELMAN_DATA=DIR")
    return Path(os.environ["ELMAN_DATA"])


def _expand_names(names: tuple[str, ...]) -> list[str]:
    """The names of corpora; those of a recipe are all that it reads."""
    each = [recipe_corpora(find_recipe(name)) if name.startswith(PREFIX) else [name] for name in names]
    return list(dict.fromkeys(name for some in each for name in some))
