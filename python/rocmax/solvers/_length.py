"""Searches of the objective along rays, and along that of a model's own length."""

from rocmax.risks import Evaluation
from rocmax.solvers._candidates import Candidates, Model
from rocmax.solvers._line_search import Point, minimise_on_ray
from rocmax.solvers._objective import Objective, Ray

# A model whose risk is at most this share of its objective separates nearly all pairs: its best length is sought.
_SEPARATED = 0.1


def lengthened(
    objective: Objective, model: Model, value: float, found: Evaluation, tol: float, candidates: Candidates
) -> tuple[Model, float, list[Evaluation], int] | None:
    """Search the ray that leads on from zero through a model which separates nearly all pairs.

    Returns a longer model that is better, its F, the cuts that enclose it and which of them touches the risk there.
    """
    if value - 0.5 * model.norm > _SEPARATED * value:
        return None
    ray = Ray(objective, model, 2.0 * model.vector, model.scores.copy())
    slope = ray.slope(0.0, float(found.coef @ model.scores))
    if slope >= 0:
        return None
    enclosing, lowest = search(ray, Point(0.0, value, slope), tol, candidates)
    if lowest.value >= value:
        return None
    return ray.model(lowest.step), lowest.value, found_at(enclosing), enclosing.index(lowest)


def search(ray: Ray, start: Point, tol: float, candidates: Candidates) -> tuple[list[Point], Point]:
    """Return the points that enclose the minimum on a ray and the lower one; all points seen become candidates."""

    def keep(point: Point) -> None:
        assert point.evaluation is not None
        candidates.offer(point.value, point.evaluation.partial_auc, lambda: ray.vector(point.step))

    enclosing = minimise_on_ray(ray.point, start, ray.curvature, tol=tol, visit=keep)
    return enclosing, min(enclosing, key=lambda point: point.value)


def found_at(points: list[Point]) -> list[Evaluation]:
    """Return what the oracle found at points that were evaluated: each is a cut R(s) >= offset + coef . s."""
    return [point.evaluation for point in points if point.evaluation is not None]
