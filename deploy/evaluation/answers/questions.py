"""Which questions are asked to measure answers: the set's own ones, and as many that nothing can answer. Pure.

A set that has such questions itself gets no others. For any other set, each question is asked again without its pages,
which a filter takes out, or, where another set in the same language is run with it, every second one's place is taken
by one of that set's questions. A title's question can't be made so: other documents may well speak of the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from deploy.evaluation.questions import JudgedSet, Question
from deploy.evaluation.title_questions import TITLE

WITHHELD = "without its pages"
FOREIGN = "of another set"

_MOST_WITHHELD = 250
"""A filter may name 256 values."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is asked."""

    question: Question
    """Without grades: nothing that may be found answers it."""
    withheld: tuple[str, ...] = ()
    """Pages (NFC paths) that may not be found."""

    @property
    def answerable(self) -> bool:
        """Whether a page that may be found answers it."""
        return bool(self.question.grades)


def questions_to_ask(judged: JudgedSet, ids: Mapping[str, str], foreign: Sequence[Question]) -> tuple[Asked, ...]:
    """Return the set's questions, and behind them the unanswerable ones; `ids` names the documents by page."""
    own = tuple(Asked(question) for question in judged.questions if not question.spans)
    if any(not each.answerable for each in own):
        return own
    made = list(_made([each.question for each in own], ids, foreign))
    return (*own, *made)


def foreign_questions(judged: JudgedSet, sets: Sequence[JudgedSet]) -> tuple[Question, ...]:
    """Return questions of the other sets that are about other documents, in turn from each; not more than own ones."""
    others = [other.questions for other in sets if _is_foreign(judged, other)]
    in_turn = (question for question in chain.from_iterable(zip_longest(*others)) if question is not None)
    answered = [question for question in in_turn if question.grades]
    return tuple(answered[: len(judged.questions)])


def _is_foreign(judged: JudgedSet, other: JudgedSet) -> bool:
    """Say whether a set is in the same language, about other documents, and asks questions rather than titles."""
    (family, language), (other_family, other_language) = _named(judged), _named(other)
    titles = any(question.kind == TITLE for question in other.questions)
    return family != other_family and language == other_language and other.measure == "pages" and not titles


def _named(judged: JudgedSet) -> tuple[str, str]:
    """Return the name of a set's documents in any language, and their language: `xquad/de` is xquad in German."""
    family, _, language = judged.name.partition("/")
    return family, language or "en"


def _made(own: Sequence[Question], ids: Mapping[str, str], foreign: Sequence[Question]) -> Iterator[Asked]:
    pages: dict[str, list[str]] = {}
    for path, document in ids.items():
        pages.setdefault(document, []).append(path)
    left = iter(foreign)
    for number, question in enumerate(own):
        may_withhold = question.kind != TITLE and len(question.grades) <= _MOST_WITHHELD
        other = next(left, None) if number % 2 or not may_withhold else None
        if other is not None:
            yield Asked(replace(other, id=f"{other.id} ({FOREIGN})", grades={}, kind=FOREIGN))
        elif may_withhold:
            hidden = tuple(path for document in question.grades for path in pages.get(document, ()))
            yield Asked(replace(question, id=f"{question.id} ({WITHHELD})", grades={}, kind=WITHHELD), hidden)
