"""Our measures beside others, in one process.

Run: python benches/python/bench_metrics.py [--largest 1e7]

Nanoseconds a score, the median of 7 calls, taken in turns so that noise falls on all alike; then the ratio of each
peer to ours. `pip install rapidstats pyarrow scikit-learn-intelex confidenceinterval MLstatkit` adds four peers; those
of DeLong take minutes with 10^7 scores and are left out there. "rate" is the interval of the TPR at FPR 0.01,
"threshold" the operating point there.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module

import numpy as np
import sklearn.metrics

from rocmax import _core, metrics
from rocmax.metrics.samples._arguments import Arguments

REPEATS = 7
REPLICATES = 100  # of a bootstrap, whose preparation is shared among them


def peers() -> dict:
    """Return the functions (y, s) -> AUC that are installed, by name."""
    found = {"scikit-learn": sklearn.metrics.roc_auc_score}
    with suppress(ImportError):
        found["sklearnex"] = import_module("sklearnex.metrics").roc_auc_score
    with suppress(ImportError):
        found["rapidstats"] = import_module("rapidstats.metrics").roc_auc
    return found


def delong_peers() -> dict:
    """Return, by what of ours they do, the installed functions of (y, s, other score)."""
    found = {}
    with suppress(ImportError):
        interval = import_module("confidenceinterval").roc_auc_score
        found["delong"] = ("confidenceinterval", lambda y, s, other: interval(y.astype(int), s))
    with suppress(ImportError):
        test = import_module("MLstatkit.delong").Delong_test
        found["paired"] = ("MLstatkit", lambda y, s, other: test(y.astype(int), s, other))
    return found


def medians(calls: dict, clock: Callable[[], float] = time.perf_counter) -> dict:
    times = {name: [] for name in calls}
    for _ in range(REPEATS):
        for name, (call, count) in calls.items():
            start = clock()
            for _ in range(count):
                call()
            times[name].append((clock() - start) / count)
    return {name: float(np.median(values)) for name, values in times.items()}


def large(n: int, share: float, dtype: type, tails: str) -> None:
    rng = np.random.default_rng(n)
    y = rng.random(n) < share
    draw = rng.standard_cauchy if tails == "heavy" else rng.standard_normal
    s = (draw(size=n) + y).astype(dtype)
    other = (s + rng.normal(size=n)).astype(dtype)
    count = max(3, 10**6 // n)  # a first call finds what has idled while a peer took seconds
    calls = {"numpy.sum": (s.sum, count), "numpy.sort": (lambda: np.sort(s), 1)}
    others = peers()
    calls |= {name: (lambda f=f: f(y, s), 1) for name, f in others.items()}
    by_delong = delong_peers() if n <= 10**6 else {}
    calls |= {name: (lambda f=f: f(y, s, other), 1) for name, f in by_delong.values()}
    options = {"method": metrics.Bootstrap(REPLICATES), "random_state": 0}
    for t in (1, 2):
        calls |= {
            f"auc {t}": (lambda t=t: _core.measure(y, s, None, _core.Measure.auc(), t), count),
            f"delong {t}": (lambda t=t: _core.auc_moments(y, s, t), count),
            f"pauc {t}": (
                lambda t=t: _core.measure(y, s, None, _core.Measure.partial(0.0, 0.05, _core.Normalize.none()), t),
                count,
            ),
            f"paired {t}": (lambda t=t: metrics.compare(y, {"a": s, "b": other}, n_jobs=t), count),
            f"replicate {t}": (lambda t=t: metrics.infer(y, s, n_jobs=t, **options), 1),
            f"rate {t}": (lambda t=t: metrics.infer(y, s, metrics.TPRAtFPR(0.01), n_jobs=t), 1),
            f"threshold {t}": (lambda t=t: metrics.operating_point(y, s, threshold=("fpr", 0.01), n_jobs=t), 1),
        }
    found = {name: value / n * 1e9 for name, value in medians(calls).items()}
    for t in (1, 2):
        found[f"replicate {t}"] /= REPLICATES
    print(f"\nn = {n:.0e}, {share:.1%} positive, {np.dtype(dtype).name}, {tails} tails: ns a score")
    print("  ".join(f"{name} {value:.2f}" for name, value in found.items()))
    for t in (1, 2):
        ratios = (f"{name} {found[name] / found[f'auc {t}']:.2f}" for name in (*others, "numpy.sort", "numpy.sum"))
        print(f"ratios to auc {t}: " + "  ".join(ratios))
        print(f"ratio of threshold to rate {t}: {found[f'threshold {t}'] / found[f'rate {t}']:.2f}")
        for ours, (name, _) in by_delong.items():
            print(f"ratio to {ours} {t}: {name} {found[name] / found[f'{ours} {t}']:.0f}")


def curves(n: int) -> None:
    """Print the processor time of what sorts the scores, with the default number of threads, beside scikit-learn's."""
    rng = np.random.default_rng(n)
    y = rng.random(n) < 0.3
    s, w = rng.normal(size=n) + y, rng.random(n)
    print(f"\nn = {n:.0e}, 30.0% positive: processor nanoseconds a score, and how many times scikit-learn takes")
    for name in ("roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve"):
        both = getattr(metrics, name, metrics.AveragePrecision()), getattr(sklearn.metrics, name)
        for weight in (None, w):
            calls = {f: (lambda f=f, of=weight: f(y, s, sample_weight=of), 1) for f in both}
            ours, theirs = medians(calls, time.process_time).values()
            print(f"{name}{'' if weight is None else ', weighted'}: {ours / n * 1e9:.1f} ({theirs / ours:.1f})")


