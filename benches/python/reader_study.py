"""Reader studies: Van Dyke's against published numbers, and how often tests reject what is true.

    python benches/python/reader_study.py [--data FOLDER] [--studies 2000]

With a folder that holds ``mrmc_vandyke.csv.gz`` (5 readers, 2 treatments, 114 cases) the first table has what other
programs print (MRMCaov and OR-DBM) beside ours. The second has the share of simulated studies whose test at the level
of 5 % rejects where the modalities are alike (at the margin, for non-inferiority): scores by the model of Roe and Metz
(1997), ``mu + R + C + RC + tR + tC + tRC`` of normal terms, of either structure of variances, 50 positive and 50
negative cases. Cases and readers are drawn anew where a test takes them as random, and kept where it takes them as
fixed. The third has the same share for other covariances and designs: cases of their own for readers, for modalities or
for every other reader (split-plot), and classes that differ in number and in spread. The fourth has it for the mean of
the readers of one modality against a stand-alone algorithm of the same AUC. The fifth has it for two modalities of a
free-response study: marks on lesions, up to three in a case, and on no lesion. 12 minutes of processor time.

    python benches/python/reader_study.py --rjafroc FOLDER

prints our numbers and, in brackets, those that RJafroc's tests expect, from its data files dataset05.RData and
datasetCadSimuFroc.RData (with the package rdata).
"""

import argparse
import csv
import gzip
import time
from pathlib import Path

import numpy as np

from rocmax.metrics import froc_readings, mrmc_analysis

PUBLISHED = {  # statistic, denominator's degrees of freedom, p-value
    ("jackknife", "random", "random", "case"): (4.46, 15.26, 0.0517),
    ("delong", "random", "random", "case"): (4.484854, 15.06611, 0.05123303),
    ("unbiased", "random", "random", "case"): (4.489614, 15.03418, 0.0511618),
    ("jackknife", "fixed", "random", "case"): (5.475953, np.inf, 0.01927984),
    ("delong", "random", "fixed", "case"): (8.704, 4, 0.04195875),
    ("jackknife", "random", "random", "case2"): (8.704, 4, 0.04195875),
    ("jackknife", "random", "random", "case3"): (2.104491, 68.42325, 0.1514363),
}
# Variances of C, RC, tC, tRC (cases) and of R, tR (readers) of two of Roe and Metz's structures, HL and LH.
STRUCTURES = {"HL": ((0.3, 0.2, 0.3, 0.2), (0.0055, 0.0055)), "LH": ((0.1, 0.2, 0.1, 0.6), (0.03, 0.03))}
N_POS = N_NEG = 50


