"""Writes ``glossary.md`` from the glossary of Studio: ``python docs/write_glossary.py``. A test compares."""

from pathlib import Path

from velado.studio.words import Term, Words

PAGE = Path(__file__).with_name("glossary.md")
HEAD = """# Glossary

The terms of the field, as Studio explains them (`/help` there, with the meanings in all three languages). \
This page is written by `docs/write_glossary.py`.

| English | Spanish | Portuguese | meaning |
|---|---|---|---|
"""


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return text.replace("|", "\\|").replace("*", "\\*")


def page() -> str:
    """The whole page."""
    spanish, portuguese = Words("es"), Words("pt")

    def row(term: Term) -> str:
        cells = (term.title, spanish.term(term.key).title, portuguese.term(term.key).title, term.meaning)
        return f"| {' | '.join(map(cell, cells))} |\n"

    return HEAD + "".join(map(row, Words("en").terms()))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
