"""Writes ``settings.md`` from the settings: ``python docs/reference/write_settings.py``. A test compares."""

from dataclasses import MISSING
from pathlib import Path
from typing import Any

from velado.service.input_limits import LIMITS
from velado.service.settings import GB, KNOWN, MB, PREFIX

PAGE = Path(__file__).with_name("settings.md")
HEAD = f"""# Settings of the service

Every setting of `velado studio` comes from the environment (`{PREFIX}PORT=8080`), else from a TOML file that `--config` or \
`{PREFIX}CONFIG` names (`port = 8080`), else it has its default. Sizes may be written as `2 GB`. Settings marked *live* can \
also be changed by an administrator while the service runs (`PATCH /api/v1/settings`); those stay in the store. Secrets are \
marked, too: give them by the environment, or keep the file to its owner. This page is written by \
`docs/reference/write_settings.py`.

```toml
# studio.toml
database = "postgresql://velado@db.example/velado"
url = "https://velado.example"
approval = true
upload_bytes = "20 GB"
```

| setting | variable | default | meaning | |
|---|---|---|---|---|
"""


LIMITED = """
## Limits of what arrives

These are no settings. What is beyond one is refused before it is built, read or stored, with the limit in the message. Bytes of \
a body are `body_bytes`, of an upload `upload_bytes`, of what a packed file holds `expanded_bytes`; a job has `job_memory`, \
`job_seconds` and `job_bytes`, and what a user keeps `user_bytes` or `learner_bytes`.

| format | what | at most |
|---|---|---|
"""


def shown(value: Any) -> str:
    """A default for people."""
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, int) and value >= MB:
        return f"{value // GB} GB" if value % GB == 0 else f"{value // MB} MB"
    return f"`{value}`" if str(value) else "–"


def page() -> str:
    """The whole page."""
    lines = []
    for name, field in KNOWN.items():
        default = "`~/.local/share/velado-studio`" if field.default is MISSING else shown(field.default)
        marks = ", ".join(mark for mark in ("live", "secret") if field.metadata[mark])
        lines.append(f"| `{name}` | `{PREFIX}{name.upper()}` | {default} | {field.metadata['help']} | {marks} |\n")
    limits = [f"| {one.format} | {one.what} | {one.most:,} |\n" for one in LIMITS]
    return HEAD + "".join(lines) + LIMITED + "".join(limits)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
