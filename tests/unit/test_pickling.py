"""Records that go to other processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import pytest

from services.ingest.text.preparation import prepare_page
from shared.contracts.files import VaultSettings
from shared.pickling import pickled_by_fields


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: tuple[str, ...]


@pickled_by_fields
@dataclass(frozen=True, slots=True)
class Single:
    only: tuple[int, ...]


@pytest.mark.parametrize("record", [Pair(1, ("a", "b")), Single((1, 2))])
def test_a_record_comes_back_equal_and_without_looking_its_fields_up(record: object) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
    assert type(record).__reduce__ is not object.__reduce__


def test_a_prepared_page_comes_back_equal() -> None:
    text = b"---\ntags: [a]\n---\n# Tides\n\nThe tide is [[Moon|the moon's]] work.\n"
    page = prepare_page("wiki/tides.md", text, VaultSettings(vault_id="notes"))
    assert pickle.loads(pickle.dumps(page)) == page
