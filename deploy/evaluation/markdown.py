"""A run as a Markdown page. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deploy.evaluation.tables import Rows, Section


def as_markdown(circumstances: str, sections: Sequence[Section], failures: Mapping[str, str]) -> str:
    """Return the page: a section per set, with its means, its comparisons and what to know about them."""
    lines = [line for section in sections for line in _section(section)]
    failed = [f"* {_plain(name)} could not be run: {_plain(why)}" for name, why in failures.items()]
    head = ["# Evaluation", "", _plain(circumstances)]
    return "\n".join([*head, *lines, *([""] if failed else []), *failed]) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield from ("", f"## {_plain(section.name)}", "", _plain(section.facts))
    for table in section.tables:
        if table.rows:
            yield from ("", *_table(table))
    if section.remarks:
        yield from ("", *(f"* {_plain(remark)}" for remark in section.remarks))


def _table(table: Rows) -> Iterator[str]:
    yield _line(table.headings)
    yield _line(["---"] * table.words + ["---:"] * (len(table.headings) - table.words))
    yield from (_line(row) for row in table.rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text on one line, without what would end a cell or begin a tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
