"""Read a YAML file that may be wrong or hostile: its size, depth and expanded content are known before it is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from velado.errors import InputError, reason
from velado.sentences import Sentence
from velado.tables.files import contents, not_found

LARGEST = 10_000_000
"""Bytes of a project file; hierarchies may stand in it. Its texts have no more characters once aliases are written out."""
DEEPEST = 60
MOST_NODES = 1_000_000
LONGEST_NUMBER = 500
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

VALUES = ("tree", "groups", "rows", "order")
"""Builders of hierarchies that list values of the table."""
TYPED = ("bool", "int", "float", "timestamp")

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """What a YAML or JSON file holds; an error says where it is wrong."""
    try:
        text = contents(path, LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        raise not_found(path, Sentence("project file"), hint="velado init TABLE writes one.") from None
    except UnicodeDecodeError:
        raise InputError("unreadable-file", "the project file is not UTF-8", file=path) from None
    except OSError as error:
        raise InputError("unreadable-file", Sentence("cannot read the project file: {why}", why=reason(error)), file=path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, file: Path | None = None, *, aliases: bool = True, most: int = MOST_NODES) -> Any:
    """What a text of YAML or JSON holds, of at most so many parts. Without ``aliases`` no part stands for another: what is read
    is no longer than the text."""
    try:
        _check_size(text, aliases, most)
        return yaml.load(text, Loader=_Careful)
    except UnicodeEncodeError:
        raise InputError("bad-yaml", "the text holds half a character", file=file) from None
    except yaml.YAMLError as error:
        raise InputError("bad-yaml", _message(error), file=file) from None


PROBLEMS = (
    Sentence("could not find expected ':'"),
    Sentence("did not find expected key"),
    Sentence("did not find expected '-' indicator"),
    Sentence("did not find expected ',' or ']'"),
    Sentence("did not find expected ',' or '}'"),
    Sentence("did not find expected node content"),
    Sentence("did not find expected <document start>"),
    Sentence("mapping values are not allowed in this context"),
    Sentence("block sequence entries are not allowed in this context"),
    Sentence("found character that cannot start any token"),
    Sentence("found unexpected end of stream"),
    Sentence("found unknown escape character"),
    Sentence("found undefined alias"),
    Sentence("found unexpected ':'"),
    Sentence("found a tab character that violates indentation"),
    Sentence("control characters are not allowed"),
)
"""What the reader of YAML says most often; the rest stays as it says it."""


def _message(error: yaml.YAMLError) -> Sentence:
    """What is wrong with a file, and where."""
    mark = getattr(error, "problem_mark", None)
    problem = Sentence(getattr(error, "problem", None) or Sentence("not valid YAML"))
    if not mark:
        return Sentence("the project file is not valid YAML: {problem}", problem=problem)
    return Sentence(
        "the project file is not valid YAML at line {line}, column {position}: {problem}",
        line=mark.line + 1,
        position=mark.column + 1,
        problem=problem,
    )


class _Size(NamedTuple):
    """How much a part is, written out."""

    parts: int = 0
    characters: int = 0

    def __add__(self, other: Any) -> _Size:
        return _Size(self.parts + other.parts, self.characters + other.characters)


def _check_size(text: str, aliases: bool, most: int) -> None:
    """Count what the text expands to, alias by alias, without building it."""
    sizes: dict[str, _Size] = {}
    open_nodes: list[tuple[str | None, _Size]] = []
    whole = _Size()
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise _wrong(Sentence("a part stands for another one (*{name}); write it out", name=event.anchor), event)
            if event.anchor not in sizes and any(anchor == event.anchor for anchor, _ in open_nodes):
                raise _wrong(Sentence("a part contains itself"), event)
            whole += sizes.get(event.anchor or "", _Size())
        elif isinstance(event, yaml.ScalarEvent):
            one = _Size(1, len(event.value))
            whole += one
            sizes[event.anchor or ""] = one
        elif isinstance(event, yaml.CollectionStartEvent):
            # An anchor that is written again stands for the new part from here on.
            sizes.pop(event.anchor or "", None)
            open_nodes.append((event.anchor, whole))
            whole += _Size(1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            sizes[anchor or ""] = _Size(whole.parts - before.parts, whole.characters - before.characters)
        if len(open_nodes) > DEEPEST:
            raise _wrong(Sentence("parts are nested more than {most} deep", most=DEEPEST), event)
        if whole.parts > most:
            raise _wrong(Sentence("it expands to more than {most:,} parts", most=most), event)
        if whole.characters > LARGEST:
            raise _wrong(Sentence("it expands to more than {most:,} characters", most=LARGEST), event)


def _wrong(problem: Sentence, event: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, event.start_mark)


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _values_under(node: Any, name: str | tuple[str, ...]) -> list[Any]:
    """What a mapping holds under a name."""
    names = (name,) if isinstance(name, str) else name
    return [value for key, value in _pairs(node) if isinstance(key, yaml.ScalarNode) and key.value in names]


def _values(root: Any) -> list[Any]:
    """Where a project names columns of its tables, or lists their values in hierarchies."""
    tables = [root, *(table for tables in _values_under(root, "tables") for _, table in _pairs(tables))]
    columns = [pair for t in tables for part in _values_under(t, ("columns", "attributes")) for pair in _pairs(part)]
    hierarchies = [hierarchy for _, column in columns for hierarchy in _values_under(column, "hierarchy")]
    return [*(name for name, _ in columns), *(part for h in hierarchies for part in _values_under(h, VALUES))]


def _as_text(node: Any, seen: set[int]) -> None:
    """Let every value below a node be the text that stands in the file: ``no`` is a word here, and so is ``1.0``."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if node.tag.rpartition(":")[2] in TYPED:
            node.tag = "tag:yaml.org,2002:str"
        return
    below = [part for pair in _pairs(node) for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    for part in below:
        _as_text(part, seen)


class _Careful(Loader):  # type: ignore[misc]
    """YAML in which a key that is written twice is an error, not a silent replacement, and every fault has a place.

    Names of columns, and values that a hierarchy lists, are texts, as in the table.
    """

    def get_single_node(self) -> Any:
        """The document, names and values of columns as texts."""
        root = super().get_single_node()
        seen: set[int] = set()
        for part in _values(root):
            _as_text(part, seen)
        return root

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """A mapping whose keys are single words, each once."""
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _wrong(Sentence("a key must be a single word"), key)
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise _wrong(Sentence("'{key}' is written twice", key=name), key)
            seen.add(name)
        return super().construct_mapping(node, deep)

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """A value; what its kind cannot hold is an error of the file."""
        if node.tag in NUMBERS and len(node.value) > LONGEST_NUMBER:
            # Some notations take quadratic time.
            raise _wrong(Sentence("the number has more than {most} characters", most=LONGEST_NUMBER), node)
        try:
            return super().construct_object(node, deep)
        except (ValueError, KeyError, AttributeError, TypeError, OverflowError, IndexError):
            raise _wrong(Sentence("this cannot be read as {kind}", kind=node.tag.rpartition(":")[2]), node) from None
