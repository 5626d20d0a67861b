"""TOML, ``--set a.b=c`` and JSON to frozen dataclasses, and back.

A configuration is a dataclass of bool, int, float, str, Path, Literal, tuple, dict, Optional,
dataclasses and unions of these. Of a union of dataclasses, whose first field is a
``kind: Literal["its name"]``, that key chooses one; its name alone stands for its defaults.
A ``__post_init__`` may refuse values by a ConfigError that begins with the name of the field.
"""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, reduce
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from elman.errors import ConfigError, printable, quote, shorten, show_value

T = TypeVar("T")

_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_UNIONS = (Union, UnionType)
_hints = cache(get_type_hints)


def read_toml(build: Callable[[Mapping[str, Any]], T], path: str | Path, overrides: Iterable[str] = ()) -> T:
    """What ``build`` makes of a TOML file, with ``a.b=c`` overrides applied."""
    stored = _parse(Path(path))
    try:
        return build(reduce(apply_override, overrides, stored))
    except ConfigError as error:
        # The file is to blame only for what it says by itself.
        file = f"{path}: " if _complaint(build, stored) == str(error) else ""
        raise ConfigError(f"{file}{error}") from None


def build_config(cls: type[T] | UnionType, data: Mapping[str, object]) -> T:
    """A ``cls`` from plain data, every key and value checked."""
    return cast(T, _value(cls, data, ""))


def apply_override(data: Mapping[str, Any], text: str) -> dict[str, Any]:
    """``data`` with one ``a.b=c`` applied; ``c`` is read as TOML, or else as a text."""
    key, equals, value = text.partition("=")
    path = [part.strip() for part in key.split(".")]
    if not equals or not all(path):
        raise ConfigError(f"{quote(text)} does not set a key; write it as training.lr=0.01")
    return set_key(data, path, _literal(value.strip()), text)


def set_key(data: Mapping[str, Any], path: list[str], value: object, said: str) -> dict[str, Any]:
    """``data`` with a value at a path of keys; ``said`` is what asked for it, for an error."""
    first, *rest = path
    if not rest:
        return {**data, first: value}
    inner = data.get(first, {})
    if not isinstance(inner, Mapping):
        raise ConfigError(f"{quote(said)} cannot be set: {first!r} is {show_value(inner)}, not a table")
    return {**data, first: set_key(inner, rest, value, said)}


def to_plain(config: Any) -> Any:
    """What JSON can hold of a configuration: ``build(cls, plain(config)) == config``."""
    if is_dataclass(config):
        return {f.name: to_plain(getattr(config, f.name)) for f in fields(config) if f.init}
    if isinstance(config, Mapping):
        return {key: to_plain(value) for key, value in config.items()}
    if isinstance(config, tuple | list):
        return [to_plain(value) for value in config]
    return printable(str(config)) if isinstance(config, Path | str) else config


def _parse(path: Path) -> dict[str, Any]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start + 1} is not UTF-8") from None
    except ValueError:  # a NUL, half of a surrogate pair
        raise ConfigError(f"{str(path)!r}: no file can have this name") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).rpartition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else text.count("\n") + 1
        raise ConfigError(f"{path}:{line}: {what} (TOML)") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, a table in a table in a table …
        raise ConfigError(f"{path}: {shorten(str(error))} (TOML)") from None


def _complaint(build: Callable[[Mapping[str, Any]], object], data: Mapping[str, Any]) -> str:
    try:
        build(data)
    except ConfigError as error:
        return str(error)
    return ""


def _literal(text: str) -> object:
    try:
        found = tomllib.loads(f"x = {text}")
    except (ValueError, RecursionError):
        # TOML wants a digit before the point; people do not.
        return float(text) if re.fullmatch(r"[+-]?\.\d+", text) else text
    value = found.get("x")
    return value if len(found) == 1 and isinstance(value, int | float | str | list | dict) else text


