"""The offline provider: answers with the best sentences of the passages, each with its number, in their own words.

Needs no key and no network, and answers the same question over the same passages the same way. It writes sentence by
sentence; where the passages don't answer, it says so in the question's language and cites nothing. It never copies
anything that looks like a citation: its own numbers are the only ones.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from decimal import Decimal

from services.chat.code_regions import CodeRegions
from services.chat.marker_grammar import OPENING
from services.chat.provider import ChatMessage, Delta, Finished, ProviderEvent, Usage
from services.chat.refusals import refusal_text
from services.chat.sentence_choice import choose
from services.chat.sentence_ranking import Ranked, SentenceRanker
from services.chat.untrusted import unblocked
from shared.contracts.search import SearchReply
from shared.tokens import estimate_tokens

_JOINER = "\u2060"
_LOOKS_LIKE_A_MARKER = re.compile(rf"[{re.escape(OPENING)}](?=[ \t\u00a0\[]*\d)")


class ExtractiveProvider:
    """Implements ChatProvider."""

    def __init__(self, ranker: SentenceRanker) -> None:
        """`ranker` may be shared with the evidence gate, which then has done the work already."""
        self._ranker = ranker

    @property
    def name(self) -> str:
        """The adapter."""
        return "extractive"

    @property
    def model(self) -> str:
        """What compares question and sentence."""
        return self._ranker.name

    async def chat(self, messages: Sequence[ChatMessage], context: SearchReply) -> AsyncGenerator[ProviderEvent]:
        """See ChatProvider.chat. Raises nothing."""
        question = asked(messages, context)
        ranking = await self._ranker.ranking(question, context)
        chosen = choose(ranking)
        written = 0
        for piece in _pieces(chosen, question):
            written += estimate_tokens(piece)
            yield Delta(piece)
        read = estimate_tokens(context.text) + estimate_tokens(question)
        reason = "stop" if chosen else "refused"
        yield Finished(reason, Usage(read, written, counted=True, cost=Decimal(0)), self.model)

    async def aclose(self) -> None:
        """Nothing to release: who made the ranker's scorer closes it."""


def asked(messages: Sequence[ChatMessage], context: SearchReply) -> str:
    """Return the question: the last message's, and if the search made it standalone, as that has it."""
    last = next((message.content for message in reversed(messages) if message.role == "user"), "")
    question = unblocked("question", last) or last.strip()
    return context.query if not question or context.query.startswith(question) else question


def _pieces(chosen: Sequence[Ranked], question: str) -> list[str]:
    """Return the answer in pieces, one for each unit, with what divides it from the one before."""
    if not chosen:
        return [refusal_text("weak_evidence", question)]
    pieces: list[str] = []
    before: Ranked | None = None
    for ranked in chosen:
        pieces.append(_divider(before, ranked) + _cited(ranked, listed=len(chosen) > 1))
        before = ranked
    return pieces


def _divider(before: Ranked | None, ranked: Ranked) -> str:
    if before is None:
        return ""
    if "code" in {before.unit.kind, ranked.unit.kind}:
        return "\n\n"
    return (
        "\n" if "row" in {before.unit.kind, ranked.unit.kind} or "item" in {before.unit.kind, ranked.unit.kind} else " "
    )


def _cited(ranked: Ranked, *, listed: bool) -> str:
    if ranked.unit.kind == "code":
        about = ranked.unit.headings[-1] if ranked.unit.headings else ranked.title[0]
        return f"{harmless_markers(about)} [{ranked.n}]:\n\n{ranked.unit.text}"
    bullet = "- " if listed and ranked.unit.kind in {"row", "item"} else ""
    return f"{bullet}{harmless_markers(_closed(ranked.unit.text))} [{ranked.n}]"


def _closed(text: str) -> str:
    """Return the text without backticks if they would make code of what follows."""
    regions = CodeRegions()
    for character in text:
        regions.feed(character)
    return text.replace("`", "") if regions.in_code(" ") else text


def harmless_markers(text: str) -> str:
    """Return text in which no bracket before a number can be taken for a citation; it reads the same."""
    return _LOOKS_LIKE_A_MARKER.sub(lambda bracket: bracket.group() + _JOINER, text)
