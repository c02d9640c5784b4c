"""Faulty projects, YAML texts, tables and hierarchies, drawn from a seed: the cases of the fuzzing tests."""

import copy
import csv
import datetime
import io
import random
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import yaml

Rng = random.Random

PEOPLE = {
    "id": [f"p{i:03d}" for i in range(48)],
    "age": [str(20 + i * 7 % 50) for i in range(48)],
    "born": [f"19{50 + i % 40}-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(48)],
    "sex": ["f" if i % 3 else "m" for i in range(48)],
    "zip": [f"{40000 + i * 37 % 500}" for i in range(48)],
    "place": [f"quarter {i % 5}/town {i % 3}/state" for i in range(48)],
    "ill": [("flu", "asthma", "angina", "none")[i % 4] for i in range(48)],
    "pay": [f"{1000 + i * 13.5:.2f}" for i in range(48)],
}
SHOWN = {"role": "insensitive", "exposure": "accepted"}
"""Values that single people out would stop most cases before they come to what is tried."""
ROLES: dict[str, Any] = {
    "id": "identifier",
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 20]}},
    "born": SHOWN,
    "sex": {"role": "quasi-identifier"},
    "zip": SHOWN,
    "place": SHOWN,
    "ill": "sensitive",
    "pay": SHOWN,
}
TREE = {"body": {"chest": ["asthma", "angina"], "head": ["flu"]}, "well": ["none"]}


def _base(**changes: Any) -> dict[str, Any]:
    columns = {name: copy.deepcopy(c) for name, c in {**ROLES, **changes.pop("columns", {})}.items()}
    project: dict[str, Any] = {
        "velado": 1,
        "name": "fuzzed",
        "source": {"path": "people.csv", "delimiter": ",", "encoding": "utf-8", "missing": ["?"]},
        "columns": columns,
        "models": [{"k-anonymity": {"k": 3}}],
        "output": {"path": "out.csv", "order": "sorted"},
    }
    return {key: value for key, value in {**project, **changes}.items() if value is not None}


