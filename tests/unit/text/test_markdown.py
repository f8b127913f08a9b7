from hypothesis import given

from services.ingest.text.decoding import with_line_feeds
from services.ingest.text.markdown import HEADING_MAX_CHARS, outline
from tests.unit.text.pages import PAGES, PageSection, render


def test_ranges_are_in_characters_of_the_page() -> None:
    text = "---\nä: ö\n---\n# Ü `c`\n\n検索 [[Ziel|x]]\n\n```py\ny\n```\n"
    found = outline(text, 13)
    heading, solid, link = found.headings[0], found.solids[0], found.links[0]
    assert text[heading.start : heading.end] == "# Ü `c`\n"
    assert heading.text == "Ü c"
    assert text[solid.start : solid.end].startswith("```py\ny\n```")
    assert solid.info == "py"
    assert text[link.start :].startswith("[[Ziel|x]]")


@given(PAGES)
def test_each_fence_and_table_is_found_where_it_stands(sections: list[PageSection]) -> None:
    text = render(sections)
    found = [text[solid.start : solid.end].strip() for solid in outline(text, 0).solids]
    assert found == [block.text.strip() for section in sections for block in section.blocks if block.is_solid]


def test_lone_carriage_returns_end_lines_of_headings_fences_and_tables() -> None:
    text = with_line_feeds("# A\r\r```\rx\r```\r\r|a|b|\r|-|-|\r|1|2|\r\r## B\r")
    found = outline(text, 0)
    assert [heading.text for heading in found.headings] == ["A", "B"]
    assert len(found.solids) == 2


def test_an_unclosed_fence_reaches_to_the_end() -> None:
    text = "# A\n\n```\nx\n\n# not a heading\n"
    found = outline(text, 0)
    assert found.solids[0].end == len(text)
    assert len(found.headings) == 1


def test_fences_inside_lists_and_quotes_are_solid_too() -> None:
    assert len(outline("- a\n  ```\n  x\n  ```\n\n> ```\n> y\n> ```\n", 0).solids) == 2


def test_headings_inside_quotes_and_lists_are_not_the_pages_own() -> None:
    assert [h.text for h in outline("# A\n\n> # B\n\n- # C\n", 0).headings] == ["A"]


def test_underlined_headings_count_and_their_lines_are_joined() -> None:
    assert [(h.level, h.text) for h in outline("One\ntwo\n===\n\nThree\n---\n", 0).headings] == [
        (1, "One two"),
        (2, "Three"),
    ]


def test_hyphens_in_the_middle_of_a_page_are_no_front_matter() -> None:
    assert [h.text for h in outline("text\n\n---\n\n# A\n\n---\n", 0).headings] == ["A"]


def test_a_heading_without_end_is_cut() -> None:
    assert len(outline("# " + "word " * 10_000, 0).headings[0].text) <= HEADING_MAX_CHARS