def _value(kind: Any, value: Any, where: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in _UNIONS:
        return _union(inner, value, where)
    if origin is Literal:
        if not any(value == a and type(value) is type(a) for a in inner):
            raise ConfigError(f"{where} is {show_value(value)}; it may be {_describe(kind)}")
        return value
    if is_dataclass(kind):
        return _dataclass(kind, value, where)
    if origin is tuple:
        return _tuple(kind, value, where)
    if origin is dict and isinstance(value, Mapping):
        return {k: _value(inner[1], v, _join(where, str(k))) for k, v in value.items()}
    return _scalar(kind, value, where)


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if kind is Path and isinstance(value, str | Path):
        return Path(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        if abs(value) <= sys.float_info.max:
            return float(value)
    elif type(value) is kind or (kind is str and isinstance(value, str)):
        return value
    elif kind is str and type(value) is int:
        return str(value)  # columns are named or numbered
    raise ConfigError(f"{where} is {show_value(value)}; expected {_describe(kind)}")


def _tuple(kind: Any, value: Any, where: str) -> tuple[Any, ...]:
    inner = get_args(kind)
    some = isinstance(value, list | tuple)
    if some and inner[-1] is Ellipsis:
        inner = inner[:1] * len(value)
    if not some or len(inner) != len(value):
        raise ConfigError(f"{where} is {show_value(to_plain(value))}; expected {_describe(kind)}")
    return tuple(_value(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(inner, value, strict=True)))


def _union(options: tuple[Any, ...], value: Any, where: str) -> Any:
    some = [option for option in options if option is not NoneType]
    optional = len(some) < len(options)
    if optional and value is None:
        return None
    classes = {_kind(option): option for option in some if is_dataclass(option)}
    if len(classes) > 1 and isinstance(value, Mapping):
        return _choose(classes, value, where)
    if isinstance(value, str) and value in classes:
        return _value(classes[value], {fields(classes[value])[0].name: value}, where)
    for option in some:
        try:
            return _value(option, value, where)
        except ConfigError:
            if len(some) == 1 and value != "none":
                raise
    if optional and value == "none":
        return None  # TOML has no word for nothing
    raise ConfigError(f"{where} is {show_value(value)}; expected {_either(map(_describe, options))}")


def _choose(classes: Mapping[str | None, Any], table: Mapping[str, Any], where: str) -> Any:
    key = fields(next(iter(classes.values())))[0].name
    for kind, cls in classes.items():
        if table.get(key) == kind:
            return _value(cls, table, where)
    given = f"is {show_value(table[key])}" if key in table else "is missing"
    raise ConfigError(f"{_join(where, key)} {given}; it may be {_either(map(repr, classes))}")


def _kind(cls: Any) -> str | None:
    """The name by which the first field of a union's dataclasses chooses this one."""
    first = _hints(cls)[fields(cls)[0].name]
    names = get_args(first) if get_origin(first) is Literal else ()
    return str(names[0]) if len(names) == 1 else None


def _dataclass(cls: Any, value: Any, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where or 'the configuration'} is {show_value(value)}; expected a table")
    hints = _hints(cls)
    known = {f.name: f for f in fields(cls) if f.init}
    for key in value:
        if key not in known:
            raise ConfigError(f"unknown key {_join(where, str(key))!r}; {_suggestion(str(key), hints, known)}")
    for name, f in known.items():
        if name not in value and f.default is MISSING and f.default_factory is MISSING:
            raise ConfigError(f"missing key {_join(where, name)!r}; expected {_describe(hints[name])}")
    values = {}
    for key, item in value.items():
        kind, default = hints[key], known[key].default_factory
        if is_dataclass(kind) and default is not MISSING and isinstance(item, Mapping):
            item = _fill_table(kind, default(), item)
        values[key] = _value(kind, item, _join(where, key))
    try:
        return cls(**values)
    except ConfigError as error:
        said = str(error)
        about_a_key = said.split(" ")[0] in known
        raise ConfigError(_join(where, said) if about_a_key or not where else f"{where}: {said}") from None


def _fill_table(kind: Any, default: Any, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table with what it leaves out as it is without the table.

    Where that is all the class's own defaults, the class fills it in: one option may settle by another.
    """
    own = all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind) if f.init)
    return item if own and default == kind() else {**to_plain(default), **item}


def _suggestion(key: str, hints: Mapping[str, Any], known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(key, names, 1)
    options = [(name, option) for name in names for option in (hints[name], *get_args(hints[name]))]
    near += [f"{name}.{key}" for name, o in options if is_dataclass(o) and key in (f.name for f in fields(o))]
    return f"did you mean {near[0]!r}?" if near else f"it may be {_either(map(repr, names))}"


def _describe(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in _UNIONS:
        return _either(map(_describe, inner))
    if origin is Literal:
        return _either(map(repr, inner))
    if origin is tuple and inner[-1] is Ellipsis:
        return f"a list, each {_describe(inner[0])}"
    if origin is tuple:
        return f"a list of {len(inner)}: {', '.join(map(_describe, inner))}"
    if is_dataclass(kind) and (name := _kind(kind)):
        return repr(name)
    names: dict[Any, str] = {NoneType: "none", Path: "a path", **_NAMES}
    return names.get(kind, "a table")


def _either(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
