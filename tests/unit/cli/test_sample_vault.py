"""The sample vault keeps what the demo, the question set and the link report rely on."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TypedDict

import pytest

import deploy.embedded
from services.ingest.watcher.settings_file import read_settings

VAULT = Path(deploy.embedded.__file__).parent / "sample_vault"
E2E = Path(__file__).parents[2] / "e2e"

FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
WIKILINK = re.compile(r"!?\[\[([^\]|#\\]+)")
RELATIVE = re.compile(r"\]\(([^)#:]+\.md)")


class Question(TypedDict):
    id: str
    kind: str
    lang: str
    question: str
    pages: list[str]
    phrase: str | None


def pages() -> dict[str, str]:
    return {file.relative_to(VAULT).as_posix(): file.read_text(encoding="utf-8") for file in VAULT.rglob("*.md")}


def questions(file: str) -> list[Question]:
    return json.loads((E2E / file).read_text(encoding="utf-8"))


SAMPLE, MULTI_HOP = questions("sample_questions.json"), questions("multi_hop_questions.json")


def targets(target: str, paths: dict[str, str]) -> list[str]:
    """Pages whose path ends with the target, as a wikilink names them."""
    wanted = PurePosixPath(f"{target}.md").parts
    return [path for path in paths if PurePosixPath(path).parts[-len(wanted) :] == wanted]


def wikilinks() -> Iterator[tuple[str, str]]:
    for path, text in pages().items():
        for match in WIKILINK.finditer(FENCE.sub("", text)):
            yield path, match.group(1)


def test_every_wikilink_has_one_page_except_one_dead_and_one_ambiguous() -> None:
    found = pages()
    by_count: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for path, target in wikilinks():
        by_count[len(targets(target, found))].append((path, target))
    assert by_count[0] == [("wiki/index.md", "storm-protocol")]
    assert [link for count, links in by_count.items() if count > 1 for link in links] == [("wiki/log.md", "schedule")]
    assert len(by_count[1]) > 100


def test_every_relative_link_leads_to_a_page() -> None:
    links = [(path, link) for path, text in pages().items() for link in RELATIVE.findall(text)]
    assert len(links) >= 5
    for path, link in links:
        assert (VAULT / path).parent.joinpath(link).resolve().is_file(), f"{path} links to {link}"


def test_every_source_in_the_front_matter_is_a_raw_note() -> None:
    for path, text in pages().items():
        for line in re.findall(r"^sources: \[(.*)\]$", text, re.MULTILINE):
            for source in line.split(", "):
                assert source in pages(), f"{path} names {source}"


def test_every_page_says_title_and_type() -> None:
    for path, text in pages().items():
        assert re.match(r"---\ntitle: .+\ntype: (entity|concept|synthesis|query|source|index)\n", text), path


def test_three_languages_are_spoken() -> None:
    languages = [
        match.group(1) for text in pages().values() if (match := re.search(r"^lang: (\w+)$", text, re.MULTILINE))
    ]
    assert languages.count("de") >= 4
    assert languages.count("fr") >= 4


def test_the_settings_name_the_vault_and_what_is_never_cited() -> None:
    settings = read_settings(VAULT)
    assert (settings.vault_id, settings.never_cite) == ("orveig", ("raw/",))


def test_every_page_keeps_the_vaults_own_strict_rules() -> None:
    rules = read_settings(VAULT).rules
    assert rules.strict
    for path, text in pages().items():
        if not path.startswith(rules.exempt):
            front_matter = text.split("---\n")[1]
            for field in rules.required:
                assert f"\n{field}: " in f"\n{front_matter}", f"{path} lacks {field}"
            kind = re.search(r"^type: (\w+)$", front_matter, re.MULTILINE)
            assert kind is not None
            assert kind.group(1) in rules.allowed["type"], path


def test_the_question_set_has_thirty_questions_of_three_kinds() -> None:
    kinds = [question["kind"] for question in SAMPLE]
    assert len(kinds) == len({question["id"] for question in SAMPLE}) == 30
    assert (kinds.count("multi_hop"), kinds.count("unanswerable")) == (8, 6)


def test_the_other_set_has_forty_questions_over_two_pages_each() -> None:
    assert len({question["id"] for question in MULTI_HOP} | {question["id"] for question in SAMPLE}) == 70
    assert {question["kind"] for question in MULTI_HOP} == {"multi_hop"}
    assert {question["lang"] for question in MULTI_HOP} == {"en", "de", "fr"}
    assert all(len(set(question["pages"])) == 2 for question in MULTI_HOP)


@pytest.mark.parametrize("question", [*SAMPLE, *MULTI_HOP], ids=lambda question: question["id"])
def test_the_last_page_of_a_question_holds_the_phrase(question: Question) -> None:
    wanted = {"single": 1, "multi_hop": 2, "unanswerable": 0}[question["kind"]]
    assert len(question["pages"]) == wanted
    assert (question["phrase"] is None) == (wanted == 0)
    for page in question["pages"]:
        assert page.startswith("wiki/")
    if question["phrase"] is not None:
        assert question["phrase"] in pages()[question["pages"][-1]]
