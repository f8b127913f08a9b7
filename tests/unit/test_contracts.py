"""Bounds of messages hold, whatever a caller sends, and what is written is what is read."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.contracts.error import ErrorReply
from shared.contracts.files import FileChanged, VaultSettings
from shared.contracts.ingest import StatusRequest, WaitRequest
from shared.contracts.search import Passage, SearchRequest

PAGE = UUID(int=7)
HASH = "0" * 64


def change(content: bytes | None = None, **fields: Any) -> FileChanged:
    """A small change with the given fields."""
    given_fields = {"vault_id": "v", "path": "a.md", "disk_path": "a.md", "page_id": PAGE, "change": "present"}
    return FileChanged.model_validate({**given_fields, "content": content, **fields})


@given(st.binary(max_size=300))
def test_any_bytes_of_a_file_survive_the_bus(content: bytes) -> None:
    assert FileChanged.model_validate_json(change(content).to_json()).content == content


@pytest.mark.parametrize("content", ["-__-Pw==", "+//+Pw=="])
def test_both_alphabets_of_base64_are_read(content: str) -> None:
    assert FileChanged.model_validate_json(change().model_copy().to_json()).content is None
    body = {**json.loads(change().to_json()), "content": content}
    assert FileChanged.model_validate_json(json.dumps(body)).content == bytes([251, 255, 254, 63])


def test_an_empty_file_is_not_an_absent_one() -> None:
    assert json.loads(change(b"").to_json())["content"] == ""


def test_absent_fields_are_left_out() -> None:
    assert "retry_after_ms" not in json.loads(ErrorReply(code="internal", message="x").to_json())


@pytest.mark.parametrize("vault_id", ["", "Team", "a.b", "a b", "*", ">", "a" * 64, "a\n"])
def test_a_vault_id_that_could_break_a_subject_is_refused(vault_id: str) -> None:
    with pytest.raises(ValidationError):
        VaultSettings(vault_id=vault_id)


@pytest.mark.parametrize("value", ["", "0" * 63, "0" * 65, "G" * 64, "A" * 64, "0" * 64 + "\n"])
def test_a_hash_is_64_lower_case_hex_digits(value: str) -> None:
    with pytest.raises(ValidationError):
        change(content_hash=value)


@pytest.mark.parametrize(
    "fields",
    [
        {"query": ""},
        {"query": "x" * 4001},
        {"query": "x", "k": 0},
        {"query": "x", "k": 51},
        {"query": "x", "context_window": -1},
        {"query": "x", "context_window": 10_000_001},
        {"query": "x", "expansion_depth": 3},
        {"query": "x", "deadline_ms": 0},
        {"query": "x", "deadline_ms": 60_001},
    ],
    ids=str,
)
def test_a_search_beyond_its_bounds_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SearchRequest.model_validate(fields)


@pytest.mark.parametrize("query", ["x", "x" * 4000, "🌱" * 4000])
def test_a_query_may_have_1_to_4000_characters(query: str) -> None:
    assert SearchRequest(query=query).query == query


def test_a_search_without_more_than_its_query_has_the_documented_defaults() -> None:
    request = SearchRequest(query="x")
    bounds = (request.k, request.context_window, request.expansion_depth, request.deadline_ms)
    assert (*bounds, request.filters, request.profile) == (8, 32_768, 2, 2_000, {}, None)


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=5))
def test_a_filter_value_arrives_as_it_was_sent(value: Any) -> None:
    sent = SearchRequest(query="x", filters={"tags": value}).model_dump_json()
    assert SearchRequest.model_validate_json(sent).filters == {"tags": value}


@pytest.mark.parametrize(
    ("request_type", "fields"),
    [
        (StatusRequest, {"rejected_limit": 1001}),
        (WaitRequest, {"path": "", "content_hash": HASH}),
        (WaitRequest, {"path": "a.md", "content_hash": HASH, "timeout_ms": 60_001}),
        (WaitRequest, {"path": "a.md", "content_hash": HASH, "until": "answered"}),
    ],
)
def test_an_ingest_request_beyond_its_bounds_is_refused(request_type: type[Any], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request_type.model_validate(fields)


def test_lines_of_a_passage_count_from_one() -> None:
    place = {"chunk_id": PAGE, "content_hash": HASH, "revision": 1, "heading_path": (), "char_start": 0, "char_end": 1}
    assert Passage.model_validate({**place, "line_start": 1, "line_end": 2}).line_start == 1
    with pytest.raises(ValidationError):
        Passage.model_validate({**place, "line_start": 0, "line_end": 2})


def test_raw_pages_are_never_cited_unless_a_vault_says_so() -> None:
    assert VaultSettings(vault_id="v").never_cite == ("raw/",)
