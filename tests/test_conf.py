"""The settings: frozen, validated once, all findings at once."""

from __future__ import annotations

import dataclasses

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from horsies_django import RecoveryConfig
from horsies_django.conf import Config, QueueConfig, WorkerConfig, get_config

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000

DEFAULTS = {
    "auto_requeue_stale_claimed": True,
    "claimed_stale_threshold_ms": 120_000,
    "auto_fail_stale_running": True,
    "running_stale_threshold_ms": 300_000,
    "check_interval_ms": 30_000,
    "runner_heartbeat_interval_ms": 30_000,
    "claimer_heartbeat_interval_ms": 30_000,
    "worker_heartbeat_interval_ms": 10_000,
    "worker_stale_threshold_ms": 60_000,
    "stale_running_action": "fail",
    "max_recovery_attempts": 3,
    "integrity_check_on_startup": True,
    "heartbeat_retention_hours": 24,
    "worker_state_retention_hours": 168,
    "terminal_record_retention_hours": 720,
    "prune_interval_ms": 3_600_000,
}

BOUNDS = {
    "claimed_stale_threshold_ms": (SECOND, HOUR),
    "running_stale_threshold_ms": (SECOND, 2 * HOUR),
    "check_interval_ms": (SECOND, 10 * MINUTE),
    "runner_heartbeat_interval_ms": (SECOND, 2 * MINUTE),
    "claimer_heartbeat_interval_ms": (SECOND, 2 * MINUTE),
    "worker_heartbeat_interval_ms": (SECOND, 2 * MINUTE),
    "worker_stale_threshold_ms": (2 * SECOND, 2 * HOUR),
    "max_recovery_attempts": (0, 100),
    "heartbeat_retention_hours": (1, None),
    "worker_state_retention_hours": (1, None),
    "terminal_record_retention_hours": (1, None),
    "prune_interval_ms": (SECOND, 24 * HOUR),
}
THRESHOLDS = {
    "claimed_stale_threshold_ms": "claimer_heartbeat_interval_ms",
    "running_stale_threshold_ms": "runner_heartbeat_interval_ms",
    "worker_stale_threshold_ms": "worker_heartbeat_interval_ms",
}
# So short, and so long, that no threshold is in the way of the field under test.
LOW = dict.fromkeys(THRESHOLDS.values(), SECOND)
HIGH = dict.fromkeys(THRESHOLDS, HOUR)


def test_the_defaults_are_those_of_the_contract():
    assert dataclasses.asdict(RecoveryConfig()) == DEFAULTS


def test_a_config_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RecoveryConfig().check_interval_ms = 5


@pytest.mark.parametrize(("field", "bounds"), BOUNDS.items())
def test_bounds_are_inclusive_and_the_nearest_valid_value_is_named(field, bounds):
    low, high = bounds
    others = {key: value for key, value in (LOW | HIGH).items() if key != field}
    if field in THRESHOLDS:
        low = max(low, 2 * SECOND)  # twice the shortest interval
    for value in (low, high) if high is not None else (low,):
        assert getattr(RecoveryConfig(**(others | {field: value})), field) == value
    outside = [(bounds[0] - 1, bounds[0])] + ([(high + 1, high)] if high is not None else [])
    for value, nearest in outside:
        with pytest.raises(ValueError, match=rf"{field} = {value}: .*Nearest valid value: {nearest}\.") as error:
            RecoveryConfig(**(others | {field: value}))
        assert "whole number" in str(error.value)


@pytest.mark.parametrize(("threshold", "interval"), THRESHOLDS.items())
def test_a_threshold_is_at_least_twice_its_interval(threshold, interval):
    RecoveryConfig(**{interval: 45_000, threshold: 90_000})
    with pytest.raises(ValueError, match=rf"{threshold} = 89999: .*twice {interval} \(45,000\).*value: 90000\."):
        RecoveryConfig(**{interval: 45_000, threshold: 89_999})


def test_the_seeds_example_of_a_tight_threshold_is_refused():
    with pytest.raises(ValueError, match="running_stale_threshold_ms = 30000"):
        RecoveryConfig(runner_heartbeat_interval_ms=30_000, running_stale_threshold_ms=30_000)


@pytest.mark.parametrize("value", ["30000", 30_000.5, None, True, [1]])
def test_a_number_is_a_whole_number(value):
    with pytest.raises(ValueError, match="check_interval_ms = .*whole number"):
        RecoveryConfig(check_interval_ms=value)


def test_a_text_with_a_number_in_it_is_answered_with_the_number():
    with pytest.raises(ValueError, match="Nearest valid value: 45000"):
        RecoveryConfig(check_interval_ms="45000")


@pytest.mark.parametrize("field", ["heartbeat_retention_hours", "worker_state_retention_hours"])
def test_none_keeps_for_ever(field):
    assert getattr(RecoveryConfig(**{field: None}), field) is None


