"""Ports are free when chosen, written down, and kept while free."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from deploy.embedded.ports import CANDIDATES, LOOPBACK, PortBook, is_free


@pytest.fixture
def book(tmp_path: Path) -> PortBook:
    return PortBook(tmp_path / "ports.json")


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    return socket.create_server((host, port))


def test_a_choice_is_free_and_written_down(book: PortBook) -> None:
    port = book.choose("nats")
    assert port in CANDIDATES
    assert is_free(port)
    assert book.read() == {"nats": port}


def test_a_choice_stays_while_it_is_free(book: PortBook) -> None:
    assert book.choose("nats") == book.choose("nats")


def test_two_servers_get_different_ports(book: PortBook) -> None:
    assert book.choose("nats") != book.choose("postgres")
    assert set(book.read()) == {"nats", "postgres"}


@pytest.mark.parametrize("host", [LOOPBACK, "0.0.0.0"])
def test_a_port_that_somebody_took_is_replaced(book: PortBook, host: str) -> None:
    port = book.choose("nats")
    with listen(port, host):
        other = book.choose("nats")
    assert other != port
    assert book.read() == {"nats": other}


def test_a_port_with_only_connections_of_the_past_is_free(book: PortBook) -> None:
    port = book.choose("nats")
    with listen(port) as server, socket.create_connection((LOOPBACK, port)):
        server.accept()[0].close()  # the server's side closes first: its address stays in TIME_WAIT
    assert is_free(port)


@pytest.mark.parametrize("damaged", ["", "{", "[1]", '{"nats": "x"}'])
def test_a_damaged_book_counts_as_empty(book: PortBook, damaged: str) -> None:
    book.path.write_text(damaged)
    assert book.choose("nats") in CANDIDATES
