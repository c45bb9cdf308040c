"""The certificate of a fit: what proves its optimality gap to somebody who trusts neither the solver nor its author."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple, Self
from zipfile import BadZipFile

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rocmax import _core
from rocmax._checks.samples import rate_range
from rocmax._checks.training import check_sample_weight, check_training_data, check_two_classes
from rocmax._files import written
from rocmax._parameters import check_choice, check_nonnegative, check_positive, shown
from rocmax._typing import F64, AnyArray, Bool
from rocmax.designs import KERNELS, Kernel, is_dask, plain_coefficients
from rocmax.designs._blocks import row_blocks, slices
from rocmax.designs._spaces import kernel_design
from rocmax.estimators._base import Data
from rocmax.estimators._surrogates import PROVEN, SURROGATES, Arrangement, Convex, Pairs
from rocmax.solvers import Model, rounded, squares_of
from rocmax.solvers._least_squares import squares
from rocmax.solvers._objective import Bounded, relative_gap

# Values of a list that are digested at a time.
_BLOCK = 1 << 16


def of_data(X: Any, positive: Bool, weight: F64 | None) -> list[int]:
    """Return the digests of features, labels and weights: sums of their bits, times odd numbers, modulo 2^64.

    The odd numbers are those of Steele, Lea and Flood (2014). A changed value always changes the sum; equal values have
    equal digests in any storage, since zeros add nothing. It protects from mistakes, not from an adversary. That of a
    dask array is 0: it would be read once more.
    """
    weight = np.broadcast_to(1.0, len(positive)) if weight is None else weight
    return [0 if is_dask(X) else digest(X), digest(positive), digest(weight)]


def digest(values: Any) -> int:
    """Return the digest of a matrix or a list."""
    if values.ndim == 2:
        blocks, dim = row_blocks(values), values.shape[1]
    else:
        parts = slices(len(values), _BLOCK)
        blocks, dim = ((rows, values[rows].astype(np.float64)[None]) for rows in parts), 1
    return sum(_core.digest(block, dim, rows.start, values.ndim == 1) for rows, block in blocks) % (1 << 64)


# The rounding that a check of bound and objective allows, relative to the objective and to C times a margin of 1.
_ROUNDING, _OF_UNIT = 1e-9, 1e-13
_FORMAT = 3
# What reading a file raises that is no certificate.
_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, EOFError, BadZipFile, zlib.error)
SQUARES = "pairs", "samples"
_ARRAYS = "model", "tangent", "before", "share", "beyond", "inside", "columns", "digests"
_DOMAINS: dict[str, Callable[[str, Any], object]] = {
    "surrogate": partial(check_choice, choices=(*(name for name in PROVEN if SURROGATES[name].given), *SQUARES)),
    "kernel": partial(check_choice, choices=KERNELS),
    "kernel_dtype": partial(check_choice, choices=("float64", "float32")),
    **dict.fromkeys(("objective", "bound", "structure"), check_nonnegative),
    "C": check_positive,
}
_OF_PART = "surrogate", "fpr_range", "before"
_DIGESTED = "X", "y", "sample_weight", "the certificate"


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Bounded):
    """The proof that the objective of a fitted model is within ``gap`` of the minimum.

    ``model.certificate()`` returns it. Save it beside the model, and check it later, or elsewhere without rocmax, by
    :meth:`verify` or ``benches/check_certificate.py``.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rocmax import PartialAUCSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = PartialAUCSVC((0, 0.1), surrogate="hinge", C=10).fit(X, y)
    >>> bool(model.certificate().verify(X, y) <= model.tol_)
    True

    Attributes
    ----------
    objective, bound, gap : float
        F of the model, the proven lower bound of F, and (objective - bound) / objective.
    kind : {"whole objective", "last convex step"}
        What the bound is about. "ramp", and "hinge" on a range that starts above 0, are not convex: the certificate
        proves the last convex step, not the whole objective. ``bound`` is then that of a convex function which is
        nowhere below F; a model with a lower F may exist.
    surrogate : {"tight", "naive", "hinge", "ramp", "pairs", "samples"}
        The risk R. "tight" is the pairwise hinge if the range starts at 0. "pairs" and "samples" are the least squares
        of ``AUCRLS`` and ``RLS``, sums with ``C = 1 / (2 alpha)``: F is what they minimise, over 2 alpha.
    fpr_range : tuple of float
    C, structure : float
    kernel : str
    kernel_parameters : tuple of float
        gamma, degree and coef0.
    kernel_dtype : str
    model : ndarray
        Weights of the features, or of the training samples for a kernel other than "linear".
    tangent : ndarray of shape (n_samples,)
        Scores at which a tangent replaces the quadratic part: Q, ``structure / 2`` times the variances of the scores in
        both classes, or least squares. Any scores give a bound.
    before : ndarray of shape (n_samples,)
        Scores before the last convex step, where its function touches F.
    share, beyond, inside : ndarray of shape (n_positive,)
        Of each positive: the share of arrangements that reach beyond the first rank of the range, the mean number of
        negatives that they take, and the mean number that the others take (weights in place of numbers).
    columns : ndarray of shape (n_negative,)
        The mean number of positives that take each negative.
    digests : ndarray of shape (4,)
        Digests of X, the labels, the weights and the fields above.

    Notes
    -----
    The model minimises ``F(f) = 1/2 |f|^2 + Q(s) + C R(s)``, s the scores of f on the training samples. The proof is a
    linear function of s below Q + C R: the minimum of F with that function in place of Q + C R is the ``bound``,
    whatever the solver did.

    The guide has the function and its proof under "Certificates" of the mathematics: p, A, B and q there are `share`,
    `beyond`, `inside` and `columns`. ``benches/check_certificate.py`` checks them in some 80 lines of NumPy. A convex
    step leaves out the negatives above the range that are highest by `before`, and replaces the part of the ramp beyond
    0, ``(-u)_+`` of a pair with difference u, by its tangent there.

    A certificate holds O(n_samples) numbers; ``verify`` takes a product of X with each of two vectors and O(N log N).
    Beside X and the kernel matrix it takes 0.7 kB a sample, and so does ``model.certificate()`` (measured with 400,000
    x 50, and 200,000 x 20,000 sparse).
    """

    objective: float
    bound: float
    surrogate: str
    fpr_range: tuple[float, float]
    C: float
    kernel: str
    kernel_parameters: tuple[float, float, float]
    kernel_dtype: str
    structure: float
    model: F64
    tangent: F64
    before: F64
    share: F64
    beyond: F64
    inside: F64
    columns: F64
    digests: AnyArray

    def __repr__(self) -> str:
        low, high = self.fpr_range
        return (
            f"Certificate(kind={self.kind!r}, gap={self.gap:.3g}, bound={self.bound:.6g}, objective="
            f"{self.objective:.6g}, surrogate={self.surrogate!r}, fpr_range=({low:g}, {high:g}), C={self.C:g})"
        )

    @property
    def kind(self) -> str:
        """What the bound is about: "whole objective" or "last convex step"."""
        known = SURROGATES.get(self.surrogate)
        return "whole objective" if known is None or known.convex else "last convex step"

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
            objective do not follow from them. Every field is checked against its domain before anything is computed.

        Notes
        -----
        What is not checked: that a kernel matrix is positive semidefinite, without which nothing is proven ("rbf" is;
        "precomputed", "sigmoid" and "poly" may not be), and that X is what it claims to be. Digests protect from
        mistakes, not from an adversary. With ``kernel_dtype="float32"`` F is that of the rounded matrix.
        """
        X, labels = check_training_data(BaseEstimator(), X, y)
        weight = check_sample_weight(sample_weight, X)
        data = Data(X, check_two_classes(labels, weight)[1], weight)
        self._check_fields(data)
        digests = [*of_data(*data), self._digest]
        for name, held, found in zip(_DIGESTED, self.digests.tolist(), digests, strict=True):
            if held != found:
                raise ValueError(f"{name} has changed since the fit")
        part = Convex.of(_core.Problem(data.positive, weight), self.surrogate, self.fpr_range, self.before)
        if fault := part.pairs.fault(self._arrangement):
            raise ValueError(f"the certificate proves nothing: {fault}")
        with np.errstate(over="ignore", invalid="ignore"):
            (objective, *others), (bound, _) = self._numbers(part, data)
            rounding = max(abs(other - objective) for other in others)
        allowed = _ROUNDING * objective + _OF_UNIT * self.C + 2.0 * rounding
        if not (np.isfinite(allowed) and self.bound <= bound + allowed):
            raise ValueError(f"the bound {self.bound:.17g} does not follow from the data, only {bound:.17g}")
        if not abs(self.objective - objective) <= allowed:
            raise ValueError(f"the objective {self.objective:.17g} is that of another model; it is {objective:.17g}")
        return relative_gap(max(self.objective, objective), min(self.bound, bound))

    def _check_fields(self, data: Data) -> None:
        """Raise ValueError unless every field lies in its domain."""
        for name, check in _DOMAINS.items():
            value = getattr(self, name)
            check(name, value if isinstance(value, str | float) else None)
        whole = (*rate_range(self.fpr_range, "fpr_range"), self.structure)
        if self.surrogate in SQUARES and whole != (0.0, 1.0, 0.0):
            raise ValueError(f"least squares have fpr_range (0, 1) and structure 0, got {whole[:2]} and {whole[2]}")
        parameters = self.kernel_parameters
        known = isinstance(parameters, tuple) and len(parameters) == 3
        if not known or Kernel.resolve(self.kernel, *parameters, data.X) != Kernel(self.kernel, None, *parameters):
            raise ValueError(f"kernel_parameters are not those of the kernel {self.kernel!r}, got {shown(parameters)}")
        of_classes = [int((side & data.counted).sum()) for side in (data.positive, ~data.positive)]
        n, dim = data.X.shape
        sizes = (dim if self.kernel == "linear" else n, n, n, *3 * of_classes[:1], of_classes[1], 4)
        for name, size in zip(_ARRAYS, sizes, strict=True):
            values, dtype = getattr(self, name), np.uint64 if name == "digests" else np.float64
            right = isinstance(values, np.ndarray) and (values.dtype, values.shape) == (dtype, (size,))
            if not (right and np.isfinite(values).all()):
                raise ValueError(f"{name} must be an array of {size} finite numbers, got {shown(values)}")

    def save(self, path: Any) -> None:
        """Write the certificate as a npz file of plain arrays.

        Parameters
        ----------
        path : str or path-like
            Where to write.
        """
        with written(path) as file:
            np.savez_compressed(file, allow_pickle=False, **self._held)

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
        except _DAMAGED as error:
            raise ValueError(f"path holds no certificate: {error}") from error

    @property
    def _held(self) -> dict[str, AnyArray]:
        """The arrays of the file."""
        held = {part.name: np.asarray(getattr(self, part.name)) for part in fields(self)}
        return {"format": np.asarray(_FORMAT), **held}

    @property
    def _digest(self) -> int:
        """The digest of the bytes of all arrays but the digests."""
        held = self._held
        del held["digests"]
        return digest(np.frombuffer(b"".join(held[name].tobytes() for name in sorted(held)), np.uint8))

    @property
    def _arrangement(self) -> Arrangement:
        return Arrangement(self.share, self.beyond, self.inside, self.columns)

    def _numbers(self, part: "Convex", data: Data) -> list[tuple[float, ...]]:
        """Return the objective and the bound by the samples, each also as poor as rounding lets it be."""
        kernel = Kernel(self.kernel, None, *self.kernel_parameters)
        design = kernel_design(kernel, *data, 0.0, np.dtype(self.kernel_dtype).type)
        design = design.accurate(shifted=self.surrogate != "samples")
        model = Model.of(self.model if self.kernel == "linear" else design.adjoint(self.model[None])[0], design)
        objectives = tuple(
            0.5 * norm + self._quadratic(data, scores)[0] + self.C * part.value(scores)
            for _, scores, norm in (model, rounded(model, design, data.positive))
        )
        # A risk may be a difference of sums of scores.
        objectives += (objectives[0] + self.C * design.eps * float(np.ptp(model.scores)),)
        # The minimum of F with the linear function in place of all but 1/2 |f|^2.
        value, coef = self._quadratic(data, self.tangent)
        of_cut, coef_of_cut, terms = part.cut(self._arrangement)
        offset = value - float(coef @ self.tangent) + self.C * of_cut
        terms = self.C * terms + float(np.abs(coef).sum())
        lengths = squares_of(coef + self.C * coef_of_cut, terms, design)
        return [objectives, tuple(max(offset - 0.5 * length, 0.0) for length in lengths)]

    def _quadratic(self, data: Data, scores: F64) -> tuple[float, F64]:
        """Return the quadratic part of F at scores, and its gradient."""
        positive, weight = data.positive, data.weight
        if self.surrogate in SQUARES:
            weight = np.ones(len(positive)) if weight is None else weight
            return squares(positive, weight, scores, self.C, pairwise=self.surrogate == "pairs")
        pull = -plain_coefficients(np.zeros(len(scores)), scores, positive, self.structure, weight)
        return 0.5 * float(scores @ pull), pull


