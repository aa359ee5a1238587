from .heartbeats import Heartbeat
from .recovery import RecoveredTask, RecoveryReport
from .tasks import Task, TaskAttempt
from .workers import Worker, WorkerState

__all__ = [
    "Heartbeat",
    "RecoveredTask",
    "RecoveryReport",
    "Task",
    "TaskAttempt",
    "Worker",
    "WorkerState",
]
