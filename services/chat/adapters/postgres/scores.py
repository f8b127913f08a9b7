"""Scores of answers (table scores; messages and chunks read only), behind the port ScoreStore."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from services.chat.adapters.postgres import conversation_statements as statements
from services.chat.adapters.postgres.rows import message_of
from services.chat.faithfulness import Score, ToScore, Wanted
from shared.contracts.search import Passage
from shared.postgres.pool import Pool, translated


class PostgresScores:
    """Implements ScoreStore. The evaluator's version stands in the score's details."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def to_score(self, vault_id: str, wanted: Wanted, after: int, limit: int) -> Sequence[ToScore]:
        """See ScoreStore.to_score."""
        with translated("looking for answers without a score"):
            rows = await self._pool.fetch(statements.TO_SCORE, *_asked(vault_id, wanted), after, limit)
        return [ToScore(row["conversation_id"], row["ordinal"], message_of(row)) for row in rows]

    async def count(self, vault_id: str, wanted: Wanted) -> int:
        """See ScoreStore.count."""
        with translated("counting answers without a score"):
            return await self._pool.fetchval(statements.COUNT_TO_SCORE, *_asked(vault_id, wanted))

    async def keep(self, message_id: UUID, score: Score) -> None:
        """See ScoreStore.keep."""
        values = (message_id, score.faithfulness, score.judge, dict(score.details), score.evaluator)
        with translated("storing a score"):
            await self._pool.execute(statements.SCORE, *values)

    async def passages(self, vault_id: str, passages: Collection[Passage]) -> Mapping[UUID, str]:
        """See ScoreStore.passages."""
        wanted = {passage.chunk_id: passage.content_hash for passage in passages}
        with translated("reading passages"):
            rows = await self._pool.fetch(statements.PASSAGES, vault_id, list(wanted))
        return {row["chunk_id"]: row["text"] for row in rows if row["content_hash"] == wanted[row["chunk_id"]]}


def _asked(vault_id: str, wanted: Wanted) -> tuple[object, ...]:
    return vault_id, wanted.conversation_id, wanted.evaluator, wanted.judged
