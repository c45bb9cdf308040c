"""A result of every kind, and parts of what it says."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rocmax
from rocmax import metrics
from rocmax.metrics import (
    AUC,
    Bootstrap,
    EnrichmentFactor,
    MarginAUC,
    Measure,
    PartialAUC,
    TPRAtFPR,
    Venkatraman,
    compare,
    cross_validated_auc,
    infer,
)
from rocmax.metrics.results._inference import ConfidenceInterval

ATTACK = "<script>alert(1)</script>"
N = 113
Y = np.arange(N) < 41
CLASS = np.arange(N) % 3
S = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None] * [0.5, 1.0, 1.5]
GROUPS = np.arange(N) // 4
FRAME = pd.DataFrame(S, columns=["old", "new", ATTACK])
NAMED = {"old": S[:, 0], "new": S[:, 1], ATTACK: S[:, 2]}
SICK = np.where(Y, ATTACK, "well")


def accumulated() -> Any:
    parts = metrics.ROCAccumulator()
    parts.update(Y[:50], S[:50, 0])
    parts.update(Y[50:], S[50:, 0])
    return parts.result()


def study(n_modalities: int) -> dict[str, Any]:
    """Readings of four readers; the last of two modalities or more is named by an attack."""
    names = [*(f"M{k}" for k in range(n_modalities - 1)), ATTACK] if n_modalities > 1 else [ATTACK]
    rng, cases = np.random.default_rng(0), np.arange(60)
    rows = [
        (case < 25, np.round(rng.normal() + (case < 25) * (1 + 0.5 * k)), f"R{reader}", name, case)
        for k, name in enumerate(names)
        for reader in range(4)
        for case in cases
    ]
    return dict(zip(("y_true", "y_score", "reader", "modality", "case"), zip(*rows, strict=True), strict=True))


def one_subgroup() -> Any:
    """Subgroups of which one alone has samples of both classes."""
    with pytest.warns(UserWarning, match="their equality is not tested"):
        return infer(Y, S[:, 1], PartialAUC((0, 0.3)), by=np.where(np.arange(N) < 100, "seen", ATTACK))


def without_variance() -> Any:
    """A study whose estimate of the variance is below 0."""
    found = metrics.mrmc_analysis(**study(2))
    nothing = ConfidenceInterval(np.nan, np.nan)
    (row,) = found.differences
    row = row._replace(modality_a="first", modality_b="second", pvalue=np.nan, confidence_interval=nothing)
    note = "the variance is estimated at -0.1, below 0: there is no test and no interval"
    return dataclasses.replace(found, differences=(row,), statistic=np.nan, pvalue=np.nan, notes=(note,))


def lead(y: np.ndarray, s: np.ndarray) -> float:
    """A measure of one's own."""
    return float(s[y].mean() - s[~y].mean())


def mean_lead(y: np.ndarray, s: np.ndarray, weight: np.ndarray | None = None) -> float:
    """One that takes weights."""
    of = [None if weight is None else weight[rows] for rows in (y, ~y)]
    return float(np.average(s[y], weights=of[0]) - np.average(s[~y], weights=of[1]))


