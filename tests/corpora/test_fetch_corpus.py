"""Corpora from a server on this machine: what arrives is what is known, or nothing."""

import gzip
import hashlib
import io
import re
import tracemalloc
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from elman.corpora.catalogue import Corpus, CorpusFile, find_corpus, read_catalogue
from elman.corpora.corpus_check import check_corpus, is_content, pack, unpack
from elman.corpora.fetch_corpus import fetch_corpus
from elman.errors import ConfigError, DataError
from tests.corpora.web_server import Site, serve_site

TEXT = "".join(f"{i} words\n" for i in range(30_000)).encode()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as opened:
        yield opened


def known(path: str, content: bytes, source: str = "") -> CorpusFile:
    return CorpusFile(path, len(content), hashlib.sha256(content).hexdigest(), source)


def corpus(site: Site, *files: CorpusFile, **more: object) -> Corpus:
    return Corpus("toy", "A toy", "none", "nobody", files, site.address, **more)


def fetch(some: Corpus, root: Path, archive: Path | None = None) -> Path:
    return fetch_corpus(some, root, lambda done: None, archive)


def zipped(**members: bytes) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    return stored.getvalue()


def test_files_arrive_as_they_are_or_packed_where_their_name_says_so(site, tmp_path):
    site.files = {
        "deep/er/a.txt": TEXT,
        "b.txt": TEXT,
        "c.gz": gzip.compress(TEXT),
        "d.gz": gzip.compress(b"d"),
    }
    files = (
        known("deep/er/a.txt", TEXT),
        known("b.txt.gz", TEXT, "b.txt"),
        known("c.gz", TEXT),
        known("d.gz", b"d"),
    )
    some, told = corpus(site, *files), []
    assert fetch_corpus(some, tmp_path, told.append) == tmp_path / "toy"
    folder = tmp_path / "toy"
    assert told[-1] == len(site.files["d.gz"])
    assert len(TEXT) in told
    assert (folder / "deep/er/a.txt").read_bytes() == TEXT
    assert gzip.decompress((folder / "b.txt.gz").read_bytes()) == TEXT
    assert gzip.decompress((folder / "c.gz").read_bytes()) == TEXT
    assert set(check_corpus(some, tmp_path).values()) == {"whole"}
    assert not [*tmp_path.rglob("*.part")]


def test_what_is_whole_is_not_fetched_again_and_what_is_damaged_is(site, tmp_path):
    site.files = {"a": TEXT, "b": TEXT}
    some = corpus(site, known("a", TEXT), known("b", TEXT))
    folder = fetch(some, tmp_path)
    (folder / "b").write_bytes(TEXT[:-1])
    assert check_corpus(some, tmp_path) == {"a": "whole", "b": "damaged"}
    site.asked.clear()
    fetch(some, tmp_path)
    assert site.asked == [("b", None)]
    assert (folder / "b").read_bytes() == TEXT


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_broken_download_goes_on_where_it_stopped(site, tmp_path, knows_ranges):
    site.files, site.breaks_off_after, site.knows_ranges = {"a": TEXT}, 100_000, knows_ranges
    some = corpus(site, known("a", TEXT))
    with pytest.raises(DataError, match=r"broke off after 100,000 of .* goes on where it stopped"):
        fetch(some, tmp_path)
    assert check_corpus(some, tmp_path) == {"a": "missing"}
    assert site.asked[-1] == ("a", None)
    site.breaks_off_after = 150_000
    with pytest.raises(DataError, match=f"broke off after 150,000 of {len(TEXT):,} bytes"):
        fetch(some, tmp_path)
    assert site.asked[-1] == ("a", "bytes=100000-")
    site.breaks_off_after = None
    assert (fetch(some, tmp_path) / "a").read_bytes() == TEXT
    assert site.asked[-1] == ("a", "bytes=150000-")


def test_a_part_that_has_all_bytes_already_is_fetched_anew(site, tmp_path):
    site.files = {"a": TEXT}
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.part").write_bytes(TEXT)
    assert (fetch(corpus(site, known("a", TEXT)), tmp_path) / "a").read_bytes() == TEXT


