"""A thousand cases by the definitions; ``python -m tests.referee 1000000`` before a release."""

import dataclasses

import pytest
from tests.referee import __main__ as referee, checks
from tests.referee.cases import draw

# What a mistake would change: a name of the package, as the checks call it, and its wrong result.
MISTAKES = {
    "roc_auc_score": lambda found: found + 1e-12,
    "partial_auc_score": lambda found: found * (1 + 1e-9),
    "tpr_at_fpr_score": lambda found: found - 1e-9,
    "sroc_curve": lambda found: (found[0], found[1][::-1]),
    "infer": lambda found: dataclasses.replace(found, variance=found.variance * (1 + 1e-8)),
    "compare": lambda found: dataclasses.replace(found, covariance=abs(found.covariance) + 1e-9),
}


@pytest.mark.parametrize("part", range(10))
def test_cases(part):
    for seed in range(100 * part, 100 * part + 100):
        assert referee.report(seed) is None


@pytest.mark.parametrize("seed", (5099940, 5667132, 5822485))
def test_cases_that_once_failed(seed):
    assert referee.report(seed) is None


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_and_minimised(name, monkeypatch, capsys):
    of_package, wrong = getattr(checks.metrics, name), MISTAKES[name]
    monkeypatch.setattr(checks.metrics, name, lambda *args, **options: wrong(of_package(*args, **options)))
    seeds = (seed for seed in range(500, 600) if checks.complaint(draw(seed)))
    assert referee.main(["1", "--seed", str(next(seeds))]) == 1
    printed = capsys.readouterr().out
    assert "DisagreementError" not in printed and "rocmax" in printed and "1 failures" in printed
    least = next(line for line in printed.splitlines() if line.startswith("least case"))
    assert "weights=None" in least and least.count("(0.0, 1.0)") >= 1
