"""The locks fit what pyproject.toml asks for, whole, with hashes, and tie nobody to one package index."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement

from tests.architecture.source import ROOT

PIN = re.compile(r"^([a-z0-9][a-z0-9-]*)==(\S+)(?: ;.*)? \\$", re.MULTILINE)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("requirements.lock", "requirements-agent.lock"))


def asked_for() -> Iterator[Requirement]:
    """Everything that the project, its extras and its development group ask for; not the project itself."""
    lists = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    for line in [line for group in [*lists, *PROJECT["dependency-groups"].values()] for line in group]:
        requirement = Requirement(line)
        if requirement.name != PROJECT["project"]["name"]:
            yield requirement


def test_every_requirement_is_locked_to_a_version_within_its_bounds() -> None:
    locked: dict[str, list[str]] = {}
    for name, version in PIN.findall(LOCK):
        locked.setdefault(name, []).append(version)
    for requirement in asked_for():
        versions = locked.get(requirement.name.lower().replace("_", "-"), [])
        assert versions, f"{requirement} is locked nowhere: run `make lock`"
        assert all(requirement.specifier.contains(version) for version in versions), f"{requirement}: run `make lock`"


def test_every_pin_has_a_hash() -> None:
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PIN.findall(LOCK))
    assert [block.split(" ")[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_the_lock_names_no_index_and_no_place_of_a_machine() -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links|file:", LOCK)
