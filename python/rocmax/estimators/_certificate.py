"""The certificate of a fit: what proves its optimality gap to somebody who trusts neither the solver nor its author."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Self
from zipfile import BadZipFile

import numpy as np
from sklearn.base import BaseEstimator

from rocmax import _core
from rocmax._checks.training import check_sample_weight, check_training_data, check_two_classes
from rocmax._files import written
from rocmax._runtime.threads import n_threads
from rocmax._typing import F64, AnyArray
from rocmax.designs import Design, Kernel, inner
from rocmax.estimators._base import Data
from rocmax.estimators._digests import of_features, of_values
from rocmax.estimators._kernel_base import kernel_design
from rocmax.risks import Naive, Oracle, Risk, Tight
from rocmax.solvers import Model
from rocmax.solvers._proof import Arrangement, Pairs
from rocmax.solvers._result import relative_gap

_RISKS: dict[str, Callable[[tuple[float, float]], Risk]] = {"tight": Tight, "naive": Naive}
# The factors by which the cuts are scaled down, until rounding no longer hides that their sums are those of shares of
# pairs. The bound falls by about as much.
_SLACKS = (0.0, *(10.0**-k for k in range(15, 5, -1)))
# The rounding that a check of bound and objective allows, relative to the objective and to C times a margin of 1.
# With numbers in single precision it is this many times as large.
_ROUNDING, _OF_UNIT, _OF_SINGLE = 1e-9, 1e-13, 1e4
_FORMAT = 1
_DIGESTED = {
    "X": "differs from the features of the fit",
    "y": "differs from the labels of the fit",
    "sample_weight": "differs from the weights of the fit",
    "certificate": "was changed since it was made",
}


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The proof that the objective of a fitted machine is within ``gap`` of the minimum.

    The machine minimises ``F(f) = 1/2 |f|^2 + C R(f)`` on the training samples. The proof is an arrangement of pairs,
    of which a certificate holds the row and column sums: they give a linear function below R, whatever the solver did,
    and the minimum of F with that function in place of R is the ``bound``. ``model.certificate()`` returns it.

    Attributes
    ----------
    objective, bound, gap : float
        F of the model, the proven lower bound of F, and (objective - bound) / objective.
    surrogate : {"tight", "naive"}
        The risk R. "tight" is the pairwise hinge if the range starts at 0.
    fpr_range : tuple of float
    C, margin, structure : float
    kernel : str
    kernel_parameters : tuple of float
        gamma, degree and coef0.
    kernel_dtype : str
    model : ndarray
        Weights of the features, or of the training samples for a kernel other than "linear".
    share, beyond, inside : ndarray of shape (n_positive,)
        Of each positive: the share of arrangements that reach beyond the first rank of the range, the mean number of
        negatives that they take, and the mean number that the others take (weights in place of numbers).
    columns : ndarray of shape (n_negative,)
        The mean number of positives that take each negative.
    digests : ndarray of shape (4,)
        Of X, of the labels, of the weights and of the arrays above.

    Notes
    -----
    With w_i and v_j the weights, [J_a, J_b] the ranks of the range and M = sum_i w_i (J_b - J_a), R is at least
    ``1/M [sum_i w_i (beyond_i - J_a share_i) - sum_i w_i (beyond_i + inside_i) s_i + sum_j v_j columns_j t_j]`` for all
    scores, if shares of pairs with these sums exist. They do exactly if, in descending order of `columns`, the first k
    negatives hold at most ``sum_i w_i min(beyond_i, share_i V_k) + w_i min(inside_i, (1 - share_i) V_k)`` for every k,
    V_k the weight of these negatives. ``benches/check_certificate.py`` checks that in 80 lines of NumPy.

    A certificate holds O(n_samples) numbers; ``verify`` takes a product of X with each of two vectors and O(N log N).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rocmax import PartialAUCSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = PartialAUCSVC((0, 0.1), surrogate="hinge", C=10).fit(X, y)
    >>> bool(model.certificate().verify(X, y) <= model.tol)
    True
    """

    objective: float
    bound: float
    surrogate: str
    fpr_range: tuple[float, float]
    C: float
    margin: float
    kernel: str
    kernel_parameters: tuple[float, float, float]
    kernel_dtype: str
    structure: float
    model: F64
    share: F64
    beyond: F64
    inside: F64
    columns: F64
    digests: AnyArray

    def __repr__(self) -> str:
        low, high = self.fpr_range
        return (
            f"Certificate(gap={self.gap:.3g}, bound={self.bound:.6g}, objective={self.objective:.6g}, "
            f"surrogate={self.surrogate!r}, fpr_range=({low:g}, {high:g}), C={self.C:g})"
        )

    @property
    def gap(self) -> float:
        """(objective - bound) / objective, 0 if the objective is 0."""
        return relative_gap(self.objective, self.bound)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Check the proof on the training samples and return the gap that it proves.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The training samples; their kernel matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float
            (F(model) - bound) / F(model), both computed anew.

        Raises
        ------
        ValueError
            If the data are not those of the fit, no shares of pairs have the sums of the certificate, or bound or
            objective do not follow from them.
        """
        X, labels = check_training_data(BaseEstimator(), X, y)
        weight = check_sample_weight(sample_weight, X)
        data = Data(X, check_two_classes(labels, weight)[1], weight)
        digests = [*_digests(data), self._digest]
        for (name, changed), held, found in zip(_DIGESTED.items(), self.digests.tolist(), digests, strict=True):
            if held != found:
                raise ValueError(f"{name} {changed}")
        problem = _core.Problem(data.positive, weight)
        pairs = Pairs.of(problem, self.fpr_range, naive=self.surrogate == "naive")
        if fault := pairs.fault(self._arrangement):
            raise ValueError(f"the certificate proves nothing: {fault}")
        design = self._design(data)
        bound = self._bound(pairs, design, data)
        model = Model.of(self.model if self.kernel == "linear" else design.adjoint(self.model[None])[0], design)
        oracle = _RISKS[self.surrogate](self.fpr_range).bind(problem, n_threads(None))
        assert isinstance(oracle, Oracle)
        risk = self.margin * oracle(model.scores / self.margin).value
        objective = 0.5 * model.norm + self.C * risk
        single = np.float32 in (X.dtype, np.dtype(self.kernel_dtype))
        allowed = (_OF_SINGLE if single else 1.0) * (_ROUNDING * objective + _OF_UNIT * self.C)
        if not self.bound <= bound + allowed:
            raise ValueError(f"the bound {self.bound:.17g} does not follow from the data, only {bound:.17g}")
        if not abs(self.objective - objective) <= allowed:
            raise ValueError(f"the objective {self.objective:.17g} is that of another model; it is {objective:.17g}")
        return relative_gap(objective, min(self.bound, bound))

    def save(self, path: Any) -> None:
        """Write the certificate as a npz file of plain arrays.

        Parameters
        ----------
        path : str, path-like or binary file
            Where to write.
        """
        held = {part.name: np.asarray(getattr(self, part.name)) for part in fields(self)}
        with written(path) as file:
            np.savez_compressed(file, allow_pickle=False, format=np.asarray(_FORMAT), **held)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read a certificate that was written by ``save``.

        Parameters
        ----------
        path : str, path-like or binary file
            What to read.

        Returns
        -------
        Certificate
            The certificate.

        Raises
        ------
        ValueError
            If the file is not a certificate.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                held = dict(file)
            if int(held.pop("format")) != _FORMAT:
                raise ValueError("its format is another one")
            plain = {name: values.item() if values.ndim == 0 else values for name, values in held.items()}
            for name in ("fpr_range", "kernel_parameters"):
                plain[name] = tuple(plain[name].tolist())
            return cls(**plain)
        except (ValueError, TypeError, KeyError, AttributeError, EOFError, BadZipFile) as error:
            raise ValueError(f"path holds no certificate: {error}") from error

    @property
    def _digest(self) -> int:
        """The digest of all numbers but the digests."""
        numbers = [self.objective, self.bound, self.C, self.margin, self.structure]
        held: list[Any] = [numbers, self.fpr_range, self.kernel_parameters, self.model, *self._arrangement]
        return of_values(np.concatenate(held))

    @property
    def _arrangement(self) -> Arrangement:
        return Arrangement(self.share, self.beyond, self.inside, self.columns)

    def _design(self, data: Data) -> Design:
        """Return the features of the machine."""
        kernel = Kernel(self.kernel, None, *self.kernel_parameters)
        return kernel_design(kernel, data, self.structure, np.dtype(self.kernel_dtype).type)

    def _bound(self, pairs: Pairs, design: Design, data: Data) -> float:
        """Return the minimum of F with the function below R that the arrangement gives in place of R."""
        coef = np.zeros(design.n_samples)
        of_positives, of_negatives = pairs.coefs(self._arrangement)
        coef[data.positive & data.counted], coef[~data.positive & data.counted] = of_positives, of_negatives
        vector = design.adjoint(coef[None])[0]
        norm = self.C * self.C * inner(design, vector, vector)
        return max(self.C * self.margin * pairs.offset(self._arrangement) - 0.5 * norm, 0.0)


class Proof(NamedTuple):
    """What a fit keeps for its certificate: the average of its cuts, digests of the data, the model and its numbers."""

    pairs: Pairs
    found: Arrangement
    digests: list[int]
    known: dict[str, Any]

    @classmethod
    def of(cls, cuts: list[tuple[float, F64]], data: Data, **known: Any) -> Self:
        """Return the proof by cuts, given the share and the coefficients of each. O(N) for each cut."""
        problem = _core.Problem(data.positive, data.weight)
        pairs = Pairs.of(problem, known["fpr_range"], naive=known["surrogate"] == "naive")
        order = np.concatenate([np.flatnonzero(data.counted & side) for side in (data.positive, ~data.positive)])
        found = pairs.average([share for share, _ in cuts], (coef[order] for _, coef in cuts))
        return cls(pairs, found, _digests(data), known)

    def certificate(self) -> Certificate:
        """Return the certificate, with the cuts scaled down if rounding requires it."""
        for slack in _SLACKS:
            found = self.found.scaled(1.0 - slack)
            if not (fault := self.pairs.fault(found)):
                break
        else:
            raise RuntimeError(f"internal error: the cuts of this fit prove nothing: {fault}. This is a bug in rocmax")
        certificate = Certificate(**self.known, **found._asdict(), digests=np.zeros(4, dtype=np.uint64))
        digests = np.array([*self.digests, certificate._digest], dtype=np.uint64)
        return replace(certificate, digests=digests)


def _digests(data: Data) -> list[int]:
    """Return the digests of features, labels and weights."""
    weight = np.ones(len(data.positive)) if data.weight is None else data.weight
    return [of_features(data.X), of_values(data.positive), of_values(weight)]