PROJECTS: list[dict[str, Any]] = [
    _base(method={"lattice": {"suppression": 0.2, "objective": "loss", "budget": 2, "minimal": True}}),
    _base(
        columns={
            "born": {"role": "quasi-identifier", "type": "date", "format": "%Y-%m-%d", "hierarchy": {"dates": ["year", "decade"]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {"side": "right", "hide": [2, 4]}}},
            "age": SHOWN,
            "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}},
        },
        models=[{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.9, "column": "ill", "distance": "hierarchical"}}],
        method={"datafly": {"suppression": 0.5}},
        output={"path": "out.xlsx", "suppressed": "asterisks", "guard": True, "recoding": "recoding.json"},
    ),
    _base(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"cuts": [[30, 40, 50], [40]]}}},
            "place": {
                "role": "quasi-identifier",
                "missing": "reject",
                "hierarchy": {"path": {"separator": "/", "specific": "left"}},
            },
            "sex": {"role": "quasi-identifier", "hierarchy": {"rows": [["f", "*"], ["m", "*"]]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"file": "zip.csv", "delimiter": ";"}},
        },
        models=[{"distinct-diversity": {"l": 2, "column": "ill"}}, {"alpha-k": {"alpha": 0.9, "k": 2, "column": "ill"}}],
        method={"incognito": {}},
        output={"path": "out.parquet", "order": "keep"},
    ),
    _base(
        columns={
            "ill": {"role": "quasi-identifier", "hierarchy": {"groups": [{"sick": ["flu", "asthma", "angina"], "well": ["none"]}]}},
            "sex": {"role": "quasi-identifier", "hierarchy": {"order": ["f", "m"]}},
            "pay": {"role": "sensitive", "exposure": "accepted"},
        },
        models=[{"recursive-diversity": {"c": 5, "l": 2, "column": "pay"}}, {"k-anonymity": {"k": 4}}],
        method={"mondrian": {"split": "balanced", "represent": "interval", "weights": {"age": 2}, "memory": "1GB"}},
    ),
    _base(
        protection="operations",
        models=None,
        rest="drop",
        columns={
            "id": {"role": "identifier", "operation": {"pseudonymize": {"key": "file:secret.key"}}},
            "age": {"role": "insensitive", "operation": {"limits": {"low": 25, "high": 60, "label": True}}},
            "born": {"role": "insensitive", "operation": {"shift": {"key": "file:secret.key", "days": [-9, 9], "by": "id"}}},
            "sex": {"role": "insensitive", "operation": {"substitute": {"map": {"f": "1", "m": "2"}}}},
            "zip": {"role": "insensitive", "operation": {"mask": {"keep": 3, "side": "right", "character": "#"}}},
            "place": {"role": "insensitive", "operation": {"substitute": {"file": "places.csv", "delimiter": ";", "default": "x"}}},
            "ill": {"role": "sensitive", "operation": {"encrypt": {"key": "file:secret.key"}}},
            "pay": {"role": "insensitive", "operation": {"round": {"to": 50}}},
        },
        output={"path": "out.arrow"},
    ),
    _base(
        columns={"pay": {"role": "insensitive", "operation": {"noise": {"scale": 5, "distribution": "normal", "decimals": 1}}}},
        models=[{"entropy-diversity": {"l": 1.5, "column": "ill"}}, {"beta-likeness": {"beta": 4, "column": "ill"}}],
        method={"samarati": {"suppression": 0}},
    ),
    _base(
        columns={"age": {"role": "quasi-identifier", "type": "number"}, "sex": "insensitive"},
        models=[{"k-anonymity": {"k": 3}}],
        method={"fuzzy": {"breakpoints": {"age": [20, 40, 60]}, "names": {"age": ["low", "mid", "high"]}, "suppression": 0.5}},
    ),
    _base(method={"fixed": {"levels": {"age": 2, "sex": 1}}}),
]
SEVERAL: dict[str, Any] = {
    "name": "several",
    "attributes": {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}}},
    "models": [{"k-anonymity": {"k": 3}}],
    "method": {"lattice": {"suppression": 0.3}},
    "joinable": ["age"],
    "tables": {
        "a": {"source": "people.csv", "columns": {"age": {}}, "rest": "drop", "output": {"path": "a.csv"}},
        "b": {
            "source": "people.csv",
            "columns": {"age": {}, "sex": {"role": "insensitive"}},
            "rest": "drop",
            "output": {"path": "b.csv"},
        },
    },
}
NASTY: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2,
    0.5,
    -0.0,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    10**30,
    10**400,
    -(10**400),
    "",
    " ",
    "\0",
    "a\0b",
    "*",
    "x" * 70_000,
    "äöü€🙂",
    "../..",
    "/",
    ".",
    "~",
    "/dev/null",
    "/dev/zero",
    "people.csv",
    "people.csv/x",
    "no such file",
    "n" * 300,
    "[",
    "(*)",
    "a.*b",
    "%",
    "%Q",
    "%Y",
    "%n%%%",
    "$",
    "';--",
    "'",
    '"',
    "\r\n",
    "{}",
    [],
    {},
    [None],
    [[]],
    [{}],
    [[[]]],
    [1, 2],
    ["a", "b"],
    [True],
    [float("nan")],
    [10**400],
    {"": None},
    {None: 1},
    {1: 2},
    {True: False},
    {"a": {"b": {"c": [1]}}},
    {"k": 3},
    {"file": "zip.csv"},
    {"path": "people.csv"},
    datetime.date(2020, 1, 1),
    datetime.datetime(2020, 1, 1, 3),
    b"\x00\xff",
    {1, "a"},
    [["a"], "b", 3],
    "age",
    "ill",
    "id",
    "zip",
    ["age"],
    {"age": "x"},
    {"age": 1},
    {"age": None},
    "file:people.csv",
    "env:HOME",
    "env:NOTHING",
    "1GB",
    "0GB",
]


def deep(levels: int, kind: str) -> Any:
    """A nested list or mapping."""
    nested: Any = "x"
    for _ in range(levels):
        nested = [nested] if kind == "list" else {"a": nested}
    return nested


