"""The settings of horsies: frozen, validated once, all findings at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.db import DEFAULT_DB_ALIAS, connections
from django.dispatch import receiver

from .problems import Problem, describe, nearest_name, refuse_unknown
from .rules import Rule, Values, boolean, choice, find_problems, number, text_list, threshold, unknown_keys

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

RECOVERY_RULES: dict[str, Rule] = {
    "auto_requeue_stale_claimed": boolean(),
    "claimed_stale_threshold_ms": threshold(SECOND, HOUR, interval="claimer_heartbeat_interval_ms"),
    "auto_fail_stale_running": boolean(),
    "running_stale_threshold_ms": threshold(SECOND, 2 * HOUR, interval="runner_heartbeat_interval_ms"),
    "check_interval_ms": number(SECOND, 10 * MINUTE),
    "runner_heartbeat_interval_ms": number(SECOND, 2 * MINUTE),
    "claimer_heartbeat_interval_ms": number(SECOND, 2 * MINUTE),
    "worker_heartbeat_interval_ms": number(SECOND, 2 * MINUTE),
    "worker_stale_threshold_ms": threshold(2 * SECOND, 2 * HOUR, interval="worker_heartbeat_interval_ms"),
    "stale_running_action": choice("fail", "retry", "pending"),
    "max_recovery_attempts": number(0, 100),
    "integrity_check_on_startup": boolean(),
    "heartbeat_retention_hours": number(1, optional=True),
    "worker_state_retention_hours": number(1, optional=True),
    "terminal_record_retention_hours": number(1, optional=True),
    "prune_interval_ms": number(SECOND, 24 * HOUR),
}
WORKER_RULES: dict[str, Rule] = {
    "processes": number(1, 1_024, optional=True),
    "queues": text_list(),
    "poll_interval_ms": number(10, 10 * MINUTE),
    "shutdown_timeout_ms": number(0, 24 * HOUR),
    "max_tasks_per_child": number(0),
    "max_memory_mb": number(1, optional=True),
}
QUEUE_RULES: dict[str, Rule] = {"max_concurrency": number(1, optional=True)}
TOP_RULES: dict[str, Rule] = {"MAX_PAYLOAD_BYTES": number(1)}
TOP_DEFAULTS = {"MAX_PAYLOAD_BYTES": 1024 * 1024}
SECTIONS = ("RECOVERY", "WORKER", "QUEUES")


class KnownFieldsOnly:
    """A dataclass that answers an unknown keyword with the nearest known one."""

    __slots__ = ()

    def __new__(cls, *args: Any, **given: Any) -> Self:
        refuse_unknown(cls.__name__, given, (f.name for f in fields(cls)))  # type: ignore[arg-type]
        return object.__new__(cls)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryConfig(KnownFieldsOnly):
    """When a claim or a run counts as lost, and what is done about it."""

    auto_requeue_stale_claimed: bool = True
    claimed_stale_threshold_ms: int = 120_000
    auto_fail_stale_running: bool = True
    running_stale_threshold_ms: int = 300_000
    check_interval_ms: int = 30_000
    runner_heartbeat_interval_ms: int = 30_000
    claimer_heartbeat_interval_ms: int = 30_000
    worker_heartbeat_interval_ms: int = 10_000
    worker_stale_threshold_ms: int = 60_000
    stale_running_action: str = "fail"
    max_recovery_attempts: int = 3
    integrity_check_on_startup: bool = True
    heartbeat_retention_hours: int | None = 24
    worker_state_retention_hours: int | None = 168
    terminal_record_retention_hours: int | None = 720
    prune_interval_ms: int = 3_600_000

    def __post_init__(self) -> None:
        refuse_problems(self, RECOVERY_RULES)

    @property
    def worst_case_detection_ms(self) -> int:
        """How long a lost task may go unseen when nothing but its heartbeats tells of it."""
        slowest = max(self.claimed_stale_threshold_ms, self.running_stale_threshold_ms)
        return slowest + self.check_interval_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig(KnownFieldsOnly):
    """What a worker does where its command line does not say otherwise."""

    processes: int | None = None
    queues: tuple[str, ...] = ("*",)
    poll_interval_ms: int = 1_000
    shutdown_timeout_ms: int = 30_000
    max_tasks_per_child: int = 0
    max_memory_mb: int | None = None

    def __post_init__(self) -> None:
        refuse_problems(self, WORKER_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueConfig(KnownFieldsOnly):
    """What is particular about one queue."""

    max_concurrency: int | None = None

    def __post_init__(self) -> None:
        refuse_problems(self, QUEUE_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole HORSIES setting."""

    database: str = DEFAULT_DB_ALIAS
    max_payload_bytes: int = TOP_DEFAULTS["MAX_PAYLOAD_BYTES"]
    recovery: RecoveryConfig = field(default_factory=RecoveryConfig)
    worker: WorkerConfig = field(default_factory=WorkerConfig)
    queues: Mapping[str, QueueConfig] = field(default_factory=dict)


