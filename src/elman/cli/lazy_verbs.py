"""Verbs that are imported when they are asked for: one verb does not wait for the others."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click


class LazyVerbs(MutableMapping[str, click.Command]):
    """Commands by name; each is known as ``MODULE:NAME`` of this folder until it is looked up."""

    def __init__(self, homes: dict[str, str]) -> None:
        self._known: dict[str, str | click.Command] = {**homes}

    def __getitem__(self, name: str) -> click.Command:
        found = self._known[name]
        if isinstance(found, str):
            module, attribute = found.split(":")
            command: click.Command = getattr(import_module(f"elman.cli.{module}"), attribute)
            self._known[name] = found = command
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
