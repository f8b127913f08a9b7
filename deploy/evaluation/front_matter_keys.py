"""Takes keys out of the front matter of a page, where they would give the answers away. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from services.ingest.text.decoding import decode, with_line_feeds
from services.ingest.text.front_matter import read_front_matter
from shared.errors import InvalidInput

_KEY = re.compile(r"""(["']?)([^\s:#"'\-][^:"']*)\1[ \t]*:(?:[ \t]|\r?\n|$)""")
"""Begins an entry of the outermost mapping."""

_CONTINUES = re.compile(r"[ \t]|-(?:[ \t]|\r?\n|$)|#|\r?\n")
"""A line that belongs to the entry above: indented, an item of its list, a comment, or blank."""


def without_keys(content: bytes, keys: Collection[str]) -> bytes:
    """Return a page without these keys and their values; the rest stays as it is, in UTF-8.

    Raises InvalidInput when a key is still there, as front matter of one line can have it.
    """
    text = decode(content)
    end = read_front_matter(with_line_feeds(text)).end
    if not end:
        return content
    kept = "".join(_kept(text[:end].splitlines(keepends=True), keys)) + text[end:]
    left = read_front_matter(with_line_feeds(kept)).values.keys() & set(keys)
    if left:
        raise InvalidInput(f"the front matter keys {', '.join(sorted(left))} can't be taken out")
    return kept.encode()


def _kept(lines: list[str], keys: Collection[str]) -> Iterator[str]:
    dropping = False
    for line in lines:
        key = _KEY.match(line)
        if key:
            dropping = key[2].strip() in keys
        elif not _CONTINUES.match(line):
            dropping = False
        if not dropping:
            yield line
