"""The documentation runs, names everything that exists, and its links lead somewhere.

A page is run from top to bottom in a folder of its own, in which the README finds a table, ``people.csv``. What its fenced blocks do:

* ``bash``: lines that begin with ``velado`` are run and must end with exit code 0, or with the code in a comment
  (``# exit 1``); ``> FILE`` stores what they print, ``< FILE`` is what they read. ``make`` and ``pip`` lines are looked up, not run.
* ``sh``, ``powershell``: installing; the extras that they name must exist.
* ``python``: run; all blocks of a page share their names.
* ``yaml``: a project file whose first line is a comment with its name; it is written and loaded.
* ``csv NAME``: written to that file.
* ``sql``: run by the owner of the database ``clinic`` of a real PostgreSQL server, which is ``db.example`` in the pages that
  name it and holds a table of ``people``; ``sql mariadb`` is not run.
* Pages whose Python makes a session of Spark get the one of the tests, which is there for the commands, too, whatever cluster
  they name; schemas that a page makes are gone afterwards. Without pyspark or Java they are skipped.
* Pages that run something at ``https://velado.example`` have a real service there, and a token of a steward in VELADO_TOKEN.
* ``toml``: settings of the service, whose first line is a comment with their name; they are written and loaded. ``ini`` and
  ``nginx`` are not run.
* ``text`` and ``json``: what the block before printed, in order, perhaps not all of it; ``…`` stands for anything.
"""

import ast
import contextlib
import importlib.util
import inspect
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.csv
import pytest
import typer

import source_code
import velado
from case_loop import failures
from servers import postgresql as server
from servers import spark, studio
from velado import cli
from velado.appointments import save_table
from velado.cli import commands
from velado.hierarchies import BUILDERS
from velado.hierarchies.calendar import UNITS
from velado.methods import METHODS, OBJECTIVES
from velado.models import MODELS
from velado.project.document import COLUMN_KEYS, KEYS
from velado.project.output import OUTPUT_KEYS
from velado.samples import hospital
from velado.tables.source import OPTIONS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
DATA = Path(os.environ.get("VELADO_DATA", ROOT.parent / "shared" / "data")).resolve()
FENCE = re.compile(r"^```(\S*)[ \t]*(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = ("bash", "sh", "powershell", "python", "yaml", "toml", "ini", "nginx", "csv", "sql", "text", "json", "")
SERVER = "db.example"
SERVICE = "https://velado.example"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONG = ("anonylitics", "appointments", "evaluate", "fuzzy", "mondrian", "pipelines", "report", "teaching")
"""Pages with studies, reports and models that learn: `make test` leaves them out, as it does those that need a server."""


class Block(NamedTuple):
    """A fenced block."""

    language: str
    name: str
    body: str


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in FENCE.findall(text_of(page))]


@cache
def prose(page: Path) -> str:
    return FENCE.sub("", text_of(page))


