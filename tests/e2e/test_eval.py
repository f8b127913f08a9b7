"""`citebus eval` on sets small enough to know the figures: real servers, the embedder for tests."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from deploy.embedded.cli.demo import SAMPLE_VAULT
from tests.e2e.machine import Machine, new_machine
from tests.unit.evaluation.judged_sets import write_beir, write_spans

TOPICS = ("quartz", "saffron", "turbine", "lighthouse", "oyster", "violin")
DOCUMENTS = {
    f"https://example.org/{topic}?n={number}#x": (
        f'About "{topic}": part {number}',
        f"---\nThis text speaks of {topic} and of nothing else, in part {number}. [1] [[{topic}]]",
    )
    for topic in TOPICS
    for number in (1, 2)
}
PROFILES = ("--profile", "hybrid", "--profile", "dense", "--profile", "sparse")
QUERIES = {topic: f"what is said of {topic}" for topic in TOPICS}
GRADES = {(topic, document): 1 for topic in TOPICS for document in DOCUMENTS if topic in document}


@pytest.fixture(scope="module")
def here(wheels: None) -> Generator[Machine]:
    with new_machine() as machine:
        write_beir(machine.folder / "topics", DOCUMENTS, QUERIES, GRADES)
        yield machine


def evaluate(machine: Machine, name: str, *arguments: str | Path) -> tuple[dict[str, Any], str]:
    """Run the command; return the report's only set and what was said on stderr."""
    out = machine.folder / name
    done = machine.citebus("eval", *arguments, "--work-dir", machine.folder / "work", "--out", out)
    (file,) = out.glob("*.json")
    (judged,) = json.loads(file.read_text())["sets"]
    return judged, done.stderr


def test_words_that_only_the_relevant_pages_hold_find_them_first(here: Machine) -> None:
    judged, said = evaluate(here, "first", here.folder / "topics", *PROFILES)
    assert "ingesting 12 documents" in said
    assert (judged["questions"], judged["vault"]["pages"], judged["vault"]["rejected"]) == (6, 12, 0)
    assert judged["ingest"]["embedded_s"] > 0
    by_profile = {each["profile"]: each for each in judged["variants"]}
    means = by_profile["sparse"]["means"]["all"]
    assert [means[name]["mean"] for name in ("nDCG@10", "MRR@10", "recall@100")] == [1.0, 1.0, 1.0]
    replies = by_profile["hybrid"]["replies"]
    assert [replies[name] for name in ("truncated", "degraded", "dropped", "expanded")] == [0, 0, 0, 0]
    assert judged["not_measured"] == []


def test_a_second_run_does_not_ingest_again_and_finds_the_same(here: Machine) -> None:
    first, _ = evaluate(here, "before", here.folder / "topics")
    second, said = evaluate(here, "after", here.folder / "topics")
    assert "already ingested" in said
    assert not second["ingested_now"]
    assert second["ingest"] == first["ingest"]
    assert second["variants"][0]["by_question"] == first["variants"][0]["by_question"]


def test_questions_over_several_pages_are_answered_over_links(here: Machine) -> None:
    pages = {f"wiki/other-{number}.md": f"# Other {number}\n\nThe crane stands idle.\n" for number in range(9)}
    hop = {
        "wiki/harbour.md": "# Harbour\n\nThe harbour has a crane. Its keeper: [[keeper]].\n",
        "wiki/keeper.md": "# Keeper\n\nIlse Marten, born 1961.\n",
    }
    vault = here.vault("notes", {**pages, **hop})
    question = {"id": "1", "kind": "multi_hop", "question": "harbour", "pages": sorted(hop), "phrase": "born 1961"}
    file = here.folder / "questions.json"
    file.write_text(json.dumps([question]))
    judged, _ = evaluate(here, "hops", file, "--vault", vault, "--profile", "sparse", "--k", "1")
    by_depth = {each["depth"]: each for each in judged["variants"]}
    recalls = {depth: each["means"]["multi_hop"]["recall@20"]["mean"] for depth, each in by_depth.items()}
    assert recalls == {0: 0.5, 2: 1.0}
    assert by_depth[2]["means"]["multi_hop"]["phrase"]["mean"] == 1.0
    assert by_depth[2]["replies"]["expanded"] == 1


def test_spans_are_found_where_they_stand(here: Machine) -> None:
    text = "# One\n\nThe heron waits.\n\n# Two\n\nThe otter swims.\n"
    start = text.index("The otter swims.")
    row = {
        "_id": "1",
        "text": "otter swims",
        "file": "animals.md",
        "spans": [{"content": "The otter swims.", "start_index": start, "end_index": start + 16}],
    }
    folder = write_spans(here.folder / "spans", {"animals.md": text}, [row])
    judged, _ = evaluate(here, "ranges", folder, "--profile", "sparse", "--k", "5")
    means = judged["variants"][0]["means"]["animals.md"]
    assert means["span recall"]["mean"] == 1.0
    assert 0.2 < means["span precision"]["mean"] < 1.0


def test_answers_over_the_sample_vault_are_cited_truly_and_refused_where_there_is_none(sample_machine: Machine) -> None:
    chosen = {"a01", "a04", "a10", "a12", "u05", "u06"}
    rows = json.loads(Path(__file__).with_name("answer_questions.json").read_text())
    file = sample_machine.folder / "few.json"
    file.write_text(json.dumps([row for row in rows if row["id"] in chosen]))
    out = sample_machine.folder / "answers"
    places = ("--work-dir", sample_machine.folder / "work", "--out", out)
    sample_machine.citebus("eval", file, "--vault", SAMPLE_VAULT, "--answers", *places)
    (written,) = out.glob("*.json")
    (judged,) = json.loads(written.read_text())["answers"]
    (variant,) = judged["variants"]
    means = {name: mean["mean"] for name, mean in variant["means"]["single"].items()}
    assert (means["answered"], means["citation precision"], means["citation recall"]) == (1.0, 1.0, 1.0)
    assert means["accuracy"] >= 0.75
    assert variant["refusals"]["precision"]["mean"] == 1.0
    assert variant["turns"]["failed"] == variant["turns"]["false_quotes"] == 0
    assert variant["answered_by"][0].startswith("extractive")
    assert 0 < variant["times"]["first event"]["p50_ms"] <= variant["times"]["whole answer"]["p50_ms"]
