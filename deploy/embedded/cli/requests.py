"""Requests made of what the command line was given, with faults said in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shared.errors import InvalidInput

RequestT = TypeVar("RequestT", bound=BaseModel)


def request_of(kind: type[RequestT], values: Mapping[str, object]) -> RequestT:
    """Return the request. Raises InvalidInput: what is wrong with the first value that is none, and what is allowed."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise InvalidInput(_sentence(error.errors(include_url=False)[0])) from error


def _sentence(fault: ErrorDetails) -> str:
    name = ".".join(map(str, fault["loc"]))
    given, limits = fault["input"], fault.get("ctx", {})
    match fault["type"]:
        case "string_too_long" if isinstance(given, str):
            return f"the {name} has {len(given):,} characters, at most {limits['max_length']:,} are taken: shorten it"
        case "string_too_short":
            return f"the {name} is empty"
        case "value_error":
            return f"{name}: {limits['error']}"
        case _:
            return f"{name}: {fault['msg']}"
