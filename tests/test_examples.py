"""The examples in the docstrings of the product give what they say."""

from __future__ import annotations

import doctest
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import velado

ROOMS = sorted(module.name for module in pkgutil.iter_modules(velado.__path__))
FLAGS = doctest.ELLIPSIS


def modules(room: str) -> Iterator[str]:
    """The modules of a room that have an example; others are not worth importing."""
    here = Path(velado.__path__[0])
    files = [here / f"{room}.py"] if (here / f"{room}.py").is_file() else sorted((here / room).rglob("*.py"))
    for file in files:
        if ">>> " in file.read_text(encoding="utf-8"):
            yield ".".join(("velado", *file.relative_to(here).with_suffix("").parts)).removesuffix(".__init__")


@pytest.mark.parametrize("room", [room for room in ROOMS if [*modules(room)]])
def test_examples_give_what_they_say(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    said: list[str] = []
    for name in modules(room):
        for example in doctest.DocTestFinder(exclude_empty=True).find(import_module(name)):
            runner.run(example, out=said.append)
    assert runner.tries > 0
    assert not said, "".join(said)
