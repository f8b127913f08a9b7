"""Passwords of the embedded servers stay what they are, also those that a later version adds."""

from __future__ import annotations

import json
from pathlib import Path

from deploy.embedded.state import DataFolder


def test_a_password_that_an_earlier_version_did_not_know_is_made_once(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    made = folder.secrets()
    file = tmp_path / "secrets.json"
    known = json.loads(file.read_text())
    del known["postgres_chat"]
    file.write_text(json.dumps(known))
    added = folder.secrets()
    assert added.postgres_chat
    assert added.postgres_owner == made.postgres_owner
    assert folder.secrets() == added
