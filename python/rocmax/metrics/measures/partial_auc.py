"""Areas under a part of the ROC curve, and under smoothed curves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np

from rocmax import _core
from rocmax._checks.samples import F64, complement, range_above, rate_range
from rocmax._parameters import check_choice, shown
from rocmax._typing import Average, MultiClass, Normalize, Smooth
from rocmax.metrics._words import rate, style
from rocmax.metrics.intervals._interval import counted
from rocmax.metrics.measures._ranking import Ranking, along, centred_squares
from rocmax.metrics.measures.auc import AUC, CurveMeasure
from rocmax.metrics.measures.base import LimitingSizes, Measure, Trait
from rocmax.metrics.samples._sample import Sample, vertices

_NORMALIZE = {"width": _core.Normalize.width(), "mcclish": _core.Normalize.mcclish(), None: _core.Normalize.none()}
_WHOLE = (0.0, 1.0)
# Made once, but not kept by the measure, as model files hold no such type.
_OF_AREA = frozenset({Trait.COMPONENTS, Trait.AREA})
_OF_AUC = _OF_AREA | {Trait.AUC}
_EDGE = 1e-12  # rounding of rates, relative to themselves
_HALF = 0.5  # a range of false positive rates above it may be meant as one of specificities: results name both
_FIELDS = "fpr_range", "tpr_range", "normalize", "multi_class", "average", "labels"
#: How a curve is smoothed.
SMOOTH = get_args(Smooth)
_BIASED = {
    "density": "kernel densities move the classes closer together",
    "hull": "the area under the concave hull is biased upwards",
}
_WORDS = {"binormal": "the binormal curve", "density": "kernel densities", "hull": "the concave hull"}


class Region(NamedTuple):
    """Ranges [a, b] of the FPR and [c, d] of the TPR, and the part of the area under the curve with both rates in them.

    ``A = int_a^b min(d - c, max(0, R(x) - c)) dx``. Let R reach c at x1 and d at x2, both clipped to [a, b]; then
    ``A = int_x1^x2 R(x) dx - c (x2 - x1) + (d - c) (b - x2)``.

    The curve is straight between its vertices (x_k, y_k), one per block of ties. If these move by (dx_k, dy_k), A
    changes by ``int dy dx - int dx dy`` along the part of the curve in the region. A sample of weight 1 in block j
    moves ``y_k`` (a positive) or ``x_k`` (a negative) by ``(1[j <= k] - y_k) / m`` or ``(1[j <= k] - x_k) / n``: its
    component is the sum of the vertices' coefficients from k = j on.
    """

    fpr: tuple[float, float]
    tpr: tuple[float, float]

    @property
    def size(self) -> float:
        """The area of the rectangle."""
        return (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])

    def area(self, curve: _core.Curve) -> float:
        """Return the area of a curve in the region."""
        fpr, tpr = vertices(*curve.steps()[1:])
        (a, b), (c, d) = self
        low, high = (float(np.clip(_reached(fpr, tpr, height), a, b)) for height in (c, d))
        wide = high - low > max(4 * np.finfo(float).eps * high, 1e-99)
        below = curve.measure(_core.Measure.partial(low, high, _NORMALIZE[None])) - c * (high - low) if wide else 0.0
        return float(np.clip(below + (d - c) * (b - high), 0.0, self.size))

    def components(self, curve: _core.Curve) -> tuple[F64, F64]:
        """Return the components of the positives and of the negatives at every distinct score."""
        rates = vertices(*curve.steps()[1:])
        first, last, share = np.zeros(len(rates[0]) - 1), np.ones(len(rates[0]) - 1), np.ones(len(rates[0]) - 1)
        for at, (low, high) in zip(rates, self, strict=True):
            start, step = at[:-1], np.diff(at)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                ends = [np.clip((end - start) / step, 0, 1) for end in (low, high)]
            first = np.where(step > 0, np.maximum(first, ends[0]), first)
            last = np.where(step > 0, np.minimum(last, ends[1]), last)
            # A piece along an edge is outside, as where a range of one rate ends; rates cannot go beyond 0 and 1.
            inside = ((start > low * (1 + _EDGE)) | (low == 0)) & ((start < high * (1 - _EDGE)) | (high == 1))
            share *= (step > 0) | inside
        last = np.maximum(first, last)
        of_end = share * (last**2 - first**2) / 2
        of_start = share * (last - first) - of_end

        by_fpr, by_tpr = (along(np.diff(rate), of_start, of_end) for rate in rates)
        return by_fpr, -by_tpr


def _reached(fpr: F64, tpr: F64, height: float) -> float:
    """Return the false positive rate at which a curve of these vertices reaches a height in [0, 1]."""
    k = min(int(np.searchsorted(tpr, height)), len(tpr) - 1)
    if k == 0:
        return 0.0
    rise = tpr[k] - tpr[k - 1]
    share = (height - tpr[k - 1]) / rise if rise > 0 else 1.0
    return float(fpr[k - 1] + min(share, 1.0) * (fpr[k] - fpr[k - 1]))


@dataclass(frozen=True, repr=False, init=False)
class PartialAUC(CurveMeasure):
    """Partial area under the ROC curve: over a range of false positive rates, of true ones, or of both.

    Use it when only a part of the curve matters, such as a specificity of 0.9 to 1.

    >>> from rocmax.metrics import PartialAUC
    >>> PartialAUC(0.5)([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    >>> PartialAUC(specificity=(0.9, 1))
    PartialAUC(fpr_range=(0.0, 0.1), specificity=(0.9, 1.0))
    >>> PartialAUC((0.1, 0.5), normalize="mcclish")([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.6428571428571428

    Parameters
    ----------
    fpr_range : float, (float, float) or None, default=(0.0, 1.0)
        The range [a, b] of false positive rates, 0 <= a < b <= 1; one number b stands for (0, b), and None for the
        whole curve.
    tpr_range : (float, float), default=None
        The range [c, d] of true positive rates: the area of ``1 - FPR`` over it, if `fpr_range` is whole.
    normalize : {"width", "mcclish"} or None, default="width"
        ``A / (b - a)``; McClish's scale ``(1 + (A - l) / (b - a - l)) / 2`` with ``l = (b^2 - a^2) / 2``; or ``A``.
        With two ranges only "width", which divides by ``(b - a) (d - c)``, or None.
    specificity, sensitivity : float or (float, float), default=None
        The same ranges in other words, in place of `fpr_range` and `tpr_range`: a specificity of 0.9 to 1 is a false
        positive rate of 0 to 0.1, and the sensitivity is the true positive rate. One number b stands for (b, 1).
    multi_class, average, labels : optional
        As in :class:`AUC`.

    Notes
    -----
    ``A = int_a^b TPR(u) du`` of the piecewise linear curve; :func:`partial_auc_score` has the other definitions. If
    neither range is given, the whole curve is used; if both are, the two-way partial area
    ``int_a^b min(d - c, max(0, TPR(u) - c)) du`` (Yang et al., 2019). Tied scores are a slanted line of the curve, and
    weighted rates shares of the weight. O(n log n).
    """

    name: ClassVar[str] = "partial_auc"
    is_share = True
    fpr_range: tuple[float, float] = _WHOLE
    tpr_range: tuple[float, float] | None = None
    normalize: Normalize | None = "width"

    def __init__(
        self,
        fpr_range: float | tuple[float, float] | None = _WHOLE,
        *,
        tpr_range: tuple[float, float] | None = None,
        normalize: Normalize | None = "width",
        specificity: float | tuple[float, float] | None = None,
        sensitivity: float | tuple[float, float] | None = None,
        multi_class: MultiClass = "raise",
        average: Average | None = "macro",
        labels: Any = None,
    ) -> None:
        if specificity is not None:
            same = complement(range_above(specificity, "specificity"))
            fpr_range = _alone("specificity", same, "fpr_range", None if fpr_range == _WHOLE else fpr_range)
        if sensitivity is not None:
            tpr_range = _alone("sensitivity", range_above(sensitivity, "sensitivity"), "tpr_range", tpr_range)
        fpr_range = rate_range(_WHOLE if fpr_range is None else fpr_range, "fpr_range")
        tpr_range = None if tpr_range is None else rate_range(tpr_range, "tpr_range")
        given = (fpr_range, tpr_range, normalize, multi_class, average, labels)
        for name, value in zip(_FIELDS, given, strict=True):
            object.__setattr__(self, name, value)
        super().__post_init__()
        _ = self.region or self.in_core  # they check the options

    @cached_property
    def region(self) -> Region | None:
        """Both ranges, checked, if neither is whole."""
        if self.tpr_range is None:
            return None
        region = Region(self.fpr_range, self.tpr_range)
        if _WHOLE in region:
            return None
        check_choice("normalize", self.normalize, tuple(_NORMALIZE))
        if self.normalize == "mcclish":
            raise ValueError(
                "normalize='mcclish' needs a single range: with fpr_range and tpr_range take 'width' or None"
            )
        _check_apart(*self.fpr_range, "fpr_range", self.fpr_range)
        _check_apart(*self.tpr_range, "tpr_range", self.tpr_range)
        return region

    @property
    def in_core(self) -> Any:
        if self.region is not None:
            return None
        if self._whole:
            return _core.Measure.auc()
        of_tpr, low, high = self._area
        area = _core.Measure.partial_tpr if of_tpr else _core.Measure.partial
        return area(low, high, _NORMALIZE[self.normalize])

    @cached_property
    def _area(self) -> tuple[bool, float, float]:
        return curve_area(self.fpr_range, self.tpr_range, self.normalize)

    @property
    def low(self) -> float:
        return self._area[1] if self.region is None else self.fpr_range[0]

    @property
    def high(self) -> float:
        return self._area[2] if self.region is None else self.fpr_range[1]

    @property
    def mirrored(self) -> bool:
        return self.region is None and not self._whole and self._area[0]

    @property
    def bounds(self) -> tuple[float, float]:
        region = self.region
        width = self.high - self.low if region is None else region.size
        if width == 1.0 or self.normalize == "width":
            return 0.0, 1.0
        if self.normalize is None:
            return 0.0, width
        return 1.0 - 1.0 / ((1.0 - self.low) + (1.0 - self.high)), 1.0

    @property
    def reference(self) -> str:  # type: ignore[override]
        return "delong" if self._whole else "he-escobar" if self.region is None else "yang"

    @property
    def traits(self) -> frozenset[Trait]:
        if self.region is not None:
            return frozenset({Trait.COMPONENTS})
        return _OF_AUC if self._whole else _OF_AREA

    @property
    def counts_pairs(self) -> bool:  # type: ignore[override]
        return self._whole

    @cached_property
    def _whole(self) -> bool:
        """Whether it is the area under the whole curve."""
        return self.region is None and self._area[1:] == _WHOLE

    def __str__(self) -> str:
        scales = {"width": [], "mcclish": ["McClish's scale"], None: ["area not divided by the width"]}
        how = ["the AUC"] if self._whole else scales[self.normalize]
        return f"partial AUC ({', '.join([*self._ranges(), *how])})"

    @property
    def short(self) -> str:
        scale = {"width": [], "mcclish": ["(McClish)"], None: ["(area)"]}[self.normalize]
        return " ".join(["pAUC", *(text.removeprefix("FPR ") for text in self._ranges()), *scale])

    def _ranges(self) -> list[str]:
        ranges = [] if self.tpr_range is None else [rate("tpr").of(*self.tpr_range)]
        if self.tpr_range is None or self.fpr_range != _WHOLE:
            ranges.insert(0, rate("fpr").of(*self.fpr_range))
        if self.fpr_range[0] > _HALF and style() == "rates":  # a range of specificities, as it may be meant
            low, high = complement(self.fpr_range)
            ranges.append(f"specificity {low:g}-{high:g}")
        return ranges

    def __repr__(self) -> str:
        if self.fpr_range == _WHOLE:
            return super().__repr__()
        both = f"fpr_range={self.fpr_range}, specificity={complement(self.fpr_range)}"
        return super().__repr__().replace(str(self.fpr_range), both, 1)

    def estimates(self, sample: Sample) -> F64:
        region = self.region
        if region is None:
            return super().estimates(sample)
        return self._scale(region) * np.array([region.area(one.curve()) for one in sample.models()])

    def components(self, sample: Sample) -> Any:
        region = self.region
        if region is None:
            return super().components(sample)
        return self._scale(region) * Ranking.of(sample).place(sample, *region.components(sample.curve()))

    def influences(self, sample: Sample) -> tuple[F64, F64]:
        return (Measure if self.region else CurveMeasure).influences(self, sample)

    def covariance(self, sample: Sample) -> tuple[F64, F64, F64]:
        return (Measure if self.region else CurveMeasure).covariance(self, sample)

    def squares(self, sample: Sample) -> tuple[float, F64]:
        region = self.region
        if region is None:
            return AUC().squares(sample) if self._whole else super().squares(sample)
        scale, curve = self._scale(region), sample.curve()
        squares = centred_squares(region.components(curve), curve.steps()[1:])
        return scale * region.area(curve), scale**2 * squares

    def _scale(self, region: Region) -> float:
        return 1.0 if self.normalize is None else 1.0 / region.size

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        own, (other, name) = super().limiting_sizes(sizes)
        width = self.high - self.low
        return own, (counted(other * width), f"{name} in the range") if width < 1.0 else (other, name)

    def extrapolates(self, sizes: tuple[float, float]) -> str | None:
        count, held = self.limiting_sizes(sizes)[1]
        if count >= 1:
            return None
        return f"there are only {count:.2g} {held}: the estimate is the height of the curve near the range"


def _alone(name: str, found: tuple[float, float], other: str, given: Any) -> tuple[float, float]:
    """Return the range that a name gives, and check that the other name says the same, if it is given."""
    if given is not None and rate_range(given, other) != found:
        raise ValueError(f"give {other} or {name}, which stands for {other}={found}, got {other}={shown(given)} too")
    return found


def curve_area(fpr_range: Any, tpr_range: Any, normalize: str | None) -> tuple[bool, float, float]:
    """Return whether a partial area is over 1 - TPR, not FPR, and its range there; checks the options."""
    check_choice("normalize", normalize, tuple(_NORMALIZE))
    low, high = rate_range(fpr_range, "fpr_range")
    of_tpr = None if tpr_range is None else rate_range(tpr_range, "tpr_range")
    if of_tpr is None or ((low, high) != _WHOLE and of_tpr == _WHOLE):
        _check_apart(low, high, "fpr_range", fpr_range)
        return False, low, high
    if (low, high) != _WHOLE:
        raise ValueError(f"give fpr_range or tpr_range, got {shown(fpr_range)} and {shown(tpr_range)}")
    low, high = 1.0 - of_tpr[1], 1.0 - of_tpr[0]
    _check_apart(low, high, "tpr_range", tpr_range)
    return True, low, high


def _check_apart(low: float, high: float, name: str, given: Any) -> None:
    """Check that the ends of a range differ by more than rounding."""
    if high - low <= max(4 * np.finfo(float).eps * high, 1e-100):
        raise ValueError(f"{name} must be wider than rounding, got {shown(given)}")


@dataclass(frozen=True, repr=False)
class SmoothedAUC(Measure):
    """Area under a smoothed ROC curve, or under a part of it; intervals and tests are by the bootstrap.

    Use it for few samples or ratings of few levels, if a smooth curve is assumed.

    `groups` are refused. A smoothed curve has no components to sum over clusters, and percentiles of resampled clusters
    are too narrow with few of them; :class:`AUC` and :class:`PartialAUC` take clusters.

    >>> from rocmax.metrics import SmoothedAUC
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.35, 0.4, 0.6, 0.7, 0.8]
    >>> [round(SmoothedAUC(kind)(y, s), 3) for kind in ("binormal", "density", "hull")]
    [0.938, 0.889, 0.969]

    Parameters
    ----------
    smooth : {"binormal", "density", "hull"}, default="binormal"
        How the curve is smoothed.
    fpr_range : float, (float, float) or None, default=(0.0, 1.0)
        The range [a, b] of false positive rates; None is the whole curve.
    normalize : {"width", "mcclish"} or None, default="width"
        As in :class:`PartialAUC`.

    See Also
    --------
    roc_curve : The smoothed curve itself, by ``smooth=``.

    Notes
    -----
    "binormal" is pROC's [1]_: the line ``Phi^-1(1 - FPR) = a + b Phi^-1(TPR)`` through the points of the curve with
    both rates inside (0, 1), one a distinct score, by least squares; the area is ``Phi(a / sqrt(1 + b^2))``, that of a
    part a bivariate normal probability. If no two of these points differ in TPR, as when the classes are separated or
    have one sample, no line fits, and the empirical curve is used. "density" replaces
    every score by a normal kernel: ``FPR(c) = sum_j w_j Phi((t_j - c) / h) / sum_j w_j`` and TPR likewise, with
    one bandwidth h, Silverman's rule of thumb for all scores [2]_ (R's and pROC's "nrd0"); its area is at most the
    empirical one where the classes are well separated. "hull" is the least concave curve above the empirical one
    (ROCCH) [3]_, which thresholds chosen at random between its corners reach; its area is never below the empirical
    one, also for random scores: it is biased upwards. Intervals of areas by "density" and "hull" undercover:
    :func:`infer` and :func:`compare` give one only with ``method="bootstrap"``.

    Tied scores are one point. Weights are frequency weights; for sampling weights the bandwidth is that of the
    effective number of samples. O(n log n), O(n) memory; "density" bins scores at a tenth of the bandwidth.

    References
    ----------
    .. [1] X. Robin et al., "pROC: an open-source package for R and S+ to analyze and compare ROC curves", BMC
       Bioinformatics 12, 2011. :doi:`10.1186/1471-2105-12-77`
    .. [2] B. W. Silverman, "Density Estimation for Statistics and Data Analysis", Chapman & Hall, 1986, equation 3.31.
    .. [3] F. Provost and T. Fawcett, "Robust classification for imprecise environments", Machine Learning 42, 2001.
       :doi:`10.1023/A:1007601015854`
    """

    name: ClassVar[str] = "smoothed_auc"
    remedy: ClassVar[str] = "choose another smooth"
    is_share = True
    smooth: Smooth = "binormal"
    fpr_range: float | tuple[float, float] = (0.0, 1.0)
    normalize: Normalize | None = "width"

    def __post_init__(self) -> None:
        check_choice("smooth", self.smooth, SMOOTH)
        object.__setattr__(self, "fpr_range", self._part.fpr_range)

    @property
    def _part(self) -> PartialAUC:
        """The same area of the empirical curve."""
        return PartialAUC(self.fpr_range, normalize=self.normalize)

    @property
    def bounds(self) -> tuple[float, float]:
        return self._part.bounds

    def __str__(self) -> str:
        return f"{self._part} of {_WORDS[self.smooth]}"

    @property
    def short(self) -> str:
        return f"{self._part.short} {self.smooth}"

    def limiting_sizes(self, sizes: tuple[float, float]) -> LimitingSizes:
        return self._part.limiting_sizes(sizes)

    def refusal(self, sizes: tuple[float, float]) -> str | None:
        return _BIASED.get(self.smooth)

    def bias_warning(self, sizes: tuple[float, float]) -> str | None:
        return f"{_BIASED[self.smooth]}, so that its interval undercovers" if self.smooth in _BIASED else None

    def value(self, sample: Sample) -> Any:
        from rocmax.metrics.measures import _smooth as smooth  # scipy takes a while to import

        size = None if sample.weight_kind != "sampling" or sample.weight is None else sum(sample.effective)
        low, high = self._part.fpr_range
        area = smooth.area(self.smooth, *sample.curve().steps(), low, high, size)
        # The measure goes from its least value to its greatest as the area goes from 0 to the width of the range.
        least, most = self.bounds
        return min(max(least + (most - least) * area / (high - low), least), most)
