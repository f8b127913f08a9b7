"""Questions with gold spans over a few long files: `questions_spans.jsonl` beside the folder `corpora`.

A line is `{_id, text, file, spans: [{content, start_index, end_index}]}`, offsets in characters of the file, half-open.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deploy.evaluation.questions import Question
from deploy.evaluation.reading import as_list, as_object, id_field, json_lines, number_field, text_field
from deploy.evaluation.spans import Span
from services.ingest.text.decoding import decode
from shared.errors import InvalidInput
from shared.ids import normal_path

QUESTIONS = "questions_spans.jsonl"
FILES = "corpora"


def read_span_questions(folder: Path) -> tuple[Question, ...]:
    """Return the questions of a set.

    Raises InvalidInput, naming file and line, when something is missing, or a span is not what stands there.
    """
    texts: dict[str, str] = {}
    questions: list[Question] = []
    for where, row in json_lines(folder / QUESTIONS):
        name = text_field(where, row, "file")
        if name not in texts:
            texts[name] = _read(folder / FILES, name, where)
        spans = tuple(_span(where, as_object(where, each), name, texts[name]) for each in as_list(where, row, "spans"))
        if not spans:
            raise InvalidInput(f"{where}: no span")
        questions.append(Question(id_field(where, row, "_id"), text_field(where, row, "text"), spans=spans, kind=name))
    if not questions:
        raise InvalidInput(f"{folder / QUESTIONS} holds no question")
    return tuple(questions)


def _read(folder: Path, name: str, where: str) -> str:
    file = folder / name
    if not file.resolve().is_relative_to(folder.resolve()):
        raise InvalidInput(f"{where}: {name} is outside of {folder}")
    try:
        return decode(file.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{where}: {file} can't be read: {error.strerror}") from error


def _span(where: str, row: Mapping[str, object], name: str, text: str) -> Span:
    start, end = number_field(where, row, "start_index"), number_field(where, row, "end_index")
    if not start < end <= len(text):
        raise InvalidInput(f"{where}: the span {start} to {end} is not within {name}")
    content = text_field(where, row, "content", "")
    if content and text[start:end] != content:
        raise InvalidInput(f"{where}: characters {start} to {end} of {name} are not the span's content")
    return Span(normal_path(name), start, end)
