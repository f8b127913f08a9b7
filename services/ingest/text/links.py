"""Links of a page to other pages: wikilinks, embeds and Markdown links, never from code, to the web or to attachments.

The parser has already left out code and HTML. Wikilinks in front matter count, as they do in Obsidian.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from services.ingest.page import Link, LinkKind
from services.ingest.text.markdown import RawLink
from services.ingest.text.names import page_stem

MAX_LINKS = 10_000
"""Of one page; a page with more is a list of everything, and its links say nothing."""
_MAX_TARGET_CHARS = 1_000
_MAX_STEM_BYTES = 255
"""No file system has a longer path or name, so that no page is meant."""
_MAX_FRAGMENT_CHARS = 500

_FRONT_MATTER_LINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,1000})\]\]")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_ATTACHMENT = re.compile(
    r"\.(?:apng|avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp|3gp|flac|m4a|mkv|mov|mp[34]|og[gv]|opus|wav|webm|pdf|docx?|"
    r"pptx?|xlsx?|odt|ods|odp|epub|zip|gz|tgz|tar|7z|csv|tsv|json|ya?ml|toml|xml|html?|css|txt|log|ipynb|canvas|base|"
    r"excalidraw|drawio|c|cc|cpp|cs|h|hpp|go|java|js|ts|py|rb|rs|sh|sql|proto|conf|exe|dll)$",
    re.IGNORECASE,
)
"""Endings of files that are no pages. A closed list: a page's name may hold a dot (`v1.2`)."""


def page_links(path: str, front_matter: str, raw_links: Iterable[RawLink]) -> tuple[Link, ...]:
    """Return the links of the page at `path` in the order of the text, at most MAX_LINKS.

    `front_matter` is the text from the page's start to its body, '' if there is none.
    """
    own_stem, links = page_stem(path), list[Link]()
    for raw in (*_in_front_matter(front_matter), *raw_links):
        link = _link(raw, own_stem)
        if link is not None:
            links.append(link)
            if len(links) == MAX_LINKS:
                break
    return tuple(links)


def _in_front_matter(text: str) -> Iterator[RawLink]:
    if "[[" in text:
        for match in _FRONT_MATTER_LINK.finditer(text):
            yield RawLink(match.start(), match[2].partition("|")[0], is_wikilink=True, is_image=match[1] == "!")


def _link(raw: RawLink, own_stem: str) -> Link | None:
    kind, target, fragment = _wikilink(raw) if raw.is_wikilink else _markdown_link(raw)
    if target is None or len(target) > _MAX_TARGET_CHARS or _ATTACHMENT.search(target):
        return None
    stem = page_stem(target.rstrip("/")) if target else own_stem
    if len(stem.encode()) > _MAX_STEM_BYTES:
        return None
    return Link(target, stem, fragment.strip()[:_MAX_FRAGMENT_CHARS] or None, kind, raw.start)


def _wikilink(raw: RawLink) -> tuple[LinkKind, str | None, str]:
    target, _, fragment = raw.destination.rstrip("\\").partition("#")  # tables write `[[a|b]]` as `[[a\|b]]`
    return "embed" if raw.is_image else "wikilink", None if "://" in target else target.strip(), fragment


def _markdown_link(raw: RawLink) -> tuple[LinkKind, str | None, str]:
    if not raw.destination or _ELSEWHERE.match(raw.destination):
        return "markdown", None, ""
    target, _, fragment = raw.destination.replace("%00", "").partition("#")
    return "markdown", unquote(target.partition("?")[0]).strip(), unquote(fragment)
