"""Writes ``catalog.md`` from the declarations: ``python docs/reference/write_catalog.py``. A test compares."""

from pathlib import Path

from velado.choices import KINDS, catalog

PAGE = Path(__file__).with_name("catalog.md")
HEAD = """# Catalog

Everything that can be chosen, as it declares itself. `velado catalog` shows the same in English, Spanish and Portuguese, \
`velado catalog --json` and `velado.catalog(language)` with the JSON Schema of every parameter ([keys](json.md#catalog)). \
This page is written by `docs/reference/write_catalog.py`.

```bash
velado catalog models k-map
velado catalog measures --language es
```

```python
import velado

models = {entry["name"]: entry for entry in velado.catalog("es")["models"]}
print(models["t-closeness"]["title"], models["t-closeness"]["strength"]["t"]["safer"])
```

```text
t-cercanía smaller
```
"""


def cell(text: str) -> str:
    """A text that may stand in a table."""
    return text.replace("|", "\\|")


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for kind, entries in catalog().items():
        parts.append(
            f"\n## {KINDS[kind].title}\n\n`{kind}`\n\n| name | title | meaning | parameters |\n|---|---|---|---|\n"
        )
        for entry in entries:
            names = ", ".join(f"`{name}`" for name in entry["parameters"].get("properties", {})) or "–"
            title = entry["title"] if entry.get("symbol") in (None, "") else f"{entry['title']} ({entry['symbol']})"
            parts.append(f"| `{entry['name']}` | {cell(title)} | {cell(entry['meaning'])} | {names} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
