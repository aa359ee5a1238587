"""Fails if fewer databases were tested than should have been: `python tests/runs.py FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

MATRIX = ("py311-django52", "py312-django60", "py313-django61")
DATABASES = {"sqlite": "sqlite", "postgres": "postgresql"}


def main(folder: Path) -> None:
    runs = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    for name, run in runs.items():
        print(f"{name}: {run['passed']} passed on {run['database']}, Django {run['django']}, Python {run['python']}")
    for combination in MATRIX:
        if f"{combination}-sqlite" not in runs:
            print(f"{combination}: NOT RUN, its interpreter was not found")
    problems = list(find_problems(runs))
    if problems:
        sys.exit("\n".join(problems))


def find_problems(runs):
    combinations = {name.rpartition("-")[0] for name in runs}
    if not combinations:
        yield "No tests ran at all."
    for combination in sorted(combinations):
        for suffix, vendor in DATABASES.items():
            run = runs.get(f"{combination}-{suffix}")
            if run is None:
                yield f"{combination} was not tested on {vendor}."
            elif run["database"] != vendor or not run["passed"]:
                yield f"{combination}-{suffix} ran {run['passed']} tests on {run['database']}."


if __name__ == "__main__":
    main(Path(sys.argv[1]))