def section(page: Path, title: str) -> str:
    """The prose under a heading, up to the next one of its rank."""
    text = prose(page)
    found = re.search(rf"^(#+) `?{re.escape(title)}`?$(.*?)(?=^#{{1,2}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"{page_id(page)} has no section '{title}'"
    return found.group(2)


def has(text: str, name: str) -> bool:
    """Whether a name stands between backticks, alone or at the beginning."""
    return re.search(rf"`(?:velado\.)?{re.escape(name)}(?![\w-])[^`\n]*`", text) is not None


# The pages run.


def run_command(line: str) -> str:
    """Run one ``velado`` line and return what it prints."""
    command, _, comment = line.partition(" # ")
    wanted = int(comment.removeprefix("exit ")) if comment.startswith("exit ") else 0
    command, _, file = command.partition(" > ")
    command, _, given = command.partition(" < ")
    shown, errors = io.StringIO(), io.StringIO()
    handlers, before, typed = {s: signal.getsignal(s) for s in SIGNALS}, sys.argv, sys.stdin
    sys.argv = shlex.split(command)
    if given:
        sys.stdin = io.StringIO(Path(given.strip()).read_text(encoding="utf-8"))
    code: Any = 0
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            cli.main()
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv, sys.stdin = before, typed
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert code == wanted, f"{line}: exit {code}\n{errors.getvalue()}"
    if file.strip():
        Path(file.strip()).write_text(shown.getvalue(), encoding="utf-8")
        return ""
    return shown.getvalue() + errors.getvalue()


@cache
def demo() -> tuple[str, dict[Path, bytes]]:
    """What ``velado demo`` prints and writes; many pages begin with it."""
    shown = run_command("velado demo --folder .")
    return shown, {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def run_demo() -> str:
    shown, files = demo()
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return shown


@cache
def make_targets() -> set[str]:
    lines = re.findall(r"^([a-z][a-z -]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return {target for line in lines for target in line.split()}


def run_bash(block: Block) -> str:
    shown = ""
    for line in block.body.splitlines():
        first = line.split(" ")[0]
        if first == "make":
            # What has a sign of equality is a variable: make anonymize TABLE=people.csv
            named = [word for word in shlex.split(line, comments=True)[1:] if "=" not in word]
            assert set(named) <= make_targets(), f"{line}: the Makefile has no such target"
        elif first == "velado":
            if line.startswith(("velado study ubb", "velado study anonylitics")) and not DATA.is_dir():
                pytest.skip("the data of the studies are not there")
            shown += run_demo() if line == "velado demo --folder ." and not any(Path().iterdir()) else run_command(line)
        else:
            assert not line or first in ("#", "pip"), f"a line of a bash block that nobody runs: {line}"
    return shown


def run_python(block: Block, names: dict[str, Any], where: str) -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(block.body, where, "exec"), names)
    return shown.getvalue()


def write_project(block: Block) -> None:
    name = block.body.splitlines()[0].removeprefix("# ").strip()
    assert name.endswith(".yaml"), "the first line of a yaml block is a comment with the name of its file"
    Path(name).write_text(block.body, encoding="utf-8")
    velado.Project.load(name)


def write_settings(block: Block) -> None:
    from velado.service.settings import load

    name = block.body.splitlines()[0].removeprefix("# ").strip()
    assert name.endswith(".toml"), "the first line of a toml block is a comment with the name of its file"
    Path(name).write_text(block.body, encoding="utf-8")
    load(name, {})


def missing_line(wanted: str, shown: str) -> str | None:
    """The first line that was not printed, in order; blanks count as one."""
    left = iter([" ".join(line.split()) for line in shown.splitlines()])
    for line in wanted.splitlines():
        words = " ".join(line.split())
        pattern = re.compile(".*".join(map(re.escape, words.split("…"))))
        if words and words != "…" and not any(pattern.fullmatch(x) for x in left):
            return line
    return None


@pytest.fixture
def clinic() -> Iterator[None]:
    """A database with a table of people, for pages about databases; users whom a page makes are gone afterwards."""
    with server.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS clinic WITH (FORCE)")
        connection.execute("CREATE DATABASE clinic")
    address = server.address(database="clinic")
    save_table(hospital(), f"{address}#people")
    with server.connect(database="clinic") as connection:
        connection.execute("ANALYZE")
    yield
    with server.connect() as connection:
        connection.execute("DROP DATABASE clinic WITH (FORCE)")
        connection.execute("DROP ROLE IF EXISTS ana")


@pytest.fixture
def cluster() -> Iterator[None]:
    """A session of Spark."""
    session = spark.session()
    before = {schema.name for schema in session.catalog.listDatabases()}
    yield
    for schema in session.catalog.listDatabases():
        if schema.name not in before:
            session.sql(f"DROP SCHEMA {schema.name} CASCADE")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[studio.Studio]:
    """One service with a worker for all pages. Nothing is taken from a worker that is slow on a busy machine."""
    folder = tmp_path_factory.mktemp("studio") / "data"
    with studio.running(folder, copying=True, local_sockets="true", lease_seconds=60) as found:
        yield found


@pytest.fixture
def service(running: studio.Studio, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the service is; a token of a steward is in the environment."""
    monkeypatch.setenv("VELADO_TOKEN", running.user("ana", "steward"))
    return running.address


def at_server(block: Block) -> Block:
    """A block that names the server of the pages; its text is what is printed, and stays."""
    if block.language in ("text", "json", "sql") or SERVER not in block.body:
        return block
    there = re.sub(rf"(postgresql://[^@\s]+@){SERVER}/(\w+)", rf"\1/\2?host={server.folder()}", block.body)
    return block._replace(body=there)


def needs(page: Path) -> list[str]:
    """The fixtures of what a page works with."""
    named = {
        "clinic": f"@{SERVER}/" in text_of(page),
        "cluster": any("SparkSession" in b.body for b in blocks(page) if b.language == "python"),
        "service": any(SERVICE in b.body for b in blocks(page) if b.language in ("bash", "python")),
    }
    return [fixture for fixture, used in named.items() if used]


def pages_to_run() -> Iterator[Any]:
    """The pages with something to run. All are of the part ``docs``, and the short ones that need no server run in `make test`."""
    for page in PAGES:
        if blocks(page):
            marks = [pytest.mark.docs, *([pytest.mark.spark] if "cluster" in needs(page) else [])]
            if not needs(page) and page.stem not in LONG:
                marks.append(pytest.mark.quick)
            yield pytest.param(page, marks=marks, id=page_id(page))


@pytest.mark.parametrize("page", list(pages_to_run()))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("VELADO_DATA", str(DATA))
    if page == ROOT / "README.md":
        # Whoever reads it has any table; this one is no longer than it takes.
        pyarrow.csv.write_csv(hospital(1000), "people.csv")
    there = {fixture: request.getfixturevalue(fixture) for fixture in needs(page)}
    if "password.txt" in text_of(page):
        Path("password.txt").write_text("correct horse battery staple\n")
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = ""
    for number, block in enumerate(map(at_server, blocks(page)), start=1):
        where = f"{page_id(page)}, block {number}"
        if "service" in there and block.language in ("bash", "python"):
            block = block._replace(body=block.body.replace(SERVICE, there["service"]))
        if block.language == "bash":
            shown = run_bash(block)
        elif block.language == "python":
            shown = run_python(block, names, where)
        elif block.language == "yaml":
            write_project(block)
        elif block.language == "toml":
            write_settings(block)
        elif block.language == "csv":
            Path(block.name).write_text(block.body, encoding="utf-8")
        elif block.language == "sql" and not block.name:
            with server.connect(database="clinic") as connection:
                connection.execute(block.body)
        elif block.language in ("text", "json"):
            lacking = missing_line(block.body, re.sub("(postgresql://[^@/\\s]*@)/", rf"\1{SERVER}/", shown))
            assert lacking is None, f"{where}: not printed: {lacking!r}\nprinted:\n{shown[:5000]}"


# What the pages say.


@pytest.mark.lint
def test_make_lines_with_variables_are_understood() -> None:
    assert {"test", "demo"} <= make_targets()
    assert run_bash(Block("bash", "", "make demo\nmake demo TABLE=people.csv # your own")) == ""
    with pytest.raises(AssertionError, match="no such target"):
        run_bash(Block("bash", "", "make coffee CUPS=2"))


@pytest.mark.lint
def test_long_pages_exist() -> None:
    assert set(LONG) <= {page.stem for page in PAGES}


@pytest.mark.lint
def test_blocks_have_a_known_language() -> None:
    fences = {page: len(re.findall(r"^```", text_of(page), re.MULTILINE)) for page in PAGES}
    assert [page_id(page) for page, found in fences.items() if found != 2 * len(blocks(page))] == []
    assert [(page_id(p), b.language) for p in PAGES for b in blocks(p) if b.language not in LANGUAGES] == []


@pytest.mark.lint
def test_the_readme_lists_every_command() -> None:
    text = text_of(ROOT / "README.md")
    (listed,) = re.findall(r"^\| commands \|(.*)\|$", text, re.MULTILINE)
    assert re.findall("`([a-z]+)`", listed) == list(commands.COMMANDS)


@pytest.mark.lint
def test_installing_names_extras_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set(re.findall(r"^\| `(\w+)` \| ", text.partition("| extra |")[2].partition("\n\n")[0], re.MULTILINE))
    assert named == set(extras) - {"dev"}
    assert named >= {e for found in re.findall(r"\.\[([\w,]+)\]", text) for e in found.split(",")}


@pytest.mark.docs
def test_pictures_are_what_the_commands_print() -> None:
    """Otherwise: python docs/pictures/draw.py."""
    spec = importlib.util.spec_from_file_location("draw", DOCS / "pictures" / "draw.py")
    assert spec is not None
    assert spec.loader is not None
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    for file, drawn in draw.pictures().items():
        assert (DOCS / "pictures" / file).read_text(encoding="utf-8") == drawn, file


# Links.


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def links(page: Path) -> list[str]:
    return [t for t in re.findall(r"\]\(([^)\s]+)\)", prose(page)) if not re.match(r"[a-z]+:", t)]


def broken(page: Path, link: str) -> bool:
    """Whether a link leads nowhere, or to no heading."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not target.exists() or (anchor != "" and anchor not in anchors(target))


@pytest.mark.lint
def test_links_resolve() -> None:
    assert sum(len(links(page)) for page in PAGES) > 200
    assert [f"{page_id(page)}: {link}" for page in PAGES for link in links(page) if broken(page, link)] == []
    assert broken(DOCS / "index.md", "nothing.md")
    assert broken(DOCS / "index.md", "tutorial.md#no-such-heading")


@pytest.mark.lint
def test_index_links_every_page() -> None:
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "index.md")}
    assert sorted(set(DOCS.rglob("*.md")) - {DOCS / "index.md"} - linked) == []


# The reference names everything.


@cache
def command_of(name: str) -> Any:
    return commands.load(name)


@pytest.mark.lint
def test_a_name_is_found_between_backticks_only() -> None:
    assert has("`velado.run` and `k-map (k=5)`", "run")
    assert has("`velado.run` and `k-map (k=5)`", "k-map")
    assert not has("run, `runs`, `k-map-2`", "run")
    assert not has("run, `runs`, `k-map-2`", "k-map")


@pytest.mark.lint
def test_public_names_are_documented() -> None:
    assert [name for name in velado.__all__ if not has(text_of(REFERENCE / "api.md"), name)] == []


@pytest.mark.lint
def test_defaults_are_those_of_the_classes() -> None:
    wrong = []
    for said in re.findall(r"^\| `((?:velado\.(?:models|methods)\.)?[A-Z]\w+\(.*?\))` \|", text_of(REFERENCE / "api.md"), re.M):
        name, _, arguments = said.rpartition(")")[0].partition("(")
        kind = getattr(velado.models, name.split(".")[-1], None) or getattr(velado.methods, name.split(".")[-1], None)
        if kind is None:
            continue
        given = ast.parse(f"f({arguments.replace(', …', '')})", mode="eval").body
        assert isinstance(given, ast.Call)
        declared = inspect.signature(kind).parameters
        for keyword in given.keywords:
            default = declared[str(keyword.arg)].default
            # A factory makes the empty mapping.
            if ast.literal_eval(keyword.value) not in (default, {}):
                wrong.append((name, keyword.arg))
    assert wrong == []


@pytest.mark.lint
def test_attacks_are_documented() -> None:
    page = text_of(DOCS / "how-to" / "attacks.md")
    assert [name for name in velado.attacks.ATTACKS if f"| `{name}` |" not in page] == []


@pytest.mark.lint
def test_names_of_files_can_be_read_in_the_text() -> None:
    """What stands behind the fence is not shown by any renderer."""
    hidden = []
    for page in sorted(DOCS.rglob("*.md")):
        above, inside = "", False
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith("```"):
                named = None if inside else re.fullmatch(r"```\S+ (\S+\.\w+)", line)
                if named and named[1] not in above:
                    hidden.append((page.name, named[1]))
                inside = not inside
            above = line if line.strip() else above
    assert hidden == []


@pytest.mark.lint
def test_models_and_methods_are_documented() -> None:
    def check(page: str, name: str, kind: Any) -> None:
        text = section(REFERENCE / page, name)
        assert [p for p in (*kind.parameters, kind.__name__) if not has(text, p)] == []

    assert failures(check, [("models.md", *found) for found in MODELS.items()]) == []
    assert failures(check, [("methods.md", *found) for found in METHODS.items()]) == []


@pytest.mark.lint
def test_objectives_are_documented() -> None:
    assert [name for name in OBJECTIVES if not has(section(REFERENCE / "methods.md", "Objectives"), name)] == []


@pytest.mark.lint
def test_hierarchy_builders_are_documented() -> None:
    def check(name: str) -> None:
        assert section(REFERENCE / "hierarchies.md", name)
        assert f"{name}:" in text_of(DOCS / "how-to" / "hierarchies.md")

    assert failures(check, ["file", *BUILDERS]) == []


@pytest.mark.lint
def test_date_units_are_documented() -> None:
    assert [unit for unit in UNITS if not has(section(REFERENCE / "hierarchies.md", "dates"), unit)] == []


@pytest.mark.lint
def test_commands_and_options_are_documented() -> None:
    def check(name: str) -> None:
        text = section(REFERENCE / "cli.md", f"velado {name}")
        # Every command has a language: documented once, above all of them.
        parameters = [parameter for parameter in command_of(name).params if parameter.name != "language"]
        shown = [
            option
            for p in parameters
            for option in ([*p.opts, *p.secondary_opts] if p.param_type_name == "option" else [p.name.upper()])
        ]
        assert [option for option in shown if not has(text, option)] == []

    assert failures(check, commands.COMMANDS) == []


@pytest.mark.lint
def test_options_of_velado_itself_are_documented() -> None:
    app: Any = typer.main.get_command(cli.app)
    text = text_of(REFERENCE / "cli.md").partition("## velado run")[0]
    assert [o for p in app.params for o in p.opts if not has(text, o)] == []


@pytest.mark.lint
def test_no_command_is_documented_that_does_not_exist() -> None:
    found = re.findall(r"^## velado (\S+)$", text_of(REFERENCE / "cli.md"), re.MULTILINE)
    assert found == list(commands.COMMANDS)


@pytest.mark.lint
def test_project_keys_are_documented() -> None:
    keys = [*KEYS, *COLUMN_KEYS, *OUTPUT_KEYS, *(o for o in OPTIONS if o != "header")]
    assert [key for key in keys if not has(text_of(REFERENCE / "project-file.md"), key)] == []


def error_codes() -> set[str]:
    """Every code that an error is raised or shown with; the words of a column are checked by one loop."""
    codes = {"bad-role", "bad-type", "bad-missing-rule", "bad-operation"}
    raised = (
        "missing_package",
        "InputError",
        "NoSolution",
        "InternalError",
        "VerificationError",
        "VeladoError",
        "Refused",
        "Invalid",
        "Conflict",
        "TooLarge",
        "TooMany",
        "Unavailable",
        "__init__",
    )
    for file, tree in source_code.trees().items():
        for node in source_code.nodes(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in raised and isinstance(node.args[0].value, str):
                    codes.add(node.args[0].value)
            if isinstance(node, ast.Dict):
                pairs = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)]
                codes |= {str(v.value) for k, v in pairs if k.value == "code" and isinstance(v, ast.Constant)}
                # Errors of servers by their states: code, message, hint.
                told = [v.elts[0] for _, v in pairs if file.name == "errors.py" and isinstance(v, ast.Tuple)]
                codes |= {str(v.value) for v in told if isinstance(v, ast.Constant)}
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and file.name == "errors.py":
                match node.value.elts:
                    case [ast.Constant(value=str(code)), ast.Call(), _]:
                        codes.add(code)
    return codes


