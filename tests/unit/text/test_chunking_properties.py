"""What holds for the chunks of any page, tried on generated ones."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.ingest.page import Chunk
from services.ingest.text.decoding import with_line_feeds
from services.ingest.text.splitting import ChunkerSettings
from shared.tokens import estimate_tokens
from tests.unit.text.pages import BLOCKS, LINE_ENDS, PAGES, SMALL, Block, PageSection, prepare, render

SETTINGS = st.sampled_from([SMALL, ChunkerSettings(), ChunkerSettings(20, 10, 30, 5), ChunkerSettings(45, 40, 80, 0)])
FRONT_MATTER = st.sampled_from(["", "---\ntitle: T\n---\n", "---\nbroken: x: y\n---\n"])


@given(PAGES, LINE_ENDS, SETTINGS, FRONT_MATTER)
def test_every_character_of_the_body_that_is_not_blank_is_in_a_chunk(
    sections: list[PageSection], line_end: str, settings: ChunkerSettings, front_matter: str
) -> None:
    text = render(sections, front_matter, "preamble").replace("\n", line_end)
    chunks = prepare(text, chunker=settings).chunks
    covered = len(front_matter.replace("\n", line_end))
    for chunk in chunks:
        assert text[covered : chunk.char_start].strip() == ""
        covered = max(covered, chunk.char_end)
    assert text[covered:].strip() == ""
    assert chunks[0].char_start >= len(front_matter.replace("\n", line_end))


@given(PAGES, LINE_ENDS, SETTINGS)
def test_spans_lines_and_counts_say_where_the_text_stands(
    sections: list[PageSection], line_end: str, settings: ChunkerSettings
) -> None:
    text = render(sections).replace("\n", line_end)
    lines = with_line_feeds(text)
    chunks = prepare(text, chunker=settings).chunks
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == text[chunk.char_start : chunk.char_end]
        assert chunk.text.strip()
        assert chunk.token_count == estimate_tokens(chunk.text)
        assert chunk.line_start == lines[: chunk.char_start].count("\n") + 1
        assert chunk.line_end == chunk.line_start + lines[chunk.char_start : chunk.char_end].count("\n") + 1
    assert all(a.char_start < b.char_start and a.char_end < b.char_end for a, b in pairwise(chunks))


@given(PAGES, SETTINGS)
def test_no_boundary_lies_inside_a_fence_or_table(sections: list[PageSection], settings: ChunkerSettings) -> None:
    text, at = render(sections), 0
    chunks = prepare(text, chunker=settings).chunks
    for block in (block for section in sections for block in section.blocks):
        start = text.index(block.text, at)
        at = start + len(block.text)
        if block.is_solid:
            boundaries = {edge for chunk in chunks for edge in (chunk.char_start, chunk.char_end)}
            assert not boundaries & set(range(start + 1, at))


@given(PAGES, SETTINGS)
def test_only_a_chunk_with_an_oversized_block_is_larger_than_the_maximum(
    sections: list[PageSection], settings: ChunkerSettings
) -> None:
    solids = [block.text for section in sections for block in section.blocks if block.is_solid]
    for chunk in prepare(render(sections), chunker=settings).chunks:
        if chunk.token_count > settings.max_tokens:
            held = [solid for solid in solids if solid in chunk.text]
            without_headings = [line for line in chunk.text.splitlines() if not line.startswith("#")]
            assert any(estimate_tokens(solid) + len(without_headings) + 20 > settings.max_tokens for solid in held)


@given(PAGES, SETTINGS)
def test_chunks_overlap_only_within_a_section_and_no_more_than_set(
    sections: list[PageSection], settings: ChunkerSettings
) -> None:
    text = render(sections)
    for before, after in pairwise(prepare(text, chunker=settings).chunks):
        shared = text[after.char_start : before.char_end]
        assert estimate_tokens(shared) <= settings.overlap_tokens
        assert "# Heading" not in shared
        assert not shared or before.heading_path == after.heading_path


@given(PAGES, SETTINGS)
def test_the_same_page_gives_the_same_chunks(sections: list[PageSection], settings: ChunkerSettings) -> None:
    text = render(sections)
    assert prepare(text, chunker=settings) == prepare(text, chunker=settings)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.lists(BLOCKS, min_size=1, max_size=3)), min_size=2, max_size=9), st.data()
)
def test_an_edit_changes_only_chunks_that_hold_a_part_of_its_section(
    raw: list[tuple[int, list[Block]]], data: st.DataObject
) -> None:
    sections = [PageSection(level, tuple(blocks)) for level, blocks in raw]
    edited = data.draw(st.integers(0, len(sections) - 1))
    new_blocks = tuple(data.draw(st.lists(BLOCKS, min_size=1, max_size=3)))
    changed = [*sections[:edited], PageSection(sections[edited].level, new_blocks), *sections[edited + 1 :]]

    before, after = _by_reach(sections, edited), _by_reach(changed, edited)
    reached = before.reached | after.reached
    assert before.texts_outside(reached) == after.texts_outside(reached)


_SHORT = st.integers(1, 30).map(lambda words: " ".join(["word"] * words))
_SHORT_SECTIONS = st.lists(st.tuples(st.sampled_from([2, 2, 2, 3]), _SHORT), min_size=4, max_size=30)


@given(_SHORT_SECTIONS, _SHORT, st.data())
def test_an_edit_among_many_short_sections_does_not_regroup_the_others(
    raw: list[tuple[int, str]], new_text: str, data: st.DataObject
) -> None:
    sections = [PageSection(level, (Block(text),)) for level, text in raw]
    edited = data.draw(st.integers(0, len(sections) - 1))
    changed = [*sections[:edited], PageSection(raw[edited][0], (Block(new_text),)), *sections[edited + 1 :]]

    before, after = _by_reach(sections, edited), _by_reach(changed, edited)
    reached = before.reached | after.reached
    assert before.texts_outside(reached) == after.texts_outside(reached)


class _Reach:
    """Chunks of a page, each with the numbers of the sections that it holds a part of."""

    def __init__(self, chunks: list[tuple[Chunk, frozenset[int]]], edited: int) -> None:
        self.chunks = chunks
        self.reached = frozenset(n for _, held in chunks if edited in held for n in held)

    def texts_outside(self, reached: frozenset[int]) -> Counter[tuple[str, str]]:
        return Counter((chunk.text, chunk.embed_text) for chunk, held in self.chunks if not held & reached)


def _by_reach(sections: list[PageSection], edited: int) -> _Reach:
    text = render(sections)
    starts = [text.index(f"# Heading {n}\n") for n in range(len(sections))]
    ends = [*starts[1:], len(text)]
    chunks = prepare(text).chunks
    held = [
        (chunk, frozenset(n for n in range(len(sections)) if chunk.char_start < ends[n] and chunk.char_end > starts[n]))
        for chunk in chunks
    ]
    return _Reach(held, edited)
