"""Bad parameters and data of the least-squares rankers: an error that names them."""

import numpy as np
import pytest

from rocmax import AUCRLS, AUCRLSCV, RLSCV

RNG = np.random.default_rng(0)
Y = np.arange(23) % 3 % 2
X = RNG.normal(size=(23, 4)) + 0.7 * Y[:, None]


@pytest.mark.parametrize(
    "model, error",
    [
        (AUCRLS(-1.0), "alpha must be a finite number of at least 0, got -1.0"),
        (AUCRLS("1"), "alpha must be"),
        (AUCRLS(kernel="rbff"), "kernel must be one of"),
        (AUCRLS(kernel="rbf", gamma=-1.0), "gamma must be"),
        (AUCRLS(kernel="poly", degree="a"), "degree must be a finite number, got 'a'"),
        (AUCRLS(kernel="poly", degree=2.5), "kernel must return finite values, .* 'poly' with .*degree=2.5"),
        (AUCRLS(solver="svd"), "solver must be one of"),
        (AUCRLS(solver="cg", kernel="rbf"), "solver='cg' needs kernel='linear'"),
        (AUCRLS(kernel="precomputed"), "kernel=.precomputed. takes the square matrix"),
        (AUCRLS(threshold="half"), "threshold must be"),
        (AUCRLSCV(0), "alphas must be"),
        (AUCRLSCV([1.0, 0.0]), "alphas must be"),
        (AUCRLSCV([]), "alphas must be"),
        (AUCRLSCV(cv="leave-two-out"), "cv must be"),
        (AUCRLSCV(cv=1), "cv must be"),
        (AUCRLSCV(cv=[([0], [1])]), "cv must split"),
        (AUCRLSCV(cv=[([], range(23))]), "cv: fold 0 has no sample .*to train on"),
        (RLSCV(cv=[(range(23), [])]), "cv: fold 0 has no sample .*to score"),
        (RLSCV(cv=[([], range(23))]), "cv: fold 0 has no sample .*to train on"),
        (RLSCV(cv=20), "cv=20 folds need 20 samples of a class, got 8 positive and 15 negative ones"),
        (AUCRLSCV(confidence_level=1.5), "confidence_level must"),
        (AUCRLSCV(n_jobs=0), "n_jobs must be"),
    ],
)
def test_bad_parameters(model, error):
    with pytest.raises(ValueError, match=error):
        model.fit(X, Y)


def test_bad_data():
    with pytest.raises(ValueError, match="one class"):
        AUCRLS().fit(X, np.zeros(len(Y)))
    with pytest.raises(ValueError, match="column 1 of y holds one class only"):
        AUCRLS().fit(X, np.column_stack([Y, np.zeros_like(Y)]))
    with pytest.raises(ValueError, match="must hold 0 and 1 only"):
        AUCRLS().fit(X, np.column_stack([Y, Y + 1]))
    with pytest.raises(ValueError, match="one class only"):
        AUCRLS().fit(X, Y, sample_weight=Y)
    for weight in (1e-300, 1e300):
        with pytest.raises(ValueError, match="sample_weight must be of a size"):
            AUCRLS(kernel="rbf").fit(X, Y, sample_weight=np.full(len(Y), weight))
    with pytest.raises(ValueError, match="X has 1 masked values"):
        AUCRLS().fit(np.ma.array(X, mask=X[0, 0] == X), Y)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        AUCRLSCV(3, kernel="precomputed").fit(-X @ X.T, Y)
    few = np.zeros(len(Y), dtype=int)
    few[0] = 1
    with pytest.raises(ValueError, match="two samples of each class"):
        AUCRLSCV().fit(X, few)
    with pytest.raises(ValueError, match="a fold leaves only one class"):
        AUCRLSCV(cv="leave-one-out").fit(X, few)
    with pytest.raises(ValueError, match="distinct weights"):
        AUCRLSCV().fit(X, Y, sample_weight=np.linspace(1, 2, len(Y)))
    for pairs in ([[0, 1]], [[1, 99]], [1, 0], [[1.0, 0.0]]):
        with pytest.raises(ValueError, match="pairs must be"):
            AUCRLS().leave_pair_out(X, Y, pairs=pairs)


def test_a_kernel_matrix_in_single_precision_is_positive_semidefinite():
    single = (X @ X.T).astype(np.float32)
    for model in (AUCRLSCV(5, kernel="precomputed"), RLSCV(5, kernel="precomputed")):
        double = model.fit(X @ X.T, Y).leave_pair_out_auc_
        assert model.fit(single, Y).leave_pair_out_auc_ == pytest.approx(double, abs=0.02)


def test_a_kernel_matrix_that_cannot_fit_is_refused():
    n = 1 << 22
    with pytest.raises(MemoryError, match=r"the kernel matrix of 4194304 samples in float64 needs 140,737\.5 GB"):
        AUCRLS(kernel="rbf").fit(np.arange(n, dtype=float)[:, None], np.arange(n) % 2)
