"""Small cases from a seed (ties, weights, ranges that end at or inside ties, clusters, extremes), and simpler ones."""

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

# Scores between which differences overflow, vanish or are the least there are.
EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308)
SCALES = (1.0, 1.0, 3.0, 1 / 3, 1e-9, 1e12, 1e-97, 1e97, 1e-105)
# How far an end of a range is from a corner, by its share: as rounding moves it, or further.
MOVED = (0.0, 0.0, 0.0, 2.0**-52, -(2.0**-52), 2.0**-50, -(2.0**-50), 1e-11, -1e-11)
MODELS = 3


@dataclass(frozen=True)
class Case:
    labels: tuple[int, ...]
    scores: tuple[tuple[float, ...], ...]  # a row a model
    weights: tuple[float, ...] | None
    kind: str  # of the weights
    clusters: tuple[int, ...]
    subjects: tuple[tuple[int, int], ...]
    features: tuple[tuple[float, ...], ...]  # a row a sample
    fpr_range: tuple[float, float]
    tpr_range: tuple[float, float]
    share: float  # in (0, 1): a rate, a threshold, a prevalence, a fraction
    alpha: float
    which: int  # chooses among measures and options

    def take(self, rows: list[int]) -> "Case":
        def of(values):
            return tuple(values[k] for k in rows)

        return replace(
            self,
            labels=of(self.labels),
            scores=tuple(of(s) for s in self.scores),
            weights=None if self.weights is None else of(self.weights),
            clusters=of(self.clusters),
            subjects=of(self.subjects),
            features=of(self.features),
        )

    @cached_property
    def plain(self) -> bool:
        """Whether scores and weights are of ordinary size."""
        held = [abs(s) for model in self.scores for s in model] + [w for w in self.weights or () if w]
        return all(x == 0 or 1e-5 < x < 1e5 for x in held)

    @property
    def has_both_classes(self) -> bool:
        there = [y for k, y in enumerate(self.labels) if self.weights is None or self.weights[k] > 0]
        return 0 < sum(there) < len(there)


def bits(random: Random) -> float:
    """Return any finite float64."""
    found = struct.unpack("<d", random.randbytes(8))[0]
    return found if math.isfinite(found) else 0.0


def draw_score(random: Random, kind: str, last: list[float]) -> float:
    if kind == "few":
        return float(random.randrange(5))
    if kind == "probabilities":
        return random.choice((random.randrange(9) / 8, random.random()))
    if kind == "decimals":
        return random.randrange(-20, 30) / 10
    if kind == "normal":
        return random.gauss(0, 1)
    if kind == "neighbours" and last:
        return math.nextafter(last[-1], math.inf)
    return random.choice(EXTREMES) if kind == "extremes" else bits(random)


def draw_model(random: Random, size: int) -> tuple[float, ...]:
    kinds = ["few", "few", "probabilities", "probabilities", "decimals", "normal"]
    if random.random() < 0.3:
        kinds = ["neighbours", "extremes", "bits", "few"]
    kind, found = random.choice(kinds), list[float]()
    for _ in range(size):
        found.append(draw_score(random, kind if random.random() < 0.9 else random.choice(kinds), found))
    if random.random() < 0.1:
        found.sort(reverse=random.random() < 0.5)
    return tuple(s if math.isfinite(s) else 0.0 for s in found)


def draw_weights(random: Random, size: int) -> tuple[float, ...] | None:
    kind = random.randrange(10)
    if kind < 4:
        return None
    if kind < 6:
        return tuple(float(random.randrange(4)) for _ in range(size))
    if kind < 8:
        scale = random.choice(SCALES) if random.random() < 0.3 else 1.0
        return tuple(random.randrange(41) / 10 * scale for _ in range(size))
    if kind == 8:
        return tuple(random.uniform(0.1, 3.0) for _ in range(size))
    if random.random() < 0.5:
        return tuple(random.choice((0.1, 0.7, 1e-17, 1e17, 1e-300, 1e120)) for _ in range(size))
    return tuple(abs(bits(random)) for _ in range(size))


def draw_range(random: Random, size: int, least: float) -> tuple[float, float]:
    """Return a range whose ends are corners of a curve, simple shares or any."""
    ends = []
    for _ in range(2):
        kind = random.randrange(4)
        end = random.randrange(41) / 40 if kind < 2 else random.randrange(size + 1) / size
        end *= 1 + random.choice(MOVED)
        ends.append(min(end, 1.0) if kind < 3 else random.random() ** random.choice((1, 4, 40)))
    low, high = sorted(ends)
    if random.random() < 0.3:
        low = 0.0
    return (low, high) if high - low > least + 1e-6 * high else (0.0, 1.0)


def draw(seed: int) -> Case:
    """Return the case of a seed."""
    random = Random(seed)
    size = random.choice((2, 3, 4, *range(4, 13), *range(6, 16)))
    labels = [random.randrange(2) for _ in range(size)]
    if random.random() < 0.1:
        labels = [int(k >= size // 2) for k in range(size)]
    labels[0], labels[-1] = 0, 1
    negatives = max(1, labels.count(0))
    case = Case(
        labels=tuple(labels),
        scores=tuple(draw_model(random, size) for _ in range(MODELS)),
        weights=draw_weights(random, size),
        kind=random.choice(("frequency", "sampling")),
        clusters=tuple(random.randrange(max(2, size // 2)) for _ in range(size)),
        subjects=tuple((k := random.randrange(6), (k + random.randrange(1, 6)) % 6) for _ in range(size)),
        features=tuple(tuple(random.randrange(-8, 9) / 4 for _ in range(2)) for _ in range(size)),
        fpr_range=draw_range(random, negatives, 1e-99),
        tpr_range=draw_range(random, size - negatives, 1e-3),
        share=random.choice((random.randrange(1, 20) / 20, random.uniform(0.01, 0.99))),
        alpha=random.choice((0.5, 3.0, 20.0, 160.9)),
        which=random.randrange(2**30),
    )
    return case if case.has_both_classes else replace(case, weights=None)


def simpler(case: Case) -> Iterator[Case]:
    """Yield cases that are a step simpler."""
    size = len(case.labels)
    for k in range(size):
        yield case.take([row for row in range(size) if row != k])
    if case.weights is not None:
        yield replace(case, weights=None)
        yield replace(case, weights=tuple(1.0 for _ in case.weights))
        yield replace(case, weights=tuple(float(math.ceil(min(w, 3))) for w in case.weights))
    for k, model in enumerate(case.scores):
        levels = sorted(set(model))
        for of in (
            tuple(float(levels.index(s)) for s in model),
            tuple(levels.index(s) / 8 for s in model),
            case.scores[0],
        ):
            yield replace(case, scores=(*case.scores[:k], of, *case.scores[k + 1 :]))
    for name in ("fpr_range", "tpr_range"):
        low, high = getattr(case, name)
        for of in (
            (0.0, 1.0),
            (0.0, high),
            (low, 1.0),
            (round(low, 1), round(high, 1)),
            (round(low, 3), round(high, 3)),
        ):
            if of[0] < of[1]:
                yield replace(case, **{name: of})
    yield replace(case, clusters=tuple(range(size)))
    yield replace(case, share=0.5)
    yield replace(case, alpha=3.0)


def minimised(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return a case that still fails, and none that is a step simpler does."""
    seen = {case}
    while True:
        for other in simpler(case):
            if other not in seen and len(other.labels) > 1 and other.has_both_classes:
                seen.add(other)
                if fails(other):
                    case = other
                    break
        else:
            return case
