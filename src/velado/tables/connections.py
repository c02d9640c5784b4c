"""Connections that tables and stages of one session share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol


class Closable(Protocol):
    """What is closed when nobody needs it any more."""

    def close(self) -> None:
        """Let go of it."""


class Connections:
    """Connections by their places; one is closed when all who borrowed it have given it back."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[Any, int]] = {}

    def borrow(self, place: Hashable, connect: Callable[[], Any]) -> Any:
        """The connection to a place: the one that is open, or a new one."""
        connection, borrowers = self._open.get(place, (None, 0))
        if not borrowers:
            connection = connect()
        self._open[place] = (connection, borrowers + 1)
        return connection

    def give_back(self, place: Hashable) -> None:
        """One who borrowed it needs it no more."""
        connection, borrowers = self._open[place]
        if borrowers > 1:
            self._open[place] = (connection, borrowers - 1)
            return
        del self._open[place]
        connection.close()
