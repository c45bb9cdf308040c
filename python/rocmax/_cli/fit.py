"""``rocmax fit``: train a partial-AUC machine on a table."""

from argparse import Namespace
from typing import Any

from sklearn.base import clone

from rocmax import PartialAUCSVC
from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import Misuse
from rocmax._cli._output import check_output, is_stdout
from rocmax._cli._select import choose_C

_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def run(arguments: Namespace) -> None:
    """Train, choosing C by cross-validation, and write the model."""
    if is_stdout(arguments.out) and arguments.json:
        raise Misuse(f"--out {arguments.out}: stdout is taken by --json; name a file")
    check_output(arguments.out, arguments.data)
    frame = table.read(arguments.data, exact={arguments.label})
    labels = table.labels(frame, arguments.label, arguments.positive)
    for name in (*arguments.drop, *arguments.categorical):
        table.column(frame, name)
    numeric, categorical, empty = _model.split_columns(
        frame, exclude={arguments.label, *arguments.drop}, categorical=arguments.categorical
    )
    if empty:
        report.log(f"not used, without any value: {', '.join(empty)}")
    X = _model.features(frame, numeric, categorical)
    machine = PartialAUCSVC(arguments.fpr)
    pipeline = _model.make_model(len(numeric), len(categorical), machine)

    Cs = arguments.C or _CS
    validated = None
    if len(Cs) > 1:
        with report.progress("choosing C", len(Cs) * arguments.folds) as tick:
            choice = choose_C(
                pipeline,
                Cs,
                X,
                labels.positive,
                fpr_range=arguments.fpr,
                folds=arguments.folds,
                seed=0,
                tick=tick,
            )
        C, validated = choice.C, choice.score
    else:
        C = Cs[0]
    fitted = clone(pipeline).set_params(classifier__C=C)
    with report.warnings_after():
        fitted.fit(X, labels.positive)
    model = _model.Model(
        pipeline=fitted,
        numeric=numeric,
        categorical=categorical,
        label=arguments.label,
        positive=str(labels.value),
        fpr_range=arguments.fpr,
    )
    _model.save(model, arguments.out)

    machine = fitted[-1]
    result = {
        "data": arguments.data,
        "n_samples": len(labels.positive),
        "n_positive": int(labels.positive.sum()),
        "positive": str(labels.value),
        "fpr_range": list(arguments.fpr),
        "numeric": numeric,
        "categorical": categorical,
        "C": C,
        "cross_validated_partial_auc": validated,
        "dual_gap": float(machine.dual_gap_),
        "n_iter": int(machine.n_iter_),
        "model": arguments.out,
    }
    if arguments.json:
        report.emit(result)
        return
    _show(arguments, labels, result)


def _show(arguments: Namespace, labels: table.Labels, result: dict[str, Any]) -> None:
    say = report.log if is_stdout(arguments.out) else report.say
    say(f"{arguments.data}: {labels.summary}")
    say(f"columns: {len(result['numeric'])} numeric, {len(result['categorical'])} categorical")
    low, high = arguments.fpr
    held_out = ""
    if result["cross_validated_partial_auc"] is not None:
        held_out = (
            f", cross-validated partial AUC {result['cross_validated_partial_auc']:.4f} on FPR [{low:g}, {high:g}]"
        )
    say(f"C = {result['C']:g}{held_out}; certified gap {result['dual_gap']:.1e}")
    say(f"model: {report.where(arguments.out)}")
