"""Libraries of C++ source: found where they were built before, or built now, once a machine.

A library is known by the SHA-256 of all that it is made of, so an old one is never taken for a new one. The
digest of itself is at its end, behind what a loader reads: one that a crash has damaged is built again.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock

from elman.errors import ElmanError, shorten
from elman.native.processor import LEVELS, find_level, machine

FOLDER = Path(__file__).parent
SHIPPED = FOLDER / "compiled"  # what was compiled when the package was built
OPTIONS = [
    *("-std=c++17", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"),
    *("-fno-exceptions", "-fno-rtti", "-fPIC", "-shared", "-pthread"),
]
_LONGEST = 120  # seconds for one library
_DIGEST = hashlib.sha256().digest_size

_lock = Lock()
_failures: dict[str, str] = {}


class NativeError(ElmanError):
    """There is no library, and none can be built here."""


def load_library(source: str) -> ctypes.CDLL:
    """The library of a C++ source, which may include the headers beside this file; built if it must be."""
    return _load(source, find_level())


def load_file(name: str) -> ctypes.CDLL:
    """The library of a C++ file beside this one."""
    return load_library((FOLDER / name).read_text(encoding="utf-8"))


@cache
def why_not_loaded(name: str) -> str | None:
    """Why there is no library of such a file here; None where there is."""
    try:
        load_file(name)
    except NativeError as error:
        return str(error)
    return None


@cache
def _load(source: str, level: str) -> ctypes.CDLL:
    with _lock:  # two threads that ask for one library build it once
        found = find_library(source, level)
        path = found if found and is_whole(found) else build_library(source, level, find_cache())
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:  # a folder that machines with other systems share
        raise NativeError(f"{path} cannot be loaded; delete it: {shorten(str(error))}") from None


def is_whole(path: Path) -> bool:
    """Is a library what was built? Half of one would end the process when it is used."""
    content = path.read_bytes()
    return hashlib.sha256(content[:-_DIGEST]).digest() == content[-_DIGEST:]


def find_library(source: str, level: str) -> Path | None:
    """Where the library of a source lies, if it was built."""
    if os.environ.get("ELMAN_NATIVE") == "0":
        raise NativeError("ELMAN_NATIVE=0 asks for no C++")
    name = name_library(source, level)
    return next((path for folder in (SHIPPED, find_cache()) if (path := folder / name).is_file()), None)


def build_library(source: str, level: str, folder: Path) -> Path:
    """Compile a source into a folder; another process may do the same at the same time."""
    name = name_library(source, level)
    if name in _failures:
        raise NativeError(_failures[name])
    try:
        return _compile(source, level, folder / name)
    except NativeError as error:
        _failures[name] = str(error)  # not again at each scan
        raise


def _compile(source: str, level: str, target: Path) -> Path:
    compiler = find_compiler()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as work:
            text, made = Path(work) / "source.cpp", Path(work) / target.name
            text.write_text(source, encoding="utf-8")
            command = [compiler, *_options(level), f"-I{FOLDER}", str(text), "-o", str(made)]
            done = subprocess.run(command, capture_output=True, timeout=_LONGEST, check=False)
            if done.returncode:
                stderr = done.stderr.decode(errors="replace")
                said = next((line for line in stderr.splitlines() if "error" in line), stderr)
                raise NativeError(f"{compiler} failed: {shorten(said)}")
            with open(made, "ab") as file:
                file.write(hashlib.sha256(made.read_bytes()).digest())
            os.replace(made, target)
    except subprocess.TimeoutExpired:
        raise NativeError(f"{compiler} was not done after {_LONGEST} seconds") from None
    except OSError as error:
        raise NativeError(f"no library can be built in {target.parent}: {shorten(str(error))}") from None
    return target


def _options(level: str) -> list[str]:
    return [*OPTIONS, *LEVELS[level], *os.environ.get("ELMAN_NATIVE_FLAGS", "").split()]


def name_library(source: str, level: str) -> str:
    """The name of the file: by the source, the headers, the options and the machine."""
    parts = [source, *_headers(), *_options(level), machine()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32] + ".so"


@cache
def _headers() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.hpp")))


def find_compiler() -> str:
    names = [os.environ.get("CXX", ""), "c++", "g++", "clang++"]
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None:
        raise NativeError("there is no C++ compiler here (c++, g++, clang++ or what CXX names)")
    return found


def find_cache() -> Path:
    """The folder of what was built on this machine: of ``ELMAN_CACHE``, or of the user's caches."""
    given = os.environ.get("ELMAN_CACHE")
    if given:
        return Path(given) / "native"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elman" / "native"
