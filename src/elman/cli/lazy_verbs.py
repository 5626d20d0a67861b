"""Verbs that are imported when they are asked for: one verb does not wait for the others."""

from __future__ import annotations

from collections.abc import ItemsView, ValuesView
from importlib import import_module
from typing import Any

import click


class LazyVerbs(dict[str, click.Command]):
    """Commands by name; each is known as ``MODULE:NAME`` of this folder until it is looked up."""

    def __init__(self, homes: dict[str, str]) -> None:
        super().__init__(dict.fromkeys(homes))  # type: ignore[arg-type]
        self.homes = homes

    def __getitem__(self, name: str) -> click.Command:
        if super().__getitem__(name) is None:
            module, attribute = self.homes[name].split(":")
            self[name] = getattr(import_module(f"elman.cli.{module}"), attribute)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        known = name in self
        return self[name] if known else default

    def values(self) -> ValuesView[click.Command]:
        return {name: self[name] for name in self}.values()

    def items(self) -> ItemsView[str, click.Command]:
        return {name: self[name] for name in self}.items()
