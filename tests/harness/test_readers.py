"""Readers side by side: Python's csv and pyarrow against the engine, cell by cell, on nasty files.

The engine may refuse a file. If it accepts one, it sees what every other reader sees that accepts it, and no row may
have another number of fields than the header.
"""

import csv
import io
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import velado
from harness.judge_hook import times
from velado.tables import Plan, Selection, open_table

Rows = list[tuple[str | None, ...]]
TEXTS = [
    "",
    "a",
    "007",
    "0",
    "-1",
    "1.50",
    "1e3",
    "NULL",
    "NA",
    "nan",
    "None",
    "?",
    "true",
    "2020-01-31",
    " ",
    " a",
    "a ",
    "a b",
    "x;y",
    "x,y",
    "x\ty",
    "x|y",
    'say "hi"',
    '"',
    '""',
    "it's",
    "'",
    "''",
    "line\nbreak",
    "line\r\nbreak",
    "cr\rhere",
    "\n",
    "=1+1",
    "@x",
    "#x",
    "\\",
    "\\n",
    'back\\"slash',
    "%s",
    "{}",
    "a" * 300,
    "*",
    "\u00a0",
    "\u200b",
    "end,",
]
WIDE = ["é", "ñandú", "Straße", "ü,ö", "日本", "e\u0301", "🙂", "ﬁ"]
WESTERN = ["é", "ñandú", "Straße", "ü,ö"]
WINDOWS = ["–", "“q”", "€"]
WORDS_IN = {"latin-1": WESTERN, "cp1252": WESTERN + WINDOWS}
DONE = ["", "", "", "", "too many", "too many, empty", "too few", "blank", "trailing", "nul", "long", "lone", "mixed"]
ENDS = ["\n", "\n", "\r\n", "\r"]
SEEDS = [range(30), pytest.param(range(30, times(100, 2000)), marks=pytest.mark.thorough)]


def engine(path: Path, delimiter: str | None, encoding: str | None) -> tuple[list[str], Rows]:
    options = {"path": str(path), "quote": '"', "names": "exact"} | ({"delimiter": delimiter} if delimiter else {})
    with open_table(options | ({"encoding": encoding} if encoding else {})) as table:
        fetched = table.fetch(Plan((), Selection()), "keep")
        rows = list(zip(*(c.to_pylist() for c in fetched.columns), strict=True))
        return list(table.header), [tuple(c or None for c in row) for row in rows]


def python(content: str, delimiter: str) -> tuple[list[str], Rows] | None:
    """Rows with whatever number of fields they have; blank lines are none."""
    try:
        lines = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))
    except csv.Error:
        return None
    return lines[0], [tuple(c or None for c in line) for line in lines[1:] if line]


def arrow(content: str, header: list[str], delimiter: str) -> Rows | None:
    """pyarrow with all columns as text; None if it does not accept the file."""
    names = [str(i) for i in range(len(header))]
    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO(content.encode("utf-8", "surrogatepass")),
            read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows_after_names=1),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, UnicodeError):
        return None
    return [tuple(c or None for c in row) for row in zip(*(c.to_pylist() for c in table.columns), strict=True)]


def field(rng: random.Random, value: str, delimiter: str, nasty: float) -> str:
    """A cell as a careful, a lazy or a careless program writes it."""
    if rng.random() < nasty:
        return rng.choice([f' "{value}"', f'"{value}" ', f'"{value}', value, f"a{value}", f'"a"{value}', f'""{value}""'])
    doubled = '"' + value.replace('"', '""') + '"'
    needed = any(c in value for c in (delimiter, '"', "\n", "\r"))
    return doubled if needed or rng.random() < 0.2 else value


