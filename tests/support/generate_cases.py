"""What the files of cases expect, made anew from their inputs: from the definitions, or by the program they name.

Run: PYTHONPATH=. python tests/support/generate_cases.py [--write]
Says by how much what is made differs from what is stored; with --write, stores it. Inputs (rows, labels, scores,
ranges) are kept: they were drawn once. Nothing of rocmax is used.
"""

import argparse
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from cvxopt import matrix, solvers
from scipy import stats
from sklearn import metrics as sk
from sklearn.metrics.pairwise import rbf_kernel
from tests.referee.curves import Samples, partial

import reference_risks
import reference_rls

FOLDER = Path(__file__).parents[1] / "cases"
Case = dict[str, Any]


def covariance(columns: np.ndarray, y: np.ndarray, kernel: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return means of a kernel of pairs and the covariance of their estimates: S10 / m + S01 / n (DeLong 1988)."""
    pairs = np.array([kernel(s[y == 1][:, None] - s[y == 0]) for s in columns])
    rows, cols = pairs.mean(axis=2), pairs.mean(axis=1)
    shape = (len(columns), len(columns))
    return pairs.mean(axis=(1, 2)), (
        np.cov(rows).reshape(shape) / rows.shape[1] + np.cov(cols).reshape(shape) / cols.shape[1]
    )


def half(difference: np.ndarray) -> np.ndarray:
    return (difference > 0) + 0.5 * (difference == 0)


def measures(case: Case) -> Case:
    y, s = np.array(case["y"]), np.array(case["score"])
    low, high = reference_risks.ranks(int((y == 0).sum()), case["fpr_range"])
    pos, neg = s[y == 1], np.sort(s[y == 0])[::-1]
    gaps = pos[:, None] - neg[low:high]
    (auc,), ((variance,),) = covariance(s[None], y, half)
    (scored,), ((scored_variance,),) = covariance(s[None], y, lambda gap: np.maximum(gap, 0.0))
    return {
        "ranks": [low, high],
        "auc_half": auc,
        "auc_strict": (pos[:, None] > neg).mean(),
        "pauc_strict": (gaps > 0).mean(),
        "pauc_half": half(gaps).mean(),
        "curve_area": float(partial(tuple(map(Fraction, case["fpr_range"])), normalize=None)(Samples(y, s).steps)),
        "auc_var_delong": variance,
        "sauc": scored,
        "sauc_var_delong": scored_variance,
        "sroc": [(pos[:, None] - neg > tau).mean() for tau in case["taus"]],
    }


def paired(case: Case) -> Case:
    auc, cov = covariance(np.array([case["score_a"], case["score_b"]]), np.array(case["y"]), half)
    z = (auc[0] - auc[1]) / np.sqrt(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
    return {"auc": auc, "cov": cov, "z": z, "p_value": 2 * stats.norm.sf(abs(z))}


def surrogates(case: Case) -> Case:
    y = np.repeat([1, 0], [len(case["pos"]), len(case["neg"])])
    s = np.array(case["pos"] + case["neg"])
    found = {name: getattr(reference_risks, name)(y, s, case["fpr_range"]) for name in ("hinge", "tight", "naive")}
    return {"risk": 1.0 - reference_risks.ranked_partial_auc(y, s, case["fpr_range"]), **found}


def pair_machine(case: Case) -> Case:
    """Return the scores and the dual's value of every pair's multiplier, by the solver of cvxopt."""
    X, y, test = (np.array(case[key]) for key in ("X", "y", "X_test"))
    both = np.vstack([X, test])
    K = both @ X.T if case["kernel"] == "linear" else rbf_kernel(both, X, gamma=case["gamma"])
    n = len(X)
    spread = np.zeros((n, n))
    for of in (np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        spread[np.ix_(of, of)] += (np.eye(len(of)) - 1 / len(of)) / len(of)
    # Norm and spread of f = K a: with its penalty a kernel K (I + structure S K)^-1 takes the place of K.
    inverse = np.linalg.inv(np.eye(n) + case["structure"] * spread @ K[:n])
    effective = K @ inverse
    i, j = (index.ravel() for index in np.meshgrid(np.flatnonzero(y == 1), np.flatnonzero(y == 0), indexing="ij"))
    D = np.zeros((len(i), n))
    D[np.arange(len(i)), i], D[np.arange(len(i)), j] = 1.0, -1.0
    Q = D @ effective[:n] @ D.T
    solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11)
    box = np.vstack([-np.eye(len(i)), np.eye(len(i))])
    ends = np.concatenate([np.zeros(len(i)), np.full(len(i), case["C_pair"])])
    found = solvers.qp(matrix((Q + Q.T) / 2), matrix(-case["rho"] * np.ones(len(i))), matrix(box), matrix(ends))
    a = np.array(found["x"])[:, 0]
    scores = effective @ D.T @ a
    losses = np.maximum(0.0, case["rho"] - (scores[i] - scores[j]))
    norm = a @ Q @ a / 2
    return {
        "dual": case["rho"] * a.sum() - norm,
        "primal": norm + case["C_pair"] * losses.sum(),
        "train_scores": scores[:n],
        "test_scores": scores[n:],
    }


def least_squares(case: Case) -> Case:
    X, y = np.array(case["X"]), np.array(case["y"])
    phi = reference_rls.features(X, case["kernel"], case["gamma"])
    scores = phi @ reference_rls.fit(phi, y, case["lam"])
    rows = [[*pair, *reference_rls.held_out(phi, y, case["lam"], pair)] for pair in reference_rls.pairs(y)]
    return {
        "train_scores": scores,
        "leave_pair_out": rows,
        "leave_pair_out_auc": np.mean([half(np.array(a - b)) for _, _, a, b in rows]),
    }


def structural(case: Case) -> Case:
    """Return the objective at the stored model; that it is the least is what its bound, `dual`, certifies."""
    y, w = np.array(case["y"]), np.array(case["w"])
    return {"objective": w @ w / 2 + case["C"] * reference_risks.tight(y, np.array(case["X"]) @ w, case["fpr_range"])}


def exact(case: Case) -> Case:
    y, s = case["labels"], [Fraction(score) for score in case["scores"]]
    pos, neg = ([score for score, label in zip(s, y, strict=True) if label == k] for k in (1, 0))
    pairs = len(pos) * len(neg)
    won = [[Fraction(int(a > b)) + Fraction(int(a == b), 2) for b in neg] for a in pos]
    auc = sum(map(sum, won), Fraction(0)) / pairs
    rows, columns = ([sum(r) / len(r) for r in table] for table in (won, list(zip(*won, strict=True))))
    variance = None
    if len(pos) > 1 and len(neg) > 1:
        variance = sum(sum((v - auc) ** 2 for v in part) / (len(part) - 1) / len(part) for part in (rows, columns))
    expected = {
        "auc": auc,
        "u_statistic": auc * pairs,
        "auc_num": str(auc.numerator),
        "auc_den": str(auc.denominator),
        "var_delong": variance,
        "sauc": sum((max(a - b, Fraction(0)) for a in pos for b in neg), Fraction(0)) / pairs,
        "sroc": [
            {"tau": point["tau"], "auc_strict": Fraction(sum(a - b > point["tau"] for a in pos for b in neg), pairs)}
            for point in case["expected"]["sroc"]
        ],
    }
    return {"expected": expected}


def by_scikit_learn(case: Case) -> Case:
    if "proba" in case:
        of = {}
        for name in case["expected"]:
            way, average, *weighted = name.split("_")
            options = {"multi_class": way, "average": None if average == "none" else average}
            weight = case["weights"] if weighted else None
            of[name] = sk.roc_auc_score(case["classes"], case["proba"], sample_weight=weight, **options)
        return {"expected": of}
    if np.ndim(case["labels"]) > 1:
        names = {name: None if name == "none" else name for name in case["expected"]}
        found = {name: sk.roc_auc_score(case["labels"], case["scores"], average=way) for name, way in names.items()}
        return {"expected": found}
    y, s, w = case["labels"], case["scores"], case["weights"]
    fpr, tpr, thresholds = sk.roc_curve(y, s, drop_intermediate=False)
    old = case["expected"]
    return {
        "expected": {
            "auc": sk.roc_auc_score(y, s),
            "auc_weighted": sk.roc_auc_score(y, s, sample_weight=w),
            "mcclish": {rate: sk.roc_auc_score(y, s, max_fpr=float(rate)) for rate in old["mcclish"]},
            "mcclish_weighted": {
                rate: sk.roc_auc_score(y, s, max_fpr=float(rate), sample_weight=w) for rate in old["mcclish_weighted"]
            },
            "fpr": fpr,
            "tpr": tpr,
            "thresholds": ["inf", *thresholds[1:]],
        }
    }


def by_scipy(case: Case) -> Case:
    y, s = np.array(case["labels"]), np.array(case["scores"])
    ways = {"asym_cc": ("asymptotic", True), "asym_nocc": ("asymptotic", False), "exact": ("exact", False)}
    expected = {"U": stats.mannwhitneyu(s[y == 1], s[y == 0]).statistic}
    for name in case["expected"]:
        way, _, side = name.rpartition("_")
        if way in ways:
            method, continuity = ways[way]
            found = stats.mannwhitneyu(s[y == 1], s[y == 0], use_continuity=continuity, alternative=side, method=method)
            expected[name] = found.pvalue
    return {"expected": expected}


FILES = {
    "metrics": measures,
    "delong_paired": paired,
    "surrogates": surrogates,
    "pair_machines": pair_machine,
    "auc_rls": least_squares,
    "structural": structural,
    "peers/exact_rational": exact,
    "peers/sklearn_generated": by_scikit_learn,
    "peers/scipy_mannwhitneyu": by_scipy,
}


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(inner) for inner in value]
    return float(value) if isinstance(value, (Fraction, np.floating)) else value


def difference(made: Any, stored: Any) -> float:
    """Return the largest difference of numbers, relative to those above 1; what is not made is not compared."""
    if isinstance(made, dict):
        return max((difference(made[key], stored[key]) for key in made), default=0.0)
    if isinstance(made, list):
        return max((difference(a, b) for a, b in zip(made, stored, strict=True)), default=0.0)
    if isinstance(made, (str, type(None))):
        return 0.0 if made == stored else np.inf
    return abs(made - stored) / max(1.0, abs(stored))


def update(stored: Any, made: Any) -> Any:
    """Return what is stored with what was made in its place."""
    if isinstance(made, dict):
        return {**stored, **{key: update(stored[key], inner) for key, inner in made.items()}}
    return [update(a, b) for a, b in zip(stored, made, strict=True)] if isinstance(made, list) else made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store what is made")
    write = parser.parse_args().write
    for name, make in FILES.items():
        path = FOLDER / f"{name}.json"
        content = json.loads(path.read_text())
        made = [plain(make(case)) for case in content["cases"]]
        print(f"{name}: {len(made)} cases, {difference(made, content['cases']):.1e}")
        if write:
            path.write_text(json.dumps({**content, "cases": update(content["cases"], made)}))