def ranked(n: int, share: float) -> None:
    """Measures judged by a budget: values beside scikit-learn's, intervals beside a bootstrap of 2,000 resamples."""
    rng = np.random.default_rng(n)
    y = rng.random(n) < share
    s = rng.normal(size=n) + y
    few = 3  # resamples that are timed
    one = metrics.Bootstrap(few)
    calls = {"scikit-learn": (lambda: sklearn.metrics.average_precision_score(y, s), 1)}
    wanted = [metrics.AveragePrecision(), metrics.PrecisionAt(500), metrics.EqualErrorRate(), metrics.LogAUC()]
    wanted += [metrics.EnrichmentFactor(), metrics.BEDROC()]
    for measure in wanted:
        calls[f"{measure.short} value"] = (lambda m=measure: m(y, s, n_jobs=1), 1)
        calls[f"{measure.short} interval"] = (lambda m=measure: metrics.infer(y, s, m, n_jobs=1), 1)
        calls[f"{measure.short} bootstrap"] = (lambda m=measure: metrics.infer(y, s, m, method=one, n_jobs=1), 1)
    found = medians(calls)
    print(f"\nn = {n:.0e}, {share:.1%} positive, one thread: seconds")
    print(f"scikit-learn's average_precision_score {found['scikit-learn']:.2f}")
    for measure in wanted:
        value, interval, drawn = (found[f"{measure.short} {what}"] for what in ("value", "interval", "bootstrap"))
        resampled = (drawn - value) / few * 2000
        print(f"{measure.short}: value {value:.2f}  interval {interval:.2f}  2,000 resamples {resampled:.0f}")


