"""Operations on columns: what they do, that nothing else gets out, and what happens to bad keys, tables and values."""

import csv
import hashlib
import hmac
import json
import math
import os
import re
import stat
from collections import Counter
from datetime import date
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.cmac import CMAC
from hypothesis import given, settings
from hypothesis import strategies as st

import velado
from case_loop import failures
from harness.judge_hook import times
from velado import Column, DistinctDiversity, InputError, KAnonymity, Output, Project
from velado.errors import VerificationError
from velado.methods import Fixed
from velado.operations import OPERATIONS, Given, decrypt_tokens, operation_from
from velado.operations.keys import key_id
from velado.tables import Plan, Selection, open_table
from velado.tables.duckdb.table import DuckDBTable

KEY = "00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210"
OTHER_KEY = KEY[::-1]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
WRITE = DuckDBTable.write

PEOPLE = pa.table(
    {
        "name": ["Ana Abreu", "Bruno Brito", "Carla Castro", "Davi Dias", "Ana Abreu", None],
        "email": ["a@x.org", "b@x.org", "c@y.net", "d@z.com", "a@x.org", "f@y.net"],
        "age": ["31", "34", "17", "95", "52", None],
        "income": ["1234.50", "999.99", "-20.00", "50000.00", "0.00", "77.70"],
        "seen": ["2024-02-28", "2024-03-01", "2024-12-31", "2023-01-01", "2024-03-09", None],
        "city": ["Lima", "Quito", "Lima", "Bogotá", "Lima", "Quito"],
    }
)


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("VELADO_KEY", KEY)
    monkeypatch.setenv("VELADO_OTHER", OTHER_KEY)


def about(column="c", attribute=None, role="insensitive", **more):
    return Given(column, attribute or column, role, **more)


def labels(spec, values, **more):
    return list(operation_from(spec).labels(values, about(**more)))


def light(data=PEOPLE, output=None, rest="insensitive", **operations):
    """Apply operations to columns; a role may come with one: ``name=("identifier", "mask")``."""
    described = {n: o if isinstance(o, tuple) else ("", o) for n, o in operations.items()}
    columns = tuple(Column(n, role, operation=o) for n, (role, o) in described.items())
    return velado.run(Project(data, columns, output=output or Output(order="keep"), rest=rest, protection="operations"))


def cells(release, column):
    return release.table.column(column).to_pylist()


def refused(code, make, *args, **options):
    with pytest.raises(InputError) as caught:
        make(*args, **options)
    assert caught.value.code == code
    assert caught.value.exit_code == 2
    return caught.value


# --- Keys and tokens: definitions, recomputed from the standards ---


def aes_siv(key, plain):
    """RFC 5297 without associated data, from AES-CMAC and AES-CTR."""
    half = len(key) // 2

    def cmac(data):
        mac = CMAC(algorithms.AES(key[:half]))
        mac.update(data)
        return mac.finalize()

    def double(block):
        number = int.from_bytes(block, "big") << 1
        return (number ^ 0x87 if number >> 128 else number).to_bytes(17, "big")[1:]

    def s2v(*strings):
        d = cmac(bytes(16))
        for s in strings[:-1]:
            d = bytes(x ^ y for x, y in zip(double(d), cmac(s), strict=True))
        last = strings[-1]
        if len(last) >= 16:
            return cmac(last[:-16] + bytes(x ^ y for x, y in zip(last[-16:], d, strict=True)))
        padded = last + b"\x80" + bytes(15 - len(last))
        return cmac(bytes(x ^ y for x, y in zip(double(d), padded, strict=True)))

    def sealed(*strings):
        v = s2v(*strings)
        counter = (int.from_bytes(v, "big") & ~(1 << 63) & ~(1 << 31)).to_bytes(16, "big")
        ctr = Cipher(algorithms.AES(key[half:]), modes.CTR(counter)).encryptor()
        return v + ctr.update(strings[-1]) + ctr.finalize()

    return sealed(*plain) if isinstance(plain, tuple) else sealed(plain)


