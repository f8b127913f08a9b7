"""Measures of one answer against what is known of its question. Pure but for reading the cited pages.

A cited sentence *holds* when a passage that it cites entails it: the service calls it a quote and its words stand in
the passage, as this module looks for itself; else, when it cites a page that answers the question and most of its words
stand in what answers there. After ALCE (Gao et al., Enabling Large Language Models to Generate Text with Citations,
2023), with quotes and gold passages in place of a model that judges entailment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deploy.evaluation.answers.asking import Told, Use
from deploy.evaluation.answers.library import Library
from deploy.evaluation.answers.words import holds, share_within, words_of
from deploy.evaluation.questions import Question
from deploy.evaluation.spans import merged

ANSWERED = "answered"
PRECISION = "citation precision"
CITED_TEXT = "cited text"
RECALL = "citation recall"
PAGES = "pages cited"
ON_GOLD = "on gold"
ACCURACY = "accuracy"
REFERENCE = "reference words"

_QUOTED = 0.95
"""Of a quote's words: the rest may be a heading that it was given, or a word that markup cuts in two."""

_MOST = 0.6
"""Of a sentence's words in what answers the question: half are found anywhere in a language."""

_WORD_LETTERS = 4
"""Shorter words of a reference (the, und, les) stand everywhere; numbers count whatever their length."""


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with all that it cites."""

    start: int
    end: int
    text: str
    documents: frozenset[str]
    holds: bool
    false_quote: bool
    """The service calls it a quote, yet its words do not stand in what it cites."""


def cited_sentences(question: Question, told: Told, library: Library) -> list[CitedSentence]:
    """Return the answer's cited sentences in order."""
    places: dict[tuple[int, int], list[Use]] = {}
    for use in told.uses:
        places.setdefault((use.start, use.end), []).append(use)
    return [_cited_sentence(question, told, uses, library) for _, uses in sorted(places.items())]


def judge(question: Question, told: Told, sentences: Sequence[CitedSentence]) -> dict[str, float]:
    """Return the measures of one answer, each 0 to 1; those that make no sense for it are left out.

    A question that nothing answers has only ANSWERED. One that was refused, or failed, has no citations to judge, and 0
    wherever the question should have been answered.
    """
    values = {ANSWERED: float(told.answered)}
    if not question.grades:
        return values
    values[RECALL] = float(told.answered and any(_helps(question, each) for each in sentences))
    if question.phrase and len(question.grades) > 1:  # known word for word: pages that it needs, not alternatives
        values[PAGES] = _pages_cited(question, sentences) if told.answered else 0.0
    if question.phrase:
        values[ACCURACY] = float(told.answered and any(_says(question, question.phrase, each) for each in sentences))
    if question.reference:
        values[REFERENCE] = _reference_share(question.reference, told.text) if told.answered else 0.0
    return values | (_of_citations(question, told, sentences) if told.answered else {})


def _of_citations(question: Question, told: Told, sentences: Sequence[CitedSentence]) -> dict[str, float]:
    values = {CITED_TEXT: _cited_text(told, sentences)}
    if sentences:
        values[PRECISION] = sum(each.holds for each in sentences) / len(sentences)
        on_gold = [not each.documents.isdisjoint(question.grades) for each in sentences]
        values[ON_GOLD] = sum(on_gold) / len(on_gold)
    return values


def _helps(question: Question, sentence: CitedSentence) -> bool:
    """Say whether a sentence cites a page that answers the question, or holds the words of the answer itself."""
    if not sentence.documents.isdisjoint(question.grades):
        return True
    return question.phrase is not None and sentence.holds and holds(sentence.text, question.phrase)


def _pages_cited(question: Question, sentences: Sequence[CitedSentence]) -> float:
    """Return the share of the pages which an answer needs that are cited."""
    cited = {document for sentence in sentences for document in sentence.documents}
    return len(cited & question.grades.keys()) / len(question.grades)


def _says(question: Question, phrase: str, sentence: CitedSentence) -> bool:
    """Say whether the answer stands in a sentence that cites a page which has it: a short one may stand anywhere."""
    return not sentence.documents.isdisjoint(question.grades) and holds(sentence.text, phrase)


def _cited_text(told: Told, sentences: Sequence[CitedSentence]) -> float:
    """Return the share of the answer's words that stand in sentences which hold."""
    whole = len(words_of(_without_markers(told.text, told)))
    within = merged([(each.start, each.end) for each in sentences if each.holds])
    counted = sum(len(words_of(_without_markers(told.text[start:end], told))) for start, end in within)
    return min(1.0, counted / whole) if whole else 0.0


def _without_markers(text: str, told: Told) -> str:
    """Return a part of the answer without its numbers, which may stand before a colon, within a sentence's range."""
    for n in {use.n for use in told.uses}:
        text = text.replace(f"[{n}]", " ")
    return text


def _reference_share(reference: str, text: str) -> float:
    """Return the share of a reference's telling words that the answer has (ROUGE-1 recall without short words)."""
    telling = {word for word in words_of(reference) if len(word) >= _WORD_LETTERS or word.isdigit()}
    return len(telling & set(words_of(text))) / len(telling) if telling else 0.0


def _cited_sentence(question: Question, told: Told, uses: Sequence[Use], library: Library) -> CitedSentence:
    start, end = uses[0].start, uses[0].end
    text = _without_markers(told.text[start:end], told)
    known = [use for use in uses if use.n in told.given]
    quotes = [use for use in known if use.support == "quoted"]
    true_quotes = [use for use in quotes if _stands_in(text, use, told, library)]
    documents = frozenset(library.document(told.given[use.n]) for use in known)
    return CitedSentence(
        start=start,
        end=end,
        text=text,
        documents=documents,
        holds=bool(true_quotes) or _near_gold(question, text, documents, library),
        false_quote=len(true_quotes) < len(quotes),
    )


def _stands_in(text: str, use: Use, told: Told, library: Library) -> bool:
    cited = library.cited(told.given[use.n])
    return holds(cited, text) or share_within(text, f"{told.given[use.n].ref.title}\n{cited}") >= _QUOTED


def _near_gold(question: Question, text: str, documents: frozenset[str], library: Library) -> bool:
    gold = "\n".join(_gold(question, library.text(each)) for each in documents & question.grades.keys())
    return share_within(text, gold) >= _MOST


def _gold(question: Question, page: str) -> str:
    """Return the lines of a page that hold the answer; the whole page where that is not known."""
    if question.phrase is None:
        return page
    lines = [line for line in page.splitlines() if holds(line, question.phrase)]
    return "\n".join(lines) or page
