"""Builds wheel and sdist and looks inside: `python tests/package.py FOLDER`."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    for old in folder.glob("horsies_django-*"):
        old.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True)
    wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)], check=True)
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    expected = package_files()
    for name, found in {"wheel": in_wheel, "sdist": in_sdist}.items():
        missing = sorted(expected - found)
        if missing:
            sys.exit(f"The {name} lacks: {', '.join(missing)}")
    strangers = sorted(name for name in in_wheel if not name.startswith("horsies_django"))
    if strangers:
        sys.exit(f"The wheel holds what it should not: {', '.join(strangers)}")
    print(f"wheel and sdist hold all {len(expected)} files of the package")


def package_files() -> set[str]:
    files = subprocess.run(
        ["git", "ls-files", "horsies_django"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return set(files)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
