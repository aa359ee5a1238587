"""The task queue for Django that never loses track of a task."""

from .base import HorsiesTask, enqueue_many, task
from .conf import RecoveryConfig
from .context import HorsiesTaskContext
from .exceptions import Retry, TaskFailure
from .retries import RetryPolicy

__version__ = "0.1.0"

__all__ = [
    "HorsiesTask",
    "HorsiesTaskContext",
    "RecoveryConfig",
    "Retry",
    "RetryPolicy",
    "TaskFailure",
    "enqueue_many",
    "task",
]
