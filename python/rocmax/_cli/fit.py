"""``rocmax fit``: train a partial-AUC machine on a table."""

import warnings
from argparse import Namespace

from sklearn.base import clone

from rocmax import PartialAUCSVC
from rocmax._cli import _model
from rocmax._cli import _report as report
from rocmax._cli import _table as table
from rocmax._cli._failure import check_folder
from rocmax._cli._select import choose_C

_CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def run(arguments: Namespace) -> None:
    """Train, choosing C by cross-validation, and write the model."""
    check_folder(arguments.out)
    frame = table.read(arguments.data)
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
    pipeline = _model.make_model(numeric, categorical, machine)

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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.fit(X, labels.positive)
    for warning in caught:
        report.log(f"warning: {' '.join(str(warning.message).split())}")
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
    report.say(f"{arguments.data}: {labels.summary}")
    report.say(f"columns: {len(numeric)} numeric, {len(categorical)} categorical")
    low, high = arguments.fpr
    held_out = ""
    if validated is not None:
        held_out = f", cross-validated partial AUC {validated:.4f} on FPR [{low:g}, {high:g}]"
    report.say(f"C = {C:g}{held_out}; certified gap {machine.dual_gap_:.1e}")
    report.say(f"model: {report.where(arguments.out)}")
