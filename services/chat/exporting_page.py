"""A stored answer as a page of the wiki: its citations as footnotes with wikilinks, which become links of the graph.

Pure. The page's `sources` are the pages that the answer uses, so it shares edges with what rests on the same.
"""

from __future__ import annotations

import re
from uuid import UUID

from services.chat.exporting_footnotes import Label, lines_of, used_citations, with_footnote_marks
from services.chat.question import title_of
from shared.contracts.conversations import SaveRequest
from shared.contracts.saving import SaveTextRequest
from shared.contracts.stored_turns import ChatTurn, StoredCitation
from shared.errors import InvalidInput

_MOST_BODY = 200_000
"""Characters that a page takes; see SaveTextRequest.body."""

_ENDS_A_LINK = re.compile(r"[\[\]|#^\n]+")


def page_request(conversation_id: UUID, turn: ChatTurn, request: SaveRequest) -> SaveTextRequest:
    """Return what the watcher is asked to write. Raises InvalidInput for an answer that is not whole or too long."""
    answer = turn.answer
    if answer.state != "done":
        raise InvalidInput(f"The answer of the turn {turn.turn_id} is {answer.state}: only a whole one becomes a page.")
    body = page_body(turn)
    if len(body) > _MOST_BODY:
        raise InvalidInput(f"The answer has {len(body):,} characters: a page takes {_MOST_BODY:,} of them.")
    return SaveTextRequest(
        title=request.title or title_of(turn.question.text),
        path=request.path,
        body=body,
        sources=tuple(dict.fromkeys(citation.path for citation in used_citations(answer)))[:100],
        question=turn.question.text,
        conversation_id=conversation_id,
        turn_id=turn.turn_id,
        message_id=answer.message_id,
        overwrite=request.overwrite,
    )


def page_body(turn: ChatTurn) -> str:
    """Return the answer with a footnote for each page that it uses."""
    label = _label(turn.answer.text)
    notes = "\n".join(_footnote(citation, label) for citation in used_citations(turn.answer))
    return f"{with_footnote_marks(turn.answer, label).strip()}\n\n{notes}".strip()


def _label(text: str) -> Label:
    """Return labels that are the citation's numbers, unless the answer has footnotes of its own."""
    return str if "[^" not in text else lambda n: f"source-{n}"


def _footnote(citation: StoredCitation, label: Label) -> str:
    target = citation.path.removesuffix(".md")
    title = " ".join(_ENDS_A_LINK.sub(" ", citation.ref.title).split()) or target
    linked = f"`{citation.path}`" if _ENDS_A_LINK.search(target) else f"[[{target}|{title}]]"
    return f"[^{label(citation.n)}]: {', '.join(part for part in (linked, lines_of(citation)) if part)}"