def places(node: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value of a nested structure."""
    found = []
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in pairs:
        found.append((*above, key))
        found += places(value, (*above, key))
    return found


def mutated(rng: Rng) -> dict[str, Any]:
    """A project with one to three faults."""
    project = copy.deepcopy(rng.choice([*PROJECTS, SEVERAL]))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        ways = places(project)
        if not ways:
            break
        *above, last = rng.choice(ways)
        node: Any = project
        for key in above:
            node = node[key]
        what = rng.random()
        value = copy.deepcopy(rng.choice(NASTY))
        if what < 0.65:
            node[last] = value
        elif what < 0.72:
            del node[last]
        elif what < 0.79 and isinstance(node, dict):
            node[rng.choice(["", "x", None, 7, True, 1.5, "role", "key", "path", "a\0b", datetime.date(2020, 1, 1)])] = value
        elif what < 0.84:
            node[last] = [node[last]]
        elif what < 0.89:
            node[last] = {rng.choice(["a", "", 1, "k", "path"]): node[last]}
        elif what < 0.94:
            node[last] = str(node[last])
        else:
            other: Any = project
            for key in rng.choice(places(project)):
                other = other[key]
            node[last] = copy.deepcopy(other)
    return project


YAML_TEXTS: list[str] = [
    "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "\n".join(f"{chr(98 + i)}: &{chr(98 + i)} [" + ",".join([f"*{chr(97 + i)}"] * 9) + "]" for i in range(9)),
    "a: &a {<<: *a}",
    "&a [*a]",
    "columns: &c {x: *c}\nsource: p.csv",
    "source: &s {path: *s}",
    "[" * 5000,
    "[" * 100_000 + "]" * 100_000,
    "{a: " * 3000 + "}" * 3000,
    "- " * 20_000,
    "? " * 2_000,
    "a:\n" + "".join(" " * i + "b:\n" for i in range(1, 1500)),
    "!!python/object/apply:os.system [ls]",
    "!!python/name:os.system",
    "{[a]: b}",
    "{{a: b}: c}",
    "? [a, b]\n: c",
    "a: 1\na: 2",
    "<<: 1",
    "<<: [1]",
    "<<: {a: 1}",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "!!binary notbase64!",
    "!!binary ///=",
    "!!int x",
    "!!float x",
    "!!timestamp x",
    "!!bool x",
    "2020-99-99",
    "a: 0x",
    "a: 0b2",
    "a: 1_000:99:99",
    "a: " + "9" * 10_000,
    "a: 1e999999",
    "a: .nan",
    "a: 0o8",
    "\t",
    "%YAML 9.9\n---\na",
    "---\n---\na: 1",
    "...",
    "a: *b",
    "&a &b c",
    "'",
    '"',
    "|",
    ">",
    "a: |9",
    "\ufeff",
    "\x00",
    "a: \x07",
    "a: 2001-12-14t21:59:43.10-99:99",
    "null",
    "~",
    "[]",
    "{}",
    "5",
    "true",
    "'text'",
    "- a\n- b",
    "!!null x: y",
    "? null\n: y",
    "a: !!str",
    "!<tag:yaml.org,2002:str> a",
    "a" * 300_000,
    "a: " + "b" * 5_000_000,
    "#" * 2_000_000,
]


def mutated_text(rng: Rng) -> str:
    """A YAML text that went wrong."""
    if rng.random() < 0.3:
        return rng.choice(YAML_TEXTS)
    text = yaml.safe_dump(rng.choice([*PROJECTS, SEVERAL]), sort_keys=False)
    letters = list(text)
    for _ in range(rng.choice([1, 2, 5, 20])):
        at = rng.randrange(len(letters) + 1)
        what = rng.random()
        if what < 0.4:
            letters[at:at] = rng.choice(
                ["{", "}", "[", "]", ":", "&a ", "*a ", "\t", "\0", "!!set ", "<<: ", "- ", "? ", "'", '"', "\n"]
            )
        elif what < 0.7:
            del letters[at : at + rng.choice([1, 1, 3, 30])]
        else:
            length = rng.choice([1, 5, 50])
            letters[at:at] = letters[rng.randrange(len(letters)) :][:length]
    return "".join(letters)


def csv_bytes(rows: int | None = None) -> bytes:
    """The people as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(PEOPLE)
    writer.writerows(list(zip(*PEOPLE.values(), strict=True))[:rows])
    return text.getvalue().encode()


def damaged(data: bytes, rng: Rng) -> bytes:
    """Bytes with some faults: changed, cut off, doubled, exchanged."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(max(len(changed), 1))
        what = rng.random()
        if what < 0.45:
            changed[at : at + 1] = bytes([rng.randrange(256)])
        elif what < 0.6:
            changed[at : at + rng.choice([4, 8])] = rng.choice([b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f", b"\0\0\0\x80"])
        elif what < 0.7:
            del changed[at : at + rng.choice([1, 4, 100])]
        elif what < 0.8:
            changed[at:at] = changed[rng.randrange(len(changed) or 1) :][: rng.choice([1, 8, 200])]
        elif what < 0.85:
            del changed[at:]
        else:
            changed[at:at] = rng.choice(
                [b'"', b"\n", b"\r", b",", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"'", b";", b"\x1f\x8b\x08", b"PK\3\4"]
            )
    return bytes(changed)


CSV_FILES: dict[str, Callable[[], bytes]] = {
    "nothing but commas": lambda: b"," * 1000,
    "nothing but quotes": lambda: b'"' * 1000,
    "one long line": lambda: b"a" * 30_000_000,
    "one long quoted field": lambda: b'a,b\n"' + b"x" * 20_000_000 + b'",1\n',
    "many columns": lambda: b",".join(b"c%d" % i for i in range(30_000)) + b"\n" + b",".join([b"1"] * 30_000) + b"\n",
    "a million columns": lambda: b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n",
    "zeros": lambda: b"\0" * 100_000,
    "gzip": lambda: __import__("gzip").compress(csv_bytes()),
    "zip": lambda: zipped({"people.csv": csv_bytes()}),
    "zstd": lambda: pa.Codec("zstd").compress(csv_bytes()).to_pybytes(),
    "only a byte order mark": lambda: b"\xef\xbb\xbf",
    "UTF-16 without its end": lambda: csv_bytes().decode().encode("utf-16")[:-1],
    "UTF-32": lambda: csv_bytes().decode().encode("utf-32"),
    "carriage returns": lambda: csv_bytes().replace(b"\n", b"\r"),
    "surrogates": lambda: csv_bytes().replace(b"flu", b"\xed\xa0\x80"),
    "parquet": lambda: parquet_bytes(plain()),
}


def zipped(files: dict[str, bytes]) -> bytes:
    """A ZIP archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def plain() -> pa.Table:
    """The people as text."""
    return pa.table(PEOPLE)


def typed() -> pa.Table:
    """The people, each column in a type of its own."""
    n = len(PEOPLE["id"])
    return pa.table(
        {
            **{k: PEOPLE[k] for k in ("id", "place")},
            "age": pa.array([int(a) for a in PEOPLE["age"]], pa.int8()),
            "born": pa.array([datetime.date.fromisoformat(b) for b in PEOPLE["born"]], pa.date32()),
            "sex": pa.array(PEOPLE["sex"]).dictionary_encode(),
            "zip": pa.array([int(z) for z in PEOPLE["zip"]], pa.uint64()),
            "ill": pa.array(PEOPLE["ill"], pa.large_string()),
            "pay": pa.array([Decimal(p) for p in PEOPLE["pay"]], pa.decimal128(12, 2)),
            "score": pa.array([(-0.0, 0.0, 1.5, float("nan"))[i % 4] for i in range(n)]),
            "when": pa.array([datetime.datetime(2020, 1, 1 + i % 9) for i in range(n)], pa.timestamp("us")),
        }
    )


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    """A table as a Parquet file."""
    out = pa.BufferOutputStream()
    pa.parquet.write_table(table, out, **options)
    return out.getvalue().to_pybytes()


def arrow_bytes(table: pa.Table, **options: Any) -> bytes:
    """A table as a Feather file."""
    out = pa.BufferOutputStream()
    pa.feather.write_feather(table, out, **options)
    return out.getvalue().to_pybytes()


def xlsx_bytes(table: pa.Table, path: Path) -> bytes:
    """A table as a workbook."""
    import xlsxwriter

    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet("people")
    for j, name in enumerate(table.column_names):
        sheet.write_string(0, j, name)
        for i, value in enumerate(table.column(j).to_pylist()):
            if isinstance(value, (int, float)) and value == value:
                sheet.write_number(i + 1, j, value)
            else:
                sheet.write_string(i + 1, j, str(value))
    book.close()
    return path.read_bytes()


def damaged_zip(data: bytes, rng: Rng) -> bytes:
    """A workbook with a fault: in its bytes, or inside one of its files, which is packed again."""
    if rng.random() < 0.4:
        return damaged(data, rng)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(files))
    if rng.random() < 0.1:
        del files[name]
    else:
        files[name] = damaged(files[name], rng)
    return zipped(files)


