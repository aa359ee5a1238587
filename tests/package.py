"""Builds wheel and sdist and looks inside: `python tests/package.py FOLDER`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

PROBES = (
    "horsies_django/templates/admin/horsies/probe.html",
    "horsies_django/static/horsies/probe.css",
    "horsies_django/locale/de/LC_MESSAGES/probe.mo",
)
ROOT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    for old in folder.glob("horsies_django-*"):
        old.unlink()
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    expected = copy_with_probes(source)
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(source)], check=True)
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    for name, found in {"wheel": in_wheel, "sdist": in_sdist}.items():
        missing = sorted(expected - found)
        if missing:
            sys.exit(f"The {name} lacks: {', '.join(missing)}")
    strangers = sorted(name for name in in_wheel if not name.startswith("horsies_django"))
    if strangers:
        sys.exit(f"The wheel holds what it should not: {', '.join(strangers)}")
    print(f"wheel and sdist hold all {len(expected)} files of the package")


def copy_with_probes(source: Path) -> set[str]:
    """Copy what git tracks, put a file of each other kind into the package, and return the package's files."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in tracked:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    for name in PROBES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("probe")
    return {name for name in tracked if name.startswith("horsies_django/")} | set(PROBES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