def published(folder):
    with gzip.open(Path(folder) / "mrmc_vandyke.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    column = {name: [row[name] for row in rows] for name in rows[0]}
    truth, rating = np.array(column["truth"], dtype=int), np.array(column["rating"], dtype=float)
    print(f"{'covariance':10} {'readers':8} {'cases':8} {'named by':8}  statistic (published)      df          p")
    for (how, readers, cases, name), expected in PUBLISHED.items():
        found = mrmc_analysis(
            truth,
            rating,
            reader=column["reader"],
            modality=column["treatment"],
            case=column[name],
            covariance=how,
            readers=readers,
            cases=cases,
        )
        pairs = zip((found.statistic, found.df[1], found.pvalue), expected, strict=True)
        print(f"{how:10} {readers:8} {cases:8} {name:8} ", "  ".join(f"{a:.7g} ({b:.7g})" for a, b in pairs))


class Model:
    """Draws scores of shape (2, r, cases); what is kept from study to study is drawn once."""

    def __init__(self, rng, structure, n_readers, mu, loss):
        self.rng, self.r, self.mu, self.loss = rng, n_readers, mu, loss
        self.of_cases, self.of_readers = (np.sqrt(variances) for variances in STRUCTURES[structure])
        self.truth = np.arange(N_POS + N_NEG) < N_POS

    def readers(self):
        """Return the readers' effects on each class: (R + tR) of shape (2, r, 2)."""
        reader, interaction = self.of_readers
        draw = self.rng.normal
        return reader * draw(size=(1, self.r, 2)) + interaction * draw(size=(2, self.r, 2))

    def cases(self, kept=None):
        """Return the cases' effects; with `kept`, of the same cases, alike in both modalities, on other readers."""
        c, rc, tc, trc = self.of_cases
        n, draw = len(self.truth), self.rng.normal
        of_cases = c * draw(size=(1, 1, n)) + tc * draw(size=(2, 1, n)) if kept is None else kept
        return of_cases + rc * draw(size=(1, self.r, n)) + trc * draw(size=(2, self.r, n))

    def scores(self, readers, cases):
        lead = np.array([self.mu, self.mu - self.loss])[:, None, None] * self.truth
        return lead + readers[:, :, self.truth.astype(int)] + cases


def rejections(n_studies, structure, n_readers, mu, *, readers="random", cases="random", margin=None, seed=0):
    """Return the share of rejections; with a margin, of non-inferiority of a first modality that is worse by it."""
    rng = np.random.default_rng(seed)
    # The true area is Phi(mu / sqrt(2 (1 + of readers))) for random readers; the loss is found by that.
    model = Model(rng, structure, n_readers, mu, 0.0)
    options = {"readers": readers, "cases": cases, "confidence_level": 0.95}
    if margin is not None:
        model.loss = loss_of(margin, mu, structure)
        options |= {"alternative": "non-inferiority", "margin": margin}
    i, j, k = np.indices((2, n_readers, N_POS + N_NEG)).reshape(3, -1)
    names = {"modality": i if margin is None else 1 - i, "reader": j, "case": k}
    rejected = 0
    kept_readers = balanced(model.readers()) if readers == "fixed" else None
    kept_cases = None
    if cases == "fixed":
        c, _, tc, _ = model.of_cases
        kept_cases = np.hypot(c, tc) * rng.normal(size=(1, 1, len(model.truth)))
    for _ in range(n_studies):
        drawn = model.readers() if kept_readers is None else kept_readers
        s = model.scores(drawn, model.cases(kept_cases))
        rejected += mrmc_analysis(model.truth[k], s.ravel(), **names, **options).pvalue < 0.05
    return rejected / n_studies


OTHERS = {  # cases of either class, spread of the positives, what cases belong to, options of the analysis
    "binormal": (50, 50, 1.0, None, {"covariance": "obuchowski"}),
    "binormal, unequal classes": (30, 200, 2.0, None, {"covariance": "obuchowski"}),
    "binormal, unequal, fixed readers": (30, 200, 2.0, None, {"covariance": "obuchowski", "readers": "fixed"}),
    "bootstrap": (50, 50, 1.0, None, {"covariance": "bootstrap", "n_resamples": 200}),
    "bootstrap, split-plot": (15, 15, 1.0, "halves", {"covariance": "bootstrap", "n_resamples": 200}),
    "jackknife, split-plot": (30, 30, 1.0, "halves", {"covariance": "jackknife"}),
    "split-plot": (30, 30, 1.0, "halves", {}),
    "cases nested in readers": (30, 30, 1.0, "reader", {}),
    "cases nested in modalities": (30, 30, 1.0, "modality", {}),
}


def rejections_of_others(n_studies, n_pos, n_neg, spread, belongs, options, n_readers=6, seed=0):
    """Return the share of rejections of equal modalities at 5 %."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_pos + n_neg) < n_pos
    i, j, k = np.indices((2, n_readers, len(truth))).reshape(3, -1)
    own = {"halves": j % 2, "reader": j, "modality": i}.get(belongs, 0 * j)
    block, case = own.reshape(2, n_readers, -1)[:, :, 0], k + len(truth) * own
    rejected = 0
    for _ in range(n_studies):
        # A term of the case, and one of the case in a modality, for each block of cases; the rest is of the reading.
        c, tc = rng.normal(size=(n_readers, len(truth))), rng.normal(size=(n_readers, 2, len(truth)))
        s = np.sqrt(0.3) * c[block] + np.sqrt(0.3) * tc[block, np.arange(2)[:, None]]
        s += np.sqrt(0.4) * rng.normal(size=s.shape)
        effects = rng.normal(size=(1, n_readers, 2))
        effects = effects + rng.normal(size=(2, n_readers, 2)) * (options.get("readers") != "fixed")
        s = s * np.where(truth, spread, 1.0) + 1.3 * truth * np.sqrt((1 + spread**2) / 2)
        s += np.sqrt(0.03) * effects[:, :, truth.astype(int)]
        names = {"reader": j, "modality": i, "case": case, "random_state": rng}
        rejected += mrmc_analysis(truth[k], s.ravel(), **names, **options).pvalue < 0.05
    return rejected / n_studies


def balanced(readers):
    """Return fixed readers whose modalities are alike: the same effects in both."""
    return readers[:1] + np.zeros_like(readers)


def loss_of(margin, mu, structure):
    """Return how much less the second modality's shift must be for its area to be less by `margin`."""
    from scipy import optimize, stats

    of_cases, of_readers = STRUCTURES[structure]
    spread = np.sqrt(2 * (sum(of_cases) + sum(of_readers)))
    return optimize.brentq(
        lambda loss: stats.norm.cdf(mu / spread) - stats.norm.cdf((mu - loss) / spread) - margin, 0, 3
    )


ALGORITHM = [(3, 20), (3, 50), (5, 20), (5, 50), (10, 50)]  # readers, cases of each class


def rejections_of_algorithm(n_studies, structure, n_readers, n_class, mu=1.5, seed=0):
    """Return the share of rejections at 5 % where the AUC of the algorithm is the mean over all readers."""
    rng = np.random.default_rng(seed)
    (c, rc, tc, trc), of_readers = STRUCTURES[structure]
    truth = np.arange(2 * n_class) < n_class
    own = mu * np.sqrt((c + rc + tc + trc) / (c + rc + tc + trc + sum(of_readers)))
    names = [*range(n_readers), "CAD"]
    rejected = 0
    for _ in range(n_studies):
        common = np.sqrt(c + tc) * rng.normal(size=len(truth))
        s = common + np.sqrt(rc + trc) * rng.normal(size=(n_readers + 1, len(truth)))
        effects = np.sqrt(sum(of_readers)) * rng.normal(size=(n_readers, 2))
        s[:-1] += mu * truth + effects[:, truth.astype(int)]
        s[-1] += own * truth
        table = {("readers", str(name)): row for name, row in zip(names, s, strict=True)}
        rejected += mrmc_analysis(truth, table, algorithm="CAD").pvalue < 0.05
    return rejected / n_studies


FROC = [(3, 20), (5, 20), (5, 50)]  # readers, cases with lesions and as many without


def rejections_of_marks(n_studies, figure, n_readers, n_class, seed=0):
    """Return the share of rejections at 5 % of two modalities in which marks have the same distribution."""
    rng = np.random.default_rng(seed)
    rejected = 0
    for _ in range(n_studies):
        count = np.where(np.arange(2 * n_class) < n_class, rng.integers(1, 4, 2 * n_class), 0)
        whose = np.repeat(np.arange(2 * n_class), count)
        number = np.concatenate([np.arange(1, c + 1) for c in count])
        of_case, of_lesion = rng.normal(size=2 * n_class), rng.normal(size=(2, len(whose)))
        parts = []
        for i in range(2):
            for j in range(n_readers):
                skill = 0.2 * rng.normal()
                seen = 0.5 * of_case[whose] + 0.5 * of_lesion[i] + rng.normal(size=len(whose)) + 1.2 + skill
                other = np.repeat(np.arange(2 * n_class), rng.poisson(0.6, 2 * n_class))
                noise = 0.5 * of_case[other] + rng.normal(size=len(other))
                rating, case = np.concatenate([seen, noise]), np.concatenate([whose, other])
                lesion = np.concatenate([number, np.zeros(len(other), dtype=int)])
                marked = rating > 0
                parts.append((rating[marked], case[marked], lesion[marked], np.full((2, marked.sum()), [[i], [j]])))
        rating, case, lesion, names = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
        marks = {"rating": rating, "case": case, "lesion": lesion, "modality": names[0], "reader": names[1]}
        readings = froc_readings(**marks, n_lesions=dict(enumerate(count.tolist())), figure_of_merit=figure)
        rejected += mrmc_analysis(**readings).pvalue < 0.05
    return rejected / n_studies


RJAFROC = {  # the mean squares of modalities, of readers and between both
    "wAFROC": (0.027397180663218265, 0.01833740749313713, 0.000927753738136936),
    "AFROC": (0.02085002496405143, 0.018402331252273262, 0.0008545557324909792),
    "wAFROC1": (0.02947089900302676, 0.012870268970241527, 0.0002446556436882146),
    "AFROC1": (0.023085309524667204, 0.01308894670511133, 0.00028130245435191973),
    "HrAUC": (0.012295690221012522, 0.007168791656032409, 0.001213515168338032),
}
RJAFROC_ALGORITHM = {  # t, degrees of freedom and p-value of the readers' mean against the algorithm, the first reader
    ("wAFROC", "random"): (3.4394082881896133, 1429.8733980098723, 0.0005997516818565854),
    ("wAFROC", "fixed"): (12.575800330604787, 8.0, 1.4988192846290082e-06),
    ("HrAUC", "random"): (0.9928688833840893, 877.886378333107, 0.3210474342573218),
    ("HrAUC", "fixed"): (3.2135050069514195, 8.0, 0.012359087627749392),
}


def marks_of(folder, name):
    """Return the marks of a data file of RJafroc, whose cases without lesions come first."""
    import rdata

    data = rdata.read_rda(Path(folder) / f"{name}.RData")[name]
    none, on = (np.asarray(data["ratings"][kind]) for kind in ("NL", "LL"))
    count = np.concatenate([np.zeros(none.shape[2] - on.shape[2]), np.asarray(data["lesions"]["perCase"])]).astype(int)
    held = [(*np.nonzero(np.isfinite(one)), one[np.isfinite(one)]) for one in (none, on)]
    i, j, k, number, rating = (np.concatenate(part) for part in zip(*held, strict=True))
    hit = np.arange(len(rating)) >= len(held[0][0])
    case, lesion = k + np.where(hit, none.shape[2] - on.shape[2], 0), np.where(hit, number + 1, 0)
    names = {"modality": i, "reader": j, "case": case, "lesion": lesion, "rating": rating}
    return names | {"n_lesions": dict(enumerate(count.tolist()))}


def beside_rjafroc(folder):
    marks = marks_of(folder, "dataset05")
    for figure, expected in RJAFROC.items():
        found = mrmc_analysis(**froc_readings(**marks, figure_of_merit=figure)).components
        ours = [found[f"ms_{name}"] for name in ("modality", "reader", "interaction")]
        print(f"{figure:16}", "  ".join(f"{a:.12g} ({b:.12g})" for a, b in zip(ours, expected, strict=True)))
    marks = marks_of(folder, "datasetCadSimuFroc")
    for (figure, cases), expected in RJAFROC_ALGORITHM.items():
        readings = froc_readings(**marks, figure_of_merit=figure)
        found = mrmc_analysis(**readings, algorithm=0, cases=cases, covariance="jackknife")
        ours = found.differences[0].statistic, found.df[1], found.pvalue
        row = f"{figure}, {cases}"
        print(f"{row:16}", "  ".join(f"{a:.12g} ({b:.12g})" for a, b in zip(ours, expected, strict=True)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with mrmc_vandyke.csv.gz")
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--rjafroc", help="folder with data files of RJafroc")
    given = parser.parse_args()
    if given.rjafroc:
        beside_rjafroc(given.rjafroc)
        return
    if given.data:
        published(given.data)
        print()
    lines = {
        "random readers and cases": {},
        "fixed readers": {"readers": "fixed"},
        "fixed cases": {"cases": "fixed"},
        "non-inferiority, margin 0.05": {"margin": 0.05},
    }
    print(f"share of {given.studies} studies that reject at 5 %, in percent")
    print(f"{'':30}" + "".join(f"{f'{s}, {r} readers':>16}" for s in STRUCTURES for r in (5, 10)))
    for name, options in lines.items():
        start = time.process_time()
        shares = [rejections(given.studies, s, r, 1.5, **options) for s in STRUCTURES for r in (5, 10)]
        print(
            f"{name:30}" + "".join(f"{100 * x:16.1f}" for x in shares),
            f"  {time.process_time() - start:.0f} s",
            flush=True,
        )

    n_studies = max(1, given.studies // 4)
    print(f"\nshare of {n_studies} studies with 6 readers that reject at 5 %, in percent")
    for name, row in OTHERS.items():
        print(f"{name:34}{100 * rejections_of_others(n_studies, *row):6.1f}", flush=True)

    print(f"\nshare of {given.studies} studies of readers and an algorithm that reject at 5 %, in percent")
    print(f"{'':4}" + "".join(f"{f'{r} readers, {n} + {n} cases':>27}" for r, n in ALGORITHM))
    for name in STRUCTURES:
        shares = [rejections_of_algorithm(given.studies, name, r, n) for r, n in ALGORITHM]
        print(f"{name:4}" + "".join(f"{100 * x:27.1f}" for x in shares), flush=True)

    print(f"\nshare of {given.studies} free-response studies that reject at 5 %, in percent")
    print(f"{'':8}" + "".join(f"{f'{r} readers, {n} + {n} cases':>27}" for r, n in FROC))
    for figure in RJAFROC:
        shares = [rejections_of_marks(given.studies, figure, r, n) for r, n in FROC]
        print(f"{figure:8}" + "".join(f"{100 * x:27.1f}" for x in shares), flush=True)


if __name__ == "__main__":
    main()
