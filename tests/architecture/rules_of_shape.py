"""Sizes and names: a file is read in one sitting, a function on one screen, and a name says what is inside."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.source import EVERYTHING, Module, is_at, modules

MAX_FILE_LINES = 250
MAX_ADAPTER_LINES = 300
MAX_FUNCTION_LINES = 40

ADAPTER_PLACES = ("shared/vectors", "shared/embedding")
"""Shared packages that hold the adapters of a port, beside every folder named `adapters`."""

DRAWERS = frozenset({"util", "utils", "helper", "helpers", "common", "core", "manager", "misc", "base"})
"""Names that say nothing, so anything ends up inside."""


def long_files(root: Path) -> list[str]:
    """Files above their limit."""
    return [
        f"{module.path}: {lines} lines, at most {_limit(module)}"
        for module in modules(root, *EVERYTHING)
        if (lines := module.text.count("\n")) > _limit(module)
    ]


def long_functions(root: Path) -> list[str]:
    """Functions above the limit, from `def` to their last line."""
    return [
        f"{module.path}:{node.lineno} {node.name}: {lines} lines, at most {MAX_FUNCTION_LINES}"
        for module in modules(root, *EVERYTHING)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def drawers(root: Path) -> list[str]:
    """Modules and packages whose name, or one word of it, is a drawer's."""
    return sorted(
        {
            f"{module.path}: {word!r} says nothing about what is inside"
            for module in modules(root, *EVERYTHING)
            for part in module.place.split("/")
            for word in part.lower().split("_")
            if word in DRAWERS
        }
    )


def _limit(module: Module) -> int:
    is_adapter = "adapters" in module.path.split("/") or is_at(module.place, *ADAPTER_PLACES)
    return MAX_ADAPTER_LINES if is_adapter else MAX_FILE_LINES
