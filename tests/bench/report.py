"""The table for people and the JSON for comparisons."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from shared.version import VERSION
from tests.bench.figures import Figure
from tests.bench.machine import Surroundings
from tests.bench.scenario import Scale

_STYLES = {"goal": "green", "ok": "green", "MISS": "bold red", "": ""}


@dataclass(slots=True)
class Report:
    """What all scenarios of one run came to."""

    scale: Scale
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    figures: dict[str, list[Figure]] = field(default_factory=dict[str, list[Figure]])
    surroundings: list[Surroundings] = field(default_factory=list[Surroundings])
    failures: dict[str, str] = field(default_factory=dict[str, str])

    def show(self, console: Console) -> None:
        """Print all tables."""
        console.print(_figures_table([figure for figures in self.figures.values() for figure in figures]))
        if self.surroundings:
            console.print(_machine_table(self.surroundings))
        for name, why in self.failures.items():
            console.print(f"{name} could not be measured: {why}", style="bold red", markup=False)

    def write(self, path: Path | None) -> Path:
        """Write the JSON, to `bench-results/<time>.json` unless told where; return where."""
        path = path or Path("bench-results") / f"{self.began:%Y-%m-%dT%H%M%SZ}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self._content(), indent=2, default=_plain) + "\n")
        return path

    def _content(self) -> dict[str, object]:
        figures = [
            {"scenario": name, **asdict(figure), "verdict": figure.verdict}
            for name, figures in self.figures.items()
            for figure in figures
        ]
        return {
            "version": VERSION,
            "began": self.began.isoformat(),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "scale": asdict(self.scale),
            "figures": figures,
            "surroundings": [asdict(each) for each in self.surroundings],
            "failures": self.failures,
        }


def _figures_table(figures: Sequence[Figure]) -> Table:
    table = Table("work", box=box.SIMPLE, header_style="bold")
    for heading in ("must", "goal", "measured"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("note")
    for figure in figures:
        must, goal = ("", "") if figure.bar is None else (_short(figure.bar.must), _short(figure.bar.goal))
        measured = f"{_short(figure.measured)} {figure.unit}"
        table.add_row(figure.work, must, goal, measured, figure.verdict, figure.note, style=_STYLES[figure.verdict])
    return table


def _machine_table(surroundings: Sequence[Surroundings]) -> Table:
    table = Table("circumstances", box=box.SIMPLE, header_style="bold")
    for heading in ("load before", "others, cores", "Python, M steps/s", "fsync p50, ms", "NATS p50/p99, ms"):
        table.add_column(heading, justify="right")
    for each in surroundings:
        floor = each.floor
        table.add_row(
            each.scenario,
            f"{each.load_average:.1f} / {each.cores}",
            f"{each.others_cores:.2f}",
            f"{floor.python_mops:.1f}",
            f"{floor.fsync_p50_ms:.2f}",
            f"{floor.nats_p50_ms:.2f} / {floor.nats_p99_ms:.2f}",
        )
    return table


def _short(number: float) -> str:
    """Return three digits, without an exponent."""
    if number == float("inf"):
        return ""
    return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"


def _plain(value: object) -> str:
    return str(value)
