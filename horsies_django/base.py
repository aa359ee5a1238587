"""Task types: the `@task` decorator and what it makes of a function."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Literal,
    ParamSpec,
    Protocol,
    TypedDict,
    TypeVar,
    Unpack,
    overload,
)

from django.utils import timezone
from django.utils.module_loading import import_string

from .compat import (
    DEFAULT_TASK_BACKEND_ALIAS,
    DEFAULT_TASK_PRIORITY,
    DEFAULT_TASK_QUEUE_NAME,
    GenericTask,
    InvalidTask,
    Task,
)
from .problems import refuse_unknown
from .retries import RetryPolicy, Seconds

if TYPE_CHECKING:
    from typing import Never, Self

    from .context import HorsiesTaskContext
    from .results import HorsiesTaskResult

P = ParamSpec("P")
R = TypeVar("R")

DJANGO_DEFAULTS = {
    "priority": DEFAULT_TASK_PRIORITY,
    "backend": DEFAULT_TASK_BACKEND_ALIAS,
    "queue_name": DEFAULT_TASK_QUEUE_NAME,
}
UNSET: Final[Any] = object()
OPTIONS = ("retry", "timeout", "expires", "unique_key", "idempotent")
SHORTHANDS = ("max_attempts", "backoff")
DJANGO_OPTIONS = ("priority", "queue_name", "backend")


@dataclass(frozen=True, slots=True, kw_only=True)
class HorsiesTask(GenericTask[P, R]):
    """A task type with the options of horsies. Made by `@task`, varied by `using()`."""

    run_after: datetime | timedelta | None = None  # type: ignore[assignment]
    takes_context: bool = False
    retry: RetryPolicy | None = None
    timeout: Seconds | None = None
    expires: Seconds | datetime | None = None
    unique_key: str | None = None
    idempotent: bool = False

    def __post_init__(self) -> None:
        backend: Any = self.get_backend()
        # Our backend adds a timedelta to the database's clock when it enqueues; others know only moments.
        if isinstance(self.run_after, timedelta) and not getattr(backend, "supports_timedelta", False):
            object.__setattr__(self, "run_after", timezone.now() + self.run_after)
        try:
            backend.validate_task(self)
        except InvalidTask as error:
            if not getattr(backend, "supports_timedelta", False):
                error.add_note(
                    f"TASKS[{self.backend!r}] is {type(backend).__name__} and not horsies. Is that meant? "
                    "Otherwise set its BACKEND to 'horsies_django.backend.HorsiesBackend'."
                )
            raise

    def using(
        self,
        *,
        priority: int | None = None,
        queue_name: str | None = None,
        run_after: datetime | timedelta | None = None,
        backend: str | None = None,
        retry: RetryPolicy | None = UNSET,
        max_attempts: int | None = None,
        backoff: Seconds | Sequence[Seconds] | None = None,
        timeout: Seconds | None = UNSET,
        expires: Seconds | datetime | None = UNSET,
        unique_key: str | None = UNSET,
        idempotent: bool = UNSET,
        **unknown: Never,
    ) -> Self:
        """Return a task type that differs in what is given; None clears an option of horsies."""
        refuse_unknown(f"{self.name}.using()", unknown, (*OPTIONS, *SHORTHANDS, *DJANGO_OPTIONS, "run_after"))
        changes: dict[str, Any] = {
            "priority": priority,
            "queue_name": queue_name,
            "run_after": run_after,
            "backend": backend,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        options = {
            "retry": retry_option(retry, max_attempts, backoff),
            "timeout": timeout,
            "expires": expires,
            "unique_key": unique_key,
            "idempotent": idempotent,
        }
        changes |= {name: value for name, value in options.items() if value is not UNSET}
        return replace(self, **changes)

    def __reduce__(self) -> Any:
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "func"}
        return _unpickle, (self.module_path, options)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    if TYPE_CHECKING:

        def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> HorsiesTaskResult[P, R]: ...
        async def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> HorsiesTaskResult[P, R]: ...
        def get_result(self, result_id: str) -> HorsiesTaskResult[P, R]: ...
        async def aget_result(self, result_id: str) -> HorsiesTaskResult[P, R]: ...


def without_validation(task: Any = None, **values: Any) -> HorsiesTask[..., Any]:
    """Return a task type with these values, and the others of `task`, that no rule of today is applied to.

    A row that was written under other settings must stay readable under these. Also makes a HorsiesTask of
    Django's own Task.
    """
    task_class = type(task) if isinstance(task, HorsiesTask) else HorsiesTask
    made = object.__new__(task_class)
    for field in fields(task_class):
        default = DJANGO_DEFAULTS.get(field.name, field.default)
        object.__setattr__(made, field.name, values.get(field.name, getattr(task, field.name, default)))
    return made


def _unpickle(path: str, options: dict[str, Any]) -> HorsiesTask[..., Any]:
    # By name, because the function itself hides behind the task type of the same name.
    found = import_string(path)
    return without_validation(func=getattr(found, "func", found), **options)


def retry_option(retry: Any, max_attempts: int | None, backoff: Any) -> Any:
    """Return the retry policy that the options ask for, or UNSET where they ask for none."""
    if max_attempts is None and backoff is None:
        return retry
    if retry is not UNSET:
        raise TypeError("Give either retry= or its shorthand max_attempts= and backoff=, not both.")
    return RetryPolicy.from_shorthand(max_attempts, backoff)


class TaskOptions(TypedDict, total=False):
    """The options of `@task`, but for `takes_context`."""

    priority: int
    queue_name: str
    backend: str
    retry: RetryPolicy | None
    max_attempts: int | None
    backoff: Seconds | Sequence[Seconds] | None
    timeout: Seconds | None
    expires: Seconds | None
    unique_key: str | None
    idempotent: bool


class Decorator(Protocol):
    """Makes task types of functions and of coroutine functions."""

    @overload
    def __call__(self, function: Callable[P, Coroutine[Any, Any, R]], /) -> HorsiesTask[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> HorsiesTask[P, R]: ...


class ContextDecorator(Protocol):
    """Makes task types of functions whose first argument is a context."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[HorsiesTaskContext[..., Any], P], Coroutine[Any, Any, R]], /
    ) -> HorsiesTask[P, R]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[HorsiesTaskContext[..., Any], P], R], /) -> HorsiesTask[P, R]: ...


