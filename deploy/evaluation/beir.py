"""Sets in the layout of BEIR: `corpus.jsonl`, `queries.jsonl`, and judgements in `qrels.tsv` or `qrels/test.tsv`.

A query's `metadata` may hold an `answer`, with `answer_start` if it stands so in the document. A document becomes a
page of a vault: its title as front matter, its text as the body. Its file has a number for a name, since the words of
a file's name are searched too, and an id may say what the document is about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from deploy.evaluation.questions import Question
from deploy.evaluation.reading import as_object, id_field, json_lines, text_field, text_lines
from services.ingest.watcher.settings_file import SETTINGS_FILE
from shared.errors import InvalidInput

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
JUDGEMENTS = ("qrels.tsv", "qrels/test.tsv")

MAX_QUERY_CHARS = 4_000
"""Bound of SearchRequest.query; a longer question is cut."""

_PAGES_PER_FOLDER = 1_000


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents of a `corpus.jsonl`, to become a vault."""

    file: Path
    language: str | None = None
    """Of all documents, as the vault's settings say it; None: citebus decides."""

    def write(self, folder: Path) -> Mapping[str, str]:
        """Write one page per document; see deploy.evaluation.questions.Source."""
        ids: dict[str, str] = {}
        seen: set[str] = set()
        if self.language:
            (folder / SETTINGS_FILE).write_text(f'language = "{self.language}"\n', encoding="utf-8")
        for number, (where, row) in enumerate(json_lines(self.file)):
            document = id_field(where, row, "_id")
            if document in seen:
                raise InvalidInput(f"{where}: a second document with the id {document!r}")
            seen.add(document)
            path = f"{number // _PAGES_PER_FOLDER:03}/d{number:06}.md"
            title, text = text_field(where, row, "title", ""), text_field(where, row, "text", "")
            _write_page(folder / path, page(title, text))
            ids[path] = document
        return ids


def page(title: str, text: str) -> bytes:
    """Return a document as a Markdown file.

    Front matter is written even without a title, so that a text that begins with a rule is not taken for one. NUL,
    which no page may hold, becomes a blank, and half a surrogate pair, which UTF-8 has no bytes for, a question mark.
    """
    shown = " ".join(title.replace("\0", " ").split())
    # a JSON string is a YAML one, whatever quotes, colons or line ends are in it
    header = f"title: {json.dumps(shown, ensure_ascii=False)}\n" if shown else ""
    return f"---\n{header}---\n\n{text.replace(chr(0), ' ')}\n".encode("utf-8", "replace")


def read_questions(folder: Path) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    """Return the questions that have something relevant, and what was left out, in sentences.

    Raises InvalidInput, naming file and line, when a file is missing or wrong, or when no question is left.
    """
    judgements = _judgements_file(folder)
    grades = read_judgements(judgements)
    queries = list(_queries(folder / QUERIES, grades))
    texts = {query.id: query.text for query in queries}
    if len(texts) < len(queries):
        raise InvalidInput(f"{folder / QUERIES}: an id stands there twice")
    kept = tuple(
        replace(query, text=query.text[:MAX_QUERY_CHARS]) for query in queries if query.text.strip() and query.grades
    )
    if not kept:
        raise InvalidInput(f"{folder}: none of the {len(texts):,} queries has a relevant document in {judgements.name}")
    return kept, tuple(_notes(texts, grades, kept))


def read_judgements(path: Path) -> dict[str, dict[str, float]]:
    """Return the grades above 0 by question and document; a heading may stand in the first line.

    Raises InvalidInput for a line that is not `query <tab> document <tab> grade`.
    """
    grades: dict[str, dict[str, float]] = {}
    for position, (number, line) in enumerate(text_lines(path)):
        cells = line.split("\t")
        grade = _number(cells[2]) if len(cells) == 3 else None
        if grade is None:
            if position == 0 and len(cells) == 3:
                continue
            raise InvalidInput(f"{path}:{number}: not query, document and grade, parted by tabs")
        if grade > 0:
            grades.setdefault(cells[0], {})[cells[1]] = grade
    return grades


def _judgements_file(folder: Path) -> Path:
    for name in JUDGEMENTS:
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(f"{folder} has no judgements: neither {' nor '.join(JUDGEMENTS)}")


def _queries(path: Path, grades: Mapping[str, Mapping[str, float]]) -> Iterator[Question]:
    """Yield every query. An answer whose place in the document is said stands there; any other is a reference."""
    for where, row in json_lines(path):
        query, text = id_field(where, row, "_id"), text_field(where, row, "text")
        about = as_object(where, row.get("metadata") or {})
        answer = text_field(where, about, "answer", "").strip() or None
        stands_there = "answer_start" in about
        yield Question(
            query,
            text,
            grades.get(query, {}),
            phrase=answer if stands_there else None,
            reference=None if stands_there else answer,
        )


def _notes(
    texts: Mapping[str, str], grades: Mapping[str, Mapping[str, float]], kept: tuple[Question, ...]
) -> Iterator[str]:
    if unasked := len(texts) - len(kept):
        yield f"{unasked:,} queries have nothing relevant, or no text, and are not asked."
    if unknown := len(grades.keys() - texts.keys()):
        yield f"{unknown:,} judged queries are not in {QUERIES}."
    if cut := sum(len(text) > MAX_QUERY_CHARS for text in texts.values()):
        yield f"{cut:,} queries are longer than {MAX_QUERY_CHARS:,} characters and are cut."


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _write_page(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
