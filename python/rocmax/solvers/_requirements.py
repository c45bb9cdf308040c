"""What a solver or a direction needs of the risk and of the design: declared as `needs`, checked before any work."""

from collections.abc import Callable, Iterable

from rocmax._runtime.settings import settings
from rocmax.risks import Oracle
from rocmax.solvers._objective import Objective

HINGES = "a risk that is a sum of hinges"
SECOND_DERIVATIVE = "a risk with a second derivative (`stiffness`)"
DIVISIBLE = "a design of which some samples cost only their share (`divisible`)"
SAMPLED = "at least 1,000 samples, and no fewer than features"

_MET: dict[str, Callable[[Objective], bool]] = {
    HINGES: lambda objective: objective.oracle.hinges is not None,
    SECOND_DERIVATIVE: lambda objective: type(objective.oracle).stiffness is not Oracle.stiffness,
    DIVISIBLE: lambda objective: objective.design.divisible,
    # With fewer samples than features the curvature of a sample says little.
    SAMPLED: lambda objective: objective.design.n_samples >= max(settings().newton_samples, objective.design.dim),
}


def missing(needs: Iterable[str], objective: Objective) -> list[str]:
    """Return the needs that an objective does not meet."""
    return [need for need in needs if not _MET[need](objective)]


def require(solver: str, needs: Iterable[str], objective: Objective) -> None:
    """Raise ValueError if an objective does not meet the needs of a solver."""
    lacks = missing(needs, objective)
    if lacks:
        kinds = f"{type(objective.oracle).__name__} over {type(objective.design).__name__}"
        raise ValueError(f"{solver} needs {' and '.join(lacks)}, got {kinds}; use minimise_convex")