def refuse_problems(config: Any, rules: Mapping[str, Rule]) -> None:
    """Raise a ValueError that tells all that is wrong with a config."""
    values = {name: getattr(config, name) for name in rules}
    problems = list(find_problems(values, rules, defaults=_defaults(type(config))))
    if problems:
        raise ValueError(describe(f"This {type(config).__name__} cannot be used:", problems))


def find_setting_problems(value: Any) -> list[Problem]:
    """Return all that is wrong with a value for the HORSIES setting."""
    if not isinstance(value, Mapping):
        return [Problem("type", "HORSIES", value, "it must be a dict", {})]
    known = ("DATABASE", *TOP_RULES, *SECTIONS)
    problems = list(unknown_keys(value, known, "HORSIES"))
    problems += find_problems(_known(value, TOP_RULES), TOP_RULES, "HORSIES", defaults=TOP_DEFAULTS)
    problems += _alias_problems(value.get("DATABASE", DEFAULT_DB_ALIAS))
    problems += _section_problems(value.get("RECOVERY", {}), RecoveryConfig, RECOVERY_RULES, "RECOVERY")
    problems += _section_problems(value.get("WORKER", {}), WorkerConfig, WORKER_RULES, "WORKER")
    queues = value.get("QUEUES", {})
    if not isinstance(queues, Mapping):
        rule = "it must be a dict such as {'mail': {'max_concurrency': 5}}"
        return [*problems, Problem("type", "HORSIES['QUEUES']", queues, rule)]
    for name, queue in queues.items():
        problems += _section_problems(queue, QueueConfig, QUEUE_RULES, "QUEUES", name)
    return problems


def _alias_problems(alias: Any) -> Iterable[Problem]:
    if not isinstance(alias, str) or alias not in connections.settings:
        rule = f"there is no such alias in DATABASES, which has {', '.join(connections.settings)}"
        yield Problem("alias", "HORSIES['DATABASE']", alias, rule, nearest_name(alias, connections.settings))


def _section_problems(section: Any, config_class: type, rules: Mapping[str, Rule], *path: str) -> Iterable[Problem]:
    where = "HORSIES" + "".join(f"[{key!r}]" for key in path)
    if isinstance(section, config_class):
        return []
    if not isinstance(section, Mapping):
        rule = f"it must be a dict or a {config_class.__name__}"
        return [Problem("type", where, section, rule)]
    given, defaults = _known(section, rules), _defaults(config_class)
    return [
        *unknown_keys(section, rules, where),
        *find_problems(defaults | given, rules, where, only=given, defaults=defaults),
    ]


def _known(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> Values:
    return {key: value for key, value in values.items() if key in rules}


def _defaults(config_class: type) -> Values:
    return {f.name: f.default for f in fields(config_class)}


@cache
def get_config() -> Config:
    """Return the HORSIES setting as a Config; ImproperlyConfigured tells all that is wrong with it."""
    given = getattr(settings, "HORSIES", {})
    problems = find_setting_problems(given)
    if problems:
        raise ImproperlyConfigured(describe("The HORSIES setting cannot be used:", problems))
    simple = {key.lower(): given[key] for key in ("DATABASE", *TOP_RULES) if key in given}
    return Config(
        recovery=_section(given.get("RECOVERY", {}), RecoveryConfig),
        worker=_section(given.get("WORKER", {}), WorkerConfig),
        queues={name: _section(queue, QueueConfig) for name, queue in given.get("QUEUES", {}).items()},
        **simple,
    )


def _section(given: Any, config_class: type) -> Any:
    if isinstance(given, config_class):
        return given
    return config_class(**{key: tuple(v) if isinstance(v, list) else v for key, v in given.items()})


@receiver(setting_changed)
def forget_config(*, setting: str, **kwargs: Any) -> None:
    """Read HORSIES anew after a test has overridden it."""
    if setting == "HORSIES":
        get_config.cache_clear()