def test_redirects_are_followed(site, tmp_path):
    site.files, site.moved = {"new/a": TEXT}, {"a": "/new/a"}
    assert (fetch(corpus(site, known("a", TEXT)), tmp_path) / "a").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("served", "said"),
    [
        (TEXT[:-1] + b"!", "this is not a as it is known"),
        (TEXT + bytes(5000), "it is larger than"),
        (gzip.compress(TEXT)[:-20], "this is not a as it is known"),
        (gzip.compress(TEXT + b"!"), "this is not a as it is known"),
    ],
)
def test_other_content_is_refused_and_nothing_is_kept(site, tmp_path, served, said):
    site.files = {"a": served}
    with pytest.raises(DataError, match=said):
        fetch(corpus(site, known("a", TEXT)), tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_server_that_has_no_such_file_is_told_in_one_sentence(site, tmp_path):
    with pytest.raises(DataError, match=r"/a: the server says 404 Not Found$"):
        fetch(corpus(site, known("a", TEXT)), tmp_path)


def test_a_server_that_refuses_what_was_begun_is_asked_once(site, tmp_path):
    """Only where the part is as long as the file, or longer, is it asked for all of it."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.part").write_bytes(TEXT[:3])
    with pytest.raises(DataError, match="404 Not Found"):
        fetch(corpus(site, known("a", TEXT)), tmp_path)
    assert site.asked == [("a", "bytes=3-")]


def test_a_server_that_has_no_such_range_though_none_was_asked_for_is_asked_once(site, tmp_path):
    site.refused = {"a": 416}
    with pytest.raises(DataError, match="the server says 416"):
        fetch(corpus(site, known("a", TEXT)), tmp_path)
    assert site.asked == [("a", None)]


def test_of_an_archive_only_the_files_that_are_known_are_unpacked(site, tmp_path):
    stored = zipped(**{"in/a": TEXT, "b": b"b", "../escaped": b"x", "/rooted": b"x"})
    site.files = {"all.zip": stored}
    files = known("deep/er/a.gz", TEXT, "in/a"), known("deep/er/b", b"b", "b")
    some = corpus(site, *files, archive=known("all.zip", stored))
    fetch(some, tmp_path / "data")
    files = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(files) == ["data/toy/deep/er/a.gz", "data/toy/deep/er/b"]
    assert {*check_corpus(some, tmp_path / "data").values()} == {"whole"}
    site.files["all.zip"] = stored = zipped(**{"in/a": TEXT + b"!"})
    some = corpus(site, known("a", TEXT, "in/a"), archive=known("all.zip", stored))
    with pytest.raises(DataError, match="this is not a as it is known"):
        fetch(some, tmp_path / "longer")


def test_an_archive_that_was_downloaded_before_is_used_if_it_is_the_one_that_is_known(site, tmp_path):
    stored = zipped(a=TEXT)
    some = corpus(site, known("a", TEXT), archive=known("all.zip", stored), package="toy==1")
    (tmp_path / "mine.zip").write_bytes(stored)
    (tmp_path / "other.zip").write_bytes(stored[:-1])
    with pytest.raises(
        DataError, match=r"pip download --no-deps toy==1, then elman data get toy --from all\.zip"
    ):
        fetch(some, tmp_path)
    with pytest.raises(DataError, match=r"other\.zip is not all\.zip as it is known"):
        fetch(some, tmp_path, tmp_path / "other.zip")
    with pytest.raises(DataError, match=r"absent\.zip: no such file$"):
        fetch(some, tmp_path, tmp_path / "absent.zip")
    assert (fetch(some, tmp_path, tmp_path / "mine.zip") / "a").read_bytes() == TEXT
    assert (tmp_path / "mine.zip").exists()


@pytest.mark.parametrize("packed", ["gzip", "zip"])
def test_what_unpacks_to_more_than_is_known_does_not_fill_the_memory(site, tmp_path, packed):
    zeros = bytes(20_000_000)
    if packed == "gzip":
        site.files, archive = {"a": gzip.compress(zeros)}, None
    else:
        site.files = {"all.zip": zipped(a=zeros)}
        archive = known("all.zip", site.files["all.zip"])
    some = corpus(site, known("a", TEXT), archive=archive)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="this is not a as it is known"):
            fetch(some, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_server_that_cannot_be_reached_is_told_in_one_sentence(site, tmp_path):
    nowhere = replace(corpus(site, known("a", TEXT)), base="http://127.0.0.1:9/")
    with pytest.raises(
        DataError, match=r"^http://127.0.0.1:9/a: \[Errno \d+\] Connection refused; the same command goes on"
    ):
        fetch(nowhere, tmp_path)


def test_vectors_of_an_archive_are_stored_as_text(site, tmp_path):
    vectors, text = b"1 1\na " + bytes(4) + b"\n", b"1 1\na 0.000\n"
    site.files = {"all.zip": zipped(**{"v.bin": vectors})}
    archive = known("all.zip", site.files["all.zip"])
    folder = fetch(corpus(site, known("v.txt", text, "v.bin"), archive=archive), tmp_path)
    assert (folder / "v.txt").read_bytes() == text


def test_content_is_known_by_its_size_and_its_digest_and_packed_alike_each_time():
    assert is_content(b"ab", known("a", b"ab"))
    assert not is_content(b"ab", replace(known("a", b"ab"), size=3))
    assert not is_content(b"ab", known("a", b"ba"))
    packed = pack(b"ab", "a.gz")
    assert packed[4:8] == bytes(4), "the time at which gzip packed it"
    assert (unpack(packed, 2), unpack(packed, 1)) == (b"ab", None)


def test_a_corpus_is_found_by_its_name_or_the_nearest_is_said():
    name, some = next(iter(read_catalogue().items()))
    assert find_corpus(name) is some
    assert some.size == sum(file.size for file in some.files)
    with pytest.raises(ConfigError, match=rf"^unknown corpus '{name}x'; did you mean '{name}'\?$"):
        find_corpus(f"{name}x")
    with pytest.raises(ConfigError, match=r"^unknown corpus '\?'; `elman data check` lists them$"):
        find_corpus("?")


def test_every_corpus_stands_in_the_docs_with_licence_and_citation():
    page = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text()
    for name, some in read_catalogue().items():
        row = re.search(rf"^\| `{name}` \| {re.escape(some.title)}; .*$", page, re.MULTILINE)
        assert row, name
        assert f"| {some.licence} | {some.citation} |" in row[0]


def test_every_corpus_has_an_address_or_a_package_a_licence_and_a_citation():
    for name, some in read_catalogue().items():
        assert some.base.startswith("https://") != bool(some.package), name
        assert some.title, name
        assert some.licence, name
        assert some.citation, name
        assert all(len(file.sha256) == 64 for file in some.files), name
        paths = [file.path for file in some.files]
        assert len(set(paths)) == len(paths), name
        assert not [path for path in paths if path.startswith("/") or ".." in path], name
