"""elman recipes and elman data, typed."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from elman.cli import app
from elman.corpora.catalogue import read_catalogue
from elman.errors import ConfigError, DataError
from elman.recipes.recipe_files import list_recipes
from tests.click_runner import make_runner
from tests.corpora.test_fetch_corpus import TEXT, corpus, known
from tests.corpora.web_server import serve_site


def typed(*words: str) -> Result:
    return make_runner().invoke(app.elman, words)


@pytest.fixture
def toy(monkeypatch):
    with serve_site() as site:
        site.files = {"a.txt": TEXT}
        monkeypatch.setitem(read_catalogue(), "toy", corpus(site, known("a.txt", TEXT)))
        monkeypatch.delenv("ELMAN_DATA", raising=False)
        yield site


def test_recipes_are_listed_with_task_corpus_and_figures():
    (first, *_), rows = typed("recipes").stdout.splitlines(), json.loads(typed("recipes", "--json").stdout)
    assert first.split() == ["recipe", "task", "corpus", "metric", "usual", "best", "Elman"]
    assert [row["recipe"] for row in rows["recipes"]] == list(list_recipes())
    (trec,) = (row for row in rows["recipes"] if row["recipe"] == "trec")
    assert (trec["task"], trec["corpus"], trec["best"]) == ("classifier", "trec", "96.1")


def test_a_corpus_is_fetched_with_its_licence_and_citation_and_then_whole(toy, tmp_path: Path):
    done = typed("data", "get", "toy", "--out", str(tmp_path))
    assert (done.exit_code, done.stdout) == (0, f"{tmp_path / 'toy'}\n")
    for said in ("A toy", "licence: none", "cite: nobody", f"export ELMAN_DATA={tmp_path}"):
        assert said in done.stderr
    assert typed("data", "check", "toy", "--out", str(tmp_path)).exit_code == 0


def test_a_missing_corpus_fails_the_check_only_where_it_is_named(toy, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("ELMAN_DATA", str(tmp_path))
    assert typed("data", "check").exit_code == 0
    missing = typed("data", "check", "toy").exception
    assert isinstance(missing, DataError)
    assert str(missing) == f"not whole in {tmp_path}: elman data get toy"
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.txt").write_text("damaged")
    assert isinstance(typed("data", "check").exception, DataError)


def test_the_table_says_what_is_there_of_each_corpus(toy, tmp_path: Path, monkeypatch):
    some = corpus(toy, known("a.txt", TEXT), known("b.txt", TEXT), known("c.txt", TEXT))
    monkeypatch.setitem(read_catalogue(), "toy", some)
    folder, size = tmp_path / "toy", "1.0 MB"
    folder.mkdir()

    def row() -> list[str]:
        lines = typed("data", "check", "--out", str(tmp_path)).stdout.splitlines()
        assert lines[0].split() == ["corpus", "size", "here", "licence"]
        assert len(lines) == 1 + len(read_catalogue())
        return lines[-1].split(maxsplit=3)

    assert row() == ["toy", *size.split(), "missing  none"]
    (folder / "a.txt").write_bytes(TEXT)
    assert row() == ["toy", *size.split(), "1 whole, 2 missing  none"]
    (folder / "b.txt").write_bytes(TEXT[1:])
    assert row() == ["toy", *size.split(), "1 whole, 1 damaged, 1 missing  none"]


def test_what_is_fetched_is_counted_and_nothing_is_said_of_a_folder_that_recipes_know(
    toy, tmp_path, monkeypatch
):
    toy.files["b.txt"] = TEXT
    for files in (("a.txt",), ("a.txt", "b.txt")):
        some = corpus(toy, *(known(name, TEXT) for name in files))
        monkeypatch.setitem(read_catalogue(), "toy", some)
        monkeypatch.setenv("ELMAN_DATA", str(tmp_path))
        said = typed("data", "get", "toy").stderr.splitlines()
        assert said[-1] == f"  {len(files)} file{'s' if len(files) > 1 else ''}, whole by SHA-256"
        assert said[0].startswith("A toy, ")


def test_an_archive_is_of_one_corpus(toy, tmp_path: Path):
    error = typed("data", "get", "toy", "trec", "--from", "x.zip", "--out", str(tmp_path)).exception
    assert str(error) == "--from is the archive of one corpus: name that one alone"
    twice = typed("data", "get", "toy", "toy", "--out", str(tmp_path))
    assert twice.stdout == f"{tmp_path / 'toy'}\n", "a corpus that is named twice is fetched once"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("get toy", "say where the corpora are: --out DIR, or export ELMAN_DATA=DIR"),
        ("get tay --out x", "unknown corpus 'tay'; did you mean 'toy'?"),
        ("get recipe:trek --out x", "unknown recipe 'trek'; did you mean recipe:trec?"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(toy, words: str, said: str):
    error = typed("data", *words.split()).exception
    assert isinstance(error, ConfigError)
    assert str(error) == said


def test_a_recipe_stands_for_all_corpora_that_it_reads(toy, tmp_path: Path):
    done = typed("data", "check", "recipe:trec", "--out", str(tmp_path))
    assert [line.split()[0] for line in done.stdout.splitlines()[1:3]] == ["trec", "vectors-googlenews-24k"]
