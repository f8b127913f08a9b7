"""Questions made of the titles of a set's documents, for a set whose own questions have no answers to hold against."""

from __future__ import annotations

from pathlib import Path

from deploy.evaluation.beir import CORPUS, MAX_QUERY_CHARS
from deploy.evaluation.questions import Question
from deploy.evaluation.reading import id_field, json_lines, text_field
from shared.errors import InvalidInput

TITLE = "title"
"""Kind of such questions."""


def read_title_questions(folder: Path) -> tuple[Question, ...]:
    """Return `What is known about TITLE?` for each title, answered by all documents that bear it, in their order.

    Raises InvalidInput, naming file and line, when the corpus is missing or wrong, or no document has a title.
    """
    documents: dict[str, list[str]] = {}
    for where, row in json_lines(folder / CORPUS):
        title = " ".join(text_field(where, row, "title", "").split()).strip(" .")
        if title:
            documents.setdefault(title, []).append(id_field(where, row, "_id"))
    if not documents:
        raise InvalidInput(f"{folder / CORPUS}: no document has a title")
    return tuple(
        Question(
            id=f"title of {ids[0]}",
            text=f"What is known about {title}?"[:MAX_QUERY_CHARS],
            grades=dict.fromkeys(ids, 1.0),
            kind=TITLE,
        )
        for title, ids in documents.items()
    )
