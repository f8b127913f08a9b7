"""The catalogue names every subject and every message, and the AsyncAPI document says the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from deploy.documents.asyncapi import asyncapi, parameters
from deploy.documents.files import schemas
from deploy.documents.schemas import message_types
from shared.catalogue import PARAMETERS, channels
from shared.topology import Topology


def subjects_of_topology(topology: Topology) -> Iterator[str]:
    """One subject per method of Topology that makes one, with `x` for every argument."""
    for name, method in inspect.getmembers(topology, inspect.ismethod):
        if name.startswith("_") or inspect.signature(method).return_annotation not in {"str", str}:
            continue
        subject = method(*["x"] * len(inspect.signature(method).parameters))
        if subject.startswith(f"{topology.root}."):
            yield subject


def matches(template: str, subject: str) -> bool:
    """Whether the tokens of both agree where the template has no brace; an `x` agrees with any token."""
    pairs = list(zip(template.split("."), subject.split("."), strict=False))
    same_length = template.count(".") == subject.count(".")
    return same_length and all(a.startswith("{") or "x" in {a, b} or a == b for a, b in pairs)


def test_every_subject_of_the_topology_has_a_channel() -> None:
    topology = Topology("spare")
    templates = [channel.subject for channel in channels(topology)]
    for subject in subjects_of_topology(topology):
        assert any(matches(template, subject) for template in templates), (
            f"no channel in shared/catalogue.py: {subject}"
        )


def test_the_topology_is_looked_at_at_all() -> None:
    assert len(list(subjects_of_topology(Topology()))) >= 7


def test_every_channel_stays_in_its_namespace() -> None:
    for channel in channels(Topology("spare")):
        assert channel.subject.startswith(("spare.v1.", "$KV.spare-")), channel.name


def test_every_message_travels_on_some_channel() -> None:
    known = {message for channel in channels() for message in (*channel.messages, *channel.replies)}
    assert known == set(message_types())


def test_subjects_and_names_are_unique_and_their_parameters_explained() -> None:
    table = channels()
    assert len({channel.subject for channel in table}) == len({channel.name for channel in table}) == len(table)
    assert {name for channel in table for name in parameters(channel.subject)} == set(PARAMETERS)


def test_only_requests_are_answered_and_everything_but_these_and_signals_is_kept() -> None:
    for channel in channels():
        assert bool(channel.replies) == (channel.kind == "request"), channel.name
        assert (channel.stream is None) == (channel.kind in {"request", "signal"}), channel.name


def references(node: Any) -> Iterator[str]:
    """Every `$ref` below a node."""
    if isinstance(node, dict):
        yield from ([node["$ref"]] if "$ref" in node else [])
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def test_every_reference_of_the_asyncapi_document_leads_somewhere() -> None:
    document, files = asyncapi(), schemas()
    for reference in references(document):
        if reference.startswith("./"):
            assert f"schemas/{reference[2:]}" in files
            continue
        node = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]


def test_the_asyncapi_document_has_every_channel_with_its_messages() -> None:
    nodes = asyncapi()["channels"]
    for channel in channels():
        assert nodes[channel.name]["address"] == channel.subject
        assert [*nodes[channel.name]["messages"]] == [message.__name__ for message in channel.messages] or (
            not channel.messages
        )
