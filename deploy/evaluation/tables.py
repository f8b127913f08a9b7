"""What a set came to, as text and rows: the same on the screen and in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deploy.evaluation.comparing import Difference
from deploy.evaluation.intervals import Estimate
from deploy.evaluation.opening import IngestedSet
from deploy.evaluation.running import SetOutcome
from deploy.evaluation.scoring import Score

_DECISIVE = {"pages": ("nDCG@10",), "answers": ("nDCG@10", "recall@20"), "spans": ("span IoU", "span recall")}
"""Measures whose differences are shown; the JSON has all."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A table: headings, how many columns at its left hold words, and rows of as many cells."""

    headings: tuple[str, ...]
    words: int
    rows: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Section:
    """All that is shown of a set."""

    name: str
    facts: str
    tables: tuple[Rows, ...]
    """Some may have no rows."""
    remarks: tuple[str, ...]
    """What a reader has to know before trusting the figures."""


def section(outcome: SetOutcome) -> Section:
    """Return what is shown of a set's retrieval."""
    tables = (means(outcome), differences(outcome))
    judged = outcome.about.judged
    return Section(judged.name, facts(outcome.about, len(judged.questions)), tables, tuple(remarks(outcome)))


def facts(about: IngestedSet, questions: int) -> str:
    """Return what was asked of what, in one line."""
    status = about.status
    spaces = ", ".join(space.name for space in status.spaces if space.live)
    return (
        f"{questions:,} questions; {status.pages:,} pages, {status.chunks:,} chunks, "
        f"{status.text_bytes / 1e6:.1f} MB of text; space {spaces}; {_ingest(about)}"
    )


def means(outcome: SetOutcome) -> Rows:
    """Return one row per variant and kind of question: means with their intervals, and times."""
    names = list(
        dict.fromkeys(name for score in outcome.scores.values() for kind in score.by_kind.values() for name in kind)
    )
    return Rows(
        ("profile", "depth", "k", "questions", *names, "p50 ms", "p99 ms"),
        4,
        [
            (
                variant.profile,
                str(variant.depth),
                str(variant.k),
                kind_cell(kind, estimates),
                *(with_interval(estimates.get(name)) for name in names),
                f"{score.latency.p50_ms:.1f}",
                f"{score.latency.p99_ms:.1f}",
            )
            for variant, score in outcome.scores.items()
            for kind, estimates in score.by_kind.items()
        ],
    )


def differences(outcome: SetOutcome) -> Rows:
    """Return one row per comparison of two variants, for the measures that decide."""
    shown = _DECISIVE[outcome.about.judged.measure]
    found = [each for each in outcome.differences if each.measure in shown]
    return Rows(("compared", "questions", "measure", "difference", "verdict"), 3, [_row(each) for each in found])


def remarks(outcome: SetOutcome) -> list[str]:
    """Return what a reader has to know before trusting the figures."""
    found = list(outcome.about.notes)
    found += [f"{variant.label}: not measured: {why}" for variant, why in outcome.failures.items()]
    for variant, score in outcome.scores.items():
        found += [f"{variant.label}: {remark}" for remark in _conduct(score, variant.depth)]
    return found


def _ingest(about: IngestedSet) -> str:
    if about.ingest is None:
        return "ingested in several goes"
    when = "" if about.ingested_now else " by an earlier run"
    return f"ingested{when} in {about.ingest.embedded_s:.0f} s, found by words after {about.ingest.searchable_s:.1f} s"


def kind_cell(kind: str, estimates: Mapping[str, Estimate]) -> str:
    """Return a kind of question with how many of it were judged."""
    return f"{kind} ({max((each.questions for each in estimates.values()), default=0):,})"


def with_interval(estimate: Estimate | None) -> str:
    """Return a figure with its interval; nothing for none."""
    if estimate is None:
        return ""
    return f"{estimate.mean:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _row(each: Difference) -> tuple[str, ...]:
    estimate = each.difference
    return (
        f"{each.of.label} over {_rest(each)}",
        each.kind,
        each.measure,
        f"{estimate.mean:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]",
        each.verdict,
    )


def _rest(each: Difference) -> str:
    return f"depth {each.over.depth}" if each.of.profile == each.over.profile else each.over.profile


def _conduct(score: Score, depth: int) -> Iterator[str]:
    conduct = score.conduct
    counts = {
        "found nothing": conduct.empty,
        "were cut short by the deadline": conduct.truncated,
        "fell back to another profile": conduct.degraded,
        "had something dropped by the budget": conduct.dropped,
    }
    yield from (f"{count:,} replies {what}." for what, count in counts.items() if count)
    if depth:
        yield f"the page graph added something to {conduct.expanded:,} replies."
    if score.separation is not None:
        yield f"the best similarity tells answerable from unanswerable questions in {score.separation:.0%} of pairs."
