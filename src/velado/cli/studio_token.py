"""``velado studio token``."""

from __future__ import annotations

from velado.cli.help import App

app = App(no_args_is_help=True)
