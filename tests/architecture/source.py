"""The tree as the rules see it: modules with text and syntax tree. Every rule takes a root, so that it can be tried."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

PRODUCT = ("services", "shared", "deploy")
"""What is shipped."""

EVERYTHING = (*PRODUCT, "tests")


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file."""

    path: str
    """From the root, with slashes."""
    text: str
    tree: ast.Module

    @property
    def place(self) -> str:
        """The path without its ending: what rules about places compare."""
        return self.path.removesuffix(".py")


def modules(root: Path, *packages: str) -> Iterator[Module]:
    """Yield every module of the packages, by path."""
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            yield Module(file.relative_to(root).as_posix(), text, _parsed(text))


@functools.cache  # a dozen rules look at the same tree
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of everything that a module imports, at any depth.

    `from a import b` gives `a.b`: b may be a module. Relative imports give nothing; ruff and the style forbid them.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def is_at(place: str, *allowed: str) -> bool:
    """Whether a place is one of `allowed`, lies below one, or continues its name with `_`."""
    return any(place == name or place.startswith((f"{name}/", f"{name}_")) for name in allowed)


def plant(root: Path, files: Mapping[str, str]) -> Path:
    """Write a small tree to try a rule on, and return its root."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root
