"""The test project takes every field of HORSIES from the environment."""

from __future__ import annotations

import dataclasses

import environ
import pytest

from horsies_django.conf import RecoveryConfig, WorkerConfig, find_setting_problems
from testproject.environment import horsies_from_environment

VALUES = {bool: ("off", False), str: ("retry", "retry"), tuple: ("mail,default", ["mail", "default"])}


@pytest.mark.parametrize(("section", "config_class"), [("RECOVERY", RecoveryConfig), ("WORKER", WorkerConfig)])
def test_every_field_has_its_variable(monkeypatch, section, config_class):
    expected = {}
    for field in dataclasses.fields(config_class):
        default = 500_000 if field.default is None else field.default
        text, value = VALUES.get(type(default), (str(default), default))
        monkeypatch.setenv(f"HORSIES_{section}_{field.name.upper()}", text)
        expected[field.name] = value

    setting = horsies_from_environment(environ.Env())

    assert setting[section] == expected


def test_the_rest_has_variables_too(monkeypatch):
    monkeypatch.setenv("HORSIES_DATABASE", "queue")
    monkeypatch.setenv("HORSIES_MAX_PAYLOAD_BYTES", "2048")
    monkeypatch.setenv("HORSIES_QUEUES", "mail=5,reports=1")
    monkeypatch.setenv("HORSIES_RECOVERY_HEARTBEAT_RETENTION_HOURS", "none")

    setting = horsies_from_environment(environ.Env())

    assert (setting["DATABASE"], setting["MAX_PAYLOAD_BYTES"]) == ("queue", 2048)
    assert setting["QUEUES"] == {"mail": {"max_concurrency": 5}, "reports": {"max_concurrency": 1}}
    assert setting["RECOVERY"] == {"heartbeat_retention_hours": None}
    assert [problem.kind for problem in find_setting_problems(setting)] == ["alias"]
