"""Vaults on disk: made once per content and space, and made anew when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.evaluation.beir import Corpus
from deploy.evaluation.prepared import Ingest, prepare
from deploy.evaluation.questions import JudgedSet
from shared.errors import InvalidInput
from tests.unit.cli.test_sessions import pretend_running
from tests.unit.evaluation.judged_sets import write_beir

DOCUMENTS = {"one": ("A", "Text."), "two": ("B", "Other.")}


def judged(folder: Path, documents: dict[str, tuple[str, str]] = DOCUMENTS) -> JudgedSet:
    return JudgedSet("Some set", "pages", (), Corpus(write_beir(folder, documents) / "corpus.jsonl"))


def test_the_same_documents_are_prepared_once(tmp_path: Path) -> None:
    first = prepare(judged(tmp_path / "a"), tmp_path / "work", "space")
    first.data.mkdir()
    second = prepare(judged(tmp_path / "b"), tmp_path / "work", "space")
    assert second == first
    assert not second.is_new
    assert [folder.name for folder in (tmp_path / "work").iterdir()] == [first.root.name]


def test_another_document_or_space_is_another_vault(tmp_path: Path) -> None:
    work = tmp_path / "work"
    roots = {
        prepare(judged(tmp_path / "a"), work, "space").root,
        prepare(judged(tmp_path / "b", {**DOCUMENTS, "two": ("B", "Other")}), work, "space").root,
        prepare(judged(tmp_path / "a"), work, "other space").root,
    }
    assert len(roots) == 3
    assert all(root.name.startswith("some-set-") for root in roots)


def test_ids_are_kept_outside_of_the_vault(tmp_path: Path) -> None:
    made = prepare(judged(tmp_path / "a"), tmp_path / "work", "space")
    assert json.loads((made.root / "ids.json").read_text()) == made.ids
    assert sorted(file.name for file in made.vault.rglob("*.*")) == ["d000000.md", "d000001.md"]


def test_fresh_forgets_what_was_ingested(tmp_path: Path) -> None:
    made = prepare(judged(tmp_path / "a"), tmp_path / "work", "space")
    made.data.mkdir()
    made.keep(Ingest(1.0, 2.0))
    assert made.ingest() == Ingest(1.0, 2.0)
    again = prepare(judged(tmp_path / "a"), tmp_path / "work", "space", fresh=True)
    assert again.is_new
    assert again.ingest() is None
    assert again.vault.is_dir()


def test_fresh_leaves_a_running_stack_alone(tmp_path: Path) -> None:
    made = prepare(judged(tmp_path / "a"), tmp_path / "work", "space")
    made.data.mkdir()
    pretend_running(made.data, vault=made.vault)
    with pytest.raises(InvalidInput, match="let it end"):
        prepare(judged(tmp_path / "a"), tmp_path / "work", "space", fresh=True)
    assert made.data.is_dir()


def test_a_set_that_is_wrong_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no documents"):
        prepare(judged(tmp_path / "a", {}), tmp_path / "work", "space")
    assert list((tmp_path / "work").iterdir()) == []
