"""All that a run came to, as JSON for programs and Markdown for people; written anew after every set."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from deploy.evaluation.answers.running import AnswersOutcome
from deploy.evaluation.answers.scoring import AnswerScore
from deploy.evaluation.answers.tables import answers_section
from deploy.evaluation.intervals import CONFIDENCE, RESAMPLES, SEED
from deploy.evaluation.machine import Machine, this_machine
from deploy.evaluation.markdown import as_markdown
from deploy.evaluation.running import SetOutcome
from deploy.evaluation.scoring import Score
from deploy.evaluation.tables import Section, section


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
    answers: list[AnswersOutcome] = field(default_factory=list[AnswersOutcome])
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

    @property
    def sections(self) -> list[Section]:
        """What is shown of every set, in the order of the sets; of retrieval before answers."""
        return [*map(section, self.outcomes), *map(answers_section, self.answers)]

    def lacks(self, profiles: Collection[str]) -> bool:
        """Say whether one of these profiles could not be measured on some set."""
        outcomes = (*self.outcomes, *self.answers)
        return any(variant.profile in profiles for outcome in outcomes for variant in outcome.failures)

    def files(self, folder: Path) -> tuple[Path, Path]:
        """Return where the report is written to: `<time>.json` and `<time>.md`."""
        stem = f"{self.began:%Y-%m-%dT%H%M%SZ}"
        return folder / f"{stem}.json", folder / f"{stem}.md"

    def write(self, folder: Path) -> None:
        """Write both files into a folder, made where missing."""
        folder.mkdir(parents=True, exist_ok=True)
        as_json, as_text = self.files(folder)
        as_json.write_text(json.dumps(self.content(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        as_text.write_text(as_markdown(self.circumstances, self.sections, self.failures), encoding="utf-8")

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
            "answers": [_answers(outcome) for outcome in self.answers],
            "failures": self.failures,
        }


def _set(outcome: SetOutcome) -> dict[str, object]:
    return {
        **_about(outcome),
        "measure": outcome.about.judged.measure,
        "questions": len(outcome.about.judged.questions),
        "variants": [{**asdict(variant), **_score(score)} for variant, score in outcome.scores.items()],
        "differences": [{**asdict(each), "verdict": each.verdict} for each in outcome.differences],
    }


def _answers(outcome: AnswersOutcome) -> dict[str, object]:
    return {
        **_about(outcome),
        "questions": len(outcome.asked),
        "variants": [{**asdict(variant), **_answer_score(score)} for variant, score in outcome.scores.items()],
    }


def _about(outcome: SetOutcome | AnswersOutcome) -> dict[str, object]:
    about, status = outcome.about, outcome.about.status
    return {
        "name": about.judged.name,
        "vault": {
            "pages": status.pages,
            "chunks": status.chunks,
            "text_bytes": status.text_bytes,
            "rejected": status.rejected_count,
            "spaces": [space.model_dump(mode="json") for space in status.spaces],
        },
        "ingest": None if about.ingest is None else asdict(about.ingest),
        "ingested_now": about.ingested_now,
        "notes": list(about.notes),
        "not_measured": [{**asdict(variant), "why": why} for variant, why in outcome.failures.items()],
    }


def _score(score: Score) -> dict[str, object]:
    return {
        **_means(score),
        "separation": score.separation,
        "latency": asdict(score.latency),
        "replies": asdict(score.conduct),
    }


def _answer_score(score: AnswerScore) -> dict[str, object]:
    return {
        **_means(score),
        "refusals": None if score.refusals is None else asdict(score.refusals),
        "times": {name: asdict(time) for name, time in score.times.items()},
        "turns": asdict(score.conduct),
        "texts": dict(score.texts),
        "answered_by": list(score.answered_by),
    }


def _means(score: Score | AnswerScore) -> dict[str, object]:
    return {
        "means": {
            kind: {measure: asdict(mean) for measure, mean in means.items()} for kind, means in score.by_kind.items()
        },
        "by_question": {question: dict(values) for question, values in score.by_question.items()},
    }
