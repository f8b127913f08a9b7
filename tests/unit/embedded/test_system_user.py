"""Whether another user can reach a folder is read from the modes on the way."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from deploy.embedded.system_user import USUAL_NAMES, SystemUser, service_user

STRANGER = SystemUser("stranger", uid=4_000_001, gid=4_000_001)
OURSELVES = SystemUser("ourselves", uid=os.geteuid(), gid=os.getegid())
COLLEAGUE = SystemUser("colleague", uid=4_000_001, gid=os.getegid())
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    os.chown(tmp_path / "a", os.geteuid(), os.getegid())
    return tmp_path / "a"


@pytest.mark.parametrize(
    ("mode", "ourselves", "colleague", "stranger"),
    [
        (0o700, True, False, False),
        (0o710, True, True, False),
        (0o711, True, True, True),
        (0o701, True, False, True),
        (0o677, False, True, True),
    ],
)
def test_owner_group_and_others_are_told_apart(
    folder: Path, mode: int, ourselves: bool, colleague: bool, stranger: bool
) -> None:
    folder.chmod(mode)
    seen = [user.may(os.X_OK, folder) for user in (OURSELVES, COLLEAGUE, STRANGER)]
    folder.chmod(0o700)
    assert seen == [ourselves, colleague, stranger]


def test_the_outermost_blocked_folder_is_named(folder: Path) -> None:
    blocked_above = STRANGER.first_blocked(folder.parent)  # by how this machine keeps temporary files
    folder.chmod(0o700)
    (folder / "b").chmod(0o700)
    assert STRANGER.first_blocked(folder / "b") == blocked_above or folder


@needs_root
def test_the_owner_of_existing_data_stays_its_user(folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    assert service_user(folder) == SystemUser("nobody", nobody.pw_uid, nobody.pw_gid)


@needs_root
def test_root_gives_new_data_to_a_usual_user(folder: Path) -> None:
    user = service_user(folder / "new")
    assert user is not None
    assert user.name in USUAL_NAMES


def test_a_user_who_is_not_root_stays_that_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert service_user(folder) is None
