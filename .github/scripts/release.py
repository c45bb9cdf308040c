"""Checks before a release: the tag, the changelog, and the files that are to be published, or a list of these.

Run: python .github/scripts/release.py tag v0.1.0
     python .github/scripts/release.py files dist
     python .github/scripts/release.py list
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# One for all of CPython from 3.11 on, and two for free-threaded interpreters: 3.14, and all from 3.15 on (PEP 803).
ABIS = ("cp311-abi3", "cp314-cp314t", "cp315-abi3.abi3t")
PLATFORMS = (
    "manylinux_2_28_x86_64",
    "manylinux_2_28_aarch64",
    "musllinux_1_2_x86_64",
    "musllinux_1_2_aarch64",
    "macosx_10_12_x86_64",
    "macosx_11_0_arm64",
    "win_amd64",
)


def version() -> str:
    """Return the version in Cargo.toml, from which the package has its own."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def expected_files() -> set[str]:
    """Return the names of all files of a release."""
    wheels = {f"rocmax-{version()}-{abi}-{platform}.whl" for abi in ABIS for platform in PLATFORMS}
    return wheels | {f"rocmax-{version()}.tar.gz"}


def check_tag(tag: str, changelog: str) -> None:
    """Check that a tag is that of the version, whose changes are written down and not called unreleased."""
    if tag != f"v{version()}":
        raise SystemExit(f"the tag is {tag}, the version in Cargo.toml {version()}")
    headings = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    if not headings or not headings[0].startswith(f"{version()} (") or "unreleased" in headings[0]:
        raise SystemExit(f"the changelog must begin with '## {version()} (year-month-day)', got {headings[:1]}")


def check_files(names: set[str]) -> None:
    """Check that all files of a release are there, and no other."""
    missing, others = sorted(expected_files() - names), sorted(names - expected_files())
    if missing or others:
        raise SystemExit(f"missing: {missing}; not expected: {others}")


if __name__ == "__main__":
    what, argument = (*sys.argv[1:], "", "")[:2]
    if what == "list":
        print(*sorted(expected_files()), sep="\n")
    elif what == "tag":
        check_tag(argument, (ROOT / "python/docs/changelog.md").read_text())
    elif what == "files":
        check_files({path.name for path in Path(argument).iterdir()})
    else:
        raise SystemExit(__doc__)
