"""The walk: the table in ARCHITECTURE.md that leads a reader along the data, and whether each step is there."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

COLUMNS = ["step", "file", "symbol", "what you see"]


@dataclass(frozen=True, slots=True)
class Step:
    """One row."""

    number: str
    file: str
    symbol: str
    """Dotted name in a Python file; words that occur in any other file."""


def steps(page: str) -> list[Step]:
    """Return the rows of every table with the walk's columns, in order."""
    found: list[Step] = []
    inside = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif [cell.lower() for cell in cells] == COLUMNS:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            found.append(Step(cells[0], cells[1].strip("`"), cells[2].strip("`")))
    return found


def missing_steps(root: Path) -> list[str]:
    """Steps whose file or symbol does not exist, or whose number is out of order."""
    problems: list[str] = []
    for position, step in enumerate(steps((root / "ARCHITECTURE.md").read_text(encoding="utf-8")), start=1):
        if step.number != str(position):
            problems.append(f"step {step.number} should be {position}")
        if not (root / step.file).is_file():
            problems.append(f"step {step.number}: no file {step.file}")
        elif not _has(root / step.file, step.symbol):
            problems.append(f"step {step.number}: no {step.symbol} in {step.file}")
    return problems


def _has(file: Path, symbol: str) -> bool:
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return symbol in text
    body: list[ast.stmt] = ast.parse(text).body
    for name in symbol.split("."):
        node = next((node for node in body if name in _defined(node)), None)
        if node is None:
            return False
        body = node.body if isinstance(node, ast.ClassDef) else []
    return True


def _defined(node: ast.stmt) -> set[str]:
    """Names that one statement of a module or class defines."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}
