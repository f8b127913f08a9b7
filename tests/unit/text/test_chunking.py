from itertools import pairwise

import pytest

from services.ingest.page import Chunk
from services.ingest.text.splitting import ChunkerSettings
from shared.ids import content_hash
from shared.tokens import estimate_tokens
from tests.unit.text.pages import SMALL, prepare

REAL = ChunkerSettings()


def sentence(words: int, word: str = "word") -> str:
    return f"{word.capitalize()} " + " ".join([word] * (words - 2)) + " end."


def chunks(text: str, settings: ChunkerSettings = SMALL) -> tuple[Chunk, ...]:
    return prepare(text, chunker=settings).chunks


def test_a_short_page_is_one_chunk() -> None:
    (chunk,) = chunks("# Title\n\nText of it.\n\n## Part\n\nMore.\n")
    assert chunk.text == "# Title\n\nText of it.\n\n## Part\n\nMore."
    assert chunk.heading_path == ("Title",)
    assert (chunk.line_start, chunk.line_end) == (1, 8)
    assert chunk.content_hash == content_hash(chunk.text)
    assert chunk.text_hash == content_hash(chunk.embed_text)
    assert chunk.token_count == estimate_tokens(chunk.text)


@pytest.mark.parametrize("text", ["", " \n\t\n", "\r\r\n", "---\n---\n", "---\n\n---\n   "])
def test_a_blank_page_has_no_chunk(text: str) -> None:
    found = chunks(text)
    assert [chunk.text for chunk in found] == ([] if not text.startswith("---\n\n") else ["---\n\n---"])


def test_long_sections_are_chunks_of_their_own_under_their_headings() -> None:
    body = sentence(30)
    found = chunks(f"# Title\n\n## One\n\n{body}\n\n## Two\n\n### Deep\n\n{body}\n")
    assert [chunk.heading_path for chunk in found] == [("Title", "One"), ("Title", "Two", "Deep")]
    assert found[0].text == f"# Title\n\n## One\n\n{body}"
    assert found[1].text == f"## Two\n\n### Deep\n\n{body}"


def test_short_neighbours_share_a_chunk_and_the_path_that_they_share() -> None:
    parts = "".join(f"## Part {n}\n\n{sentence(8)}\n\n" for n in range(8))
    found = chunks(f"# Title\n\n{parts}")
    assert 1 < len(found) < 8
    assert {chunk.heading_path for chunk in found if chunk.text.count("## Part") > 1} == {("Title",)}
    assert all(chunk.token_count <= SMALL.max_tokens for chunk in found)


def test_text_before_the_first_heading_has_no_say_in_the_path() -> None:
    (chunk,) = chunks("preamble\n\n# Title\n\ntext\n")
    assert chunk.heading_path == ("Title",)


def test_a_section_up_to_the_maximum_stays_whole() -> None:
    text = " ".join([sentence(10)] * 6)
    assert SMALL.target_tokens < estimate_tokens(text) <= SMALL.max_tokens
    assert len(chunks(text)) == 1


def test_a_long_section_is_split_at_paragraphs_and_overlaps_by_whole_sentences() -> None:
    paragraphs = [f"{sentence(30, f'w{n}')} {sentence(4, f'tail{n}')}" for n in range(6)]
    found = chunks("# Title\n\n" + "\n\n".join(paragraphs))
    assert len(found) > 2
    for before, after in pairwise(found):
        overlap = before.char_end - after.char_start
        shared = after.text[:overlap]
        assert before.text.endswith(shared.strip())
        assert shared.startswith("Tail")
        assert estimate_tokens(shared) <= SMALL.overlap_tokens
        assert after.heading_path == ("Title",)


def test_an_overlap_after_a_full_stop_without_a_blank_is_no_longer_than_set() -> None:
    found = chunks("。".join("測" * (n % 7) + " word" * (n % 3) for n in range(400)))
    overlaps = [after.text[: before.char_end - after.char_start] for before, after in pairwise(found)]
    assert any(overlaps)
    assert max(map(estimate_tokens, overlaps)) <= SMALL.overlap_tokens


def test_chunks_of_different_sections_do_not_overlap() -> None:
    found = chunks("".join(f"# H{n}\n\n{' '.join([sentence(10)] * 5)}\n\n" for n in range(4)))
    assert all(a.char_end <= b.char_start for a, b in pairwise(found))


@pytest.mark.parametrize(
    "line", ["word " * 30_000, "x" * 150_000, "測" * 150_000, sentence(12) * 2_000, "a,b;" * 37_500]
)
def test_a_line_of_150_000_characters_is_split_below_the_maximum(line: str) -> None:
    found = chunks(line, REAL)
    assert len(found) > 30
    assert all(REAL.min_tokens <= chunk.token_count <= REAL.max_tokens for chunk in found[:-1])
    assert found[-1].token_count <= REAL.max_tokens