@overload
def task(function: Callable[P, Coroutine[Any, Any, R]]) -> HorsiesTask[P, R]: ...
@overload
def task(function: Callable[P, R]) -> HorsiesTask[P, R]: ...
@overload
def task(*, takes_context: Literal[True], **options: Unpack[TaskOptions]) -> ContextDecorator: ...
@overload
def task(*, takes_context: Literal[False] = False, **options: Unpack[TaskOptions]) -> Decorator: ...
def task(
    function: Callable[..., Any] | None = None,
    *,
    priority: int = DEFAULT_TASK_PRIORITY,
    queue_name: str = DEFAULT_TASK_QUEUE_NAME,
    backend: str = DEFAULT_TASK_BACKEND_ALIAS,
    takes_context: bool = False,
    retry: RetryPolicy | None = UNSET,
    max_attempts: int | None = None,
    backoff: Seconds | Sequence[Seconds] | None = None,
    **options: Any,
) -> Any:
    """Make a function a task type, to be called with `.enqueue()`."""
    if "run_after" in options:
        raise TypeError(
            "run_after cannot be defined statically with the @task decorator. "
            "Use .using(run_after=...) to set it dynamically."
        )
    refuse_unknown("@task", options, (*OPTIONS, *SHORTHANDS, *DJANGO_OPTIONS, "takes_context"))
    policy = retry_option(retry, max_attempts, backoff)

    def decorate(decorated: Callable[..., Any]) -> HorsiesTask[..., Any]:
        if isinstance(decorated, Task):
            raise TypeError(f"{decorated.module_path} is a task already. Decorate the function once.")
        if not callable(decorated):
            raise TypeError(f"@task expects a function, not {decorated!r}. Give options by name: @task(queue_name=…).")
        return HorsiesTask(
            func=decorated,
            priority=priority,
            queue_name=queue_name,
            backend=backend,
            run_after=None,
            takes_context=takes_context,
            retry=None if policy is UNSET else policy,
            **options,
        )

    return decorate if function is None else decorate(function)


Call = tuple[Sequence[Any], Mapping[str, Any]]


def enqueue_many(task: HorsiesTask[P, R], calls: Iterable[Call]) -> list[HorsiesTaskResult[P, R]]:
    """Enqueue one task for each `(args, kwargs)`, all or none of them, and return their results in order."""
    if not isinstance(task, Task):
        raise TypeError(f"enqueue_many() expects a task, not {task!r}. Decorate the function with @task.")
    backend: Any = task.get_backend()
    calls = [checked_call(call, index) for index, call in enumerate(calls)]
    if hasattr(backend, "enqueue_many"):
        results: list[HorsiesTaskResult[P, R]] = backend.enqueue_many(task, calls)
        return results
    return [backend.enqueue(task, args, kwargs) for args, kwargs in calls]


def checked_call(call: Any, index: int) -> Call:
    """Return the call if it has the form of one, or say what form that is."""
    match call:
        case (list() | tuple() as args, Mapping() as kwargs):
            return args, kwargs
    raise TypeError(
        f"enqueue_many(): call number {index} is {call!r}. Give each call as a pair of positional and "
        "keyword arguments, such as ((7,), {}) or ((), {'order_id': 7})."
    )