#: How each kind of result is had, and what its summary holds.
CASES: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "Inference": (
        lambda: infer(Y, S[:, 0]),
        ("AUC 0.612 (95 % CI 0.496-0.715; score interval; 41 positive, 72 negative samples).",),
    ),
    "Inference, models": (
        lambda: infer(Y, NAMED, PartialAUC((0, 0.2), normalize="mcclish"), confidence_level=0.9),
        ("partial AUC (FPR 0-0.2, McClish's scale) (90 % CI; score interval;", "old = 0.5", f"{ATTACK} = 0.8"),
    ),
    "Inference, label": (
        lambda: infer(SICK, S[:, 0], TPRAtFPR(0.1), pos_label=ATTACK),
        ("TPR at FPR 0.1 = 0.", f"41 positive ({ATTACK})"),
    ),
    "Inference, weights": (
        lambda: infer(Y, S[:, 0], sample_weight=np.r_[0.0, 2.0, np.ones(N - 2)]),
        ("frequency weights: 41 positive, 72 negative samples in 112 rows",),
    ),
    "Inference, sampling weights": (
        lambda: infer(Y, S[:, 0], sample_weight=np.full(N, 0.25), weight_kind="sampling"),
        ("effective sample sizes, Korn and Graubard 1998; sampling weights: 36.3 % positive in 113 rows",),
    ),
    "Inference, clusters": (
        lambda: infer(Y, S[:, 0], groups=GROUPS),
        ("effective sample sizes, Korn and Graubard 1998; 41 positive, 72 negative samples in 29 clusters",),
    ),
    "Inference, bootstrap": (
        lambda: infer(Y, S, method=Bootstrap(200, interval="bca"), random_state=0),
        ("stratified bootstrap of 200 resamples, BCa, Efron 1987", "model 1 = 0.612"),
    ),
    "Inference, scored": (
        lambda: infer(Y, 1000 * S[:, 0], "scored_auc"),
        (f"scored AUC {infer(Y, 1000 * S[:, 0], 'scored_auc').estimate:.0f} (95 % CI",),
    ),
    "Inference, margin": (
        lambda: infer(Y, S[:, 0], MarginAUC(0.5)),
        ("margin AUC at 0.5 = 0.",),
    ),
    "Inference, average of classes": (
        lambda: infer(CLASS, S, AUC(multi_class="ovo", average="weighted")),
        ("weighted AUC, one versus one 0.", "and Hajek 1968; 3 classes of 38, 38 and 37 samples"),
    ),
    "Inference, perfect": (
        lambda: infer(Y, -np.arange(N)),
        ("AUC 1.000 (95 % CI 0.977-1.000; score interval; 41 positive",),
    ),
    "Inference, twelve classes": (
        lambda: infer(np.arange(N) % 12, np.tile(S, 4), AUC(multi_class="ovr")),
        ("; 12 classes, 113 samples)",),
    ),
    "Inference, tested": (
        lambda: infer(Y, S[:, 0], null_value=0.5),
        ("AUC 0.612 (95 % CI 0.496-0.715; score", "), p = 0.058 (two-sided test against 0.5)."),
    ),
    "Inference, equivalent": (
        lambda: infer(Y, NAMED, null_value=0.8, alternative="equivalence", margin=0.1),
        (
            "; p of a test of equivalence within 0.1 of 0.8, two one-sided tests of Schuirmann 1987;",
            "new = 0.803 (0.709",
        ),
    ),
    "Inference, classes": (
        lambda: infer(np.array(["a", ATTACK, "c"])[CLASS], S, AUC(multi_class="ovr", average=None)),
        ("AUC, one versus the rest (95 % CI;", "a = 0."),
    ),
    "cross_validated_auc": (
        lambda: cross_validated_auc(Y, S[:, 0], fold=CLASS),
        ("influence curve of LeDell et al. 2015", "in 3 folds"),
    ),
    "ROCAccumulator.result": (accumulated, ("AUC 0.612 (95 % CI 0.496-0.715;",)),
    "Comparison": (
        lambda: compare(Y, {"a": S[:, 0], "b": S[:, 1]}),
        (
            "AUC: a = 0.612, b = 0.803, difference -0.191 (95 % CI -0.330 to -0.048), p = 0.009 (paired two-sided test;"
            " profile of both intervals, correlation by DeLong et al. 1988; 41 positive, 72 negative samples).",
        ),
    ),
    "Comparison, margin": (
        lambda: compare(Y, FRAME[["old", ATTACK]], alternative="non-inferiority", margin=0.05),
        ("old = 0.612", f"{ATTACK} = 0.953", "one-sided test of non-inferiority, margin 0.05"),
    ),
    "Comparison, equivalence": (
        lambda: compare(Y, FRAME[["old", "new"]], alternative="equivalence", margin=0.1),
        ("equivalence within 0.1 of 0, two one-sided tests of Schuirmann 1987",),
    ),
    "Comparison, curves": (
        lambda: compare(Y, FRAME[["old", "new"]], method=Venkatraman(99), random_state=0),
        ("paired test of equal curves; 99 permutations, Venkatraman and Begg 1996",),
    ),
    "Comparison, unpaired": (
        lambda: compare({"a": Y, "b": Y[::2]}, {"a": S[:, 0], "b": S[::2, 1]}),
        ("unpaired two-sided test", "41 positive, 72 negative samples against 21 positive, 36 negative samples"),
    ),
    "Comparison, classes": (
        lambda: compare(CLASS, {"a": S, "b": S[:, ::-1]}, AUC(multi_class="ovr")),
        ("macro AUC, one versus the rest: a = 0.48", "3 classes"),
    ),
    "Comparison, models": (
        lambda: compare(Y, NAMED),
        ("AUC of 3 models", "old minus new -0.191 (-0.330 to -0.048), p = 0.009", "adjusted by Holm 1979", "p < 0.001"),
    ),
    "Comparison, one-sided": (
        lambda: compare(Y, S, alternative="less", adjust=None),
        ("Joint test of no difference: F ", "p of a paired one-sided test, less than 0)"),
    ),
    "Comparison, many": (
        lambda: compare(Y, np.hstack([S, S + Y[:, None] * 0.1]), adjust="fdr_bh", measure=TPRAtFPR(0.2)),
        ("Of 15 pairs ", "model 6 = 0."),
    ),
    "Inference, screening": (
        lambda: infer(Y, S[:, 1], EnrichmentFactor(0.1), method=Bootstrap(50), random_state=0),
        (
            "enrichment factor at 10 % ",
            "(95 % CI ",
            "stratified bootstrap of 50 resamples, percentiles, Efron and Tibs",
        ),
    ),
    "Inference, function": (
        lambda: infer(Y, NAMED, Measure.of(mean_lead), method=Bootstrap(50), random_state=0),
        ("mean_lead (95 % CI; ", "new = 1.1", "Efron and Tibshirani 1993"),
    ),
    "SubgroupInference": (
        lambda: infer(Y, S[:, 1], by=pd.Series(np.array(["a", ATTACK, "c"])[CLASS], name=ATTACK)),
        (
            f"AUC within subgroups of {ATTACK}, pooled by pairs 0.8",
            "; 41 positive, 72 negative samples; 3 subgroups; intervals of subgroups: score interval)",
            f"{ATTACK} 0.7",
            "Equality of subgroups: F ",
            "degrees of freedom, p = 0.",
        ),
    ),
    "SubgroupInference, clusters": (
        lambda: infer(Y, S[:, 1], by=np.arange(N) % 2, groups=GROUPS, null_value=0.6),
        ("AUC within subgroups, pooled by pairs 0.8", "(Hotelling)", "two-sided test against 0.6"),
    ),
    "SubgroupInference, lacking": (
        one_subgroup,
        (f"Not estimable: {ATTACK} (0 positive, 13 negative samples)", "Equality of subgroups: no test"),
    ),
    "Results": (
        lambda: infer(Y, NAMED, ["auc", PartialAUC((0, 0.2))]),
        ("AUC (95 % CI; score interval): old = 0.612 (0.496-0.715)", "In all: 41 positive, 72 negative samples."),
    ),
    "Results, tests": (
        lambda: compare(Y, FRAME, ["auc", TPRAtFPR(0.1)]),
        ("AUC of 3 models (profile", "TPR at FPR 0.1 of 3 models (profile"),
    ),
    "Results, subgroups": (
        lambda: infer(Y, FRAME, by=pd.Series(CLASS, name="site")),
        (f"{ATTACK}: AUC within subgroups of site, pooled by pairs 0.9", "In all: 41 positive, 72 negative samples; 3"),
    ),
    "Results, thresholds": (
        lambda: metrics.operating_point(Y, FRAME, threshold=("sensitivity", 0.9)),
        (f"{ATTACK}: At the threshold ", "old: At the threshold -0.8"),
    ),
    "SubgroupComparison": (
        lambda: compare(Y, FRAME[["old", ATTACK]], by=pd.Series(np.array(["a", ATTACK, "c"])[CLASS], name="site")),
        ("AUC within subgroups of site, pooled by pairs: old = 0.6", "Differences by site: ", "all subgroups: F "),
    ),
    "SubgroupComparison, models": (
        lambda: compare(Y, NAMED, "auc", by=np.where(np.arange(N) < 100, CLASS, 3)),
        ("pooled by pairs of 3 models", "Not estimable: 3 (0 positive", "Johansen 1980"),
    ),
    "SubgroupInference, bootstrap": (
        lambda: infer(Y, S[:, 1], Measure.of(lead), by=CLASS, method=Bootstrap(50), random_state=0),
        ("lead within subgroups, pooled by pairs 1.", "stratified bootstrap of 50 resamples"),
    ),
    "OperatingPoint": (
        lambda: metrics.operating_point(SICK, S[:, 1], prevalence=0.2, pos_label=ATTACK),
        (
            "(largest TPR - FPR, Youden 1950, at prevalence 0.2) TPR ",
            "intervals by Wilson 1927, of predictive values and likelihood ratios by Mercaldo et al. 2007, for a fixed",
        ),
    ),
    "OperatingPoint, bootstrap": (
        lambda: metrics.operating_point(
            Y, S[:, 1], threshold=("sensitivity", 0.9), prevalence=0.1, method="bootstrap", random_state=0
        ),
        (
            "At the threshold 0.24163 (lowest FPR with sensitivity of at least 0.9; 95 % CI -0.",
            "at prevalence 0.100 (known); LR+ ",
            "(stratified bootstrap of 2,000 resamples, percentiles, Efron and Tibshirani 1993; 41 positive, 72 neg",
        ),
    ),
    "OperatingPoint, several": (
        lambda: metrics.operating_point(Y, S[:, 1], threshold=["closest", ("cost", 2), 0.5], prevalence=0.3),
        (
            "At 3 thresholds (95 % CI in brackets; intervals by Wilson 1927, for a fixed threshold; ",
            "(lowest cost, a false positive costing 2 false negatives): TPR ",
            "; 0.5 (given): TPR 0.659 [0.505, 0.784], FPR 0.306 [0.211, 0.420].",
        ),
    ),
    "OperatingPoint, given": (
        lambda: metrics.operating_point(Y, S[:, 1], threshold=0.5),
        ("At the threshold 0.5 (given) TPR 0.659 (95 % CI 0.505-0.784), FPR 0.306 (95 % CI 0.211-0.420)",),
    ),
    "OperatingPoint, guarantee": (
        lambda: metrics.operating_point(Y, S[:, 2], threshold=("sensitivity", 0.8), guarantee=0.95),
        ("sensitivity of at least 0.8, guaranteed on new data with probability 97.6 %, Wilks 1941) TPR ",),
    ),
    "ROCBand": (
        lambda: metrics.roc_band(Y, S[:, 0], n_resamples=100, random_state=0),
        ("95 % confidence band of the whole ROC curve: 0.1", "Campbell 1994; bootstrap of 100 resamples; 41 positive"),
    ),
    "ROCBand, exact": (
        lambda: metrics.roc_band(Y, S[:, 0], method="kolmogorov-smirnov"),
        ("0.172 in FPR and 0.226 in TPR to either side (Kolmogorov-Smirnov band, Campbell 1994; 41 positive",),
    ),
    "SampleSize": (
        lambda: metrics.auc_sample_size(0.75),
        (
            "19 positive and 19 negative samples are enough to show that an AUC of 0.75 differs from 1/2 (power 0.8",
            "Obuchowski et al. 2004",
        ),
    ),
    "SampleSize, two models": (
        lambda: metrics.auc_sample_size(0.85, auc_b=0.75, correlation=0.5, power=0.8),
        ("are enough to show that an AUC of 0.85 differs from one of 0.75 (power 0.8",),
    ),
    "StudySize": (
        lambda: metrics.mrmc_sample_size(metrics.mrmc_analysis(**study(2)), difference=0.2, n_readers=8),
        ("8 readers and ", "show that a difference of 0.2 is not 0 (power 0.80 at the two-sided level 0.05; Hil"),
    ),
    "MRMCAnalysis": (
        lambda: metrics.mrmc_analysis(**study(2)),
        ("AUC, 4 readers, 2 modalities (95 % CI; random readers and cases; Obuc", f"{ATTACK} minus M0 0.", "F(1, "),
    ),
    "MRMCAnalysis, fixed": (
        lambda: metrics.mrmc_analysis(**study(3), readers="fixed", covariance="bootstrap", n_resamples=50),
        ("fixed readers", "covariances by bootstrap of 50 resamples, Efron and Tibshirani 1993", "chi-square(2) = "),
    ),
    "MRMCAnalysis, without variance": (
        without_variance,
        ("first minus second 0.", "(interval not available), p not available", "Note: the variance is estimated at -"),
    ),
    "MRMCAnalysis, one": (
        lambda: metrics.mrmc_analysis(**study(1), alternative="greater", null_value=0.6),
        ("4 readers, one modality", "one-sided test, greater than 0.6"),
    ),
    "MRMCAnalysis, own": (
        lambda: metrics.mrmc_analysis(
            **study(2),
            cases="fixed",
            measure=Measure.of(lead),
            covariance="jackknife",
            alternative="equivalence",
            margin=0.2,
        ),
        ("lead, 4 readers", "fixed cases", "covariances by jackknife", "equivalence within 0.2 of 0"),
    ),
    "PartialAUCPath": (
        lambda: rocmax.partial_auc_path(S, Y, (0, 0.5), Cs=[0.1, 1.0]),
        ("2 models of 3 weights, C from 0.1 to 1;", "partial AUC (FPR 0-0.5) on the training samples 0.9"),
    ),
}
