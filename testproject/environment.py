"""The HORSIES setting from environment variables, one for each field."""

from typing import Any

from environ import Env

from horsies_django.conf import RecoveryConfig, WorkerConfig

# HORSIES_RECOVERY_CHECK_INTERVAL_MS=5000, HORSIES_WORKER_QUEUES=mail,default,
# HORSIES_DATABASE=queue, HORSIES_MAX_PAYLOAD_BYTES=2048, HORSIES_QUEUES=mail=5,reports=1


def horsies_from_environment(env: Env) -> dict[str, Any]:
    """Return a HORSIES setting with just what the environment names."""
    setting: dict[str, Any] = {
        "RECOVERY": _section(env, "HORSIES_RECOVERY_", RecoveryConfig()),
        "WORKER": _section(env, "HORSIES_WORKER_", WorkerConfig()),
        "QUEUES": {
            name: {"max_concurrency": int(limit)} for name, limit in env.dict("HORSIES_QUEUES", default={}).items()
        },
    }
    if "HORSIES_DATABASE" in env:
        setting["DATABASE"] = env("HORSIES_DATABASE")
    if "HORSIES_MAX_PAYLOAD_BYTES" in env:
        setting["MAX_PAYLOAD_BYTES"] = env.int("HORSIES_MAX_PAYLOAD_BYTES")
    return setting


def _section(env: Env, prefix: str, defaults: Any) -> dict[str, Any]:
    names = (name for name in defaults.__dataclass_fields__ if prefix + name.upper() in env)
    return {name: _value(env, prefix + name.upper(), getattr(defaults, name)) for name in names}


def _value(env: Env, variable: str, default: Any) -> Any:
    if isinstance(default, bool):
        return env.bool(variable)
    if isinstance(default, str):
        return env(variable)
    if isinstance(default, tuple):
        return env.list(variable)
    return None if env(variable).lower() == "none" else env.int(variable)