class Proof(NamedTuple):
    """What a fit keeps for its certificate: the average of its cuts, digests of the data, the model and its numbers."""

    pairs: Pairs
    found: Arrangement
    digests: list[int]
    known: dict[str, Any]

    @classmethod
    def of(cls, cuts: list[tuple[float, Any]], data: Data, kernel: Kernel, **known: Any) -> Self:
        """Return the proof by cuts, given the share and the coefficients of each; O(N) for each cut."""
        none, parameters = np.broadcast_to(0.0, len(data.positive)), (kernel.gamma, kernel.degree, kernel.coef0)
        plain: dict[str, Any] = {"tangent": none, "before": none, "kernel_dtype": "float64", "structure": 0.0}
        plain |= {"kernel": kernel.name, "kernel_parameters": parameters}
        known = plain | {name: held for name, held in known.items() if held is not None}
        problem = _core.Problem(data.positive, data.weight)
        part = Convex.of(problem, *(known[name] for name in _OF_PART))
        return cls(part.pairs, part.pairs.average(cuts, part.classes), of_data(*data), known)

    def by_samples(self, data: Data) -> Self:
        """Return the proof with the objective and the bound that `Certificate.verify` finds."""
        part = Convex.of(_core.Problem(data.positive, data.weight), *(self.known[name] for name in _OF_PART))
        objectives, (_, bound) = self.certificate()._numbers(part, data)
        return self._replace(
            known={**self.known, "objective": max(objectives), "bound": min(self.known["bound"], bound)}
        )

    def certificate(self) -> Certificate:
        """Return the certificate, with the cuts scaled down if rounding requires it."""
        found = self.pairs.proven(self.found)._asdict()
        certificate = Certificate(**self.known, **found, digests=np.zeros(4, dtype=np.uint64))
        digests = np.array([*self.digests, certificate._digest], dtype=np.uint64)
        return replace(certificate, digests=digests)


class CertificateMixin:
    """What gives a certificate."""

    def certificate(self) -> Certificate:
        """Return the proof of the gap, which anyone can check with the training samples.

        For the convex surrogates "tight", "naive" and "hinge" on a range that starts at 0, and for least squares, it
        proves the whole objective; for "ramp", and "hinge" on other ranges, the last convex step. Least squares make
        the proof here, from the X of the fit, which they keep in memory until then.

        Returns
        -------
        Certificate
            The proof, O(n_samples) numbers. Sums are exact, O(N log N).

        Raises
        ------
        ValueError
            If there is no such proof: listed pairs, landmarks, a kernel that is a function, several labels, alpha=0,
            features of least squares that changed since the fit, or a model that was copied or loaded, which has
            lost the proof.
        """
        check_is_fitted(self)
        proof = getattr(self, "_proof", "a copied or loaded model has lost its proof; save the certificate itself")
        if callable(proof):
            proof = self._proof = proof()
        if isinstance(proof, str):
            raise ValueError(f"this model has no certificate: {proof}")
        found: Certificate = proof.certificate()
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_proof"}
