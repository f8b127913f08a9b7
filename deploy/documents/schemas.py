"""JSON Schemas, one per message type, from the contracts. What a schema says is what a reader accepts."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import shared.contracts
from shared.contracts.message import Message

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def message_types() -> list[type[Message]]:
    """Return every message of every module in `shared.contracts`, by its `type`, ascending.

    A class without a literal `type` (a common ancestor of messages) is none.
    """
    for module in pkgutil.iter_modules(shared.contracts.__path__, "shared.contracts."):
        importlib.import_module(module.name)
    found = [message for message in _subclasses(Message) if type_name(message) is not None]
    return sorted(found, key=lambda message: type_name(message) or "")


def type_name(message: type[Message]) -> str | None:
    """Return the literal that the class fixes `type` to; None when it leaves it open."""
    field = message.model_fields.get("type")
    literals = get_args(field.annotation) if field else ()
    return literals[0] if len(literals) == 1 else None


def schema(message: type[Message]) -> Schema:
    """Return the message's schema; `type` is required in it, although a reader here knows it from the subject."""
    body = message.model_json_schema()
    required = ["type", *(name for name in body.get("required", []) if name != "type")]
    return {"$schema": DIALECT, "$id": f"urn:{type_name(message)}", **body, "required": required}


def _subclasses(message: type[Message]) -> Iterator[type[Message]]:
    """Yield descendants defined under `shared.contracts`; tests may define others."""
    for child in message.__subclasses__():
        if child.__module__.startswith("shared.contracts."):
            yield child
        yield from _subclasses(child)
