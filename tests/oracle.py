"""A slow, plain oracle for tiny tables, written from the definitions alone.

It shares no code and no formula trick with the product: classes are dictionaries of
records, proportions are exact fractions, the earth mover's distance is solved as a
transport problem, and the optimum is found by looking at every node of the lattice.
Meant for tables of at most some 60 records.

A table is a list of records (`{"age": "34", ...}`). A hierarchy is a list of rows
`[leaf, level 1, ..., top]` of equal length. `levels` has one level per quasi-identifier,
in the order of `qi`. `kept` is the set of keys of the classes that are released; the
records of all other classes are suppressed.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

Record = dict[str, str]
Rows = list[Record]
Names = list[str]
Tree = list[list[str]]
Trees = dict[str, Tree]
Levels = tuple[int, ...]
Key = tuple[str, ...]
Keys = set[Key]
Models = list[dict]
Figure = float | tuple[float, float]
Number = float | Fraction
Pair = tuple[int, int]

TOLERANCE = 1e-12


def exact(number: float) -> Fraction:
    """The fraction a parameter stands for: 0.6 is 3/5, 1/3 is one third."""
    return Fraction(number).limit_denominator(10**9)


def shares(values: Iterable[str]) -> dict[str, Fraction]:
    """The distribution of the values: the share of each one."""
    counts = Counter(values)
    return {value: Fraction(count, counts.total()) for value, count in counts.items()}


# --- Recoding ---


def path(tree: Tree, leaf: str) -> list[str]:
    """The row of a leaf: the leaf itself, then its value at each level."""
    for row in tree:
        if row[0] == leaf:
            return row
    raise KeyError(f"the hierarchy does not list {leaf!r}")


def leaves_under(tree: Tree, level: int, value: str) -> int:
    """How many leaves listed in the hierarchy become `value` at this level."""
    return len({row[0] for row in tree if row[level] == value})


def domain_size(tree: Tree) -> int:
    """|D|: the listed leaves, also those that the data do not contain."""
    return len({row[0] for row in tree})


def highest_level(tree: Tree) -> int:
    """L - 1 for a hierarchy of L levels."""
    return len(tree[0]) - 1


def recode(record: Record, qi: Names, hierarchies: Trees, levels: Levels) -> Key:
    """The quasi-identifiers of a record, each at its level."""
    return tuple(path(hierarchies[column], record[column])[level] for column, level in zip(qi, levels, strict=True))


def classes(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels) -> dict[Key, Rows]:
    """The equivalence classes: records that share all QI values after recoding.

    All records are in a class here; suppression comes after.
    """
    found: dict[Key, Rows] = defaultdict(list)
    for record in rows:
        found[recode(record, qi, hierarchies, levels)].append(record)
    return dict(found)


def lattice(qi: Names, hierarchies: Trees) -> Iterator[Levels]:
    """Every node: one level per quasi-identifier."""
    return itertools.product(*(range(highest_level(hierarchies[c]) + 1) for c in qi))


# --- Earth mover's distance ---


def whole_numbers(numbers: Iterable[Number]) -> tuple[list[int], int]:
    """The numbers times their common denominator, and that denominator."""
    fractions = [Fraction(number) for number in numbers]
    scale = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * scale) for fraction in fractions], scale


def emd_lp(p: Sequence[Number], q: Sequence[Number], distance_matrix: Sequence[Sequence[Number]]) -> Fraction:
    """The least cost of turning p into q, moving x from i to j costing x * distance[i][j].

    Successive shortest paths: while mass is left, send as much as fits along the cheapest
    path of the residual graph (Bellman-Ford, because undoing a move has a negative cost).
    Whole-number arithmetic, therefore exact. p and q should have the same total; when
    rounded floats do not, the remainder stays where it is.
    """
    size = len(p)
    masses, mass_scale = whole_numbers([*p, *q])
    supply, demand = masses[:size], masses[size:]
    costs, cost_scale = whole_numbers(d for line in distance_matrix for d in line)
    cost = {(i, j): costs[i * size + j] for i in range(size) for j in range(size)}
    flow = dict.fromkeys(cost, 0)
    while any(supply) and any(demand):
        way = cheapest_way(supply, demand, cost, flow)
        start, end = way[0][0], way[-1][1]
        undone = [flow[i, j] for i, j, forward in way if not forward]
        amount = min(supply[start], demand[end], *undone)
        for i, j, forward in way:
            flow[i, j] += amount if forward else -amount
        supply[start] -= amount
        demand[end] -= amount
    total = sum(flow[pair] * cost[pair] for pair in cost)
    return Fraction(total, mass_scale * cost_scale)


def cheapest_way(supply: list[int], demand: list[int], cost: dict[Pair, int], flow: dict[Pair, int]) -> list[tuple[int, int, bool]]:
    """The cheapest path from mass that is left to demand that is left (Bellman-Ford).

    A step (i, j, True) moves mass from source i to sink j; (i, j, False) takes some back.
    """
    at_source = [0 if left else math.inf for left in supply]
    at_sink = [math.inf for _ in demand]
    reached_sink: dict[int, int] = {}
    reached_source: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for (i, j), price in cost.items():
            if at_source[i] + price < at_sink[j]:
                at_sink[j], reached_sink[j], changed = at_source[i] + price, i, True
            if flow[i, j] and at_sink[j] - price < at_source[i]:
                at_source[i], reached_source[i], changed = at_sink[j] - price, j, True
    sink = min((j for j, left in enumerate(demand) if left), key=lambda j: at_sink[j])
    source = reached_sink[sink]
    way = [(source, sink, True)]
    while source in reached_source:
        sink = reached_source[source]
        way.insert(0, (source, sink, False))
        source = reached_sink[sink]
        way.insert(0, (source, sink, True))
    return way


def in_order(values: Iterable[str]) -> list[str]:
    """Distinct values by number when all of them are (finite) numbers, else as text."""
    distinct = sorted(set(values))
    try:
        numbers = [float(value) for value in distinct]
    except ValueError:
        return distinct
    return sorted(distinct, key=float) if all(map(math.isfinite, numbers)) else distinct


def ordered_distances(values: list[str]) -> list[list[Fraction]]:
    """|i - j| / (v - 1) for the i-th and j-th of v values; a single value is at 0."""
    size = len(values)
    return [[Fraction(abs(i - j), max(1, size - 1)) for j in range(size)] for i in range(size)]


def tree_distance(tree: Tree, a: str, b: str) -> Fraction:
    """level(lowest common ancestor) / H, H the height of the tree."""
    if a == b:
        return Fraction(0)
    ancestors = zip(path(tree, a), path(tree, b), strict=True)
    meeting = [level for level, (x, y) in enumerate(ancestors) if x == y]
    if not meeting:
        raise ValueError(f"{a!r} and {b!r} have no common ancestor in the tree")
    return Fraction(min(meeting), highest_level(tree))


# --- Privacy models: each gives the figure of a class and whether it is satisfied ---

Verdict = tuple[Figure, bool]


def k_anonymity(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """size(E) >= k. Figure: the size."""
    return len(cls), len(cls) >= model["k"]


def distinct_diversity(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """At least l distinct sensitive values. Figure: their number."""
    distinct = len({record[model["column"]] for record in cls})
    return distinct, distinct >= model["l"]


def entropy_diversity(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """-sum p ln p >= ln l. Figure: exp(entropy), the largest l that holds."""
    p = shares(record[model["column"]] for record in cls)
    entropy = -sum(share * math.log(share) for share in p.values())
    return math.exp(entropy), entropy >= math.log(model["l"]) - TOLERANCE


def recursive_diversity(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """With r1 >= r2 >= ... >= rd: d >= l and r1 < c (rl + ... + rd).

    Figure: r1 / (rl + ... + rd), above which every c holds; infinite when d < l.
    """
    counts = Counter(record[model["column"]] for record in cls)
    r = sorted(counts.values(), reverse=True)
    if len(r) < model["l"]:
        return math.inf, False
    tail = sum(r[model["l"] - 1 :])
    return r[0] / tail, r[0] < exact(model["c"]) * tail


def t_closeness(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """EMD(P, Q) <= t, P in the class, Q in the whole input. Figure: the EMD."""
    column = model["column"]
    values = in_order(record[column] for record in table)
    in_class = shares(record[column] for record in cls)
    in_table = shares(record[column] for record in table)
    p = [in_class.get(value, Fraction(0)) for value in values]
    q = [in_table[value] for value in values]
    if model["distance"] == "equal":
        emd = sum((abs(a - b) for a, b in zip(p, q, strict=True)), Fraction(0)) / 2
    elif model["distance"] == "ordered":
        emd = emd_lp(p, q, ordered_distances(values))
    elif model["distance"] == "hierarchical":
        emd = emd_lp(p, q, [[tree_distance(trees[column], a, b) for b in values] for a in values])
    else:
        raise ValueError(f"unknown distance {model['distance']!r}")
    return float(emd), float(emd) <= model["t"] + TOLERANCE


def delta_disclosure(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """|log(p(s) / q(s))| < delta for every s of the class. Figure: the largest of these.

    With `every`, each value of the table must be in the class: a missing one is infinite.
    """
    log = math.log if model.get("base", 2) == "e" else math.log2
    p = shares(record[model["column"]] for record in cls)
    q = shares(record[model["column"]] for record in table)
    largest = max(abs(log(p[s] / q[s])) for s in p)
    if model.get("every", False) and set(p) != set(q):
        largest = math.inf
    return largest, largest < model["delta"]


def beta_likeness(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """(p(s) - q(s)) / q(s) <= beta for every s with p(s) > q(s).

    Enhanced: the bound is min(beta, -ln q(s)). Figure: the smallest beta that holds; 0 when
    no value gains, infinite when a value gains more than -ln q(s), which no beta allows.
    """
    p = shares(record[model["column"]] for record in cls)
    q = shares(record[model["column"]] for record in table)
    gains = {s: (p[s] - q[s]) / q[s] for s in p if p[s] > q[s]}
    if model.get("enhanced", False) and any(gains[s] > -math.log(q[s]) for s in gains):
        return math.inf, False
    largest = max(gains.values(), default=Fraction(0))
    return float(largest), largest <= exact(model["beta"])


def alpha_k(model: dict, cls: Rows, table: Rows, trees: Trees) -> Verdict:
    """size(E) >= k and every p(s) <= alpha. Figure: (size, largest p)."""
    largest = max(shares(record[model["column"]] for record in cls).values())
    holds = len(cls) >= model["k"] and largest <= exact(model["alpha"])
    return (len(cls), float(largest)), holds


JUDGES: dict[str, Callable[[dict, Rows, Rows, Trees], Verdict]] = {
    "k-anonymity": k_anonymity,
    "distinct-diversity": distinct_diversity,
    "entropy-diversity": entropy_diversity,
    "recursive-diversity": recursive_diversity,
    "t-closeness": t_closeness,
    "delta-disclosure": delta_disclosure,
    "beta-likeness": beta_likeness,
    "alpha-k": alpha_k,
}
MORE_IS_SAFER = {"k-anonymity", "distinct-diversity", "entropy-diversity"}


def worst(model: dict, figures: list) -> Figure:
    """The figure of the weakest class (or part): the one that a table as a whole has."""
    if model["name"] == "alpha-k":
        return min(size for size, _ in figures), max(share for _, share in figures)
    return min(figures) if model["name"] in MORE_IS_SAFER else max(figures)


def parts(model: dict, cls: Rows) -> list[Rows]:
    """The class itself or, read strictly, its parts: the other sensitive columns join the QI."""
    found: dict[Key, Rows] = defaultdict(list)
    for record in cls:
        found[tuple(record[column] for column in model.get("strict", []))].append(record)
    return list(found.values())


def figure(model: dict, cls: Rows, table: Rows, trees: Trees) -> Figure:
    """The figure of a class under a model (of its weakest part, read strictly)."""
    judge = JUDGES[model["name"]]
    return worst(model, [judge(model, part, table, trees)[0] for part in parts(model, cls)])


def satisfies(model: dict, cls: Rows, table: Rows, trees: Trees) -> bool:
    """Whether a class (every part of it, read strictly) satisfies a model."""
    judge = JUDGES[model["name"]]
    return all(judge(model, part, table, trees)[1] for part in parts(model, cls))


# --- Utility of a released node ---


def leaves_of_cells(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> dict[str, list[int]]:
    """Per QI, the leaves under the released value of each record; all of them if suppressed."""
    cells: dict[str, list[int]] = {column: [] for column in qi}
    for record in rows:
        key = recode(record, qi, hierarchies, levels)
        for column, level, value in zip(qi, levels, key, strict=True):
            tree = hierarchies[column]
            leaves = leaves_under(tree, level, value) if key in kept else domain_size(tree)
            cells[column].append(leaves)
    return cells


def column_losses(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> list[float]:
    """L_j = max(0, (sum of shares - N/|D|) / (N - N/|D|)); 0 when the domain has one value."""
    losses = []
    for column, cells in leaves_of_cells(rows, qi, hierarchies, levels, kept).items():
        domain = domain_size(hierarchies[column])
        least = Fraction(len(rows), domain)
        total = Fraction(sum(cells), domain)
        share = (total - least) / (len(rows) - least) if domain > 1 else Fraction(0)
        losses.append(float(max(Fraction(0), share)))
    return losses


def loss(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """The geometric mean of the 1 + L_j, less 1."""
    losses = column_losses(rows, qi, hierarchies, levels, kept)
    return math.prod(1 + each for each in losses) ** (1 / len(qi)) - 1


def loss_mean(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """The arithmetic mean of the L_j."""
    return sum(column_losses(rows, qi, hierarchies, levels, kept)) / len(qi)


def precision(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys, depth: str = "highest") -> float:
    """1 - mean over the N*m cells of level / depth, suppressed cells at the highest level.

    depth is the highest level or, with "levels", the number of levels. A column that
    cannot be generalized loses nothing.
    """
    lost = Fraction(0)
    for record in rows:
        released = recode(record, qi, hierarchies, levels) in kept
        for column, level in zip(qi, levels, strict=True):
            highest = highest_level(hierarchies[column])
            divisor = highest if depth == "highest" else highest + 1
            if divisor:
                lost += Fraction(level if released else highest, divisor)
    return float(1 - lost / (len(rows) * len(qi)))


def kept_sizes(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> list[int]:
    """The sizes of the released classes, smallest first."""
    found = classes(rows, qi, hierarchies, levels)
    return sorted(len(cls) for key, cls in found.items() if key in kept)


def discernibility(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """Sum of size squared over the released classes, plus N per suppressed record."""
    sizes = kept_sizes(rows, qi, hierarchies, levels, kept)
    suppressed = len(rows) - sum(sizes)
    return float(sum(size**2 for size in sizes) + len(rows) * suppressed)


def average_class_size(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """AECS: records kept / classes kept. Undefined when nothing is kept."""
    sizes = kept_sizes(rows, qi, hierarchies, levels, kept)
    return sum(sizes) / len(sizes)


def c_avg(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys, k: int) -> float:
    """(N / classes kept) / k, N all records of the input. Undefined when nothing is kept."""
    return len(rows) / len(kept_sizes(rows, qi, hierarchies, levels, kept)) / k


def gen_iloss(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """Mean over the N*m cells of (leaves - 1) / (|D| - 1); suppressed cells have all leaves."""
    total = Fraction(0)
    for column, cells in leaves_of_cells(rows, qi, hierarchies, levels, kept).items():
        domain = domain_size(hierarchies[column])
        if domain > 1:
            total += Fraction(sum(cells) - len(cells), domain - 1)
    return float(total / (len(rows) * len(qi)))


def entropy_loss(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, kept: Keys) -> float:
    """Sum over cells of -log2 Pr(original | generalized), over its value when all is `*`.

    Pr counts all records of the input, column by column; a suppressed cell is `*`. Constant
    columns have nothing to lose: 0.
    """
    lost = everything = 0.0
    released = [recode(record, qi, hierarchies, levels) in kept for record in rows]
    for column, level in zip(qi, levels, strict=True):
        before = [record[column] for record in rows]
        after = [path(hierarchies[column], value)[level] for value in before]
        for original, general, is_released in zip(before, after, released, strict=True):
            same = before.count(original)
            lost -= math.log2(same / (after.count(general) if is_released else len(rows)))
            everything -= math.log2(same / len(rows))
    return lost / everything if everything else 0.0


# --- The whole lattice ---


def evaluate(rows: Rows, qi: Names, hierarchies: Trees, levels: Levels, models: Models, trees: Trees) -> dict:
    """What a node releases: the classes that satisfy every model; the rest is suppressed.

    `kept`: their keys; `suppressed`: the number of other records; `sizes`: sizes of the
    kept classes, smallest first.
    """
    found = classes(rows, qi, hierarchies, levels)
    single = [model for model in models if model["name"] in JUDGES]
    kept = {key for key, cls in found.items() if all(satisfies(model, cls, rows, trees) for model in single)}
    for model in models:
        if model["name"] == "k-map":
            people = Counter(recode(person, qi, hierarchies, levels) for person in model["people"])
            kept = {key for key in kept if people[key] >= model["k"]}
    for model in models:
        if model["name"] == "average-risk":
            kept = within_average_risk({key: found[key] for key in kept}, qi, hierarchies, model["risk"])
    sizes = kept_sizes(rows, qi, hierarchies, levels, kept)
    return {"kept": kept, "suppressed": len(rows) - sum(sizes), "sizes": sizes}


def within_average_risk(found: dict[Key, Rows], qi: Names, hierarchies: Trees, risk: float) -> Keys:
    """Classes left when the smallest, of equal ones the last, goes until classes / records is at most the risk."""
    places = {c: {row[0]: i for i, row in enumerate(hierarchies[c])} for c in qi}

    def first(key: Key) -> tuple[int, ...]:
        return min(tuple(places[c][record[c]] for c in qi) for record in found[key])

    left = sorted(found, key=lambda key: (-len(found[key]), first(key)))
    while left and Fraction(len(left), sum(len(found[key]) for key in left)) > exact(risk):
        left.pop()
    return set(left)


def feasible_nodes(
    rows: Rows, qi: Names, hierarchies: Trees, models: Models, trees: Trees, suppression: float
) -> dict[Levels, Keys]:
    """The nodes that suppress at most floor(suppression * N) records and keep at least one."""
    limit = math.floor(suppression * len(rows) + 1e-9)
    feasible = {}
    for levels in lattice(qi, hierarchies):
        outcome = evaluate(rows, qi, hierarchies, levels, models, trees)
        if outcome["kept"] and outcome["suppressed"] <= limit:
            feasible[levels] = outcome["kept"]
    return feasible


OBJECTIVES: dict[str, Callable[..., float]] = {
    "loss": loss,
    "loss-mean": loss_mean,
    "precision": lambda *node: 1 - precision(*node),
    "discernibility": discernibility,
    "average-class-size": average_class_size,
    "entropy": entropy_loss,
}


def brute_force(
    rows: Rows, qi: Names, hierarchies: Trees, models: Models, trees: Trees, objective: str, suppression: float
) -> tuple[float, Levels] | None:
    """The best feasible node of the whole lattice and its value (smaller is better).

    Values within 1e-12 * max(1, |minimum|) of the minimum are ties: the smallest sum of
    levels wins, then the lexicographically smallest vector. None when no node is feasible.
    """
    feasible = feasible_nodes(rows, qi, hierarchies, models, trees, suppression)
    if not feasible:
        return None
    measure = OBJECTIVES[objective]
    values = {levels: measure(rows, qi, hierarchies, levels, kept) for levels, kept in feasible.items()}
    least = min(values.values())
    margin = TOLERANCE * max(1, abs(least))
    ties = [levels for levels, value in values.items() if value <= least + margin]
    best = min(ties, key=lambda levels: (sum(levels), levels))
    return values[best], best


def minimal_nodes(rows: Rows, qi: Names, hierarchies: Trees, models: Models, trees: Trees, suppression: float) -> list[Levels]:
    """Feasible nodes with no feasible strictly finer node, by sum of levels, then vector.

    Finer: no level is higher. All finer nodes are looked at, not only the neighbours,
    because feasibility is not monotone for every model.
    """
    feasible = feasible_nodes(rows, qi, hierarchies, models, trees, suppression)

    def finer(a: Levels, b: Levels) -> bool:
        return a != b and all(x <= y for x, y in zip(a, b, strict=True))

    minimal = [node for node in feasible if not any(finer(other, node) for other in feasible)]
    return sorted(minimal, key=lambda levels: (sum(levels), levels))


def risk(sizes: Sequence[int], threshold: float = 0.1) -> dict[str, float]:
    """Prosecutor risk from the sizes of the kept classes; all 0 when nothing is released.

    highest = 1 / smallest size; average = classes / records; at_risk = share of the records
    whose risk 1 / size is above the threshold.
    """
    if not sizes:
        return {"highest": 0.0, "average": 0.0, "at_risk": 0.0}
    exposed = sum(size for size in sizes if Fraction(1, size) > exact(threshold))
    records = sum(sizes)
    return {"highest": 1 / min(sizes), "average": len(sizes) / records, "at_risk": exposed / records}
