"""`citebus calibrate`: from questions with and without an answer, when a vault should rather not answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from deploy.embedded.cli.chat_options import one_vault
from deploy.embedded.cli.options import AsJson, DataDir, VaultName
from deploy.embedded.cli.screen import open_table, printable
from deploy.embedded.cli.search import catch_up
from deploy.embedded.cli.session import folder_named, open_session
from deploy.embedded.cli.world import DONE, World, run
from deploy.evaluation.question_files import read_question_file
from shared.contracts.calibration import CalibrateReply, CalibrateRequest, CalibrationQuestion
from shared.errors import InvalidInput

Questions = Annotated[
    list[Path],
    typer.Option("--questions", exists=True, dir_okay=False, help="JSON file of questions; repeatable."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be recorded.")]
Profile = Annotated[str | None, typer.Option("--profile", show_default=False, help="Name of a retrieval profile.")]

MOST_QUESTIONS = 500
"""Of one calibration, as its contract has it."""

_MS_PER_QUESTION = 5_000
_LONGEST_MS = 600_000


def calibrate(  # noqa: PLR0913  (one parameter per option of the command line)
    context: typer.Context,
    data_dir: DataDir,
    *,
    questions: Questions,
    vault: VaultName = None,
    profile: Profile = None,
    dry_run: DryRun = False,
    json_output: AsJson = False,
) -> NoReturn:
    """Find from how much evidence on a question a vault answers, and record it: what is below is refused.

    A questions file is a JSON list of {id, kind, question, pages}: pages are the paths that the answer stands on, none
    where the vault has no answer. Some thirty of each kind, in the languages that people ask in, make a good threshold.

    \b
    Examples:
      citebus calibrate --vault orveig --questions questions.json
      citebus calibrate --questions questions.json --dry-run

    Exit codes: 0 calibrated, 1 the services do not answer, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        asked = read_questions(questions)
        deadline_ms = min(_LONGEST_MS, max(60_000, _MS_PER_QUESTION * len(asked)))
        request = CalibrateRequest(questions=asked, profile=profile, record=not dry_run, deadline_ms=deadline_ms)
        async with open_session(world, data_dir, folder_named(vault)) as session:
            vault_id = one_vault(session, vault)
            await catch_up(world, session, (vault_id,))
            reply = await session.client.calibrate(vault_id, request)
        if json_output:
            world.out.out(reply.model_dump_json(indent=2), highlight=False)
        else:
            show_calibration(world.out, vault_id, reply)
        return DONE

    run(context, work)


def read_questions(paths: Sequence[Path]) -> tuple[CalibrationQuestion, ...]:
    """Return the questions of all files. Raises InvalidInput: a file is no such list, or there are too many."""
    asked = tuple(
        CalibrationQuestion(question=each.text, answerable=bool(each.grades))
        for path in paths
        for each in read_question_file(path)
    )
    if not 1 < len(asked) <= MOST_QUESTIONS:
        raise InvalidInput(f"{len(asked)} questions: a calibration takes 2 to {MOST_QUESTIONS}")
    return asked


def show_calibration(console: Console, vault_id: str, reply: CalibrateReply) -> None:
    """Print one line per measure, and what became of it."""
    table = open_table(console, "measure", "threshold", "questions", "without answer", "refusal F1", "by default")
    for each in reply.calibrations:
        without = each.questions - each.answerable
        figures = (
            f"{each.threshold:.3f}",
            str(each.questions),
            str(without),
            f"{each.f1:.2f}",
            f"{each.f1_by_default:.2f}",
        )
        table.add_row(*map(printable, (each.measure, *figures)))
    console.print(table)
    state = "recorded for" if reply.recorded else "not recorded (--dry-run) for"
    console.print(printable(f"{state} vault {vault_id} in space {reply.space}"), soft_wrap=True)
