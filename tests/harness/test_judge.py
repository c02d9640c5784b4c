"""The second judge is independent, right by the definitions, strict with tampered releases, and agrees with the product."""

import ast
import csv
import io
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import oracle
import velado
from harness import measures
from harness.judge import Folding, Verdict, judge, judge_files
from harness.judge_hook import times
from harness.projects import ILLNESSES, random_case
from harness.reading import Sheet

HERE = Path(__file__).parent
Example = tuple[Path, dict[str, Any], list[list[str]]]
OWN = ("judge.py", "measures.py", "labels.py", "reading.py")


def test_the_judge_knows_nothing_of_the_product() -> None:
    for name in OWN:
        for node in ast.walk(ast.parse((HERE / name).read_text(encoding="utf-8"))):
            imported = []
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{name} imports relatively"
                imported = [node.module or ""]
            for module in imported:
                assert module.partition(".")[0] != "velado", f"{name} imports {module}"
                if module.startswith("harness"):
                    own = [f"{module.partition('.')[2]}.py"] if "." in module else [f"{a.name}.py" for a in node.names]  # type: ignore[attr-defined]
                    assert set(own) <= set(OWN), f"{name} imports {own}, which may know the product"


# The definitions


CHAINS = {
    "flu": ["flu", "lungs", "*"],
    "asthma": ["asthma", "lungs", "*"],
    "cancer": ["cancer", "other", "*"],
    "diabetes": ["diabetes", "other", "*"],
    "gout": ["gout", "other", "*"],
}


def test_the_figures_are_those_of_the_definitions() -> None:
    """Against the oracle, which solves transport problems and takes shares one by one."""
    rng = random.Random(4)
    for _ in range(times(60)):
        table = [{"s": rng.choices(ILLNESSES, [5, 4, 3, 2, 1])[0]} for _ in range(rng.randint(5, 30))]
        some = table[: rng.randint(1, len(table))]
        tally, whole = Counter(r["s"] for r in some), Counter(r["s"] for r in table)

        def figure(name: str, some: Any = some, table: Any = table, **model: Any) -> Any:
            judged = {
                "t-closeness": oracle.t_closeness,
                "delta-disclosure": oracle.delta_disclosure,
                "beta-likeness": oracle.beta_likeness,
                "entropy-diversity": oracle.entropy_diversity,
                "recursive-diversity": oracle.recursive_diversity,
            }[name]
            trees = {"s": list(CHAINS.values())}
            return judged({"name": name, "column": "s", **model}, some, table, trees)

        assert float(measures.distance_equal(tally, whole)) == pytest.approx(figure("t-closeness", t=0.2, distance="equal")[0])
        ordered = measures.distance_ordered(tally, whole, sorted(whole))
        assert float(ordered) == pytest.approx(figure("t-closeness", t=0.2, distance="ordered")[0])
        in_tree = measures.distance_in_tree(tally, whole, CHAINS)
        assert float(in_tree) == pytest.approx(figure("t-closeness", t=0.2, distance="hierarchical")[0])
        assert float(measures.entropy(tally).exp()) == pytest.approx(figure("entropy-diversity", l=2)[0])
        if len(tally) >= 2:
            assert float(measures.recursive(tally, 2) or 0) == pytest.approx(figure("recursive-diversity", c=2, l=2)[0])
        for base in (2, "e"):
            reached, holds = figure("delta-disclosure", delta=1, base=base)
            assert float(measures.largest_logarithm(tally, whole, base)) == pytest.approx(reached)
            assert measures.delta_holds(tally, whole, measures.exact(1), base) == holds
        for enhanced in (False, True):
            _, holds = figure("beta-likeness", beta=0.7, enhanced=enhanced)
            assert measures.beta_holds(tally, whole, measures.exact(0.7), enhanced) == holds


