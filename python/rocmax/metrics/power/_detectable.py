"""The least AUC that a study of given size detects."""

from rocmax._checks.samples import choice, number
from rocmax._parameters import as_float
from rocmax.metrics.power._power import auc_power

_CLOSE = 1e-9


def detectable_auc(
    *,
    n_pos: float,
    n_neg: float,
    power: float = 0.9,
    auc_b: float | None = None,
    correlation: float | None = None,
    null_value: float | None = None,
    null_difference: float = 0.0,
    significance_level: float = 0.05,
    alternative: str = "two-sided",
) -> float:
    """Return the least AUC that the test of :func:`auc_power` detects with a given power.

    The AUC above the null at which the power of :func:`auc_power` is `power`, by bisection.

    Parameters
    ----------
    n_pos, n_neg, auc_b, correlation, null_value, null_difference, significance_level
        As in :func:`auc_power`; `auc_b` is the model to compare with.
    power : float in (0, 1), default=0.9
        Probability that the test rejects the null.
    alternative : {"two-sided", "greater"}, default="two-sided"
        As in :func:`auc_power`.

    Returns
    -------
    float
        The AUC, within 1e-9.

    Raises
    ------
    ValueError
        For numbers out of their domain, and if no AUC below 1 is detected with that power.

    Examples
    --------
    >>> from rocmax.metrics import detectable_auc
    >>> round(detectable_auc(n_pos=30, n_neg=30, power=0.8), 3)
    0.701
    >>> round(detectable_auc(n_pos=150, n_neg=150, auc_b=0.8, correlation=0.6), 3)
    0.872
    """
    power = number(power, "power", "in (0, 1)", lambda value: 0.0 < value < 1.0)
    choice(alternative, ("two-sided", "greater"), "alternative")
    test = {"n_pos": n_pos, "n_neg": n_neg, "auc_b": auc_b, "correlation": correlation, "null_value": null_value}

    def reached(auc: float) -> bool:
        how = {"null_difference": null_difference, "significance_level": significance_level, "alternative": alternative}
        return auc_power(auc, **test, **how) >= power  # type: ignore[arg-type]

    high = 1.0 - _CLOSE
    detected = reached(high)  # checks the arguments
    null = as_float(0.5 if null_value is None else null_value)
    if auc_b is not None:
        null = as_float(auc_b) + as_float(null_difference)
    low = max(null, _CLOSE)
    if not detected or not low < high:
        raise ValueError(f"no AUC below 1 is detected with power={power:g}: take more samples than n_pos={n_pos!r}")
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