@pytest.mark.lint
def test_error_codes_are_documented() -> None:
    text = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    codes = error_codes()
    assert (sorted(codes - listed), sorted(listed - codes)) == ([], [])


def keys_of(data: Any) -> set[str]:
    if isinstance(data, dict):
        return set(data) | {k for value in data.values() for k in keys_of(value)}
    return {k for value in data for k in keys_of(value)} if isinstance(data, list) else set()


def test_json_keys_are_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (REFERENCE / "json.md").read_text(encoding="utf-8")
    columns = {"birth_date", "sex", "postal_code", "city", "marital_status", "diagnosis", "cost"}
    commands = (
        "demo --folder . --json",
        "check patients.csv --qi sex,city --sensitive diagnosis --json",
        "inspect patients.csv --json",
        "fuzzy patients.csv --qi cost --sensitive diagnosis --k 5 --partition global-recode --json",
        "fuzzy patients.csv --qi cost --q 2 --json",
        "run nothing.yaml --json # exit 2",
    )
    for command in commands:
        # What an error says goes to standard error as well.
        data, _ = json.JSONDecoder().raw_decode(run_command(f"velado {command}"))
        data.pop("levels", None)
        assert sorted(k for k in keys_of(data) - columns if not has(text, k) and not k.isdigit()) == []


