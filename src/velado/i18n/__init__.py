"""The three languages of interfaces and reports: texts, numbers, dates."""

from velado.i18n.language import LANGUAGES, Language, language

__all__ = ["LANGUAGES", "Language", "language"]
