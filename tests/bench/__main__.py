"""`python -m tests.bench`: measures what was asked, prints tables, writes JSON.

Exit codes: 0 measured, whatever came out; 1 something could not be measured; 2 asked wrongly; 130 Ctrl-C, after which
what was measured until then is printed, and nothing is left running.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import structlog
from rich.console import Console

from shared.errors import CitebusError
from tests.bench import bursts, cold_ingest, edits, searches, sweep
from tests.bench.figures import BenchFailed
from tests.bench.report import Report
from tests.bench.scenario import Measure, Run, Scale, scenario_folder

SCENARIOS: dict[str, Measure] = {
    "cold": cold_ingest.measure,
    "sweep": sweep.measure,
    "sweep-large": sweep.measure_large,
    "edit": edits.measure,
    "edit-large": edits.measure_large,
    "edit-backlog": edits.measure_behind_backlog,
    "burst": bursts.measure_burst,
    "rename": bursts.measure_rename,
    "search": searches.measure,
}
"""Name on the command line to what it measures; each starts a stack of its own."""

_PIPED_WIDTH = 150
"""Columns of the tables when nobody's terminal says how wide it is."""

SKIPPED_WHEN_QUICK = frozenset({"edit-large"})


def main(arguments: Sequence[str]) -> int:
    """Measure; return the exit code."""
    asked = _parser().parse_args(arguments)
    scale = Scale(files=asked.files, chunks=asked.chunks)
    report = Report(scale.quick() if asked.quick else scale)
    names = asked.only or [name for name in SCENARIOS if not (asked.quick and name in SKIPPED_WHEN_QUICK)]
    console = Console() if sys.stdout.isatty() else Console(width=_PIPED_WIDTH)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        for name in names:
            asyncio.run(_measure(name, report, asked.dir, Console(stderr=True)))
    except KeyboardInterrupt:
        report.show(console)
        return 130
    report.show(console)
    console.print(f"written to {report.write(asked.json)}", markup=False)
    return 1 if report.failures else 0


async def _measure(name: str, report: Report, parent: Path | None, progress: Console) -> None:
    with scenario_folder(parent) as folder:
        run = Run(name, report.scale, folder, lambda said: progress.print(f"{name}: {said}", markup=False))
        try:
            report.figures[name] = await SCENARIOS[name](run)
        except (BenchFailed, CitebusError, TimeoutError) as error:
            report.failures[name] = str(error) or "it took too long"
        report.surroundings += run.surroundings


def _parser() -> argparse.ArgumentParser:
    usual = Scale()
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure speed and memory of citebus.")
    parser.add_argument("--files", type=_count, default=usual.files, help="files of the vault [%(default)s]")
    parser.add_argument("--chunks", type=_count, default=usual.chunks, help="chunks to search in [%(default)s]")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=SCENARIOS, help=f"of {', '.join(SCENARIOS)}")
    parser.add_argument("--quick", action="store_true", help="small: does the bench work?")
    parser.add_argument("--json", type=Path, help="where to write [bench-results/<time>.json]")
    parser.add_argument("--dir", type=Path, help="on which disk to work: a folder for temporary ones")
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 100:
        raise argparse.ArgumentTypeError("at least 100")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