def hkdf(key, info, length):
    """RFC 5869 with SHA-256 and no salt."""
    secret, block, out = hmac.digest(bytes(32), key, "sha256"), b"", b""
    for i in range(1, -(-length // 32) + 1):
        block = hmac.digest(secret, block + info + bytes([i]), "sha256")
        out += block
    return out[:length]


def test_the_vectors_of_the_standards():
    key = bytes.fromhex("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    extra = bytes.fromhex("101112131415161718191a1b1c1d1e1f2021222324252627")
    plain = bytes.fromhex("112233445566778899aabbccddee")
    sealed = bytes.fromhex("85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c")  # RFC 5297, A.1
    assert AESSIV(key).encrypt(plain, [extra]) == aes_siv(key, (extra, plain)) == sealed
    long = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"  # RFC 5869, A.3
    assert hkdf(bytes([0x0B] * 22), b"", 42).hex() == long


@settings(max_examples=30, deadline=None)
@given(TEXT, TEXT)
def test_tokens_are_what_their_definitions_say(value, attribute):
    os.environ["VELADO_KEY"] = KEY
    master, data = bytes.fromhex(KEY), value.encode()
    lacking = 16 - len(data) % 16
    derived = hkdf(master, b"velado 1 encrypt\0" + attribute.encode(), 64)
    expected = "e" + aes_siv(derived, data + bytes([lacking] * lacking)).hex()
    assert labels({"encrypt": "env:VELADO_KEY"}, [value], attribute=attribute) == [expected]
    derived = hkdf(master, b"velado 1 pseudonymize\0" + attribute.encode(), 32)
    digits = hmac.new(derived, data, hashlib.sha256).hexdigest()
    for length in (8, 16, 65):
        spec = {"pseudonymize": {"key": "env:VELADO_KEY", "length": length}}
        assert labels(spec, [value], attribute=attribute) == ["p" + digits[: length - 1]]


def test_tokens_do_not_change_between_versions():
    """Pinned: a release of today must open tomorrow."""
    assert labels({"encrypt": "env:VELADO_KEY"}, ["José"]) == ["e41ffefc7b7f4c5df1f430a080eb3271d58bd85983b0fa0f18a84baeb5772f831"]
    assert labels({"pseudonymize": "env:VELADO_KEY"}, ["José"]) == ["pce81b5ec44282fb"]


@settings(max_examples=times(35, 500), deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=8, unique=True))
def test_what_is_encrypted_can_be_restored(values):
    os.environ["VELADO_KEY"] = KEY
    tokens = labels({"encrypt": "env:VELADO_KEY"}, values)
    assert len(set(tokens)) == len(values)
    assert decrypt_tokens(tokens, bytes.fromhex(KEY), "c", "c") == values


def test_tokens_depend_on_value_attribute_key_and_operation_only():
    tokens = [
        labels({operation: f"env:{key}"}, ["x"], column=column, attribute=attribute)[0]
        for operation in ("encrypt", "pseudonymize")
        for key in ("VELADO_KEY", "VELADO_OTHER")
        for attribute in ("a", "b")
        for column in ("one", "two")
    ]
    assert tokens[::2] == tokens[1::2]
    assert len(set(tokens)) == 8


def test_tokens_tell_the_length_of_a_value_only_roughly():
    by_length = {len(labels({"encrypt": "env:VELADO_KEY"}, ["x" * n])[0]) for n in range(1, 16)}
    assert by_length == {65}


def test_pseudonyms_that_collide_are_an_error():
    values = [str(i) for i in range(60_000)]
    spec = {"pseudonymize": {"key": "env:VELADO_KEY", "length": 8}}
    assert "length" in refused("same-pseudonym", labels, spec, values).hint
    assert len(set(labels({"pseudonymize": "env:VELADO_KEY"}, values))) == len(values)


def test_a_key_file_serves_as_well_as_a_variable(tmp_path):
    (tmp_path / "secret.key").write_text(KEY + "\n")
    (tmp_path / "secret.key").chmod(0o600)
    tokens = operation_from({"encrypt": "file:secret.key"}).labels(["x"], about(folder=tmp_path))
    assert tokens == labels({"encrypt": "env:VELADO_KEY"}, ["x"])


def test_a_new_key_is_random_private_and_replaces_nothing(tmp_path, main):
    assert main("key", "secret.key").code == 0
    path = tmp_path / "secret.key"
    assert re.fullmatch(r"[0-9a-f]{64}\n", path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    ended = main("key", "secret.key")
    assert (ended.code, path.read_text()) == (2, before)
    assert "exists already" in ended.err
    assert velado.operations.create_key(tmp_path / "other.key").read_text() != before
    refused("unwritable-output", velado.operations.create_key, tmp_path / "nowhere" / "secret.key")


# --- Bad keys ---

SECRET = "correct horse battery staple"


NO_PLACES = [
    KEY,
    SECRET,
    {"key": KEY},
    {"key": SECRET},
    {"key": f"env:{KEY}"},
    {"key": f"file:{KEY}"},
    {"key": None},
    {"key": 12345},
    {"key": "env:"},
    {"key": "file:"},
    {"key": "env:NOT A NAME"},
    {"key": f"base64:{KEY}"},
    {"password": SECRET},
    {"Passphrase": SECRET},
    {"secret": KEY},
    {"key": "env:VELADO_KEY", "password": SECRET},
]
"""What may not stand where the place of a key belongs."""


def test_a_key_in_the_project_is_refused_and_not_repeated():
    def check(operation, parameters):
        if operation == "shift" and isinstance(parameters, str):
            parameters = {"key": parameters}
        error = refused("key-in-project", Column, "id", "identifier", operation={operation: parameters})
        assert error.column == "id"
        assert not any(secret in json.dumps(error.as_dict()) for secret in (KEY, SECRET, "12345"))

    assert failures(check, product(["encrypt", "pseudonymize", "shift"], NO_PLACES)) == []


BAD_KEYS = {
    "env:VELADO_NOT_SET": "no-key",
    "env:EMPTY": "no-key",
    "file:nothing.key": "no-key",
    "file:.": "no-key",
    "env:SHORT": "bad-key",
    "env:PASSWORD": "bad-key",
    "file:short.key": "bad-key",
    "file:bytes.key": "bad-key",
}


def test_a_missing_or_malformed_key_stops_the_run(tmp_path, monkeypatch):
    def check(operation, place):
        columns = (Column("seen", operation={operation: {"key": place}}),)
        project = Project(
            PEOPLE, columns, output=Output(tmp_path / "out.csv"), rest="drop", folder=tmp_path, protection="operations"
        )
        error = refused(BAD_KEYS[place], velado.run, project)
        assert error.column == "seen"
        assert not any(part in str(error) for part in (KEY[:-2], SECRET))
        assert not (tmp_path / "out.csv").exists()

    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("SHORT", KEY[:-2])
    monkeypatch.setenv("PASSWORD", SECRET)
    (tmp_path / "short.key").write_text(KEY[:-1])
    (tmp_path / "bytes.key").write_bytes(bytes(range(32)))
    for file in tmp_path.iterdir():
        file.chmod(0o600)
    assert failures(check, product(["encrypt", "pseudonymize", "shift"], BAD_KEYS)) == []


# --- What the operations do ---


BECOME = [
    ({"mask": 3}, ["40712", "407", "40", "4"], ["407**", "***", "**", "*"]),
    ({"mask": {"keep": 2, "side": "left", "character": "#"}}, ["40712", "12"], ["###12", "##"]),
    ("mask", ["José"], ["****"]),
    ({"substitute": {"map": {"a": "b", 1: 2}}}, ["a", "1"], ["b", "2"]),
    ({"substitute": {"map": {"a": "b"}, "default": "other"}}, ["a", "x"], ["b", "other"]),
    ({"round": 10}, ["14", "15", "25", "-15", "0"], ["10", "20", "20", "-20", "0"]),
    ({"round": 0.1}, ["0.25", "-0.04", "3"], ["0.2", "0.0", "3.0"]),
    ({"round": 0.5}, ["1,26", "2,2"], ["1,5", "2,0"]),
    ({"round": {"to": 25}}, ["1e3", "12.6"], ["1000", "25"]),
    ({"top": 90}, ["89.5", "90", "90.01", "-3"], ["89.5", "90", "90", "-3"]),
    ({"top": {"high": 90, "label": True}}, ["90", "91"], ["90", ">90"]),
    ({"bottom": 18}, ["17", "18", "19"], ["18", "18", "19"]),
    ({"bottom": {"low": 0.5, "label": True}}, ["0,4", "0,5"], ["<0,5", "0,5"]),
    ({"limits": {"low": 18, "high": 90}}, ["5", "50", "500"], ["18", "50", "90"]),
    ({"limits": {"low": 18, "high": 90, "label": True}}, ["5", "50", "500"], ["<18", "50", ">90"]),
]


def test_values_become():
    assert [(spec, values, labels(spec, values)) for spec, values, _ in BECOME] == BECOME


@settings(max_examples=times(35, 500), deadline=None)
@given(st.lists(TEXT, min_size=1), st.integers(0, 6), st.sampled_from(["left", "right"]))
def test_a_mask_shows_no_more_than_it_keeps(values, keep, side):
    for value, masked in zip(values, labels({"mask": {"keep": keep, "side": side, "character": "#"}}, values), strict=True):
        kept = 0 if len(value) <= keep else keep
        shown = masked[:kept] if side == "right" else masked[len(masked) - kept :]
        assert len(masked) == len(value)
        assert shown == (value[:kept] if side == "right" else value[len(value) - kept :])
        assert masked.count("#") >= len(value) - kept


@settings(max_examples=times(35, 500), deadline=None)
@given(st.decimals(-(10**6), 10**6, places=3), st.sampled_from([1, 5, 10, 0.25, 1000]))
def test_rounding_goes_to_the_nearest_multiple(number, step):
    (shown,) = labels({"round": step}, [str(number)])
    assert abs(float(shown) - float(number)) <= step / 2 + 1e-9
    assert math.isclose(float(shown) / step, round(float(shown) / step), abs_tol=1e-9)


def test_substitutes_from_a_file(tmp_path):
    (tmp_path / "codes.csv").write_text('Lima;1\nQuito;2\n"Bogotá";3\n', encoding="utf-8-sig")
    operation = operation_from({"substitute": {"file": "codes.csv"}})
    assert operation.labels(["Quito", "Bogotá"], about(folder=tmp_path)) == ["2", "3"]
    (tmp_path / "codes.csv").write_text("Lima,1\nQuito,2\n")
    comma = operation_from({"substitute": {"file": "codes.csv", "delimiter": ","}})
    assert comma.labels(["Quito"], about(folder=tmp_path)) == ["2"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (None, "missing-file"),
        ("", "bad-substitutes"),
        ("Lima\n", "bad-substitutes"),
        ("Lima;1;2\n", "bad-substitutes"),
        ("Lima;\n", "bad-substitutes"),
        (";1\n", "bad-substitutes"),
        ("Lima;1\nLima;2\n", "bad-substitutes"),
        (b"Bogot\xe1;1\n", "unreadable-file"),
        ('"Lima;1\n', "unreadable-file"),
    ],
)
def test_a_bad_file_of_substitutes(tmp_path, text, code):
    if text is not None:
        (tmp_path / "codes.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    operation = operation_from({"substitute": {"file": "codes.csv"}})
    error = refused(code, operation.ready, about("city", role="identifier", folder=tmp_path))
    assert (error.column, error.values) == ("city", [])


def test_gaps_are_listed_five_at_most_and_never_those_of_identifiers():
    spec, values = {"substitute": {"map": {"x": "y"}}}, ["x", *(f"v{i}" for i in range(9))]
    error = refused("no-substitute", labels, spec, values)
    assert error.values == ["v0", "v1", "v2", "v3", "v4"]
    assert "9 value(s)" in error.message
    for role in ("identifier", ""):
        error = refused("no-substitute", labels, spec, values, role=role)
        assert error.values == []
        assert "v0" not in str(error)


@pytest.mark.parametrize(
    ("spec", "values", "code"),
    [
        ({"round": 10}, ["1", "x", "inf"], "not-a-number"),
        ({"top": 10}, ["nan"], "not-a-number"),
        ({"limits": {"low": 0, "high": 1}}, ["1.2.3"], "not-a-number"),
        ({"round": 10}, ["1e30"], "not-a-number"),
        ({"shift": {"key": "env:VELADO_KEY"}}, ["31/12/2024"], "not-a-date"),
        ({"shift": {"key": "env:VELADO_KEY", "days": [1, 30]}}, ["9999-12-31"], "not-a-date"),
    ],
    ids=str,
)
def test_values_that_an_operation_cannot_treat(spec, values, code):
    assert refused(code, labels, spec, values).values
    hidden = refused(code, labels, spec, values, role="identifier")
    assert hidden.values == []
    assert not any(v in str(hidden) for v in values if len(v) > 1)


# --- Parameters ---

NONSENSE = {
    "key": [KEY, 1, None, ""],
    "length": [7, 66, 8.5, "16", True, None],
    "keep": [-1, 1.5, "3", True],
    "side": ["top", 1, None],
    "character": ["", "**", 1, None],
    "file": [1, "", ["x"]],
    "delimiter": ["", ";;", 1, None],
    "map": [[], "a", {}, {"a": None}, {"a": ["b"]}, {None: "b"}, {True: "b"}],
    "default": ["", 1, ["x"]],
    "high": ["90", None, math.nan, math.inf, True],
    "low": ["18", None, math.nan, -math.inf, False],
    "label": ["yes", 1, None],
    "to": [0, -5, "10", math.nan, None, True],
    "days": [None, 5, [1], [1, 2, 3], [3, 1], [0, 0], [0.5, 2], [-40000, 3], "ab"],
    "by": ["", 3, ["id"]],
    "scale": [0, -1, "2", math.inf, None],
    "distribution": ["uniform", None, 1],
    "seed": [-1, 1.5, "7", True],
    "decimals": [-1, 10, 0.5, "2"],
}
GOOD = {
    "substitute": {"map": {"a": "b"}},
    "encrypt": {"key": "env:K"},
    "pseudonymize": {"key": "env:K"},
    "top": {"high": 1},
    "bottom": {"low": 1},
    "limits": {"low": 0, "high": 1},
    "round": {"to": 1},
    "shift": {"key": "env:K"},
    "noise": {"scale": 1},
}


def test_every_parameter_refuses_nonsense():
    def check(name, parameter, bad):
        operation_from({name: GOOD.get(name, {})})
        with pytest.raises(InputError) as caught:
            Column("c", "insensitive", operation={name: {**GOOD.get(name, {}), parameter: bad}})
        assert caught.value.code == ("key-in-project" if parameter == "key" else "bad-parameter")
        assert caught.value.column == "c"

    cases = [(n, p, bad) for n, kind in OPERATIONS.items() for p in kind.parameters for bad in NONSENSE[p]]
    assert len(cases) > 100
    assert failures(check, cases) == []


NO_OPERATIONS = [
    ("burn", "bad-operation"),
    ({"burn": 1}, "bad-operation"),
    (7, "bad-operation"),
    ([], "bad-operation"),
    ({"mask": 1, "round": 2}, "bad-operation"),
    ({"limits": 3}, "bad-operation"),
    ({"substitute": "x"}, "bad-operation"),
    ("substitute", "bad-operation"),
    ({"substitute": {"file": "a", "map": {"a": "b"}}}, "bad-operation"),
    ("encrypt", "missing-parameter"),
    ({"encrypt": {}}, "missing-parameter"),
    ("round", "missing-parameter"),
    ({"round": {"by": 3}}, "unknown-parameter"),
    ({"suppress": {"x": 1}}, "unknown-parameter"),
    ({"limits": {"low": 2, "high": 1}}, "bad-parameter"),
]


def test_what_is_not_an_operation():
    def check(spec, code):
        assert refused(code, Column, "c", "insensitive", operation=spec).column == "c"

    assert failures(check, NO_OPERATIONS) == []


def test_an_operation_survives_being_saved(tmp_path):
    def check(name):
        columns = (Column("c", operation={name: GOOD[name]} if name in GOOD else name, attribute="other"),)
        project = Project("t.csv", columns, folder=tmp_path, protection="operations")
        project.save(tmp_path / "project.yaml")
        again = Project.load(tmp_path / "project.yaml")
        assert again.columns == project.columns
        assert again.digest() == project.digest()
        assert again.light

    assert failures(check, OPERATIONS) == []


# --- Dates that move ---

VISITS = pa.table(
    {
        "person": ["a", "b", "a", "c", "b", "a"],
        "came": ["2024-01-31", "2024-02-01", "2024-03-01", "2024-03-02", "2024-12-31", None],
        "left": ["2024-02-03", "2024-02-01", "2024-03-05", "2024-04-02", "2025-01-02", "2024-01-01"],
    }
)


def moves(before, after):
    return [None if x is None else (date.fromisoformat(y) - date.fromisoformat(x)).days for x, y in zip(before, after, strict=True)]


def test_all_dates_of_a_person_move_alike():
    spec = {"shift": {"key": "env:VELADO_KEY", "days": [-30, 30], "by": "person"}}
    release = light(VISITS, person={"pseudonymize": "env:VELADO_KEY"}, came=spec, left=spec)
    came = moves(VISITS.column("came").to_pylist(), cells(release, "came"))
    gone = moves(VISITS.column("left").to_pylist(), cells(release, "left"))
    assert came[:5] == gone[:5]
    assert came[5] is None
    by_person = {p: {m for q, m in zip(VISITS.column("person").to_pylist(), gone, strict=True) if q == p} for p in "abc"}
    assert all(len(m) == 1 for m in by_person.values())
    assert len(set(gone)) > 1
    assert all(-30 <= m <= 30 and m for m in gone)


def test_without_a_person_all_dates_move_alike():
    release = light(VISITS, came={"shift": {"key": "env:VELADO_KEY", "days": [5, 9]}})
    (move,) = {m for m in moves(VISITS.column("came").to_pylist(), cells(release, "came")) if m is not None}
    assert 5 <= move <= 9


def test_shifts_are_drawn_evenly_and_never_zero():
    persons = [str(i) for i in range(3000)]
    table = pa.table({"p": persons, "d": ["2024-06-15"] * 3000})
    release = light(table, d={"shift": {"key": "env:VELADO_KEY", "days": [-2, 1], "by": "p"}})
    drawn = Counter(moves(["2024-06-15"] * 3000, cells(release, "d")))
    assert set(drawn) == {-2, -1, 1}
    assert all(abs(n - 1000) < 130 for n in drawn.values())


def test_dates_keep_their_format_and_type(tmp_path):
    table = pa.table({"d": pa.array([date(2024, 2, 28), None]), "t": ["28/02/2024 13:45", "01/03/2024 00:00"]})
    pq.write_table(table, tmp_path / "t.parquet")
    spec = {"shift": {"key": "env:VELADO_KEY", "days": [2, 2]}}
    columns = (Column("d", operation=spec), Column("t", operation=spec, format="%d/%m/%Y %H:%M"))
    output = Output(tmp_path / "out.parquet", order="keep")
    velado.run(Project(tmp_path / "t.parquet", columns, output=output, protection="operations"))
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.column("d").to_pylist() == [date(2024, 3, 1), None]
    assert written.column("t").to_pylist() == ["01/03/2024 13:45", "03/03/2024 00:00"]


def test_dates_cannot_move_with_nobody():
    spec = {"shift": {"key": "env:VELADO_KEY", "by": "name"}}
    refused("missing-values", light, PEOPLE.set_column(4, "seen", [["2024-01-01"] * 6]), seen=spec)
    spec = {"shift": {"key": "env:VELADO_KEY", "by": "nobody"}}
    refused("unknown-column", light, seen=spec)


# --- Noise ---


def uniform(seed, column, draw, row):
    digest = hashlib.sha256(f"{seed}|{column}|{draw}|{row}".encode()).hexdigest()
    return int(digest[:13], 16) / 2**52 + 2.0**-53


def test_noise_is_what_its_definition_says():
    numbers = [str(i * 1000) for i in range(200)]
    table = pa.table({"x": numbers})
    release = light(table, Output(), x={"noise": {"scale": 2, "seed": 7, "decimals": 6}})
    for row, (before, after) in enumerate(zip(numbers, sorted(cells(release, "x"), key=float), strict=True), start=1):
        u = uniform(7, "x", 0, row) - 0.5
        noise = -2 * math.copysign(1, u) * math.log(1 - 2 * abs(u))
        assert float(after) == pytest.approx(float(before) + noise, abs=1e-6)
    release = light(table, Output(), x={"noise": {"scale": 3, "distribution": "normal", "seed": 0, "decimals": 6}})
    for row, (before, after) in enumerate(zip(numbers, sorted(cells(release, "x"), key=float), strict=True), start=1):
        u, v = uniform(0, "x", 0, row), uniform(0, "x", 1, row)
        noise = 3 * math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
        assert float(after) == pytest.approx(float(before) + noise, abs=1e-6)


@pytest.mark.parametrize(("distribution", "deviation"), [("laplace", 2 * math.sqrt(2)), ("normal", 2.0)])
def test_noise_has_its_distribution_and_its_seed(distribution, deviation):
    table = pa.table({"x": ["100"] * 5000})
    spec = {"scale": 2, "distribution": distribution, "seed": 7, "decimals": 3}
    made = [light(table, Output(order="sorted"), x={"noise": {**spec, "seed": s}}) for s in (7, 7, 8)]
    drawn = [np.sort(np.array(cells(release, "x"), dtype=float)) for release in made]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).mean() > 0.99
    assert abs(drawn[0].mean() - 100) < 0.2
    assert drawn[0].std() == pytest.approx(deviation, rel=0.1)


def test_noise_keeps_decimals_missing_values_and_the_comma():
    table = pa.table({"whole": ["3", None, "-4"], "comma": ["1,50", "2,25", None], "typed": pa.array([1, None, 3])})
    release = light(table, whole={"noise": 5}, comma={"noise": {"scale": 1}}, typed={"noise": 4})
    assert all(v is None or re.fullmatch(r"-?\d+", v) for v in cells(release, "whole"))
    assert all(v is None or re.fullmatch(r"-?\d+,\d\d", v) for v in cells(release, "comma"))
    assert [v is None for v in cells(release, "comma")] == [False, False, True]
    assert release.table.schema.field("typed").type == pa.int64()


def test_the_same_noise_in_any_order_and_format(tmp_path):
    table = pa.table({"x": [str(i * 10) for i in range(500)]})
    spec = {"noise": {"scale": 3, "seed": 1}}
    kept = Counter(cells(light(table, Output(order="sorted"), x=spec), "x"))
    for suffix, order in (("csv", "shuffle"), ("parquet", "sorted"), ("xlsx", "shuffle")):
        path = tmp_path / f"out.{suffix}"
        light(table, Output(path, order=order), x=spec)
        with open_table(path) as written:
            counts = written.count(["x"])
        assert Counter(dict(zip(counts.dictionaries[0], counts.counts.tolist(), strict=True))) == kept


# --- Light projects, from file to file ---

COLUMNS = {
    "name": {"role": "identifier", "operation": {"encrypt": {"key": "env:VELADO_KEY"}}},
    "email": {"operation": {"mask": {"keep": 1}}},
    "age": {"role": "quasi-identifier", "operation": {"limits": {"low": 18, "high": 90}}},
    "income": {"role": "sensitive", "operation": {"round": 100}},
    "seen": {"operation": {"shift": {"key": "env:VELADO_KEY", "days": [3, 3]}}},
    "city": {"role": "insensitive", "operation": {"substitute": {"map": {"Lima": "PE", "Quito": "EC", "Bogotá": "CO"}}}},
}
SUBSTITUTED = ["PE", "EC", "PE", "CO", "PE", "EC"]


def write_source(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    elif path.suffix == ".xlsx":
        from velado.tables.formats.xlsx import write_xlsx

        write_xlsx(path, table.to_batches(), table.column_names)
    else:
        with open(path, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])


def write_project(folder, columns=COLUMNS, suffix=".csv", **changes):
    write_source(PEOPLE, folder / f"people{suffix}")
    data = {
        "name": "people",
        "protection": "operations",
        "source": f"people{suffix}",
        "columns": columns,
        "output": {"path": f"out{suffix}", "order": "keep"},
        **changes,
    }
    data = {k: v for k, v in data.items() if v is not None}
    (folder / "project.yaml").write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")


def read_table(path):
    with open_table(path) as table:
        return table.fetch(Plan((), Selection()))


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_a_light_project_from_file_to_file(tmp_path, main, suffix):
    write_project(tmp_path, suffix=suffix)
    ended = main("run", "project.yaml", "--json")
    assert ended.code == 0, ended.err
    shown = ended.json
    assert shown["protection"] == "operations"
    assert shown["models"] == []
    assert "no privacy model was checked" in shown["verified"]
    assert (shown["rows"], shown["released"], shown["unchanged"]) == (6, 6, [])
    released = read_table(tmp_path / f"out{suffix}").to_pydict()
    assert list(released) == PEOPLE.column_names
    assert released["email"] == ["a******", "b******", "c******", "d******", "a******", "f******"]
    assert released["age"] == ["31", "34", "18", "90", "52", None]
    assert released["income"] == ["1200", "1000", "0", "50000", "0", "100"]
    assert released["seen"][:3] == ["2024-03-02", "2024-03-04", "2025-01-03"]
    assert released["city"] == SUBSTITUTED
    assert released["name"][0] == released["name"][4]
    assert released["name"][5] is None
    assert not set(released["name"]) & set(PEOPLE.column("name").to_pylist()[:5])
    restored = main("decrypt", f"out{suffix}", "--column", "name", "--key", "env:VELADO_KEY", "-o", f"again{suffix}", "--json")
    assert restored.code == 0, restored.err
    assert restored.json == {"schema": "velado-decrypted-1", "rows": 6, "columns": {"name": 4}, "output": f"again{suffix}"}
    again = read_table(tmp_path / f"again{suffix}").to_pydict()
    assert again == {**released, "name": PEOPLE.column("name").to_pylist()}


def test_the_terminal_says_that_no_model_was_checked(tmp_path, main):
    write_project(tmp_path, {"name": {"operation": "suppress"}, "city": "insensitive"}, rest="drop")
    ended = main("run", "project.yaml")
    assert ended.code == 0
    assert "No privacy model was checked" in ended.out
    assert "Published as they are: city" in ended.out
    assert set(read_table(tmp_path / "out.csv").column_names) == {"name", "city"}


def test_rows_are_shuffled_unless_the_project_says_otherwise(tmp_path):
    table = pa.table({"x": [str(i) for i in range(300)], "y": ["a"] * 300})
    release = light(table, Output(tmp_path / "out.csv"), y="suppress")
    rows = read_table(release.output).column("x").to_pylist()
    assert sorted(rows, key=int) == table.column("x").to_pylist()
    assert rows != table.column("x").to_pylist()


def test_the_manifest_of_a_light_release(tmp_path, main):
    write_project(tmp_path)
    assert main("run", "project.yaml").code == 0
    text = (tmp_path / "out.csv.manifest.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert (manifest["protection"], manifest["models"]) == ("operations", [])
    assert "no privacy model" in manifest["verified"]
    assert manifest["input"]["rows"] == 6
    assert manifest["columns"]["name"]["operation"] == {"encrypt": {"key": key_id(bytes.fromhex(KEY))}}
    assert manifest["columns"]["city"]["operation"] == {"substitute": {}}
    assert manifest["output"]["sha256"] == hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()
    for word in (KEY, "VELADO_KEY", "Lima", "PE", *filter(None, PEOPLE.column("name").to_pylist())):
        assert f'"{word}' not in text


def test_a_release_with_models_is_not_called_light():
    release = velado.anonymize(PEOPLE, [Column("city", "quasi-identifier")], [KAnonymity(2)], rest="drop")
    assert "light" not in json.dumps(release.manifest)
    assert release.manifest["models"]


def test_numbers_stay_numbers_where_the_format_has_them(tmp_path):
    columns = {
        "whole": pa.array([12, 250, None]),
        "broken": [1.25, 2.75, 300.0],
        "half": pa.array([1, 2, 3]),
        "tiny": pa.array([120, 127, 1], pa.int8()),
        "single": pa.array([0.1, 2.6, 16777216.0], pa.float32()),
        "money": pa.array(["9.95", "1.20", None]).cast(pa.decimal128(4, 2)),
        "time": pa.array([0, 10**9, None], pa.timestamp("ms")),
    }
    spec = {
        "whole": {"top": 100},
        "broken": {"round": 0.5},
        "half": {"round": 2.5},
        "tiny": {"round": 50},
        "single": {"round": 0.5},
        "money": {"bottom": 100},
    }
    release = light(pa.table(columns), **spec)
    assert cells(release, "whole") == [12, 100, None]
    assert cells(release, "broken") == [1.0, 3.0, 300.0]
    assert cells(release, "half") == ["0.0", "2.5", "2.5"]
    assert cells(release, "tiny") == [100, 150, 0]
    assert cells(release, "single") == [0.0, 2.5, 16777216.0]
    assert [None if x is None else float(x) for x in cells(release, "money")] == [100.0, 100.0, None]
    for suffix in ("csv", "parquet", "xlsx", "arrow"):
        light(pa.table(columns), Output(tmp_path / f"out.{suffix}"), **spec)
    shift = Column("time", operation={"shift": {"key": "env:VELADO_KEY", "days": [1, 1]}}, format="%Y-%m-%d %H:%M:%S")
    project = Project(pa.table(columns), (shift,), output=Output(order="keep"), rest="drop", protection="operations")
    assert velado.run(project).table.column("time").to_pylist() == ["1970-01-02 00:00:00", "1970-01-13 13:46:40", None]


def test_texts_that_look_like_formulas_are_guarded_and_verified(tmp_path):
    table = pa.table({"x": ["a", "b", "c"]})
    spec = {"substitute": {"map": {"a": "=1+1", "b": "-5", "c": "'@x"}}}
    light(table, Output(tmp_path / "out.csv", order="keep"), x=spec)
    assert (tmp_path / "out.csv").read_text().split() == ["x", "'=1+1", "-5", "''@x"]


# --- Bad light projects ---


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"models": [{"k-anonymity": {"k": 2}}]}, "light-project"),
        ({"method": "lattice"}, "light-project"),
        ({"protection": "heavy"}, "bad-protection"),
        ({"protection": None}, "missing-key"),
        ({"columns": {"name": {}}}, "column-without-role"),
        ({"columns": {"name": {"type": "text"}}, "rest": "drop"}, "column-without-role"),
        ({"columns": {"name": {"operation": "suppress"}}}, "column-without-role"),
        ({"columns": {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5]}}}, "rest": "drop"}, "light-project"),
        ({"columns": {"age": {"role": "identifier", "operation": {"round": 10}}}, "rest": "drop"}, "bad-operation"),
        ({"columns": {"ages": {"operation": "suppress"}}, "rest": "drop"}, "unknown-column"),
        ({"output": {"path": "out.csv", "recoding": "r.json"}}, "light-project"),
        ({"output": {"path": "out.csv", "suppressed": "asterisks"}}, "light-project"),
        ({"output": {"path": "people.csv"}}, "output-is-input"),
        ({"output": None}, "no-output"),
        ({"joinable": ["name"]}, "bad-project"),
        ({"attributes": {"name": {"role": "identifier"}}}, "bad-project"),
        ({"password": SECRET}, "unknown-key"),
        ({"columns": {"name": {"operation": {"encrypt": {"key": KEY}}}}, "rest": "drop"}, "key-in-project"),
        (
            {"columns": {"city": {"role": "insensitive", "operation": {"substitute": {"map": {"Lima": "x"}}}}}, "rest": "drop"},
            "no-substitute",
        ),
        (
            {
                "columns": {
                    "city": {
                        "role": "identifier",
                        "operation": {"substitute": {"map": {"Lima": "Quito", "Quito": "Lima", "Bogotá": "x"}}},
                    }
                },
                "rest": "drop",
            },
            "value-survives",
        ),
        ({"columns": {"name": {"operation": "suppress", "attribute": ["x"]}}, "rest": "drop"}, "bad-attribute"),
    ],
    ids=str,
)
def test_bad_light_projects_write_nothing(tmp_path, main, changes, code):
    write_project(tmp_path, **changes)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    ended = main("run", "project.yaml", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, code)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert not any(secret in ended.out + ended.err for secret in (KEY, SECRET, "Ana"))


