"""Report a fit, its parts and its steps to scikit-learn's callbacks (``sklearn.callback``, from 1.9 on)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rocmax._typing import F64, Bool
from rocmax.solvers import Model, Progress

try:
    if TYPE_CHECKING:
        from rocmax._typing import CallbackSupportMixin
    else:
        from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No support."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "StepReport", "Steps", "Task", "whole_fit"]

# The type of callback that users pass to `fit`.
StepReport = Callable[[Progress], None]


class Task:
    """A part of a fit whose begin and end are reported to callbacks, if there are any."""

    def __init__(self, estimator: Any, context: Any, data: dict[str, Any]) -> None:
        self._estimator, self._context, self._data = estimator, context, data
        if context is not None:
            context.call_on_fit_task_begin(estimator=estimator, **data)

    def subtask(
        self,
        name: str,
        *,
        n_subtasks: int | None = 0,
        parallel: bool = False,
        number: int | None = None,
        data: Callable[[], dict[str, Any]] | None = None,
    ) -> "Task":
        """Begin a part of this task, on the same data unless `data` is given; `parallel` parts are numbered."""
        if self._context is None:
            return self
        context = self._context.subcontext(
            task_name=name, task_id=number, max_subtasks=n_subtasks, sequential_subtasks=not parallel
        )
        return Task(self._estimator, context, self._data if data is None else data())

    def end(self, attributes: Callable[[], dict[str, Any]] | None = None) -> None:
        """End the task; `attributes` makes those of the current model, for callbacks that want one."""
        if self._context is not None:
            model = {} if attributes is None else {"reconstruction_attributes": attributes}
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data, **model)


class Steps:
    """A solver's callback that makes each step a part of a task and calls the user's own `report`."""

    def __init__(self, task: Task, attributes: Callable[[Model], dict[str, Any]], report: StepReport | None) -> None:
        self._task, self._attributes, self._report = task, attributes, report
        self._step = task.subtask("step")

    def __call__(self, progress: Progress, model: Model) -> None:
        """End a step with its model and begin the next."""
        if self._report is not None:
            self._report(progress)
        self._step.end(lambda: self._attributes(model))
        self._step = self._task.subtask("step")

    def close(self) -> None:
        """End the last step, which was begun but is not taken."""
        self._step.end()


@contextmanager
def whole_fit(
    estimator: Any, X: Any, positive: Bool, weight: F64 | None, *, n_subtasks: int | None = None
) -> Iterator[Task]:
    """Report the whole fit as a task; `n_subtasks` is None if not known."""
    if not getattr(estimator, "_skl_callbacks", None):
        yield Task(estimator, None, {})
        return
    try:
        context = estimator._init_callback_context(max_subtasks=n_subtasks)
        metadata = None if weight is None else {"sample_weight": weight}
        y = estimator.classes_[positive.astype(int)]
        task = Task(estimator, context, {"X": X, "y": y, "metadata": metadata})
        yield task
        task.end(dict)
    finally:
        with_callbacks(lambda _: None)(estimator)  # releases the context, as at the end of any method
