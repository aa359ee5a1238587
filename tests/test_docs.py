"""The documentation says what the code does."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from types import ModuleType

import pytest

from horsies_django.conf import TOP_RULES, Config, RecoveryConfig, WorkerConfig
from horsies_django.states import ErrorCode

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
# Pages whose examples run, from top to bottom, as one module.
RUNNABLE = ["howto/testing.md", "reference/tasks.md"]


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)


def table(page: str) -> dict[str, list[str]]:
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", (DOCS / page).read_text(), re.M)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in rows}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_is_python(page):
    for block in python_blocks(page):
        ast.parse(block)
    assert page.read_text().strip()


def run(page: Path, blocks: list[str]) -> None:
    module = ModuleType(f"docs_{page.stem.replace('-', '_')}")
    sys.modules[module.__name__] = module
    try:
        for block in blocks:
            exec(compile(block, str(page), "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]


@pytest.mark.django_db
@pytest.mark.parametrize("name", RUNNABLE)
def test_examples_run(name):
    page = DOCS / name
    blocks = python_blocks(page)
    assert blocks
    run(page, blocks)


@pytest.mark.django_db
def test_getting_started_runs_from_the_first_task_on():
    page = DOCS / "getting-started.md"
    blocks = python_blocks(page)
    first = next(index for index, block in enumerate(blocks) if "@task" in block)
    assert first == 2
    run(page, blocks[first:])


@pytest.mark.parametrize("config_class", [RecoveryConfig, WorkerConfig])
def test_every_setting_is_documented_with_its_default(config_class):
    documented = table("reference/settings.md")
    for field in fields(config_class):
        assert ast.literal_eval(documented[field.name][0].strip("`")) == field.default


def test_no_setting_is_documented_that_does_not_exist():
    known = {f.name for c in (RecoveryConfig, WorkerConfig) for f in fields(c)}
    top = {"DATABASE", "RECOVERY", "WORKER", "QUEUES", *TOP_RULES}
    assert set(table("reference/settings.md")) == known | top
    defaults = {f.name: f.default for f in fields(Config) if f.default is not MISSING}
    assert defaults == {"database": "default", "max_payload_bytes": 1_048_576}


def test_every_check_is_documented_and_no_other():
    code = "".join(path.read_text() for path in (ROOT / "horsies_django").rglob("*.py"))
    assert set(table("reference/checks.md")) == set(re.findall(r'"(horsies\.[EW]\d{3})"', code))


def test_every_error_code_is_documented():
    text = (DOCS / "reference/tasks.md").read_text()
    assert [code for code in ErrorCode.values if f"`{code}`" not in text] == []


def test_every_room_is_in_the_floor_plan():
    package = ROOT / "horsies_django"
    rooms = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    plan = (DOCS / "explanation/architecture.md").read_text().split("```")[1]
    assert set(re.findall(r"[a-z]+", plan)) >= rooms - {"__init__", "migrations"}


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"