def hierarchy_bytes() -> bytes:
    """A hierarchy of the postal codes."""
    return "".join(f"{z};{z[:3]}**;*\n" for z in dict.fromkeys(PEOPLE["zip"])).encode()


def folder_of(path: Path) -> Path:
    """A folder with all files that the valid projects name."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "people.csv").write_bytes(csv_bytes())
    (path / "zip.csv").write_bytes(hierarchy_bytes())
    (path / "places.csv").write_text("".join(f"{p};{i}\n" for i, p in enumerate(dict.fromkeys(PEOPLE["place"]))))
    key = path / "secret.key"
    key.write_text("0123456789abcdef" * 4 + "\n")
    key.chmod(0o600)
    return path


def project_on(file: str, rng: Rng) -> dict[str, Any]:
    """A valid project about another file with the columns of the people (and perhaps others)."""
    project = copy.deepcopy(PROJECTS[rng.choice([0, 0, 3, 7])])
    project["source"] = {"path": file}
    project["rest"] = rng.choice(["insensitive", "insensitive", "drop"])
    # The rest is published without its exposure being accepted, and stops most runs.
    left_out = 0.5 if project["rest"] == "drop" else 0.1
    for name in ("born", "zip", "place", "pay"):
        if rng.random() < left_out:
            project["columns"].pop(name, None)
    project["output"] = {"path": rng.choice(["out.csv", "out.parquet", "out.xlsx", "out.arrow"])}
    return project
