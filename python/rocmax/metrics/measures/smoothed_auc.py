"""Areas under smoothed ROC curves."""

from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from rocmax._parameters import check_choice
from rocmax._typing import Normalize, Smooth
from rocmax.metrics.measures.base import LimitingSizes, Measure
from rocmax.metrics.measures.partial_auc import PartialAUC
from rocmax.metrics.samples._sample import Sample

#: How a curve is smoothed.
SMOOTH = get_args(Smooth)
_BIASED = {
    "density": "kernel densities move the classes closer together",
    "hull": "the area under the concave hull is biased upwards",
}
_WORDS = {"binormal": "the binormal curve", "density": "kernel densities", "hull": "the concave hull"}


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

        size = None if sample.weight_kind == "frequency" or sample.weight is None else sum(sample.effective)
        low, high = self._part.fpr_range
        area = smooth.area(self.smooth, *sample.curve().steps(), low, high, size)
        # The measure goes from its least value to its greatest as the area goes from 0 to the width of the range.
        least, most = self.bounds
        return min(max(least + (most - least) * area / (high - low), least), most)