def again(n: int) -> None:
    """Questions about samples of which another has been asked, beside the same questions about arrays."""
    rng = np.random.default_rng(n)
    y = rng.random(n) < 0.3
    s = rng.normal(size=n) + y
    asked = {
        "infer AUC": (metrics.infer, (), {}),
        "infer partial AUC": (metrics.infer, (metrics.PartialAUC((0, 0.05)),), {}),
        "infer TPR": (metrics.infer, (metrics.TPRAtFPR(0.01),), {}),
        "infer scored AUC": (metrics.infer, ("scored_auc",), {}),
        "infer average precision": (metrics.infer, ("average_precision",), {}),
        "partial AUC": (metrics.PartialAUC((0, 0.05)), (), {}),
        "operating_point": (metrics.operating_point, (), {"threshold": [("fpr", 0.01), "youden"]}),
        "roc_band": (metrics.roc_band, (), {"method": "kolmogorov-smirnov"}),
    }
    print(f"\nn = {n:.0e}, one thread: processor ms of arrays, of samples asked before, and their ratio")
    groups = rng.integers(n // 5, size=n)
    cases = [(name, one, {}) for name, one in asked.items()]
    cases += [
        (f"{name} of clusters", one, {"groups": groups}) for name, one in asked.items() if one[0] == metrics.infer
    ]
    for name, (function, more, options), clusters in cases:
        times = []
        for _ in range(REPEATS):
            samples = metrics.Samples(y, s, n_jobs=1, **clusters)
            metrics.infer(samples, metrics.PartialAUC((0, 0.1)))  # another question, asked before
            both = []
            for data, reading in (((y, s), {"n_jobs": 1, **clusters}), ((samples,), {})):
                start = time.process_time()
                function(*data, *more, **options, **reading)
                both.append(time.process_time() - start)
            times.append(both)
        before, after = np.median(times, axis=0) * 1e3
        print(f"{name}: {before:.1f}  {after:.1f}  {after / before:.2f}")


def many() -> None:
    """Compare 300 models of 10,000 scores: all pairs, adjusted p-values and the table, beside sorts of the scores."""
    rng = np.random.default_rng(0)
    y = rng.random(10**4) < 0.3
    s = np.asfortranarray(rng.normal(size=(len(y), 300)) + y[:, None])
    calls = {
        "sort": (lambda: np.sort(s, axis=0), 1),
        "covariance": (
            lambda: metrics.DeLong().covariance(Arguments(y, s, n_jobs=1).of_two_classes(), metrics.AUC()),
            1,
        ),
        "compare": (lambda: metrics.compare(y, s, n_jobs=1), 1),
        "with its table": (lambda: metrics.compare(y, s, n_jobs=1).to_frame(), 1),
    }
    found = medians(calls, time.process_time)
    print("\n300 models of 1e+04 scores, one thread: processor seconds, and ratio to the sorts")
    print("  ".join(f"{name} {value:.2f} ({value / found['sort']:.1f})" for name, value in found.items()))


def every(n: int) -> None:
    """Intervals and paired tests of 50 models: seconds on all cores, processor seconds and the most memory held."""
    rng = np.random.default_rng(0)
    y, base = rng.random(n) < 0.05, rng.normal(size=n)
    s = np.empty((n, 50))
    for column in s.T:
        column[:] = rng.normal(size=n) + base + y
    print(f"\n50 models of {n:.0e} scores, 5.0% positive, all cores: seconds (processor seconds)")
    begun = time.perf_counter(), time.process_time()
    for measure in (metrics.AUC(), metrics.PartialAUC((0, 0.1)), metrics.AveragePrecision()):
        for call in (metrics.infer, metrics.compare):
            start = time.perf_counter(), time.process_time()
            call(y, s, measure)
            print(f"{measure.short} {call.__name__}: {since(start)}")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"all: {since(begun)}, at most {most:.2f} GB")


def since(start: tuple[float, float]) -> str:
    return f"{time.perf_counter() - start[0]:.2f} ({time.process_time() - start[1]:.2f})"


def growth(largest: float) -> None:
    """Processor time a score as scores grow in number: of the AUC, and of its interval for clusters of four."""
    print("\nprocessor nanoseconds a score (the least of three calls)")
    for name, sizes in (("auc", (10**6, 10**7, 10**8)), ("clusters", (10**5, 10**6, 10**7))):
        found = []
        for n in (size for size in sizes if size <= 10 * largest):
            rng = np.random.default_rng(n)
            y = rng.random(n) < 0.3
            s = rng.normal(size=n) + y
            groups = rng.integers(0, n // 4, n) if name == "clusters" else None
            times = []
            for _ in range(3):
                start = time.process_time()
                metrics.roc_auc_score(y, s) if groups is None else metrics.infer(y, s, groups=groups)
                times.append((time.process_time() - start) / n * 1e9)
            found.append(f"{n:.0e} {min(times):.2f}")
        print(f"{name}: " + "  ".join(found))


def first() -> None:
    """The first call of a process, with its imports but NumPy's."""
    code = (
        "import time, numpy as np; y, s = np.array([0, 1, 0, 1]), np.arange(4.0); start = time.process_time();"
        "from rocmax import metrics; metrics.{0}(y, s); print(time.process_time() - start)"
    )
    print("first call: seconds")
    for name in ("roc_auc_score", "infer"):
        times = [float(subprocess.check_output([sys.executable, "-c", code.format(name)])) for _ in range(REPEATS)]
        print(f"{name} {np.median(times):.2f}", end="  ")
    print()


def small() -> None:
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 20), rng.normal(size=20)
    calls = {
        "roc_auc_score": (lambda: metrics.roc_auc_score(y, s), 200),
        "of lists": (lambda: metrics.roc_auc_score(y.tolist(), s.tolist()), 200),
        "partial_auc_score": (lambda: metrics.partial_auc_score(y, s, fpr_range=(0, 0.3)), 200),
        "infer": (lambda: metrics.infer(y, s), 200),
        "scikit-learn": (lambda: sklearn.metrics.roc_auc_score(y, s), 20),
    }
    print("n = 20: microseconds a call")
    print("  ".join(f"{name} {value * 1e6:.1f}" for name, value in medians(calls).items()))