@pytest.mark.lint
def test_the_folder_of_compiled_code_is_the_same_everywhere(tmp_path: Path) -> None:
    for page in (REFERENCE / "cli.md", DOCS / "explanation" / "speed.md"):
        text = page.read_text(encoding="utf-8")
        assert {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"} <= set(re.findall(r"`([A-Z_]+)`", text)), page
    for page in PAGES:
        named = re.findall(r"`(~/\.cache/[^`]*)`", page.read_text(encoding="utf-8"))
        assert set(named) <= {"~/.cache/velado"}, page
    shown = subprocess.run(
        [sys.executable, "-c", "from velado.kernels.compiler import CACHE_FOLDER; print(CACHE_FOLDER)"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert Path(shown.stdout.strip()).parent == tmp_path, "the variable goes before everything else"


@pytest.mark.lint
def test_dependencies_have_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]
    names = {re.split(r"[<>=\[]", d)[0] for d in listed} - {"velado"}
    text = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    assert sorted(n for n in names if not has(text, n)) == []


@pytest.mark.lint
def test_architecture_lists_the_layers() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    names = [name.removeprefix("velado.") for layer in contract["layers"] for name in layer.split(" | ")]
    at = [re.search(rf"^(?:.*\s)?{name}(?:/|\.py)", text, re.MULTILINE) for name in names]
    assert [n for n, found in zip(names, at, strict=True) if found is None] == []
