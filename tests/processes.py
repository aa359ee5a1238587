"""Real processes beside the test, on the test's database."""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote

from django.db import connection


def database_url() -> str:
    """Return the URL of the database of this test run, for another process to use."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    host = database["OPTIONS"].get("host") or database["HOST"]
    credentials = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
    return f"postgresql://{credentials}@:{database['PORT']}/{database['NAME']}?host={host}"


def run_at_once(code: str, count: int) -> list[str]:
    """Run the code in several processes that all begin at the same moment; return what each printed."""
    script = f"import django; django.setup(); print('ready', flush=True); input()\n{code}"
    env = {**os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "testproject.settings"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )
        for _ in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * count
    return outputs
