"""A group of commands in an order of its own."""

from __future__ import annotations

import click


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which one needs them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)
