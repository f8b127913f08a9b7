"""Thresholds of evidence (table evidence_thresholds), behind the ports Thresholds and ThresholdStore."""

from __future__ import annotations

from collections.abc import Sequence

from shared.contracts.calibration import Calibration
from shared.postgres.pool import Pool, translated

_THRESHOLD = """
SELECT threshold FROM evidence_thresholds WHERE vault_id = $1 AND space = $2 AND measure = $3
"""

_FORGET = "DELETE FROM evidence_thresholds WHERE vault_id = $1 AND space = $2"

_RECORD = """
INSERT INTO evidence_thresholds (vault_id, space, measure, threshold, measured) VALUES ($1, $2, $3, $4, $5)
"""


class PostgresThresholds:
    """Implements Thresholds and ThresholdStore."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def threshold(self, vault_id: str, space: str, measure: str) -> float | None:
        """See Thresholds.threshold."""
        with translated("reading a threshold of evidence"):
            return await self._pool.fetchval(_THRESHOLD, vault_id, space, measure)

    async def record(self, vault_id: str, space: str, calibrations: Sequence[Calibration]) -> None:
        """See ThresholdStore.record."""
        rows = [(vault_id, space, each.measure, each.threshold, each.model_dump(mode="json")) for each in calibrations]
        with translated("recording thresholds of evidence"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(_FORGET, vault_id, space)
                await connection.executemany(_RECORD, rows)