def test_equality_is_not_below_delta() -> None:
    """p/q = 2: the logarithm is exactly 1."""
    tally, whole = {"a": 2, "b": 2}, {"a": 2, "b": 2, "c": 4}
    assert not measures.delta_holds(tally, whole, measures.exact(1), 2)
    assert measures.delta_holds(tally, whole, measures.exact(1.001), 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HIV", "hiv "),
        ("caf\u00e9", "cafe\u0301"),
        ("1", "1.0"),
        ("NA", None),
        ("ﬁbrosis", "fibrosis"),
        ("a  b", "A b"),
        ("a\u200bb", "ab"),
        ("0,5", "0,50"),
    ],
)
def test_spelling_variants_fold_together(one: str, other: str | None) -> None:
    fold = Folding.of([one, other])
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("HIV", "HIV 2"), ("1", "10"), ("1,000", "1"), ("a b", "ab"), ("0", None), ("007", "7"), ("0,5", "0.5"), ("none", None)],
)
def test_different_values_stay_different(one: str, other: str | None) -> None:
    fold = Folding.of([one, other])
    assert fold(one) != fold(other)


# Agreement with the product


@pytest.mark.faults
def test_the_judge_agrees_with_the_product(tmp_path: Path) -> None:
    """Random projects: what is published is accepted, with the same figures, and most of it is matched record by record."""
    seen: Counter[str] = Counter()
    for seed in range(times(24)):
        case = random_case(seed)
        path = case.write(tmp_path / str(seed))
        try:
            release = velado.run(path)
        except velado.NoSolution:
            seen["no solution"] += 1
            continue
        (verdict,) = judge_files(path, release.as_dict())
        assert not verdict.refused, f"seed {seed}: {verdict.problems}"
        seen["released"] += 1
        seen["matched"] += verdict.matched
        seen[case.project["output"]["path"]] += 1
        seen["some suppressed"] += release.as_dict()["suppressed"] > 0
        seen["starred"] += release.as_dict()["suppressed"] > 0 and case.project["output"]["suppressed"] == "asterisks"
        seen[next(iter(case.project["method"]))] += 1
    assert seen["released"] >= times(24) * 2 // 3
    assert seen["matched"] >= seen["released"] * 3 // 4
    assert seen["some suppressed"] >= times(24) // 4
    assert all(seen[f"release.{kind}"] for kind in ("csv", "parquet", "xlsx", "arrow")), seen
    assert all(seen[method] for method in ("lattice", "datafly", "mondrian")), seen


# Tampering


