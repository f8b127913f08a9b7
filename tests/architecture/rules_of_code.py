"""What no module does: swallow every error, print, or leave work undone with a note."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import EVERYTHING, PRODUCT, is_at, modules

POLICY = ("shared/delivery", "shared/service", "shared/vectors/edge_child")
"""Where an unexpected exception becomes an outcome: a delayed retry, a dead letter, an error reply, a clean end."""

TOO_WIDE = frozenset({"Exception", "BaseException"})

UNDONE = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")


def wide_handlers(root: Path) -> list[str]:
    """Handlers outside the policy that catch everything and do not raise it again."""
    return [
        f"{module.path}:{node.lineno}: catches everything; name the errors"
        for module in modules(root, *PRODUCT)
        if not is_at(module.place, *POLICY)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _is_wide(node)
    ]


def _is_wide(handler: ast.ExceptHandler) -> bool:
    """Whether errors end here that nobody named; one that cleans up and ends in a bare `raise` lets them pass."""
    last = handler.body[-1]
    passes_on = isinstance(last, ast.Raise) and last.exc is None
    return not passes_on and (handler.type is None or any(name in TOO_WIDE for name in _names(handler.type)))


def _names(node: ast.expr) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


def prints(root: Path) -> list[str]:
    """Calls of print: logs go through structlog, the command line through its console.

    A line that says `noqa: T201` and why is not meant for a person: a protocol over standard output.
    """
    return [
        f"{module.path}:{node.lineno}: print"
        for module in modules(root, *PRODUCT)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        if "noqa: T201" not in module.text.splitlines()[node.lineno - 1]
    ]


def undone(root: Path) -> list[str]:
    """Notes of work left for later."""
    return [
        f"{module.path}:{number}: {line.strip()}"
        for module in modules(root, *EVERYTHING)
        for number, line in enumerate(module.text.splitlines(), start=1)
        if UNDONE.search(line)
    ]
