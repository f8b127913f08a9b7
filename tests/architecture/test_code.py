"""No module swallows every error, prints or is left undone, and the rules that say so can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.rules_of_code import prints, undone, wide_handlers
from tests.architecture.source import ROOT, plant


def test_only_the_policy_catches_everything() -> None:
    found = wide_handlers(ROOT)
    assert not found, "\n".join(found)


def test_nothing_prints() -> None:
    found = prints(ROOT)
    assert not found, "\n".join(found)


def test_nothing_is_left_for_later() -> None:
    found = undone(ROOT)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("caught", ["", " Exception", " BaseException as error", " (ValueError, Exception)"])
def test_a_wide_handler_is_seen(tmp_path: Path, caught: str) -> None:
    root = plant(tmp_path, {"shared/x.py": f"try:\n    pass\nexcept{caught}:\n    pass\n"})
    assert len(wide_handlers(root)) == 1


def test_a_narrow_handler_and_the_policy_pass(tmp_path: Path) -> None:
    wide = "try:\n    pass\nexcept Exception:\n    pass\n"
    narrow = wide.replace("Exception", "(OSError, ValueError)")
    assert wide_handlers(plant(tmp_path, {"shared/x.py": narrow, "shared/delivery.py": wide})) == []


def test_a_wide_handler_that_cleans_up_and_raises_again_passes(tmp_path: Path) -> None:
    root = plant(tmp_path, {"shared/x.py": "try:\n    pass\nexcept BaseException:\n    close()\n    raise\n"})
    assert wide_handlers(root) == []


def test_a_print_is_seen(tmp_path: Path) -> None:
    assert len(prints(plant(tmp_path, {"deploy/x.py": "def f():\n    print(1)\n"}))) == 1


def test_a_print_that_is_a_protocol_passes(tmp_path: Path) -> None:
    assert prints(plant(tmp_path, {"deploy/x.py": "print(1)  # noqa: T201 - the protocol\n"})) == []


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME"])
def test_a_note_of_work_left_is_seen(tmp_path: Path, word: str) -> None:
    assert undone(plant(tmp_path, {"tests/x.py": f"x = 1  # {word}: more\n"})) == [
        f"tests/x.py:1: x = 1  # {word}: more"
    ]
