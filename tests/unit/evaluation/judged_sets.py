"""Small judged sets on disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


def write_beir(
    folder: Path,
    documents: Mapping[str, tuple[str, str]],
    queries: Mapping[str, str] | None = None,
    grades: Mapping[tuple[str, str], int] | None = None,
) -> Path:
    """Write documents (id to title and text), queries and grades (query and document to grade); return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [{"_id": each, "title": title, "text": text} for each, (title, text) in documents.items()]
    asked = [{"_id": each, "text": text} for each, text in (queries or {}).items()]
    judged = [f"{query}\t{document}\t{grade}" for (query, document), grade in (grades or {}).items()]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n")
    return folder


def write_spans(folder: Path, files: Mapping[str, str], questions: Sequence[Mapping[str, object]]) -> Path:
    """Write files and questions with gold spans; return the folder."""
    (folder / "corpora").mkdir(parents=True)
    for name, text in files.items():
        (folder / "corpora" / name).write_text(text)
    (folder / "questions_spans.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
    return folder
