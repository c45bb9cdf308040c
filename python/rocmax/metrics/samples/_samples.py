"""Samples, the public value: labels and scores that are read once, for many questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocmax._checks.arrays import in_numpy, unmasked
from rocmax._checks.samples import label_classes, names_of, oriented, rows_of
from rocmax._parameters import shown
from rocmax._typing import Missing, WeightKind
from rocmax.metrics._references import cited
from rocmax.metrics.samples._arguments import ARRAYS, KINDS, Arguments
from rocmax.metrics.samples._classes import Classes, classes
from rocmax.metrics.samples._sample import Kept, Sample, verify

_LISTED = 5  # models that a repr names


class Value:
    """Base of values that are read and checked once; neither attributes nor their arrays can be changed."""

    def _set(self, **attributes: Any) -> None:
        """Set attributes: of a new object only."""
        for held in attributes.values():
            if isinstance(held, np.ndarray):
                held.flags.writeable = False
        self.__dict__.update(attributes)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed: make another with other {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")


@cited("obuchowski-clusters", "aronow")
class Samples(Value):
    """Labels and scores of one model or of several, read and checked once, for any number of questions.

    Use it to ask several questions of the same samples. Functions take it in place of `y_true` and `y_score`. Those
    that take arrays pass the options below on to this class.

    >>> from rocmax.metrics import Samples, TPRAtFPR, compare, infer
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> samples = Samples(y, {"new": [1, 2, 3, 4, 7, 5, 6, 8, 9, 10], "old": [1, 6, 3, 4, 9, 5, 2, 8, 7, 10]})
    >>> samples
    Samples(5 positive, 5 negative; models new, old)
    >>> infer(samples).estimate, round(compare(samples).pvalue, 3)
    (array([0.92, 0.68]), 0.038)
    >>> TPRAtFPR(0.2)(samples)
    array([1. , 0.6])

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels 0 and 1, -1 and 1, or False and True. For two other labels, pass `pos_label` or an ordered categorical.
        More than two labels, with a column of scores for each, are several classes, for measures with `multi_class`.
    y_score : array-like of shape (n_samples,) or (n_samples, n_models), or mapping
        Finite scores; ordered categories, such as ratings, count as 0, 1, ... in their order. With one column per
        model, results are arrays; a data frame, or a mapping from names of models to scores, gives the result `names`.
        For several classes the columns are those of the classes, (n_samples, n_classes), and a mapping names models
        with such columns. Tied scores count half in an AUC, and are called alike at every threshold. Samples are paired
        by position: series whose index has the labels of `y_true` in another order give a warning. float32 is ranked as
        float32.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; samples of weight 0 are ignored.
    weight_kind : {"frequency", "sampling"} or None, default=None
        Whether a weight w stands for w equal samples ("frequency"), or for an inverse sampling probability, whose
        scale matters only to a whole number k of alerts ("sampling"). None means "frequency", with a warning of
        intervals and tests if weights are not whole numbers or add up to over ten times the rows. Estimates agree.
    groups : array-like of shape (n_samples,) or (n_samples, 2), default=None
        Clusters of correlated samples, such as the lesions of a patient (Obuchowski, 1997) [1]_; subgroups that are
        compared are `by`. Two columns name both subjects of a pair, as in face verification: pairs that share a subject
        are correlated (Aronow et al., 2015) [2]_, in O(n log n) time and O(n) memory. A name in both columns is one
        subject: use different names if the columns hold things of two kinds, such as probes and cameras, and the
        variance is the two-way one of Cameron, Gelbach and Miller (2011). A warning says that intervals undercover
        if one subject is in more than 30 % of the pairs of a class or, except by "score", if fewer than 15 subjects
        decide the measure, as at small false positive rates. A subject in all pairs of a class is refused. Excludes
        weights.
    by : array-like of shape (n_samples,), default=None
        Subgroups that :func:`infer` and :func:`compare` set side by side, such as the site or the sex of each patient;
        all other functions take the samples as a whole; ``samples.take(site == "north")`` has those of one.
    pos_label : label, default=None
        The positive class; all others are negative.
    higher_is_better : bool, or list or mapping of bool, default=True
        Whether high scores are for positives. False for docking scores, distances and p-values: scores are negated,
        which is exact, and thresholds are reported on the scale of the scores ("<= t"). For several models, a
        list with one for each, or a mapping from the names of those that differ from True.
    missing : {"raise", "drop"}, default="raise"
        Whether samples without a label, a score of any model, a weight, a cluster or a subgroup (NaN, NaT, None,
        pandas' NA, masked) are refused or left out; results count them as `n_dropped`. All models are measured on
        the same, complete samples. Infinite scores are not missing.
    n_jobs : int, default=None
        Threads; None uses all cores. Results do not depend on their number.
    plan : LabelPlan, default=None
        The plan by which rows were labelled (:func:`label_plan`): `y_true` has the labels of ``plan.rows``, or of the
        first of them, and `y_score` the scores of all rows. Excludes weights, groups and `by`.

    Attributes
    ----------
    n_pos, n_neg : int or float
        Number of positives and of negatives, with weights their total weight. For several classes, the size of the
        smallest class and that of all others.
    n_dropped : int
        Number of samples that were left out because a value is missing.
    pos_label : label
        The positive class; None for several classes.
    names : tuple of str, or None
        Names of the models; None where they were given without.

    Raises
    ------
    ValueError
        For bad labels, scores, weights or names, one class only, or options that cannot be combined; the message names
        the argument, the value and a remedy.

    Notes
    -----
    :func:`infer`, :func:`compare`, :func:`operating_point`, :func:`roc_band`, :func:`cross_validated_auc`, every
    measure and the displays take samples in place of `y_true` and `y_score`, and return what they return for the same
    arrays, to the bit.

    Samples do not change: the arrays are copied, so that later changes of the caller's have no effect, and attributes
    cannot be set. They can be pickled. The scores of a model are sorted when a question first needs their order, in O(n
    log n); the order of the scores is then kept for all further questions.

    Per sample 1 byte for the label and 8 bytes for a score (4 for float32), a weight and a group are held, and 24 bytes
    for every distinct score of a model once it has been sorted. Labels of several classes are held as they are. Dask
    arrays are computed in one graph and brought into memory.
    """

    _given: Arguments  # as given; without labels and scores if they are of two classes, which `_two` holds
    _two: Sample | None
    _classes: dict[Any, Classes]

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike | Mapping[str, ArrayLike],
        *,
        sample_weight: ArrayLike | None = None,
        weight_kind: WeightKind | None = None,
        groups: ArrayLike | None = None,
        by: ArrayLike | None = None,
        pos_label: Any = None,
        higher_is_better: Any = True,
        missing: Missing = "raise",
        n_jobs: int | None = None,
        plan: Any = None,
    ) -> None:
        if plan is not None:
            if not hasattr(plan, "labelled"):
                raise TypeError(f"plan must be a LabelPlan, as label_plan makes it, got {shown(plan)}")
            given = Arguments(y_true, y_score, sample_weight, groups, by, pos_label, higher_is_better, n_jobs)
            self._hold(given._replace(y_true=None, y_score=None, weight_kind="planned"), _own(plan.labelled(given)))
            return
        self._hold(
            Arguments.complete(
                y_true,
                y_score,
                sample_weight=sample_weight,
                weight_kind=weight_kind,
                groups=groups,
                by=by,
                pos_label=pos_label,
                higher_is_better=higher_is_better,
                missing=missing,
                n_jobs=n_jobs,
            )
        )
        self._check()

    @classmethod
    def unchecked(cls, given: Arguments, two: Sample | None = None) -> Samples:
        """Return samples that share the caller's arrays; the core checks the values when they are first used."""
        found = cls.__new__(cls)
        found._hold(given, two)
        return found

    def _hold(self, given: Arguments, two: Sample | None = None) -> None:
        self.__dict__.update(_given=given, _two=two, _classes={})

    def _check(self) -> None:
        """Check all values, and replace the caller's arrays by copies."""
        given = self._given
        several = given.pos_label is None and _named_matrices(given.y_score)
        if not several:
            try:
                two = given.of_two_classes()
                verify(two)
            except ValueError:
                several = given.pos_label is None and _of_columns(given)
                if not several:
                    raise
        given = given._replace(by=_copied(given.by, "by", given.remedy))
        if several:
            arrays = {name: _copied(getattr(given, name), name, given.remedy) for name in ARRAYS}
            self._hold(given._replace(**arrays))
            for model in self.names or (None,):
                self.classes(model=model, least=1)
            n_samples = len(self)
        else:
            two = two._replace(y=two.positive)
            rows = np.array([np.argmin(two.y), np.argmax(two.y)])
            labels = given.y_true
            labels = [labels[k] for k in rows] if isinstance(labels, list) else rows_of(labels, rows)
            pair = np.asarray(in_numpy(labels)).ravel()
            arrays = dict.fromkeys(ARRAYS)
            self._hold(given._replace(**{**arrays, "y_true": pair}), _own(two))
            n_samples = len(two.y)
        if given.by is not None:
            names_of(given.by, n_samples, "by", given.remedy)

    def holding(self, two: Sample, by: Any = None) -> Samples:
        """Return samples that are parts of these, and read already; there is no further warning of their weights."""
        given: dict[str, Any] = dict.fromkeys(ARRAYS) | {"by": by, "weight_kind": two.weight_kind}
        return Samples.unchecked(self._given._replace(**given), two)

    @property
    def two(self) -> Sample:
        """The samples of two classes, as measures and methods see them."""
        two = self._two
        if two is None:
            two = self.__dict__["_two"] = self._given.of_two_classes()
        return two

    def classes(self, labels: Any = None, model: str | None = None, least: int = 2) -> Classes:
        """Return the samples of several classes, with a column of scores for each."""
        if self.weight_kind == "planned":
            raise ValueError("labels of a plan take measures of two classes, without multi_class")
        key = model, least
        if labels is None and key in self._classes:
            return self._classes[key]
        given, two = self._given, self._two
        if given.y_score is None and two is not None:
            score = oriented(two.score, two.lower)
            columns = (
                score if two.model_names is None else dict(zip(two.model_names, np.atleast_2d(score.T), strict=True))
            )
            given = given._replace(
                y_true=given.y_true[two.y.astype(np.intp)], y_score=columns, sample_weight=two.weight, groups=two.group
            )
        found = classes(given, labels, model, least)
        if labels is None:
            self._classes[key] = found
        return found

    def of(self, measure: Any, model: str | None = None, least: int = 2) -> Sample | Classes:
        """Return the samples as a measure needs them."""
        return self.two if measure.multi_class == "raise" else self.classes(measure.labels, model, least)

    @property
    def models_of_classes(self) -> list[str]:
        """Names of the models of several classes."""
        if not isinstance(self._given.y_score, Mapping):
            raise ValueError("several classes take y_score as a mapping from models to (n_samples, n_classes) scores")
        return list(self._given.y_score)

    @property
    def by(self) -> Any:
        """The subgroups as given, or None."""
        return self._given.by

    @property
    def weight_kind(self) -> str | None:
        """What a weight stands for, as given; "planned" if a plan chose the labels."""
        return self._given.weight_kind

    @property
    def titled(self) -> bool:
        """Whether the caller names the columns, and tells about them, elsewhere."""
        return self._given.titled

    @property
    def _of_classes(self) -> bool:
        return self._given.y_score is not None

    @property
    def n_pos(self) -> float:
        """Number of positives, with weights their total weight."""
        return self._sizes[0]

    @property
    def n_neg(self) -> float:
        """Number of negatives, with weights their total weight."""
        return self._sizes[1]

    @property
    def _sizes(self) -> tuple[float, float]:
        return self._first_model.sizes if self._of_classes else self.two.totals

    @property
    def _first_model(self) -> Classes:
        return self.classes(model=self.names[0] if self.names else None, least=1)

    @property
    def n_dropped(self) -> int:
        """Number of samples that were left out because a value is missing."""
        return self._given.n_dropped

    @property
    def pos_label(self) -> Any:
        """The positive class; None for several classes."""
        return None if self._of_classes else self.two.pos_label

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the models; None where they were given without."""
        if not self._of_classes:
            return self.two.model_names
        return tuple(self._given.y_score) if _named_matrices(self._given.y_score) else None

    def take(self, rows: ArrayLike) -> Samples:
        """Return some of the samples.

        Parameters
        ----------
        rows : array-like of int or of bool, or slice
            Which samples, by position.

        Returns
        -------
        Samples
            What reading these rows alone gives, in O(n). Rows that are not positions raise an IndexError.
        """
        if self.weight_kind == "planned":
            raise ValueError("samples of a plan are taken as a whole: plan the labels of a part of the rows")
        try:
            index = np.arange(len(self))[rows if isinstance(rows, slice) else np.asarray(rows)]
        except IndexError:
            index = np.zeros(())
        if index.ndim != 1:
            raise IndexError(f"rows must be positions below {len(self)}, or a mask of that length, got {shown(rows)}")
        if self._of_classes:
            found = Samples.unchecked(self._given.rows(index))
            found._check()
            return found
        part = self.two.take(index)
        verify(part)
        return Samples.unchecked(self._given._replace(by=rows_of(self.by, index), n_dropped=0), _own(part))

    def __len__(self) -> int:
        return len(self._given.y_true if self._of_classes else self.two.y)

    def __repr__(self) -> str:
        given, names = self._given, self.names
        data: Any = self._first_model if self._of_classes else self.two
        if self._of_classes:
            parts = [f"{len(data.names)} classes, {len(self):,} samples"]
        else:
            label = "" if data.pos_label in (1, True) else f" ({shown(data.pos_label)})"
            parts = [f"{data.totals[0]:,.12g} positive{label}, {data.totals[1]:,.12g} negative"]
            parts += [f"{data.n_models} models"] if data.n_models > 1 and not names else []
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            parts += [f"model{'s' * (len(names) > 1)} {', '.join(names[:_LISTED])}{more}"]
        parts += [] if given.higher_is_better is True else [f"higher_is_better={shown(given.higher_is_better)}"]
        parts += [] if data.weight is None else [f"{given.weight_kind or KINDS[0]} weights"]
        if data.group is not None:
            parts += [f"{data.n_groups:,} {'groups' if data.group.ndim == 1 else 'subjects of pairs'}"]
        parts += [] if given.by is None else [f"{len(names_of(given.by, len(self), 'by')[0]):,} subgroups"]
        parts += [f"{given.n_dropped:,} left out"] if given.n_dropped else []
        return f"Samples({'; '.join(parts)})"

    def __getstate__(self) -> tuple[Arguments, Sample | None]:
        two = self._two
        return self._given, None if two is None else two._replace(kept=None)

    def __setstate__(self, state: tuple[Arguments, Sample | None]) -> None:  # type: ignore[override]
        self._hold(state[0], None if state[1] is None else _own(state[1]))


def _named_matrices(y_score: Any) -> bool:
    """Whether a mapping names models of several classes, each with a column of scores for a class."""
    return isinstance(y_score, Mapping) and bool(y_score) and all(_n_axes(each) == 2 for each in y_score.values())


def _n_axes(values: Any) -> int:
    try:
        return len(values.shape) if hasattr(values, "shape") else np.ndim(values)
    except ValueError:  # rows of several lengths
        return 0


def _of_columns(given: Arguments) -> bool:
    """Whether there are more than two labels, and columns of scores."""
    try:
        columns = isinstance(given.y_score, Mapping) or _n_axes(given.y_score) == 2
        return columns and len(label_classes(unmasked(given.y_true, "y_true"), "y_true")) > 2
    except ValueError:
        return False


def _copied(values: Any, name: str, remedy: str) -> Any:
    """Return a copy that the caller does not have: of frames and series with their names, of all else an array."""
    if isinstance(values, Mapping):
        return {key: _copied(each, name, remedy) for key, each in values.items()}
    if values is None or hasattr(values, "iloc") or hasattr(values, "categories"):
        return None if values is None else values.copy()
    constant = type(values).__module__.startswith(("polars.", "pyarrow."))  # their frames and series do not change
    return values if constant else np.array(unmasked(values, name, remedy))


def _own(data: Sample) -> Sample:
    """Return samples with arrays of their own, which cannot be written."""
    y, score = np.array(data.positive), np.array(data.score, order="F")
    weight = None if data.weight is None else np.array(data.weight)
    group = None if data.group is None else np.array(data.group)
    for values in (y, score, weight, group):
        if values is not None:
            values.flags.writeable = False
    return data._replace(y=y, score=score, weight=weight, group=group, kept=Kept(y, score, weight))
