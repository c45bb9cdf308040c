"""``rocmax fit``: train a model for the partial AUC on a table."""

from typing import Any

from rocmax._cli import (
    _columns as coding,
    _labels as classes,
    _model,
    _report as report,
    _select as select,
    _source as source,
    _table as table,
    _trained as trained,
)
from rocmax._cli._output import Misuse, about, check_output, is_stdout, log, say
from rocmax._cli._parser import Fit
from rocmax.metrics.results._result import plain


def run(arguments: Fit) -> None:
    """Train the model that cross-validation selects, and write it."""
    if is_stdout(arguments.out) and arguments.json:
        raise Misuse(f"--out {arguments.out}: --json uses stdout; name a file")
    check_output(arguments.out, arguments.data)
    label, weight, groups = arguments.label, arguments.weight, arguments.groups
    roles = [name for name in (label, weight, groups, arguments.time) if name is not None]
    named = [name for name in (groups, arguments.time) if name is not None]
    numeric = [] if weight is None else [weight]
    wanted = source.columns_to_read(arguments, also=roles, dropped=arguments.drop, numbers=numeric, names=named)
    form, n_dropped = wanted.form, 0
    with about(arguments.data):
        frame, is_text = source.read(arguments.data, wanted)
        frame = classes.clean(frame, label, arguments, form)
        if arguments.missing == "drop":
            frame, n_dropped = table.drop_missing(frame, roles)
        if arguments.time is not None:
            frame = frame[coding.time_order(frame, arguments.time)]
        weights = None if weight is None else table.weights(frame, weight)
        if weights is not None:  # rows of weight 0 are ignored
            frame, weights = frame.filter(weights > 0), weights[weights > 0]
        labels, positive = classes.read(frame, label, arguments, form)
        for name in {*arguments.categorical} - {*arguments.drop}:
            table.column(frame, name)
        rows = source.Table(frame, is_text)
        schema, rows = coding.decided(rows, form, exclude={*roles, *arguments.drop}, categorical=arguments.categorical)
        data = select.FitTable(
            X=coding.features(rows, schema, form),
            schema=schema,
            positive=positive,
            weight=weights,
            groups=None if groups is None else table.cluster_numbers(frame, [groups]),
            in_time=arguments.time is not None,
            notes=form.notes,
        )
        form.notes.add(*trained.suspects(data.X, positive, data.groups, in_time=data.in_time))
    form.tell()
    if not arguments.json:
        report.columns(schema)
    choice = select.choose(data, arguments.model, arguments.fpr, Cs=arguments.C, n_folds=arguments.folds)
    model = _model.Model(
        schema=schema,
        coder=choice.coder,
        classifier=choice.classifier,
        label=label,
        positive=str(labels.value),
        negative=labels.other,
        fpr_range=arguments.fpr,
        trained=trained.Trained.of(data.X, schema),
    )
    _model.save(model, arguments.out)
    result = {
        "data": arguments.data,
        "n_samples": len(positive),
        "n_positive": int(positive.sum()),
        "n_dropped": n_dropped,
        "positive": str(labels.value),
        "negatives": labels.negatives,
        "fpr_range": list(arguments.fpr),
        "numeric": schema.numeric,
        "categorical": schema.categorical,
        "left_out": schema.left_out,
        "columns": {column.name: column.words for column in schema.columns},
        **form.notes.plain(),
        **_made(model, choice),
        "model": arguments.out,
    }
    if arguments.json:
        report.emit(result)
        return
    _show(arguments, labels, result)


def _made(model: _model.Model, choice: select.Choice) -> dict[str, Any]:
    """Return the results of training."""
    machine = model.classifier
    found: dict[str, Any] = {
        "kind": model.kind,
        "reason": choice.reason,
        "cross_validated_partial_auc": choice.partial_auc,
    }
    if model.kind == "ensemble":
        return found | {
            "confidence_interval": plain(machine.inference_.confidence_interval),
            "no_interval": machine.inference_.no_interval,
            "families": machine.families_,
            "leaderboard": plain(machine.leaderboard_),
        }
    if model.kind == "boosting":
        return found | {"objective": str(machine.objective_), "n_estimators": int(machine.n_estimators_)}
    return found | {
        "surrogate": machine.surrogate_,
        "C": float(machine.C_ if hasattr(machine, "C_") else machine.C),
        "dual_gap": float(machine.dual_gap_),
        "n_iter": int(machine.n_iter_),
    }


def _show(arguments: Fit, labels: classes.LabelColumn, result: dict[str, Any]) -> None:
    tell = log if is_stdout(arguments.out) else say
    tell(f"{arguments.data}: {labels.summary(result['n_samples'], result['n_positive'])}")
    if result["n_dropped"]:
        tell(f"dropped because of missing values: {result['n_dropped']:,} rows")
    tell(f"columns: {len(result['numeric'])} numeric, {len(result['categorical'])} categorical")
    low, high = arguments.fpr
    tell(f"model: {result['reason']}")
    if result["kind"] == "ensemble":
        report.leaderboard(result["leaderboard"], error=is_stdout(arguments.out))
    if (value := result["cross_validated_partial_auc"]) is not None:
        bounds = ""
        if result["kind"] == "ensemble":
            why = result["no_interval"]
            bounds = f" (no interval: {why})" if why else " [{:.4f}, {:.4f}]".format(*result["confidence_interval"])
        tell(f"cross-validated partial AUC {value:.4f}{bounds} on FPR [{low:g}, {high:g}]")
    if result["kind"] == "linear":
        tell(f"surrogate {result['surrogate']}, C = {result['C']:g}; certified optimality gap {result['dual_gap']:.1e}")
    elif result["kind"] == "boosting":
        objective = "log loss" if result["objective"] == "log_loss" else "log loss and the pairs of the range"
        tell(f"objective: {objective}")
    tell(f"model file: {report.where(arguments.out)}")
