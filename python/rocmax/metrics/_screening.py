"""Early recognition: what a screen of the highest scores finds."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from rocmax.metrics._measure import parse_measure, value_of


def enrichment_factor_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fraction: float = 0.01,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the enrichment factor: how many times more positives the first samples hold than as many drawn at random.

    ``EF = sum_i share_i / (n fraction)`` over the n positives, share_i being that of positive i among the first
    `fraction` of all samples by descending score. It lies between 0 and the lesser of ``1 / fraction`` and
    ``1 / prevalence``; 1 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two values; see :func:`auc_inference`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models)
        Finite scores; one column a model. Of tied scores every order is as likely: a group of t of them, p positive, of
        which the fraction ends after x, counts its expectation ``p x / t``. So does a single sample that the fraction
        ends inside, where it is not of a whole number of samples.
    fraction : float in (0, 1], default=0.01
        The share of the samples that is looked at.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; a weight of w is w equal samples, and the scale does not matter.
    pos_label, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The enrichment factor. O(n log n). Its interval: ``auc_inference(..., metric="enrichment_factor")``, at another
        fraction ``metric=Measure("enrichment_factor", fraction=0.05)``.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or `fraction`.

    Examples
    --------
    >>> from rocmax.metrics import enrichment_factor_score
    >>> y = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1]
    >>> round(enrichment_factor_score(y, range(10), fraction=0.2), 6)
    3.333333
    """
    measure = parse_measure("enrichment_factor", fraction=fraction)
    return value_of(measure, y_true, y_score, sample_weight, pos_label, n_jobs)


def rie_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the robust initial enhancement: how much earlier positives come than samples drawn at random.

    ``RIE = (1/n sum_i exp(-alpha r_i / N)) / (1/N sum_k exp(-alpha k / N))``, over the ranks r_i of the n positives by
    descending score among all N samples (Sheridan et al., 2001) [1]_; 1 is chance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two values; see :func:`auc_inference`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models)
        Finite scores; one column a model. Of tied scores every order is as likely: of t with ranks a + 1 to a + t each
        positive counts the mean ``1/t sum_k exp(-alpha k / N)`` over these.
    alpha : float of at least 0.001, default=20.0
        How early: the first ``1.6 / alpha`` of the samples count four fifths, 8 % by default.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; a weight of w is w equal samples, and the scale does not matter.
    pos_label, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The enhancement. O(n log n). Its interval: ``auc_inference(..., metric="rie")``.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or `alpha`.

    References
    ----------
    .. [1] R. P. Sheridan, S. B. Singh, E. M. Fluder and S. K. Kearsley, "Protocols for bridging the peptide to
       nonpeptide gap in topological similarity searches", Journal of Chemical Information and Computer Sciences 41,
       2001. :doi:`10.1021/ci0100144`

    Examples
    --------
    >>> from rocmax.metrics import rie_score
    >>> round(rie_score([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    3.2723
    """
    return value_of(parse_measure("rie", alpha=alpha), y_true, y_score, sample_weight, pos_label, n_jobs)


def bedroc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float = 20.0,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the Boltzmann-enhanced discrimination of ROC (BEDROC) of Truchon and Bayly.

    ``(RIE - RIE_min) / (RIE_max - RIE_min)`` [1]_, with RIE that of :func:`rie_score` and the ends those of all
    positives last and first: for the share p of positives ``RIE_max = (1 - exp(-alpha p)) / (p (1 - exp(-alpha)))`` and
    ``RIE_min = (1 - exp(alpha p)) / (p (1 - exp(alpha)))``. It lies between 0 and 1; chance is about ``1 / alpha``
    where ``alpha p`` is small and alpha large, so that data sets with other shares do not compare.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two values; see :func:`auc_inference`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models)
        Finite scores; one column a model. Tied scores as in :func:`rie_score`.
    alpha : float of at least 0.001, default=20.0
        How early: the first ``1.6 / alpha`` of the samples count four fifths, 8 % by default.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; a weight of w is w equal samples, and the scale does not matter.
    pos_label, n_jobs : optional
        As in :func:`auc_inference`.

    Returns
    -------
    float or ndarray of shape (n_models,)
        The BEDROC. O(n log n). Its interval: ``auc_inference(..., metric="bedroc")``.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or `alpha`.

    References
    ----------
    .. [1] J.-F. Truchon and C. I. Bayly, "Evaluating virtual screening methods: good and bad metrics for the "early
       recognition" problem", Journal of Chemical Information and Modeling 47, 2007. :doi:`10.1021/ci600426e`

    Examples
    --------
    >>> from rocmax.metrics import bedroc_score
    >>> round(bedroc_score([0, 1, 0, 0, 0, 0, 0, 0, 1, 1], range(10)), 4)
    0.9841
    """
    return value_of(parse_measure("bedroc", alpha=alpha), y_true, y_score, sample_weight, pos_label, n_jobs)