@pytest.mark.parametrize("what", ["key", "table"])
def test_the_output_may_not_replace_a_key_or_a_table_of_substitutes(tmp_path, main, what):
    (tmp_path / "secret.csv").write_text(KEY if what == "key" else "Lima;1\nQuito;2\nBogotá;3\n")
    before = (tmp_path / "secret.csv").read_text()
    operation = {"encrypt": "file:secret.csv"} if what == "key" else {"substitute": {"file": "secret.csv"}}
    write_project(tmp_path, {"city": {"operation": operation}}, rest="drop", output="secret.csv")
    ended = main("run", "project.yaml", "--json")
    assert ended.json["error"]["code"] == "output-is-input"
    assert (tmp_path / "secret.csv").read_text() == before


def test_a_table_without_rows_or_columns_is_refused():
    refused("no-rows", light, PEOPLE.slice(0, 0), name="suppress")
    refused("no-columns", light, name="drop", rest="drop")


def test_a_light_project_is_only_for_run(tmp_path, main):
    write_project(tmp_path)
    ended = main("compare", "project.yaml", "--k", "2..3", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "light-project")


# --- What was not written right is not published ---


def change_file(change):
    def write(table, recoded, target):
        WRITE(table, recoded, target)
        with open(target.path, newline="", encoding="utf-8") as stream:
            header, *rows = csv.reader(stream)
        header, rows = change(header, rows)
        with open(target.path, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([header, *rows])

    return write


def with_cell(column, value):
    place = PEOPLE.column_names.index(column)
    return change_file(lambda header, rows: (header, [[*rows[0][:place], value, *rows[0][place + 1 :]], *rows[1:]]))


BROKEN_WRITERS = {
    "identity": lambda table, recoded, target: WRITE(table, Plan((), Selection()), target),
    "a name": with_cell("name", "Ana Abreu"),
    "an unknown token": with_cell("name", "e" + "0" * 64),
    "a token too often": change_file(lambda header, rows: (header, [[rows[0][0], *r[1:]] for r in rows])),
    "an age as it came": with_cell("age", "17"),
    "a city as it came": with_cell("city", "Lima"),
    "a text in the place of a number": with_cell("income", "x"),
    "a date as it came": with_cell("seen", "2024-02-28"),
    "an email as it came": with_cell("email", "a@x.org"),
    "a row twice": change_file(lambda header, rows: (header, [*rows, rows[0]])),
    "a row lost": change_file(lambda header, rows: (header, rows[1:])),
    "another header": change_file(lambda header, rows: (["person", *header[1:]], rows)),
    "a column less": change_file(lambda header, rows: (header[1:], [r[1:] for r in rows])),
    "no file": lambda table, recoded, target: None,
    "an empty file": lambda table, recoded, target: target.path.write_text(""),
}


@pytest.mark.parametrize("writer", BROKEN_WRITERS)
def test_what_was_not_written_right_is_not_published(tmp_path, monkeypatch, writer):
    operations = {
        "name": ("identifier", {"encrypt": "env:VELADO_KEY"}),
        "email": ("identifier", {"mask": 1}),
        "age": {"limits": {"low": 18, "high": 90}},
        "income": {"noise": 5},
        "seen": {"shift": {"key": "env:VELADO_KEY"}},
        "city": {"substitute": {"map": {"Lima": "PE", "Quito": "EC", "Bogotá": "CO"}}},
    }
    light(output=Output(tmp_path / "good.csv", order="keep"), **operations)
    for path in tmp_path.iterdir():
        path.unlink()
    monkeypatch.setattr(DuckDBTable, "write", BROKEN_WRITERS[writer])
    with pytest.raises(VerificationError) as caught:
        light(output=Output(tmp_path / "out.csv", order="keep"), **operations)
    assert "Ana" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("operation", ["suppress", {"pseudonymize": "env:VELADO_KEY"}, {"noise": 50}, {"round": 10}], ids=str)
def test_a_column_that_was_forgotten_is_noticed(tmp_path, monkeypatch, operation):
    table = pa.table({"x": [str(i) for i in range(50)]})
    monkeypatch.setattr(DuckDBTable, "write", lambda t, recoded, into: WRITE(t, Plan((), Selection()), into))
    with pytest.raises(VerificationError):
        light(table, x=operation)


def test_a_crash_while_writing_leaves_nothing(tmp_path, monkeypatch):
    def crash(table, recoded, target):
        WRITE(table, recoded, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(DuckDBTable, "write", crash)
    with pytest.raises(KeyboardInterrupt):
        light(output=Output(tmp_path / "out.csv"), name="suppress")
    assert list(tmp_path.iterdir()) == []


# --- Decrypt ---


@pytest.fixture
def encrypted(tmp_path, main):
    write_project(tmp_path, {"name": {**COLUMNS["name"], "attribute": "person"}, "city": "insensitive"}, rest="drop")
    assert main("run", "project.yaml").code == 0
    return tmp_path / "out.csv"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--column", "name", "--key", "env:VELADO_KEY"], "wrong-key"),  # not the attribute
        (["--column", "name=person", "--key", "env:VELADO_OTHER"], "wrong-key"),
        (["--column", "city", "--key", "env:VELADO_KEY"], "not-encrypted"),
        (["--column", "nome", "--key", "env:VELADO_KEY"], "unknown-column"),
        (["--column", "name=person", "--key", "env:NOT_SET"], "no-key"),
        (["--column", "name=person", "--key", KEY], "key-in-project"),
        (["--column", "name=person", "--key", SECRET], "key-in-project"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_whoever_lacks_the_key_gets_nothing(encrypted, main, options, code):
    before = sorted(p.name for p in encrypted.parent.iterdir())
    ended = main("decrypt", encrypted, *options, "-o", "again.csv", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, code)
    assert sorted(p.name for p in encrypted.parent.iterdir()) == before
    assert not any(secret in ended.out + ended.err for secret in (KEY, SECRET))


def test_a_tampered_token_opens_nothing(encrypted, main):
    text = encrypted.read_text()
    token = re.search(r"^e[0-9a-f]{64}", text, re.MULTILINE).group()
    encrypted.write_text(text.replace(token, token[:-1] + ("0" if token[-1] != "0" else "1")))
    ended = main("decrypt", encrypted, "--column", "name=person", "--key", "env:VELADO_KEY", "-o", "again.csv", "--json")
    assert ended.json["error"]["code"] == "wrong-key"
    assert not (encrypted.parent / "again.csv").exists()


def test_the_key_holder_restores_the_column(encrypted, main):
    ended = main("decrypt", encrypted, "--column", "name=person", "--key", "env:VELADO_KEY", "-o", "again.csv")
    assert ended.code == 0
    assert "name people again" in ended.out
    assert read_table(encrypted.parent / "again.csv").column("name").to_pylist() == PEOPLE.column("name").to_pylist()


def test_decrypt_in_python(encrypted):
    restored = velado.decrypt(encrypted, {"name": "person"}, "env:VELADO_KEY")
    assert restored.table.column("name").to_pylist() == PEOPLE.column("name").to_pylist()
    refused("output-is-input", velado.decrypt, encrypted, {"name": "person"}, "env:VELADO_KEY", output=encrypted)
    refused("no-column", velado.decrypt, encrypted, [], "env:VELADO_KEY")


@settings(max_examples=12, deadline=None)
@given(st.lists(st.one_of(st.none(), TEXT.filter(lambda t: t != "*")), min_size=1, max_size=6))
def test_any_column_comes_back(values):
    os.environ["VELADO_KEY"] = KEY
    table = pa.table({"x": pa.array(values, pa.string())})
    release = light(table, x=("identifier", {"encrypt": "env:VELADO_KEY"}))
    shown = cells(release, "x")
    assert not {v for v in shown if v is not None} & set(values)
    assert velado.decrypt(release.table, ["x"], "env:VELADO_KEY").table.column("x").to_pylist() == values


# --- Operations beside models ---

PATIENTS = pa.table(
    {
        "id": ["p1", "p2", "p3", "p4", "p5", "p6", "p7"],
        "zone": ["a", "a", "a", "b", "b", "b", "c"],
        "cost": ["104", "98", "203", "301", "299", "305", "1"],
        "note": ["x1", "x2", "x3", "x4", "x5", "x6", "x7"],
    }
)


TWO = (KAnonymity(2),)


def patients(*columns, models=TWO, output=None):
    described = {
        "id": Column("id", "identifier"),
        "zone": Column("zone", "quasi-identifier"),
        "cost": Column("cost", "sensitive"),
        "note": Column("note", "insensitive", exposure="accepted"),
    }
    described |= {c.name: c for c in columns}
    return velado.anonymize(
        PATIENTS, list(described.values()), list(models), Fixed({"zone": 0}), output=output or Output(order="keep")
    )


def test_an_identifier_may_be_pseudonymized_in_a_verified_release(tmp_path):
    column = Column("id", "identifier", operation={"pseudonymize": "env:VELADO_KEY"})
    release = patients(column, Column("note", "insensitive", operation={"mask": 1}), output=Output(tmp_path / "out.csv"))
    rows = read_table(tmp_path / "out.csv").to_pydict()
    assert len(set(rows["id"])) == 6
    assert all(re.fullmatch(r"p[0-9a-f]{15}", v) for v in rows["id"])
    assert set(rows["note"]) == {"x*"}
    assert (release.evaluation.released, release.evaluation.suppressed) == (6, 1)
    assert release.manifest["columns"]["id"]["operation"]["pseudonymize"]["length"] == 16


@pytest.mark.parametrize("value", ["p1", "p" + "0" * 15, "*"])
def test_a_wrong_pseudonym_is_not_published(tmp_path, monkeypatch, value):
    monkeypatch.setattr(DuckDBTable, "write", change_file(lambda h, rows: (h, [[value, *rows[0][1:]], *rows[1:]])))
    with pytest.raises(VerificationError):
        patients(Column("id", "identifier", operation={"pseudonymize": "env:VELADO_KEY"}), output=Output(tmp_path / "out.csv"))
    assert list(tmp_path.iterdir()) == []


def test_models_judge_what_is_published():
    """Rounded to 100, class a has the costs 100, 100, 200 and class b only 300."""
    models = (DistinctDiversity(2, "cost"),)
    assert patients(models=models).evaluation.suppressed == 1
    rounded = Column("cost", "sensitive", operation={"round": 100})
    release = patients(rounded, models=models)
    assert set(cells(release, "zone")) == {"a"}
    assert sorted(cells(release, "cost")) == ["100", "100", "200"]
    hidden = Column("cost", "sensitive", operation={"encrypt": "env:VELADO_KEY"})
    assert patients(hidden, models=models).evaluation.suppressed == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
def test_operations_go_with_suppressed_records_as_stars(tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    columns = (
        Column("cost", "sensitive", operation={"round": 100}),
        Column("note", "insensitive", operation="suppress"),
        Column("id", "identifier", operation={"encrypt": "env:VELADO_KEY"}),
    )
    patients(*columns, models=(KAnonymity(3),), output=Output(path, suppressed="asterisks", order="keep"))
    rows = read_table(path).to_pydict()
    assert rows["cost"] == ["100", "100", "200", "300", "300", "300", "*"]
    assert rows["zone"][-1] == "*"
    assert set(rows["note"]) == {"*"}
    restored = velado.decrypt(path, ["id"], "env:VELADO_KEY").table
    assert restored.column("id").to_pylist() == [*PATIENTS.column("id").to_pylist()[:-1], "*"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64()])
def test_typed_sensitive_columns_are_judged_as_they_are_written(tmp_path, kind):
    cost = PATIENTS.column("cost").cast(pa.int64()).cast(kind)
    table = PATIENTS.set_column(2, "cost", cost)
    columns = [Column("zone", "quasi-identifier"), Column("cost", "sensitive", operation={"round": 100})]
    for suffix in ("parquet", "csv", "xlsx"):
        output = Output(tmp_path / f"out.{suffix}")
        release = velado.anonymize(table, columns, [DistinctDiversity(2, "cost")], Fixed({"zone": 0}), output=output, rest="drop")
        assert release.evaluation.released == 3


@pytest.mark.parametrize(
    "column",
    [
        Column("zone", "quasi-identifier", operation={"mask": 1}),
        Column("zone", "quasi-identifier", operation="suppress"),
        Column("cost", "sensitive", operation={"noise": 3}),
        Column("id", "identifier", operation={"noise": 3}),
        Column("id", "identifier", operation={"top": 3}),
    ],
    ids=lambda c: f"{c.role}-{c.operation}",
)
def test_operations_that_do_not_go_with_a_role(column):
    assert refused("bad-operation", patients, column).column == column.name


def test_models_need_roles():
    refused("column-without-role", patients, Column("note", operation="suppress"))
    refused("column-without-role", Column, "note")


def test_a_recoding_leaves_treated_columns_out():
    """It has neither keys nor tables: what it cannot treat it does not publish."""
    release = patients(
        Column("id", "identifier", operation={"encrypt": "env:VELADO_KEY"}),
        Column("cost", "sensitive", operation={"round": 100}),
        Column("note", "insensitive", operation="suppress"),
    )
    text = json.dumps(release.recoding.as_dict())
    assert not any(f'"{v}"' in text for v in PATIENTS.column("id").to_pylist())
    applied = release.recoding.apply(PATIENTS).table
    assert applied.column_names == ["zone", "note"]
    assert set(applied.column("note").to_pylist()) == {"*"}


def test_the_time_between_dates_is_kept_in_ordinary_projects_too():
    table = VISITS.append_column("zone", [["a"] * 6])
    spec = {"shift": {"key": "env:VELADO_KEY", "by": "person"}}
    columns = [
        Column("person", "identifier", operation={"pseudonymize": "env:VELADO_KEY"}),
        Column("zone", "quasi-identifier"),
        Column("came", "insensitive", operation=spec),
        Column("left", "insensitive", operation=spec),
    ]
    release = velado.anonymize(table, columns, [KAnonymity(2)], output=Output(order="keep"), person="person")
    stays = moves(cells(release, "came"), [x or "" for x in cells(release, "left")])
    assert stays[:5] == moves(VISITS.column("came").to_pylist(), VISITS.column("left").to_pylist())[:5]
    assert stays[0] == 3
