"""What citations refer to: the pages of a set's vault, as they stand on disk. Blocking; each page is read once.

A page that can't be read any more raises InvalidInput: without it there is nothing to judge, and no 0 to give either.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deploy.evaluation.asking import document_of
from services.ingest.text.decoding import decode
from shared.contracts.search import Citation
from shared.errors import InvalidInput
from shared.ids import normal_path


class Library:
    """Pages of one vault."""

    def __init__(self, vault: Path, ids: Mapping[str, str]) -> None:
        """`ids`: page path (NFC) to document id, as deploy.evaluation.prepared has it."""
        self._vault = vault
        self._ids = ids
        self._paths = {document: path for path, document in ids.items()}
        self._texts: dict[str, str] = {}

    def document(self, citation: Citation) -> str:
        """Return the id of the document that is cited; its path when it is none of the set's."""
        return document_of(citation, self._ids)

    def cited(self, citation: Citation) -> str:
        """Return what stands in the ranges that are cited."""
        text = self._text(normal_path(citation.path))
        return "\n".join(text[passage.char_start : passage.char_end] for passage in citation.passages)

    def text(self, document: str) -> str:
        """Return a document's whole text; empty when the vault does not have it."""
        return self._text(self._paths[document]) if document in self._paths else ""

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = decode(self._bytes(path))
        return self._texts[path]

    def _bytes(self, path: str) -> bytes:
        file = self._vault / path
        try:
            return file.read_bytes()
        except OSError as error:
            raise InvalidInput(f"{file} was cited, but can't be read: {error.strerror}; was it deleted?") from error
