"""All that a run came to, as JSON for programs and Markdown for people; written anew after every set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from deploy.evaluation.intervals import CONFIDENCE, RESAMPLES, SEED
from deploy.evaluation.machine import Machine, this_machine
from deploy.evaluation.markdown import as_markdown
from deploy.evaluation.running import SetOutcome
from deploy.evaluation.scoring import Score


@dataclass(slots=True)
class Report:
    """Grows set by set."""

    embedding: Mapping[str, object]
    """Settings of the embedder, without secrets."""
    concurrency: int
    """Questions that were on their way at once."""
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    machine: Machine = field(default_factory=this_machine)
    outcomes: list[SetOutcome] = field(default_factory=list[SetOutcome])
    failures: dict[str, str] = field(default_factory=dict[str, str])
    """Sets that could not be run, and why."""

    @property
    def circumstances(self) -> str:
        """How it was measured, in a few sentences."""
        at_once = "one question at a time" if self.concurrency == 1 else f"{self.concurrency} questions at once"
        return (
            f"{self.machine.sentence}. Means with their 95 % intervals (bootstrap over the questions). Times are from "
            f"a client's request to the reply, {at_once}, with all services in the client's process."
        )

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Return where the report is written to: `<time>.json` and `<time>.md`."""
        stem = f"{self.began:%Y-%m-%dT%H%M%SZ}"
        return folder / f"{stem}.json", folder / f"{stem}.md"

    def write(self, folder: Path) -> None:
        """Write both files into a folder, made where missing."""
        folder.mkdir(parents=True, exist_ok=True)
        as_json, as_text = self.files(folder)
        as_json.write_text(json.dumps(self.content(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        as_text.write_text(as_markdown(self.circumstances, self.outcomes, self.failures), encoding="utf-8")

    def content(self) -> dict[str, object]:
        """Return the JSON document."""
        return {
            "type": "citebus.evaluation.report.v1",
            "began": self.began.isoformat(),
            "machine": asdict(self.machine),
            "embedding": dict(self.embedding),
            "concurrency": self.concurrency,
            "interval": {"method": "bootstrap", "confidence": CONFIDENCE, "resamples": RESAMPLES, "seed": SEED},
            "sets": [_set(outcome) for outcome in self.outcomes],
            "failures": self.failures,
        }


def _set(outcome: SetOutcome) -> dict[str, object]:
    status, judged = outcome.status, outcome.judged
    return {
        "name": judged.name,
        "measure": judged.measure,
        "questions": len(judged.questions),
        "vault": {
            "pages": status.pages,
            "chunks": status.chunks,
            "text_bytes": status.text_bytes,
            "rejected": status.rejected_count,
            "spaces": [space.model_dump(mode="json") for space in status.spaces],
        },
        "ingest": None if outcome.ingest is None else asdict(outcome.ingest),
        "ingested_now": outcome.ingested_now,
        "notes": list(outcome.notes),
        "variants": [{**asdict(variant), **_score(score)} for variant, score in outcome.scores.items()],
        "not_measured": [{**asdict(variant), "why": why} for variant, why in outcome.failures.items()],
        "differences": [{**asdict(each), "verdict": each.verdict} for each in outcome.differences],
    }


def _score(score: Score) -> dict[str, object]:
    return {
        "means": {
            kind: {measure: asdict(mean) for measure, mean in means.items()} for kind, means in score.by_kind.items()
        },
        "separation": score.separation,
        "latency": asdict(score.latency),
        "replies": asdict(score.conduct),
        "by_question": {question: dict(values) for question, values in score.by_question.items()},
    }