def nasty_file(seed: int) -> tuple[str, str, str, str]:
    """Content, delimiter, encoding, and what was done to it."""
    rng = random.Random(seed)
    delimiter = rng.choice([",", ",", ";", "\t", "|"])
    end = rng.choice(ENDS)
    encoding = rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
    words = TEXTS + WORDS_IN.get(encoding, WIDE)
    if encoding in ("latin-1", "cp1252"):
        words = [w for w in words if _fits(w, encoding)]
    width = rng.randint(2, 5)
    header = [f"c{i}" for i in range(width)]
    if rng.random() < 0.2:
        header[rng.randrange(width)] = rng.choice(['the "name"', f"a{delimiter}b", "line\nbreak", "naïve", "with blank", "*"])
    lines = [[field(rng, w, delimiter, 0) for w in header]]
    done = rng.choice(DONE)
    nasty = rng.choice([0, 0, 0.02, 0.1]) if done == "" else 0
    for _ in range(rng.randint(1, 12)):
        lines.append([field(rng, rng.choice(words), delimiter, nasty) for _ in range(width)])
    place = rng.randrange(1, len(lines))
    if done == "too many":
        lines[place].append("extra")
    elif done == "too many, empty":
        lines[place].append(rng.choice(["", '""']))
    elif done == "too few":
        lines[place].pop()
    elif done == "blank":
        lines.insert(rng.randint(1, len(lines)), [rng.choice(["", "", " ", '""', "\t"])])
    elif done == "trailing":
        lines = [[*line, ""] for line in lines]
    elif done == "nul":
        lines[place][0] = "a\0b"
    elif done == "long":
        lines[place][-1] = "x" * rng.choice([70_000, 300_000])
    elif done == "lone":
        lines[place][rng.randrange(width)] = rng.choice(['a"b', 'a""b', 'a"', '"a"b', '"a""', ' "a"', '"'])
    ends = [rng.choice(["\n", "\r\n", "\r"]) if done == "mixed" else end for _ in lines]
    if rng.random() < 0.3:
        ends[-1] = ""
    content = "".join(delimiter.join(line) + e for line, e in zip(lines, ends, strict=True))
    return content, delimiter, encoding, done


def _fits(word: str, encoding: str) -> bool:
    try:
        return bool(word.encode(encoding)) or not word
    except UnicodeEncodeError:
        return False


def compared(path: Path, content: str, delimiter: str, encoding: str, told: bool) -> str:
    """Read a file by all readers: 'refused', 'agreed', or what is wrong."""
    path.write_bytes(content.encode(encoding))
    try:
        header, rows = engine(path, delimiter if told else None, encoding if told else None)
    except velado.VeladoError:
        return "refused"
    expected = python(content, delimiter)
    if expected is None:
        return "Python's csv refuses the file, the engine does not"
    wrong = [i for i, row in enumerate(expected[1]) if len(row) != len(expected[0])]
    if wrong:
        return f"row {wrong[0] + 1} has another number of fields, and the engine says nothing"
    if header != expected[0]:
        return f"the header is {expected[0]}, the engine reads {header}"
    if rows != expected[1]:
        at = next((i for i, (a, b) in enumerate(zip(rows, expected[1], strict=False)) if a != b), min(len(rows), len(expected[1])))
        return f"row {at + 1} of {len(expected[1])} is {expected[1][at : at + 1]!r:.150}, the engine reads {rows[at : at + 1]!r:.150} ({len(rows)} rows)"
    other = arrow(content, header, delimiter)
    if other is not None and other != rows:
        return "pyarrow sees another table than the engine and Python's csv"
    return "agreed"


@pytest.mark.parametrize("seeds", SEEDS)
def test_the_engine_reads_what_others_read_or_refuses(tmp_path: Path, seeds: range) -> None:
    seen: Counter[str] = Counter()
    wrong = []
    for seed in seeds:
        content, delimiter, encoding, done = nasty_file(seed)
        result = compared(tmp_path / f"{seed}.csv", content, delimiter, encoding, told=True)
        seen[result] += 1
        seen[f"{done or 'as it should be'}: {result}"] += 1
        if result not in ("agreed", "refused"):
            wrong.append(f"seed {seed} ({done or 'nothing done'}, {encoding}): {result}\n    {content[:200]!r}")
    assert not wrong, f"{len(wrong)} files are read differently:\n" + "\n".join(wrong[:15])
    # Refusing everything would be easy.
    assert seen["agreed"] >= len(seeds) // 3, seen
    assert not any(seen[f"{done}: agreed"] for done in ("too many", "too many, empty", "too few")), seen


@pytest.mark.parametrize("seeds", SEEDS)
def test_what_the_engine_finds_out_by_itself(tmp_path: Path, seeds: range) -> None:
    """Neither delimiter nor encoding is told: files that others read well are read alike, or refused."""
    wrong, agreed = [], 0
    for seed in seeds:
        rng = random.Random(seed)
        delimiter = rng.choice([",", ";", "\t", "|"])
        encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
        words = ["Ann", "Bob Smith", "31", "007", "", "x y", *WORDS_IN.get(encoding, WIDE)]
        rows = [[rng.choice(words) for _ in range(3)] for _ in range(rng.randint(3, 15))]
        # A table in which nothing tells Latin-1 from UTF-8 is both.
        rows[0][0] = "ñandú"
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator=rng.choice(["\n", "\r\n"])).writerows([["a", "b", "c"], *rows])
        result = compared(tmp_path / f"{seed}.csv", out.getvalue(), delimiter, encoding, told=False)
        agreed += result == "agreed"
        if result not in ("agreed", "refused"):
            wrong.append(f"seed {seed} ({encoding}, {delimiter!r}): {result}")
    assert not wrong, f"{len(wrong)} files are read differently:\n" + "\n".join(wrong[:15])
    assert agreed >= len(seeds) * 4 // 5