def test_an_action_is_one_of_three():
    for action in ("fail", "retry", "pending"):
        assert RecoveryConfig(stale_running_action=action).stale_running_action == action
    with pytest.raises(ValueError, match=r"stale_running_action = 'retyr'.*Nearest valid value: 'retry'"):
        RecoveryConfig(stale_running_action="retyr")


def test_a_switch_is_true_or_false():
    with pytest.raises(ValueError, match="auto_fail_stale_running = 'no': it must be True or False"):
        RecoveryConfig(auto_fail_stale_running="no")


def test_all_findings_come_at_once():
    with pytest.raises(ValueError, match="cannot be used") as error:
        RecoveryConfig(check_interval_ms=1, max_recovery_attempts=101, stale_running_action="explode")
    assert len(str(error.value).splitlines()) == 4


@pytest.mark.parametrize("config_class", [RecoveryConfig, WorkerConfig, QueueConfig])
def test_an_unknown_field_is_answered_with_the_nearest(config_class):
    name = dataclasses.fields(config_class)[0].name
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match=f"has no '{name}s'. Did you mean '{name}'?"):
            config_class(**{f"{name}s": 1})


def test_the_worst_case_of_detection_is_the_slowest_threshold_and_a_check():
    assert RecoveryConfig().worst_case_detection_ms == 330_000
    assert RecoveryConfig(claimed_stale_threshold_ms=HOUR).worst_case_detection_ms == HOUR + 30_000


@override_settings()
def test_no_setting_at_all_gives_the_defaults():
    from django.conf import settings

    del settings.HORSIES
    get_config.cache_clear()
    assert get_config() == Config()


def test_the_setting_is_read_whole():
    setting = {
        "DATABASE": "default",
        "MAX_PAYLOAD_BYTES": 5,
        "RECOVERY": {"check_interval_ms": 5_000},
        "WORKER": {"processes": 3, "queues": ["a", "b"]},
        "QUEUES": {"mail": {"max_concurrency": 5}},
    }
    with override_settings(HORSIES=setting):
        config = get_config()
    assert config.recovery == RecoveryConfig(check_interval_ms=5_000)
    assert config.worker == WorkerConfig(processes=3, queues=("a", "b"))
    assert config.queues == {"mail": QueueConfig(max_concurrency=5)}
    assert (config.database, config.max_payload_bytes) == ("default", 5)


def test_recovery_may_be_given_as_a_config():
    recovery = RecoveryConfig(check_interval_ms=5_000)
    with override_settings(HORSIES={"RECOVERY": recovery}):
        assert get_config().recovery is recovery


def test_override_settings_is_seen_and_undone():
    before = get_config()
    with override_settings(HORSIES={"RECOVERY": {"max_recovery_attempts": 9}}):
        assert get_config().recovery.max_recovery_attempts == 9
        assert get_config() is get_config()
    assert get_config() == before


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ([], r"HORSIES = \[\]: it must be a dict"),
        ({"RECOVRY": {}}, r"HORSIES\['RECOVRY'\].*Did you mean 'RECOVERY'\?"),
        ({"max_payload_bytes": 1}, r"Did you mean 'MAX_PAYLOAD_BYTES'\?"),
        ({"ZZZ": 1}, "no such key in HORSIES, which knows DATABASE, MAX_PAYLOAD_BYTES, RECOVERY, WORKER, QUEUES"),
        ({"RECOVERY": {"check_intervall_ms": 1}}, "Did you mean 'check_interval_ms'?"),
        ({"RECOVERY": 5}, r"HORSIES\['RECOVERY'\] = 5: it must be a dict or a RecoveryConfig"),
        ({"WORKER": {"processes": 0}}, r"HORSIES\['WORKER'\]\['processes'\] = 0.*Nearest valid value: 1\."),
        ({"WORKER": {"queues": "mail"}}, r"it must be a list of names. Nearest valid value: \['mail'\]"),
        ({"QUEUES": {"mail": {"max_concurency": 1}}}, r"HORSIES\['QUEUES'\]\['mail'\].*'max_concurrency'"),
        ({"QUEUES": {"mail": 5}}, r"HORSIES\['QUEUES'\]\['mail'\] = 5: it must be a dict"),
        ({"QUEUES": ["mail"]}, r"HORSIES\['QUEUES'\] = \['mail'\]: it must be a dict"),
        ({"DATABASE": ["default"]}, "there is no such alias in DATABASES, which has default"),
        ({"MAX_PAYLOAD_BYTES": 0}, r"HORSIES\['MAX_PAYLOAD_BYTES'\] = 0"),
        # The interval has outgrown a threshold that nobody set.
        ({"RECOVERY": {"claimer_heartbeat_interval_ms": 100_000}}, "claimed_stale_threshold_ms.*200000"),
    ],
)
def test_a_wrong_setting_is_refused_with_help(setting, message):
    with override_settings(HORSIES=setting), pytest.raises(ImproperlyConfigured, match=message):
        get_config()