def released(folder: Path, **changes: Any) -> tuple[dict[str, Any], list[list[str]]]:
    """A release of a table with two classes, as lines of its file."""
    columns = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 100]}},
        "ill": {"role": "sensitive"},
        "city": {"role": "insensitive"},
    }
    project = {
        "source": "people.csv",
        "columns": columns,
        "models": [{"k-anonymity": {"k": 3}}, {"distinct-diversity": {"l": 2, "column": "ill"}}],
        "method": {"fixed": {"levels": {"age": 1}}},
        "output": {"path": "out.csv", "order": "sorted"},
    } | changes
    people = [
        ("Ann-0001", 31, "flu", "Bonn"),
        ("Bob-0002", 34, "gout", "Kiel"),
        ("Cid-0003", 38, "flu", "Bonn"),
        ("Dan-0004", 51, "gout", "Kiel"),
        ("Eve-0005", 52, "flu", "Ulm"),
        ("Fay-0006", 57, "asthma", "Ulm"),
        ("Guy-0007", 91, "cancer", "Bonn"),
    ]
    text = "name,age,ill,city\n" + "".join(",".join(map(str, p)) + "\n" for p in people)
    (folder / "people.csv").write_text(text, encoding="utf-8")
    (folder / "project.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    velado.run(folder / "project.yaml")
    return project, list(csv.reader(io.StringIO((folder / "out.csv").read_text(encoding="utf-8"), newline="")))


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """A folder with such a release, its project and its lines: tests write others in their place."""
    folder = tmp_path_factory.mktemp("example")
    return folder, *released(folder)


def judged(folder: Path, project: dict[str, Any], lines: list[list[str]], **beside: Any) -> Verdict:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    (folder / "out.csv").write_text(text.getvalue(), encoding="utf-8")
    return judge(project, folder, folder / "out.csv", **beside)


def swapped(lines: list[list[str]], a: int, b: int, column: int) -> list[list[str]]:
    lines = [list(line) for line in lines]
    lines[a][column], lines[b][column] = lines[b][column], lines[a][column]
    return lines


def changed(lines: list[list[str]], row: int, column: int, value: str) -> list[list[str]]:
    lines = [list(line) for line in lines]
    lines[row][column] = value
    return lines


def test_what_was_written_is_accepted(example: Example) -> None:
    verdict = judged(*example)
    assert not verdict.refused
    assert verdict.matched
    assert (verdict.rows, verdict.released, verdict.classes, verdict.smallest) == (7, 6, 2, 3)
    assert verdict.figures["distinct-diversity ill folded"] == [2]


TAMPERED = {
    "a class shrunk": (lambda x: x[:-1], "k-anonymity"),
    "a record twice": (lambda x: [*x, x[-1]], "class"),
    "sensitive values swapped between classes": (lambda x: swapped(x, 2, 6, 2), "other values"),
    "insensitive values swapped between classes": (lambda x: swapped(x, 1, 4, 3), "other values"),
    "a label changed for another": (lambda x: changed(x, 1, 1, "50-59"), "class"),
    "a label that stands for nobody": (lambda x: changed(x, 1, 1, "70-79"), "no original value"),
    "a label finer than the others": (lambda x: changed(x, 1, 1, "31"), "two labels|no original value"),
    "a sensitive value invented": (lambda x: changed(x, 1, 2, "plague"), "values, or more of them"),
    "a sensitive value too often": (lambda x: changed(x, 4, 2, "gout"), "values, or more of them|other values"),
    "an identifier put back": (lambda x: changed(x, 1, 0, "Ann-0001"), "identifier"),
    "an identifier in another column": (lambda x: changed(x, 1, 3, "Ann-0001"), "identifier"),
    "columns in another order": (lambda x: [[a, c, b, d] for a, b, c, d in x], "columns"),
    "a column less": (lambda x: [line[:3] for line in x], "read|columns"),
    "a cell more": (lambda x: [*x[:-1], [*x[-1], ""]], "read"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_tampered_release_is_refused(example: Example, what: str) -> None:
    (folder, project, lines), (tamper, reason) = example, TAMPERED[what]
    verdict = judged(folder, project, tamper(lines))
    assert any(word in problem for problem in verdict.problems for word in reason.split("|")), verdict.problems


def test_a_higher_k_than_reached_is_refused(example: Example) -> None:
    folder, project, lines = example
    assert judged(folder, project | {"models": [{"k-anonymity": {"k": 4}}]}, lines).refused


def test_false_claims_are_refused(example: Example) -> None:
    for false in (
        {"released": 5},
        {"suppressed": 0},
        {"classes": 3},
        {"class_size": {"min": 2}},
        {"rows": 6},
        {"models": [{"name": "k-anonymity", "required": {"k": 3}, "achieved": 4, "satisfied": True}]},
    ):
        assert judged(*example, claims=false).refused, false
        assert judged(*example, manifest={"output": {"sha256": "0"}, "evaluation": false}).refused
    assert judged(*example, manifest={"output": {"sha256": "0"}}).problems == ["the manifest's digest is not that of the release"]


@pytest.mark.faults
def test_every_change_of_a_cell_is_noticed(tmp_path: Path) -> None:
    """Random releases, random cells, values that the column has elsewhere."""
    met = 0
    for seed in range(times(20)):
        rng = random.Random(seed)
        case = random_case(seed, method="lattice", path="release.csv", suppressed="drop", order="keep")
        path = case.write(tmp_path / str(seed))
        try:
            velado.run(path)
        except velado.NoSolution:
            continue
        file = path.parent / "release.csv"
        lines = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))
        for _ in range(4):
            row, column = rng.randrange(1, len(lines)), rng.randrange(len(lines[0]))
            others = sorted({line[column] for line in lines[1:]} - {lines[row][column]})
            if others:
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(changed(lines, row, column, rng.choice(others)))
                file.write_text(text.getvalue(), encoding="utf-8")
                met += 1
                assert judge(case.project, path.parent, file).refused, (seed, row, column)
    assert met >= times(20)


# Variants, people, the whole input


def table(*rows: str) -> Sheet:
    """A table from words."""
    return Sheet(rows[0].split(), [tuple(None if c == "-" else c for c in row.split()) for row in rows[1:]])


def project_of(models: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    columns = {"who": {"role": "identifier", "operation": "drop"}, "q": "quasi-identifier", "s": "sensitive"}
    return {"source": "none", "columns": columns, "models": models, "method": "fixed", "output": {}} | more


def test_spelling_variants_are_not_diversity() -> None:
    original = table("q s", "a HIV", "a hiv", "a Hiv")
    models = [{"distinct-diversity": {"l": 3, "column": "s"}}]
    assert judge(project_of(models), Path(), original, original).refused
    assert not judge(project_of(models, variants="distinct"), Path(), original, original).refused


def test_rows_of_one_person_are_one_person() -> None:
    original = table("who q s", "p a x", "p a y", "p a z", "r b x", "s b y", "t b z")
    release = Sheet(["q", "s"], [row[1:] for row in original.rows])
    k3 = [{"k-anonymity": {"k": 3}}]
    verdict = judge(project_of(k3, person="who"), Path(), release, original)
    assert verdict.refused
    assert verdict.people == 1
    assert judge(project_of(k3, household="who"), Path(), release, original).refused
    assert not judge(project_of(k3, person="rows"), Path(), release, original).refused
    alpha = [{"alpha-k": {"k": 3, "alpha": 0.5, "column": "s"}}]
    assert judge(project_of(alpha, person="who"), Path(), release, original).refused


def test_people_are_counted_by_their_pseudonyms() -> None:
    original = table("who q s", "p a x", "p a y", "r a z")
    release = table("who q s", "p1 a x", "p1 a y", "p2 a z")
    columns = {"who": {"role": "identifier", "operation": {"pseudonymize": "env:K"}}, "q": "quasi-identifier", "s": "sensitive"}
    for k, refused in ((2, False), (3, True)):
        project = project_of([{"k-anonymity": {"k": k}}], person="who", columns=columns, method="fuzzy")
        assert judge(project, Path(), release, original).refused == refused


def test_the_reference_is_the_whole_input() -> None:
    """In the release alone the distribution of class a is that of everybody; in the input it is not."""
    original = table("q s", "a x", "a x", "a y", "a y", "b z", "b z", "b z", "b z")
    release = Sheet(original.header, original.rows[:4])
    verdict = judge(project_of([{"t-closeness": {"t": 0.4, "column": "s"}}]), Path(), release, original)
    assert verdict.figures["t-closeness s raw"] == [measures.Fraction(1, 2)]
    assert verdict.refused


def test_strict_alpha_k_asks_k_of_every_part() -> None:
    original = table("q s r", "a x 1", "a y 1", "a x 2", "a y 1")
    columns = {"q": "quasi-identifier", "s": "sensitive", "r": "sensitive"}
    for strict, refused in ((False, False), (True, True)):
        models = [{"alpha-k": {"alpha": 1, "k": 2, "column": "s", "strict": strict}}]
        assert judge(project_of(models, columns=columns), Path(), original, original).refused == refused


def test_starred_rows_show_nothing() -> None:
    original = table("q s c", "a x 1", "a y 2", "b z 3")
    columns = {"q": "quasi-identifier", "s": "sensitive", "c": "insensitive"}
    project = project_of([{"k-anonymity": {"k": 2}}], columns=columns, output={"suppressed": "asterisks"})
    for last, refused in (("* * *", False), ("* * 3", True), ("b * *", True)):
        release = table("q s c", "a x 1", "a y 2", last)
        assert judge(project, Path(), release, original).refused == refused, last


def test_numbers_mixed_with_texts_have_no_order() -> None:
    original = table("q s", "a 1", "a 2", "a many")
    models = [{"t-closeness": {"t": 1, "column": "s", "distance": "ordered"}}]
    assert judge(project_of(models), Path(), original, original).refused