ROWS_OF_OTHER_LENGTHS = {
    "an empty field more": "a,b\n1,2\n3,4,\n5,6\n",
    "a quoted empty field more": 'a,b\n1,2\n3,4,""\n',
    "an empty field more in the first row": "a,b\n1,2,\n3,4\n",
    "an empty field more in the last row, no line end": "a,b\n1,2\n3,4,",
    "empty fields more in every row": "a,b\n1,2,\n3,4,\n",
    "two empty fields more": "a,b\n1,2\n3,4,,\n",
    "a name with a comma, then an empty field": "name,age,ill\nAnn,31,flu\nSmith, John SECRET,30,flu,\n",
    "a field more": "a,b\n1,2\n3,4,5\n",
    "a field less": "a,b,c\n1,2,3\n4,5\n",
    "a field less in the first row": "a,b,c\n4,5\n1,2,3\n",
    "a field less in the last row, no line end": "a,b,c\n1,2,3\n4,5",
    "a lone blank": "a,b\n1,2\n \n3,4\n",
    "an empty text alone": 'a,b\n1,2\n""\n3,4\n',
    "a quote never closed": 'a,b\n1,2\n"3,4\n5,6\n',
    "a field more, carriage returns": "a,b\r1,2\r3,4,\r",
    "a field more after a broken line": 'a,b\n"1\n1",2\n3,4,\n',
    "an empty field more after a byte order mark": "\ufeffa,b\n1,2\n3,4,\n",
}


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("what", ROWS_OF_OTHER_LENGTHS)
def test_a_row_of_another_length_stops_everything(tmp_path: Path, what: str, told: bool) -> None:
    """Cells that slide into the next column are how names come out."""
    result = compared(tmp_path / "t.csv", ROWS_OF_OTHER_LENGTHS[what], ",", "utf-8", told)
    assert result == "refused"


HEADERS = {
    "a line break in a name, CRLF": ('a,"b\nc"\r\n1,2\r\n3,4\r\n', "agreed"),
    "a line break in a name, LF": ('a,"b\nc"\n1,2\n3,4\n', "agreed"),
    "a line break in a name, CR": ('a,"b\nc"\r1,2\r3,4\r', "agreed"),
    "a carriage return in a name": ('a,"b\rc"\n1,2\n3,4\n', "agreed"),
    "CRLF in a name": ('a,"b\r\nc"\r\n1,2\r\n3,4\r\n', "agreed"),
    "a quote in a name": ('a,"b""c"\n1,2\n3,4\n', "agreed"),
    "a delimiter in a name": ('a,"b,c"\n1,2\n3,4\n', "agreed"),
}


@pytest.mark.parametrize("what", HEADERS)
def test_no_row_is_lost_after_a_header_with(tmp_path: Path, what: str) -> None:
    content, expected = HEADERS[what]
    assert compared(tmp_path / "t.csv", content, ",", "utf-8", True) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('a,b\n1, "2"\n', "refused"),
        ('a,b\n1,"2" \n', "refused"),
        ('a,b\n "1",2\n', "refused"),
        ('a, "b"\n1,2\n', "agreed"),
        ('a,b\n1, "2, 3"\n', "refused"),
        ('a,b\n1,\t"2"\n', "agreed"),
    ],
)
def test_blanks_around_quotes_are_read_alike_or_refused(tmp_path: Path, content: str, expected: str) -> None:
    assert compared(tmp_path / "t.csv", content, ",", "utf-8", True) == expected


def test_a_row_of_another_length_far_from_the_beginning(tmp_path: Path) -> None:
    """Beyond any sample that a reader may have looked at."""
    rows = [f"{i},{i}" for i in range(60_000)]
    for place in (59_999, 30_000):
        lines = list(rows)
        lines[place] += ","
        result = compared(tmp_path / "t.csv", "a,b\n" + "\n".join(lines) + "\n", ",", "utf-8", True)
        assert result == "refused", place
