"""`citebus search` on a running stack with two vaults: readable, as JSON, merged, narrowed, and asked wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.machine import Machine, Up

GARDEN = {
    "wiki/tomatoes.md": "---\narea: vegetables\n---\n# Tomatoes\n\n## Watering\n\nWater tomatoes in the morning.\n",
    "wiki/roses.md": "---\narea: flowers\n---\n# Roses\n\n## Watering\n\nWater roses twice a week.\n",
    "raw/diary.md": "# Diary\n\nGave water to everything, tomatoes and roses.\n",
}
KITCHEN = {"soup.md": "# Soup\n\nWater, tomatoes, an onion.\n", "bread.md": "# Bread\n\nFlour, salt, water.\n"}


@pytest.fixture(scope="module")
def up(shared_machine: Machine) -> Generator[Up]:
    garden, kitchen = shared_machine.vault("garden", GARDEN), shared_machine.vault("kitchen", KITCHEN)
    with shared_machine.up(garden, kitchen) as running:
        for vault in (garden, kitchen):
            shared_machine.citebus("ingest", "--once", vault)
        yield running


@pytest.fixture
def here(up: Up, shared_machine: Machine) -> Machine:
    return shared_machine


def hits(machine: Machine, *arguments: str | Path) -> list[dict[str, Any]]:
    return json.loads(machine.citebus("search", *arguments, "--json").stdout)["hits"]


def test_a_hit_says_title_place_heading_and_words(here: Machine) -> None:
    done = here.citebus("search", "when to water tomatoes", "--vault", "garden")
    title, about, *passage = done.stdout.splitlines()
    assert title == "[1] Tomatoes"
    assert re.match(r"    wiki/tomatoes\.md:4-8 · Tomatoes\b.* · similarity 0\.\d\d · score ", about)
    assert "    Water tomatoes in the morning." in passage
    assert done.stdout.splitlines()[-1].startswith("garden: 2 passages found · ")
    assert done.stderr == ""


def test_lines_that_a_hit_names_are_the_lines_of_the_file(here: Machine) -> None:
    for hit in hits(here, "water"):
        file = here.folder / hit["vault"] / hit["path"]
        (passage,) = hit["passages"]
        lines = file.read_text().splitlines()[passage["line_start"] - 1 : passage["line_end"] - 1]
        assert "\n".join(lines).strip() in hit["text"]
        assert file.read_text()[passage["char_start"] : passage["char_end"]].strip() in hit["text"]


def test_hits_of_all_vaults_are_merged_by_similarity(here: Machine) -> None:
    found = hits(here, "water for tomatoes")
    assert {(hit["vault"], hit["path"]) for hit in found} == {
        ("garden", "wiki/tomatoes.md"),
        ("garden", "wiki/roses.md"),
        ("kitchen", "soup.md"),
        ("kitchen", "bread.md"),
    }
    similarities = [hit["similarity"] for hit in found]
    assert similarities == sorted(similarities, reverse=True)
    readable = here.citebus("search", "water for tomatoes").stdout
    assert re.findall(r"^\[(\d)\].*\((garden|kitchen)\)$", readable, re.MULTILINE) == [
        (str(rank), hit["vault"]) for rank, hit in enumerate(found, start=1)
    ]


def test_json_holds_the_replies_as_the_services_sent_them(here: Machine) -> None:
    printed = json.loads(here.citebus("search", "water", "--json").stdout)
    assert printed["query"] == "water"
    assert sorted(printed["replies"]) == ["garden", "kitchen"]
    for reply in printed["replies"].values():
        marks = {int(n) for n in re.findall(r"^\[(\d+)\]", reply["text"], re.MULTILINE)}
        assert marks == {citation["n"] for citation in reply["citations"]}


@pytest.mark.parametrize("by_folder", [False, True])
def test_one_vault_is_named_by_id_or_folder(here: Machine, by_folder: bool) -> None:
    found = hits(here, "water", "--vault", here.folder / "kitchen" if by_folder else "kitchen")
    assert {hit["vault"] for hit in found} == {"kitchen"}


def test_an_unknown_vault_is_an_error_that_names_the_known_ones(here: Machine) -> None:
    refused = here.citebus("search", "water", "--vault", "cellar", expect=2)
    assert refused.stdout == ""
    assert refused.stderr.startswith("citebus: the stack watches no vault 'cellar'; it watches garden (")
    assert "kitchen (" in refused.stderr


def test_a_filter_binds_and_an_empty_one_matches_nothing(here: Machine) -> None:
    asked = ("water", "--vault", "garden", "--filter")
    assert [hit["path"] for hit in hits(here, *asked, "area=flowers")] == ["wiki/roses.md"]
    both = hits(here, *asked, "area=flowers", "--filter", "area=vegetables")
    assert {hit["path"] for hit in both} == {"wiki/roses.md", "wiki/tomatoes.md"}
    assert hits(here, *asked[:-1], "--filter-json", '{"area": []}') == []
    assert "garden: nothing found" in here.citebus("search", *asked, "area=stones").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["water", "--filter", "colour=red"], "colour"),
        (["water", "--filter", "area="], "has no value"),
        (["water", "--filter", "area"], "has none of the forms area=ops"),
        (["water", "--profile", "psychic"], "psychic"),
        (["   "], "query"),
        (["water", "--k", "51"], "less than or equal to 50"),
    ],
)
def test_a_search_that_is_asked_wrongly_says_what_is_wrong(here: Machine, arguments: list[str], said: str) -> None:
    refused = here.citebus("search", *arguments, expect=2)
    assert refused.stdout == ""
    assert said in refused.stderr


def test_a_saved_file_is_found_once_it_was_waited_for(here: Machine) -> None:
    vault = here.vault("garden", {"wiki/beans.md": "# Beans\n\nPoles for runner beans.\n"})
    waited = here.citebus("wait", vault / "wiki/beans.md", "--until", "embedded")
    assert waited.stdout.startswith("wiki/beans.md is embedded: revision ")
    assert hits(here, "poles for beans", "--k", "1")[0]["place"] == "wiki/beans.md:1-3"


def test_a_file_in_no_vault_cannot_be_waited_for(here: Machine) -> None:
    stray = here.folder / "stray.md"
    stray.write_text("# Stray\n")
    assert "is in no vault that the stack watches" in here.citebus("wait", stray, expect=2).stderr


def test_status_shows_every_vault_to_people_and_programs(here: Machine) -> None:
    printed = json.loads(here.citebus("status", "--json").stdout)
    assert printed["data_dir"] == str(here.data_dir)
    assert min(printed["size_bytes"].values()) > 0
    by_id = {reply["vault_id"]: reply for reply in printed["vaults"]}
    assert by_id["kitchen"]["pages"] == len(KITCHEN)
    assert by_id["kitchen"]["chunks"] == by_id["kitchen"]["embedded_chunks"] > 0
    readable = here.citebus("status", "--vault", "kitchen").stdout
    assert readable.startswith(f"kitchen  {here.folder / 'kitchen'}\n")
    assert re.search(rf"^pages +{len(KITCHEN)}$", readable, re.MULTILINE)
    assert "garden" not in readable


def test_doctor_finds_nothing_wrong_and_asks_the_stack(here: Machine, up: Up) -> None:
    lines = here.citebus("doctor").stdout.splitlines()
    assert [line for line in lines if not line.startswith("✓ ")] == []
    (stack,) = (line for line in lines if line.startswith("✓ stack: "))
    assert f"process {up.process.pid}" in stack
    assert "kitchen 2 pages" in stack


def test_rebuild_is_refused_while_the_stack_runs(here: Machine, up: Up) -> None:
    refused = here.citebus("rebuild", "--yes", expect=2)
    assert f"process {up.process.pid}" in refused.stderr
    assert len(hits(here, "water", "--vault", "kitchen")) == len(KITCHEN)
