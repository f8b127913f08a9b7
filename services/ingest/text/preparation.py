"""From a file's bytes to the page that can be committed. Pure: no bus, no store, no clock, no model.

The walk: decode, read front matter, check the schema, read the structure, cut chunks, take links.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID

from services.ingest.page import PreparedPage
from services.ingest.text.chunking import PageText, chunk_page
from services.ingest.text.decoding import decode, with_line_feeds
from services.ingest.text.front_matter import (
    TITLE_MAX_CHARS,
    FrontMatter,
    language_of,
    payload_fields,
    read_front_matter,
    texts_of,
)
from services.ingest.text.language import language_of_prose
from services.ingest.text.links import page_links
from services.ingest.text.markdown import Outline, outline
from services.ingest.text.names import page_name, page_stem
from services.ingest.text.schema import check_schema
from services.ingest.text.splitting import ChunkerSettings
from shared.contracts.files import VaultSettings
from shared.errors import InvalidInput
from shared.ids import content_hash, normal_path, slugify
from shared.vectors.bm25 import BM25_VERSION

_DEFAULT_CHUNKER = ChunkerSettings()
_DEFAULT_LANGUAGE = "en"


def prepare_page(
    path: str, content: bytes, settings: VaultSettings, chunker: ChunkerSettings = _DEFAULT_CHUNKER
) -> PreparedPage:
    """Return what the file at `path` (relative to the vault) says.

    Raises InvalidInput with a reason for people when the file is no text, or breaks the rules of a strict vault.
    """
    path = normal_path(path)
    decoded = decode(content)
    lines = with_line_feeds(decoded)
    front_matter = read_front_matter(lines)
    _check(path, front_matter.values, front_matter.problems, settings)
    fields, problems = payload_fields(front_matter)
    structure = outline(lines, front_matter.end)
    page_type = " ".join(texts_of(front_matter.values.get("type")))
    return PreparedPage(
        title=front_matter.title or _first_heading(structure) or page_name(path)[:TITLE_MAX_CHARS],
        slug=slugify(front_matter.title or page_name(path)),
        stem=page_stem(path),
        kind=path.partition("/")[0] if "/" in path else "page",
        language=_language(lines, front_matter, structure, settings),
        page_type=page_type or None,
        front_matter=front_matter.values,
        fields=fields,
        sources=texts_of(front_matter.values.get("sources")),
        problems=front_matter.problems + problems,
        chunks=chunk_page(PageText(path, decoded, lines, front_matter, structure), chunker),
        links=page_links(path, lines[: front_matter.end], structure.links),
    )


def point_payload(page: PreparedPage, vault_id: str, page_id: UUID, path: str) -> dict[str, object]:
    """Return what the vector store keeps with each chunk of a page: every field that a filter may name, or
    None, and what ranges compare.

    The text is not among them: what is cited comes from the row, in the snapshot that decides what is live.

    `path_prefixes` are the folders that hold the page, each with its slash, and the path itself.
    """
    folders = [path[: index + 1] for index, character in enumerate(path) if character == "/"]
    return {
        "vault_id": vault_id,
        "page_id": str(page_id),
        "path": path,
        "path_prefixes": [*folders, path],
        "kind": page.kind,
        "title": page.title,
        **page.fields,
    }


def payload_hash(payload: Mapping[str, object], language: str) -> str:
    """Return the hash of what all points of a page share."""
    return content_hash(json.dumps([payload, language, BM25_VERSION], sort_keys=True, separators=(",", ":")))


def point_hash(shared: str, lexical_text: str) -> str:
    """Return the hash of all that a point is made of but its dense vector: where it changes, the point is rewritten.

    `shared` is the page's payload_hash.
    """
    return content_hash(f"{shared}\0{lexical_text}")


def _language(lines: str, front_matter: FrontMatter, structure: Outline, settings: VaultSettings) -> str:
    """Return what the page says itself, else what its prose shows, else what its vault is set to."""
    return (
        language_of(front_matter.values)
        or language_of_prose(lines, front_matter.end, structure.solids)
        or settings.language
        or _DEFAULT_LANGUAGE
    )


def _first_heading(structure: Outline) -> str:
    return next((heading.text for heading in structure.headings if heading.level == 1 and heading.text), "")


def _check(path: str, values: Mapping[str, object], problems: tuple[str, ...], settings: VaultSettings) -> None:
    """Apply the vault's rules; a reason says also what kept the front matter from being read."""
    try:
        check_schema(path, values, settings.rules)
    except InvalidInput as error:
        raise InvalidInput(" ".join((str(error), *problems))) from error
