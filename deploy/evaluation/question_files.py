"""A file of questions over a vault: a JSON list of `{id, kind, question, pages, phrase}`.

`pages` are the paths of all pages that an answer needs; a question without any can't be answered from the vault.
`phrase` (or null) are words of the answer as they stand on a page: found in the reply's text, the answer was retrieved.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deploy.evaluation.questions import Question
from deploy.evaluation.reading import as_list, id_field, json_list, text_field
from shared.errors import InvalidInput
from shared.ids import normal_path


def read_question_file(path: Path) -> tuple[Question, ...]:
    """Return the questions; raises InvalidInput, naming the entry, when one is not as said above, or none is there."""
    questions = tuple(_question(where, row) for where, row in json_list(path))
    if not questions:
        raise InvalidInput(f"{path} holds no question")
    if len({question.id for question in questions}) < len(questions):
        raise InvalidInput(f"{path}: two questions have the same id")
    return questions


def _question(where: str, row: Mapping[str, object]) -> Question:
    pages = as_list(where, row, "pages")
    if not all(isinstance(page, str) and page for page in pages):
        raise InvalidInput(f'{where}: "pages" holds something that is no path')
    text = text_field(where, row, "question")
    if not text.strip():
        raise InvalidInput(f'{where}: "question" is blank')
    return Question(
        id=id_field(where, row, "id"),
        text=text,
        grades={normal_path(str(page)): 1.0 for page in pages},
        kind=text_field(where, row, "kind", "all"),
        phrase=text_field(where, row, "phrase", "") or None,
    )
