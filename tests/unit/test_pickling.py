"""Records that go to other processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

from services.ingest.text.preparation import prepare_page
from shared.contracts.files import VaultSettings
from shared.pickling import pickled_by_fields


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: tuple[str, ...]


def test_a_record_comes_back_equal_and_without_looking_its_fields_up() -> None:
    pair = Pair(1, ("a", "b"))
    data = pickle.dumps(pair)
    assert pickle.loads(data) == pair
    assert b"setstate" not in data


def test_a_prepared_page_comes_back_equal() -> None:
    text = b"---\ntags: [a]\n---\n# Tides\n\nThe tide is [[Moon|the moon's]] work.\n"
    page = prepare_page("wiki/tides.md", text, VaultSettings(vault_id="notes"))
    assert pickle.loads(pickle.dumps(page)) == page