@pytest.mark.parametrize(
    "block", ["```\n" + "code line\n" * 200 + "```", "| a |\n|---|\n" + "| cell |\n" * 99 + "| cell |"]
)
def test_an_oversized_block_is_a_chunk_of_its_own(block: str) -> None:
    found = chunks(f"# T\n\n{sentence(30)}\n\n{block}\n\n{sentence(30)}\n")
    assert block in [chunk.text for chunk in found]


def test_a_heading_goes_with_the_oversized_block_under_it() -> None:
    block = "```\n" + "code line\n" * 200 + "```"
    found = chunks(f"# T\n\n{sentence(30)}\n\n## Code\n\n{block}\n\n{sentence(30)}\n")
    assert f"## Code\n\n{block}" in [chunk.text for chunk in found]


def test_a_table_of_54_000_character_lines_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {'cell ' * 10_800} | y |" for _ in range(3))
    found = chunks(f"# T\n\nbefore\n\n{table}\n\nafter {'word ' * 700}\n", REAL)
    assert sum(table in chunk.text for chunk in found) == 1


def test_an_unclosed_fence_is_one_chunk_to_the_end() -> None:
    found = chunks(f"# T\n\n{sentence(30)}\n\n```\n" + "line\n\n# not a heading\n" * 50)
    assert found[-1].text.startswith("```\n")
    assert found[-1].text.endswith("# not a heading")


def test_a_fence_in_a_long_list_is_never_cut() -> None:
    item = f"- {sentence(12)}\n\n  ```\n" + "  code\n" * 30 + "  ```\n"
    found = chunks("".join([item] * 6))
    assert len(found) > 3
    assert all(chunk.text.count("```") % 2 == 0 for chunk in found)


def test_a_page_of_only_front_matter_gives_one_chunk_of_title_and_description() -> None:
    text = "---\ntitle: The Title\ndescription: What it is.\ntags: [a]\n---\n"
    (chunk,) = chunks(text)
    assert chunk.text == text.strip()
    assert chunk.embed_text == "The Title\n\nWhat it is."
    assert (chunk.line_start, chunk.line_end) == (1, 6)


@pytest.mark.parametrize("yaml", ["tags: [a]", "broken: yaml: here"])
def test_front_matter_without_title_and_description_stands_for_itself(yaml: str) -> None:
    (chunk,) = chunks(f"---\n{yaml}\n---\n")
    assert chunk.embed_text == yaml


def test_front_matter_is_no_part_of_the_body() -> None:
    (chunk,) = chunks("---\ntitle: T\nkey: secret\n---\n\nbody\n")
    assert chunk.text == "body"
    assert chunk.embed_text == "T\n\nbody"
    assert (chunk.line_start, chunk.line_end) == (6, 7)


def test_the_title_and_the_headings_are_embedded_but_not_the_files_name() -> None:
    (chunk,) = prepare("---\ntitle: Other\n---\n# One\n\n## Two\n\nbody\n", "wiki/File Name.md").chunks
    assert chunk.embed_text.startswith("Other > One > Two\n\n")
    assert chunk.lexical_text == f"File Name\n{chunk.embed_text}"
    assert "File Name" not in chunk.embed_text


def test_a_title_that_is_the_heading_is_embedded_once_in_front() -> None:
    (chunk,) = chunks("---\ntitle: Same\n---\n# Same\n\nbody\n")
    assert chunk.embed_text == "Same\n\n# Same\n\nbody"


@pytest.mark.parametrize(
    "drawing",
    [
        "```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA\n```",
        '```json\n{"type": "excalidraw", "elements": [{"id": "abc"}]}\n```',
    ],
)
def test_drawings_are_stored_but_not_embedded(drawing: str) -> None:
    (chunk,) = chunks(f"# Drawing\n\nText element\n\n{drawing}\n")
    assert drawing in chunk.text
    assert chunk.embed_text == "Drawing\n\n# Drawing\n\nText element"
    assert chunk.lexical_text.endswith("Text element")


def test_an_inline_image_is_stored_but_not_embedded() -> None:
    image = "data:image/png;base64," + "iVBORw0KGgoAAAA" * 4_000
    found = chunks(f"Before the image.\n\n![alt]({image}) and {sentence(60)}\n", REAL)
    assert sum(image in chunk.text for chunk in found) == 1
    assert all("iVBORw0" not in chunk.embed_text + chunk.lexical_text for chunk in found)
    assert any("Before the image." in chunk.embed_text for chunk in found)


def test_what_is_embedded_is_never_empty() -> None:
    (chunk,) = chunks("```compressed-json\nabc\n```\n")
    assert chunk.embed_text


def test_offsets_are_those_of_the_decoded_text_whatever_ends_its_lines() -> None:
    for line_end in ("\n", "\r\n", "\r"):
        text = f"# A\n\n{sentence(60)}\n\n# B\n\nlast\nline\n".replace("\n", line_end)
        found = chunks(text)
        assert [text[chunk.char_start : chunk.char_end] for chunk in found] == [chunk.text for chunk in found]
        assert [(chunk.line_start, chunk.line_end) for chunk in found] == [(1, 4), (5, 9)]
        assert found[1].text == line_end.join(["# B", "", "last", "line"])
