"""`citebus eval`: how good retrieval, or answers, are on judged sets, each with a stack and a vault of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from deploy.embedded.cli.eval_view import show_section, shown_asking
from deploy.embedded.cli.progress import follow, shown_progress
from deploy.embedded.cli.world import DONE, FAILED, World, run
from deploy.embedded.client import BusClient
from deploy.evaluation.answers.questions import foreign_questions
from deploy.evaluation.answers.running import run_answers
from deploy.evaluation.asking import WIDEST_WINDOW
from deploy.evaluation.opening import Laboratory, Listener
from deploy.evaluation.prepared import default_work_dir
from deploy.evaluation.questions import JudgedSet
from deploy.evaluation.report import Report
from deploy.evaluation.running import Plan, profiles_of, run_set
from deploy.evaluation.sets import SetOptions, SetPlace, read_list, read_set
from services.retrieval.settings import RetrievalSettings
from shared.contracts.ingest import StatusReply
from shared.embedding.settings import EmbeddingSettings
from shared.errors import CitebusError, InvalidInput
from shared.settings import settings_from_environment

Sets = Annotated[list[Path], typer.Argument(metavar="SET…", exists=True, help="Judged sets, or lists of them.")]
Data = Annotated[Path | None, typer.Option("--data", help="Folder that a .toml list's paths are relative to.")]
Vault = Annotated[
    Path | None,
    typer.Option("--vault", exists=True, file_okay=False, help="Vault that a set without documents is about."),
]
DropKeys = Annotated[
    str, typer.Option("--drop-keys", metavar="KEY,…", help="Front matter keys left out of the vault's copy.")
]
Language = Annotated[str | None, typer.Option("--language", metavar="CODE", help="Language of the vault, like de.")]
Profiles = Annotated[list[str] | None, typer.Option("--profile", help="Profile to ask with; repeatable.")]
AllProfiles = Annotated[
    bool, typer.Option("--all-profiles", help="Ask with every configured profile, unless --profile names some.")
]
Depths = Annotated[
    list[int] | None, typer.Option("--depth", min=0, max=2, help="Steps over the page graph; repeatable.")
]
Ks = Annotated[list[int] | None, typer.Option("--k", min=1, max=50, help="Chunks to search for; repeatable.")]
Window = Annotated[
    int | None, typer.Option("--window", min=0, max=WIDEST_WINDOW, help="Tokens of the reader's window.")
]
Answers = Annotated[bool, typer.Option("--answers", help="Measure answers and their citations, not retrieval.")]
Titles = Annotated[bool, typer.Option("--titles", help="Ask for documents by their titles, not the set's questions.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Ask so many questions of each set, a fixed sample.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, max=32, help="Questions at once; 1 for true times.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ingest again what an earlier run has ingested.")]
WorkDir = Annotated[
    Path,
    typer.Option(
        "--work-dir", default_factory=default_work_dir, show_default=False, resolve_path=True, file_okay=False,
        help="Where ingested vaults are kept for the next run. Default: the user's cache.",
    ),
]  # fmt: skip
Out = Annotated[Path, typer.Option("--out", file_okay=False, help="Folder for the report, as JSON and Markdown.")]


def eval(  # noqa: PLR0913  (one parameter per option; its name is the command's, and nobody evaluates code here)
    context: typer.Context, sets: Sets, work_dir: WorkDir, *, data: Data = None, vault: Vault = None,
    drop_keys: DropKeys = "", language: Language = None, profile: Profiles = None, all_profiles: AllProfiles = False,
    depth: Depths = None, k: Ks = None, window: Window = None, limit: Limit = None, answers: Answers = False,
    titles: Titles = False, concurrency: Concurrency = 1, fresh: Fresh = False, out: Out = Path("eval-results"),
) -> NoReturn:  # fmt: skip
    """Measure how good retrieval is, or answers with their citations, on questions whose answers are known.

    A SET is a folder in the layout of BEIR (corpus.jsonl, queries.jsonl, qrels.tsv); one without a corpus, whose qrels
    name pages of the --vault; a folder with questions_spans.jsonl and corpora/; a .json list of questions over a
    --vault; or a .toml list of sets. Its documents become a vault with a stack of its own, which is asked over the bus.

    \b
    Examples:
      citebus eval ~/sets/cranfield                                  # the default profile
      citebus eval ~/sets/cranfield --all-profiles --limit 50        # a quick look
      citebus eval questions.json --vault ~/notes --depth 0 --depth 2
      citebus eval ~/sets/terms --vault ~/docs --drop-keys keywords,aliases
      citebus eval questions.json --vault ~/notes --answers

    Exit codes: 0 measured, 1 a set or a profile could not be measured, 2 asked wrongly.
    """

    async def work(world: World) -> int:
        options = SetOptions(vault, frozenset(filter(None, drop_keys.split(","))), language, limit, titles)
        retrieval = settings_from_environment(RetrievalSettings)
        known, default = retrieval.all_profiles(), retrieval.default_profile
        names = profiles_of(profile or (), known, default, every=all_profiles)
        plan = Plan(names, work_dir, tuple(k or ()), tuple(depth or ()), window, concurrency, fresh)
        report = await _run_all(world, _read_all(world, sets, options, data), plan, out, answers=answers)
        return FAILED if report.failures or report.lacks(profile or (default,)) else DONE

    run(context, work)


def _read_all(world: World, paths: Sequence[Path], options: SetOptions, data: Path | None) -> list[JudgedSet]:
    """Read every set before the first one is run, so that a wrong one is heard of at once."""
    places: list[SetPlace] = []
    for path in paths:
        if path.suffix != ".toml":
            places.append(SetPlace(path, options))
            continue
        for place in read_list(path, data or path.parent):
            if place.path.exists():
                limit, titles = options.limit or place.options.limit, options.titles or place.options.titles
                places.append(replace(place, options=replace(place.options, limit=limit, titles=titles)))
            else:
                world.note(f"{path.name}: left out, as it is not there: {place.path}")
    if not places:
        raise InvalidInput("none of the sets is there: name their folder with --data")
    return [read_set(place) for place in places]


async def _run_all(world: World, sets: Sequence[JudgedSet], plan: Plan, out: Path, *, answers: bool) -> Report:
    settings = settings_from_environment(EmbeddingSettings)
    report = Report({"provider": settings.provider, "model": settings.model_name}, plan.concurrency)
    for judged in sets:
        with shown_asking(world.err) as progress:
            laboratory = _laboratory(world, progress, settings)
            try:
                if answers:
                    foreign = foreign_questions(judged, sets)
                    report.answers.append(await run_answers(judged, foreign, plan, laboratory))
                else:
                    report.outcomes.append(await run_set(judged, plan, laboratory))
            except CitebusError as error:
                world.complain(f"{judged.name}: {error}")
                report.failures[judged.name] = str(error)
            else:
                show_section(world.out, report.sections[-1])
        report.write(out)  # after every set, so that Ctrl-C costs the current one only
    world.note(f"written: {', '.join(map(str, report.files(out)))}")
    return report


def _laboratory(world: World, progress: Listener, settings: EmbeddingSettings) -> Laboratory:
    return Laboratory(world.open_stack, world.connect, partial(_bring_up_to_date, world), progress, settings)


async def _bring_up_to_date(world: World, client: BusClient, vault_id: str) -> tuple[StatusReply, float]:
    started = time.perf_counter()
    await client.sync(vault_id)
    with shown_progress(world.err) as show:
        await follow(client, vault_id, "searchable", world.pace, show)
        searchable_s = time.perf_counter() - started
        return await follow(client, vault_id, "embedded", world.pace, show), searchable_s
