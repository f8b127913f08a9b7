"""Lets root be refused like anybody else: the rights that override file permissions, taken from this thread.

On Linux they belong to a thread, and threads that it starts inherit what it has; so begin before the event loop has
started any.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

_VERSION_3 = 0x20080522
_OVERRIDE = 0b110
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: bits 1 and 2 of <linux/capability.h>."""

_Words = ctypes.c_uint32 * 6
"""Effective, permitted and inheritable, first of bits 0 to 31, then of the rest."""


@contextmanager
def without_rights_of_root() -> Generator[None]:
    """Have this thread obey file permissions until the block ends; nothing to do for who is not root."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("only Linux lets root give up its right to read everything for a while")
    before = _rights()
    _set_rights(before[0] & ~_OVERRIDE, before)
    try:
        yield
    finally:
        _set_rights(before[0], before)


def _rights() -> list[int]:
    words = _Words()
    _call("capget", words)
    return list(words)


def _set_rights(effective: int, others: list[int]) -> None:
    _call("capset", _Words(effective, *others[1:]))


def _call(name: str, words: ctypes.Array[ctypes.c_uint32]) -> None:
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)  # 0: this thread
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(header, words):
        raise OSError(ctypes.get_errno(), name)
