"""`citebus search` asks the right vaults and shows what they reply, for people and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from shared.contracts.error import ErrorReply
from shared.contracts.search import Timings
from tests.unit.cli.fakes import CommandLine, citation, search_reply, status_reply, sync_reply
from tests.unit.cli.test_sessions import pretend_running

BOXES = "─│┌┐└┘━┃╭╮╰╯╞═"


@pytest.fixture
def two_vaults(line: CommandLine, tmp_path: Path) -> CommandLine:
    """A data folder that knows the vaults `alpha` and `beta`, both answering."""
    for name in ("alpha", "beta"):
        (tmp_path / name / "wiki").mkdir(parents=True)
        line.bus.answers[f"citebus.v1.ingest.sync.{name}"] = sync_reply()
        line.bus.answers[f"citebus.v1.ingest.status.{name}"] = status_reply(name)
    line.bus.answers["citebus.v1.search.alpha"] = search_reply(citation(1, "Far", 0.2))
    line.bus.answers["citebus.v1.search.beta"] = search_reply(citation(1, "Near", 0.9))
    line.data_dir.mkdir()
    known = {name: str(tmp_path / name) for name in ("alpha", "beta")}
    (line.data_dir / "vaults.json").write_text(json.dumps(known), encoding="utf-8")
    return line


def test_all_known_vaults_are_asked_and_merged_with_their_names(two_vaults: CommandLine) -> None:
    result = two_vaults.run("search", "tides")
    assert result.exit_code == 0
    assert result.stdout.index("[1] Near  (beta)") < result.stdout.index("[2] Far  (alpha)")


def test_what_is_still_under_way_is_said_beside_the_hits(line: CommandLine, vault: Path) -> None:
    pretend_running(line.data_dir, notes=vault)
    line.bus.answers["citebus.v1.search.notes"] = search_reply(citation(1, "Tides", 0.5))
    line.bus.answers["citebus.v1.ingest.status.notes"] = status_reply(files_lag=1_204)
    assert "vault notes is still being read, 1,204 changes wait" in line.run("search", "tides").stderr
    line.bus.answers["citebus.v1.ingest.status.notes"] = status_reply(chunks=9, embedded_chunks=4)
    assert "4 of 9 chunks can be found by meaning yet" in line.run("search", "tides").stderr


def test_passages_of_linked_pages_are_counted_apart(line: CommandLine, vault: Path) -> None:
    pretend_running(line.data_dir, notes=vault)
    linked = citation(2, "Moon", None, phase="expansion")
    line.bus.answers["citebus.v1.search.notes"] = search_reply(citation(1, "Tides", 0.5), linked)
    said = line.run("search", "tides").stdout
    assert "1 passage found, 1 more on pages that these are linked with" in said


def test_the_vault_around_the_current_folder_is_the_one_that_is_asked(
    two_vaults: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "beta" / "wiki")
    result = two_vaults.run("search", "tides")
    assert "Near" in result.stdout
    assert two_vaults.bus.asked("citebus.v1.search.alpha") == []


def test_a_vault_is_named_by_id_or_by_folder(two_vaults: CommandLine, tmp_path: Path) -> None:
    for named in ("alpha", str(tmp_path / "alpha")):
        result = two_vaults.run("search", "tides", "--vault", named)
        assert "Far" in result.stdout
    assert two_vaults.bus.asked("citebus.v1.search.beta") == []


def test_an_unknown_vault_is_a_misuse_that_names_the_known_ones(two_vaults: CommandLine) -> None:
    result = two_vaults.run("search", "tides", "--vault", "gamma")
    assert result.exit_code == 2
    assert "no vault 'gamma'; it watches alpha" in result.stderr


def test_a_hit_says_where_it_stands_how_near_it_is_and_what_it_says(two_vaults: CommandLine) -> None:
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert "wiki/Near.md:12-30 · Near > Limits · similarity 0.90 · score 1.000" in result.stdout
    assert "Text of Near." in result.stdout


@pytest.mark.parametrize(("by_file", "day"), [(False, "2025-09-02"), (True, "file of 2025-09-02")])
def test_a_page_older_than_its_source_says_so(two_vaults: CommandLine, by_file: bool, day: str) -> None:
    stale = {
        "source_path": "raw/minutes.md",
        "source_date": "2025-09-02",
        "page_date": "2025-07-12",
        "by_file_time": by_file,
    }
    two_vaults.bus.answers["citebus.v1.search.beta"] = search_reply(citation(1, "Near", 0.9, stale=stale))
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert f"older than its source raw/minutes.md ({day}); last verified or changed 2025-07-12" in result.stdout


def test_a_page_found_over_the_graph_says_which_page_led_there(two_vaults: CommandLine) -> None:
    via = {"id": "00000000-0000-4000-8000-000000000001", "title": "Tides", "slug": "tides"}
    reply = search_reply(citation(1, "Near", 0.9, phase="expansion", weight=3.0, via=via))
    two_vaults.bus.answers["citebus.v1.search.beta"] = reply
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert "score 1.000 · linked from Tides" in result.stdout


def test_options_become_the_request(two_vaults: CommandLine) -> None:
    two_vaults.run(
        "search", "tides", "--vault", "beta", "--k", "3", "--filter", "area=energy", "--filter", "area=diving",
        "--profile", "lexical", "--deadline-ms", "700",
    )  # fmt: skip
    (request,) = two_vaults.bus.asked("citebus.v1.search.beta")
    assert request["query"] == "tides"
    assert request["filters"] == {"area": ["energy", "diving"]}
    assert (request["k"], request["profile"], request["deadline_ms"]) == (3, "lexical", 700)


def test_a_filter_in_json_binds_with_the_others(two_vaults: CommandLine) -> None:
    only = ("--filter", "confidence>=0.5", "--filter-json", '{"not": {"area": "energy"}}')
    two_vaults.run("search", "tides", "--vault", "beta", *only)
    (request,) = two_vaults.bus.asked("citebus.v1.search.beta")
    assert request["filters"] == {"and": [{"confidence": {"gte": 0.5}}, {"not": {"area": "energy"}}]}


def test_what_made_a_reply_less_than_whole_is_said(two_vaults: CommandLine) -> None:
    two_vaults.bus.answers["citebus.v1.search.beta"] = search_reply(
        citation(1, "Near", None, phase="expansion"),
        truncated=True, degraded="embedding is down", dropped=2, dangling=1, timings_ms=Timings(embed=8, total=12),
    )  # fmt: skip
    result = two_vaults.run("search", "tides", "--vault", "beta")
    for said in (
        "deadline cut", "embedding is down", "2 passages did not fit", "1 vectors without", "12 ms (embed 8",
        "lexical only", "found over links",
    ):  # fmt: skip
        assert said in result.stdout


def test_nothing_found_is_no_failure(two_vaults: CommandLine) -> None:
    two_vaults.bus.answers["citebus.v1.search.beta"] = search_reply()
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert result.exit_code == 0
    assert "nothing found" in result.stdout


def test_a_long_passage_is_shortened_unless_all_is_asked_for(two_vaults: CommandLine) -> None:
    passage = "\n".join(f"line {number}" for number in range(40))
    two_vaults.bus.answers["citebus.v1.search.beta"] = search_reply(citation(1, "Near", 0.9), passage=passage)
    short = two_vaults.run("search", "tides", "--vault", "beta").stdout
    whole = two_vaults.run("search", "tides", "--vault", "beta", "--full").stdout
    assert "28 more lines" in short
    assert "line 39" not in short
    assert "line 39" in whole


def test_json_holds_hits_in_order_and_the_replies_as_sent(two_vaults: CommandLine) -> None:
    result = two_vaults.run("search", "tides", "--json")
    found = json.loads(result.stdout)
    assert [hit["vault"] for hit in found["hits"]] == ["beta", "alpha"]
    assert found["hits"][0]["place"] == "wiki/Near.md:12-30"
    assert found["hits"][0]["text"] == "Text of Near."
    assert found["replies"]["alpha"]["type"] == "citebus.search.reply.v1"


def test_piped_output_has_neither_boxes_nor_colours(two_vaults: CommandLine) -> None:
    for arguments in (("search", "tides"), ("status",), ("search", "--help"), ("doctor", "--help")):
        result = two_vaults.run(*arguments)
        assert result.output
        assert "\x1b" not in result.output
        assert not set(BOXES) & set(result.output)


def test_a_terminal_gets_colours(two_vaults: CommandLine) -> None:
    two_vaults.out = Console(file=io.StringIO(), force_terminal=True, width=80, highlight=False, markup=False)
    two_vaults.run("search", "tides")
    assert isinstance(two_vaults.out.file, io.StringIO)
    assert "\x1b[" in two_vaults.out.file.getvalue()


def test_markup_and_control_characters_of_a_vault_are_only_text(two_vaults: CommandLine) -> None:
    passage = "[bold]x[/bold] :smile: \x1b[2J"
    two_vaults.bus.answers["citebus.v1.search.beta"] = search_reply(citation(1, "Near", 0.9), passage=passage)
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert "[bold]x[/bold] :smile: [2J" in result.stdout


def test_one_silent_vault_does_not_hide_the_other(two_vaults: CommandLine) -> None:
    two_vaults.bus.answers["citebus.v1.search.alpha"] = ErrorReply(code="unavailable", message="the store is away")
    result = two_vaults.run("search", "tides")
    assert result.exit_code == 1
    assert "Near" in result.stdout
    assert "citebus: vault alpha: the store is away" in result.stderr


def test_without_any_answer_the_failure_is_one_sentence(two_vaults: CommandLine) -> None:
    del two_vaults.bus.answers["citebus.v1.search.beta"]
    result = two_vaults.run("search", "tides", "--vault", "beta")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "citebus: nothing answers on citebus.v1.search.beta: is the stack up? citebus up VAULT\n" in result.stderr
    assert "Traceback" not in result.output


def test_a_blank_question_is_a_misuse(two_vaults: CommandLine) -> None:
    result = two_vaults.run("search", "", "--vault", "beta")
    assert result.exit_code == 2
    assert "query" in result.stderr


def test_a_refused_filter_is_a_misuse(two_vaults: CommandLine) -> None:
    two_vaults.bus.answers["citebus.v1.search.beta"] = ErrorReply(code="invalid", message="unknown field 'colour'")
    result = two_vaults.run("search", "tides", "--vault", "beta", "--filter", "colour=red")
    assert result.exit_code == 2
    assert result.stderr.endswith("citebus: unknown field 'colour'\n")
