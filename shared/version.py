"""The version of the installed distribution."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("citebus")
    except PackageNotFoundError:
        return "0.0.0"


VERSION = _installed()
"""Semantic version; 0.0.0 when run from a source tree that is not installed."""