def intervals() -> None:
    """Default intervals of few samples, of many models and of many subgroups."""
    rng = np.random.default_rng(0)
    y = rng.random(50) < 0.4
    s = rng.normal(size=(50, 2)) + y[:, None]
    measures = metrics.AUC(), metrics.PartialAUC((0.0, 0.2)), metrics.AveragePrecision()
    calls = {"scikit-learn's AUC": (lambda: sklearn.metrics.roc_auc_score(y, s[:, 0]), 20)}
    for measure in measures:
        calls[f"infer {measure.short}"] = (lambda m=measure: metrics.infer(y, s[:, 0], m), 20)
        calls[f"compare {measure.short}"] = (lambda m=measure: metrics.compare(y, s, m), 5)
    for measure in (metrics.LogAUC(0.05), metrics.BEDROC()):
        calls[f"infer {measure.short}"] = (lambda m=measure: metrics.infer(y, s[:, 0], m), 5)
    times = medians(calls, time.process_time)
    print("n = 50: milliseconds a call, and as many times scikit-learn's AUC")
    own = times["scikit-learn's AUC"]
    print("  ".join(f"{name} {value * 1e3:.2f} ({value / own:.1f})" for name, value in times.items()))
    y = rng.random(50_000) < 0.4
    s = rng.normal(size=50_000) + y
    models = rng.normal(size=(1000, 200)) + y[:1000, None]
    by = np.arange(50_000) % 1000
    calls = {f"200 models {m.short}": (lambda m=m: metrics.infer(y[:1000], models, m), 1) for m in measures}
    calls |= {f"1,000 subgroups {m.short}": (lambda m=m: metrics.infer(y, s, m, by=by), 1) for m in measures[:2]}
    print("seconds a call")
    print("  ".join(f"{name} {value:.2f}" for name, value in medians(calls, time.process_time).items()))


def forms(n: int) -> None:
    """The same samples in other forms, relative to an array of whole labels and one of float scores.

    Every form is called some times in a row: in turns, arrays that several forms share would be in the cache for most.
    """
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.3).astype(int)
    s = rng.normal(size=n) + y
    text = np.where(y, "yes", "no")
    held = {"arrays": (y, s), "bool": (y == 1, s), "whole scores": (y, np.rint(1000 * s).astype(int))}
    held |= {"text": (text, s), "text objects": (text.astype(object), s), "text list": (text.tolist(), s)}
    for name, series in (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array")):
        with suppress(ImportError):
            make = getattr(import_module(name), series)
            held |= {name: (make(y), make(s)), f"{name} text": (make(text.tolist()), make(s))}
    with suppress(ImportError):
        polars = import_module("polars")
        held["polars categories text"] = polars.Series(text.tolist(), dtype=polars.Categorical), s
    print(f"n = {n:.0e}: processor time relative to arrays")
    dropping = partial(metrics.infer, missing="drop")
    dropping.__name__ = "infer with missing='drop'"
    for function in (metrics.roc_auc_score, metrics.roc_curve, metrics.infer, dropping, metrics.Samples):
        label = {} if function is metrics.roc_auc_score else {"pos_label": "yes"}
        calls = {
            name: (lambda y=y, s=s, o=label if "text" in name else {}, f=function: f(y, s, **o), 10**6 // n)
            for name, (y, s) in held.items()
        }
        times = medians(calls, time.process_time)
        ratios = "  ".join(f"{name} {times[name] / times['arrays']:.2f}" for name in list(held)[1:])
        print(f"{function.__name__}: {ratios}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--largest",
        type=float,
        default=1e7,
        help="number of scores (default 1e7); growth is shown up to ten times as many",
    )
    largest = parser.parse_args().largest
    first()
    small()
    intervals()
    forms(10**5)
    forms(10**6)
    for size in (10**4, 10**5, 10**6, 10**7):
        if size <= largest:
            large(size, 0.3, np.float64, "light")
            large(size, 0.3, np.float64, "heavy")
            large(size, 0.3, np.float32, "light")
            large(size, 0.005, np.float64, "light")
            curves(size)
    ranked(10**6, 0.05)
    again(10**6)
    many()
    if largest >= 10**6:
        every(10**6)
    growth(largest)
