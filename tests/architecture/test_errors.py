"""The error tree is part of the contract: callers catch its classes and read its codes."""

from __future__ import annotations

import inspect
from typing import get_args

from shared import errors
from shared.contracts.error import ErrorCode
from shared.errors import CitebusError

PINNED = {
    "CitebusError": ("Exception", "internal"),
    "RetryableError": ("CitebusError", "unavailable"),
    "Unavailable": ("RetryableError", "unavailable"),
    "RateLimited": ("Unavailable", "unavailable"),
    "DeadlineExceeded": ("RetryableError", "deadline"),
    "PermanentError": ("CitebusError", "invalid"),
    "InvalidInput": ("PermanentError", "invalid"),
    "TooLarge": ("InvalidInput", "too_large"),
    "NotFound": ("PermanentError", "not_found"),
    "SpaceMismatch": ("PermanentError", "invalid"),
    "ServerTooOld": ("PermanentError", "unavailable"),
}
"""Name to parent and code. A line that changes or goes breaks callers: it needs a new major version."""


def classes() -> dict[str, type[CitebusError]]:
    """Every error that the module defines."""
    return {
        name: error for name, error in inspect.getmembers(errors, inspect.isclass) if issubclass(error, CitebusError)
    }


def test_names_parents_and_codes_are_the_pinned_ones() -> None:
    assert {
        name: (error.__base__.__name__, error.code) for name, error in classes().items() if error.__base__
    } == PINNED


def test_every_code_may_stand_in_an_error_reply() -> None:
    assert {error.code for error in classes().values()} == set(get_args(ErrorCode))


def test_the_tree_drawn_in_the_docstring_names_every_class() -> None:
    drawn = errors.__doc__ or ""
    assert [name for name in classes() if f"{name} " not in drawn.replace("\n", " ")] == []
