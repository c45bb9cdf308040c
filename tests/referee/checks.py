"""All checks of a case."""

import warnings
from collections import Counter

from tests.referee import of_training, of_values, of_variances
from tests.referee.agreement import Given

from rocmax import metrics

CHECKS = {
    name.removeprefix("check_"): check
    for module in (of_values, of_variances, of_training)
    for name, check in vars(module).items()
    if name.startswith("check_")
}
SLOW = ("variances", "clusters", "parts")  # a case has one of these


def complaint(case, only=None, done=None):
    """Return the name of the first check that fails, the kind of its error and the message, or None.

    Checks are counted in `done`: those that had something to compare, and "unusable" for weights that must be refused.
    """
    done = Counter() if done is None else done
    given = Given(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not given.usable:
            done["unusable"] += 1
            try:
                metrics.PartialAUC((0.0, 0.5))(given.read)
            except ValueError as error:
                return None if "sample_weight must be scaled" in str(error) else ("usable", "ValueError", str(error))
            return "usable", "DisagreementError", "weights beyond 1e-100 to 1e100 are taken"
        for name, check in CHECKS.items():
            if name == only or (only is None and (name not in SLOW or name == SLOW[case.which // 64 % len(SLOW)])):
                try:
                    done[name] += check(given) is not False
                except Exception as error:
                    return name, type(error).__name__, str(error)
    return None
