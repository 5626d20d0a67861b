"""Libraries are built once, known by what they are made of, and found again."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from elman.native import library
from elman.native.library import (
    NativeError,
    build_library,
    find_cache,
    find_compiler,
    find_library,
    is_whole,
    load_library,
    name_library,
)
from elman.native.processor import LEVELS, find_level

SOURCE = 'extern "C" int number() { return %d; }'


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ELMAN_CACHE", str(tmp_path / "of" / "mine"))
    return tmp_path / "of" / "mine" / "native"


def test_a_library_is_built_once_and_found_again(cache, monkeypatch):
    source = SOURCE % 41
    assert find_library(source, "plain") is None
    path = build_library(source, "plain", cache)
    assert ctypes.CDLL(str(path)).number() == 41
    assert [*cache.iterdir()] == [path]  # nothing is left beside it
    assert is_whole(path)
    monkeypatch.setattr(subprocess, "run", None)
    assert find_library(source, "plain") == path
    assert name_library(SOURCE % 42, "plain") != path.name != name_library(source, "avx2")


def test_libraries_lie_where_the_user_s_caches_are(monkeypatch):
    for name in ("ELMAN_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert find_cache() == Path.home() / ".cache" / "elman" / "native"
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    assert find_cache() == Path("caches", "elman", "native")
    monkeypatch.setenv("ELMAN_CACHE", "mine")
    assert find_cache() == Path("mine", "native")


def test_builds_at_the_same_time_do_not_disturb_each_other(cache):
    with ThreadPoolExecutor(4) as pool:
        paths = {*pool.map(lambda _: build_library(SOURCE % 43, "plain", cache), range(4))}
    (path,) = paths
    assert ctypes.CDLL(str(path)).number() == 43
    assert [*cache.iterdir()] == [path]


def test_what_cannot_be_built_is_said_in_one_sentence_and_not_tried_again(cache, monkeypatch):
    with pytest.raises(NativeError, match=r"failed: .*error"):
        load_library("no C++ at all")
    with pytest.raises(NativeError, match=r"failed: .*error: .*second"):
        load_library("#warning first\n#error second\n")
    monkeypatch.setattr(subprocess, "run", None)
    with pytest.raises(NativeError, match=r"failed: .*error"):
        load_library("no C++ at all")


def test_without_a_compiler_there_is_a_reason(cache, monkeypatch):
    monkeypatch.setattr(library.shutil, "which", lambda name: None)
    with pytest.raises(NativeError, match="there is no C\\+\\+ compiler here"):
        find_compiler()
    with pytest.raises(NativeError, match="there is no C\\+\\+ compiler here"):
        load_library(SOURCE % 44)
    monkeypatch.setenv("ELMAN_NATIVE", "0")
    with pytest.raises(NativeError, match="asks for no C\\+\\+"):
        load_library(SOURCE % 45)


def test_the_compiler_that_is_named_is_taken_first(monkeypatch):
    there = ["c++", "g++", "clang++", "mine"]
    monkeypatch.setattr(library.shutil, "which", lambda name: f"/bin/{name}" if name in there else None)
    monkeypatch.delenv("CXX", raising=False)
    found = []
    while there[:-1]:
        found.append(find_compiler())
        there.pop(0)
    assert found == ["/bin/c++", "/bin/g++", "/bin/clang++"]
    monkeypatch.setenv("CXX", "mine")
    there[:0] = ["c++"]
    assert find_compiler() == "/bin/mine"


def test_a_compiler_that_never_ends_is_not_waited_for(cache, tmp_path, monkeypatch):
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 3\n")
    slow.chmod(0o755)
    monkeypatch.setenv("CXX", str(slow))
    monkeypatch.setattr(library, "_LONGEST", 0.1)
    with pytest.raises(NativeError, match=rf"^{slow} was not done after 0\.1 seconds$"):
        build_library(SOURCE % 52, "plain", cache)
    assert [*cache.iterdir()] == []


def test_flags_of_the_user_make_another_library(cache, monkeypatch):
    source = 'extern "C" int number() { return A + B; }'
    plain = name_library(source, "plain")
    monkeypatch.setenv("ELMAN_NATIVE_FLAGS", "-DA=40 -DB=9")
    path = build_library(source, "plain", cache)
    assert path.name == name_library(source, "plain") != plain
    assert ctypes.CDLL(str(path)).number() == 49


def test_a_library_that_came_with_the_package_is_found_first(cache, tmp_path, monkeypatch):
    source = SOURCE % 50
    build_library(source, "plain", cache)
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "shipped")
    assert find_library(source, "plain").parent == cache
    shipped = build_library(source, "plain", tmp_path / "shipped")
    assert find_library(source, "plain") == shipped


def test_why_there_is_no_library_is_said(cache, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(NativeError, match=rf"no library can be built in {tmp_path}/file/x: .*Not a directory"):
        build_library(SOURCE % 51, "plain", tmp_path / "file" / "x")
    monkeypatch.setattr(library, "load_file", lambda name: load_library("no C++ either"))
    assert "failed: " in library.why_not_loaded.__wrapped__("few_rows.cpp")
    monkeypatch.setattr(library, "load_file", lambda name: None)
    assert library.why_not_loaded.__wrapped__("few_rows.cpp") is None


@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:99] + b"!" + b[100:]]
)
def test_a_library_that_was_damaged_is_built_again(cache, damage):
    source = SOURCE % 46
    path = build_library(source, find_level(), cache)
    path.write_bytes(damage(path.read_bytes()))
    library._load.cache_clear()
    assert load_library(source).number() == 46


def test_a_library_that_was_damaged_is_not_used_where_none_can_be_built(cache, monkeypatch):
    source = SOURCE % 47
    path = build_library(source, find_level(), cache)
    path.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr(library.shutil, "which", lambda name: None)
    with pytest.raises(NativeError, match="there is no C\\+\\+ compiler here"):
        load_library(source)


def test_a_file_that_is_no_library_is_named(cache):
    source, content = SOURCE % 48, b"of another system"
    cache.mkdir(parents=True)
    broken = cache / name_library(source, find_level())
    broken.write_bytes(content + sha256(content).digest())
    with pytest.raises(NativeError, match=f"{broken.name} cannot be loaded; delete it"):
        load_library(source)


def test_libraries_are_built_where_the_locale_is_plain_ascii(cache):
    code = "from elman.native.library import load_file; load_file('few_rows.cpp')"
    ascii_only = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run([sys.executable, "-c", code], env=ascii_only, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_level_is_one_that_the_compiler_knows_options_for():
    assert find_level() in LEVELS
