"""Pages to try: Hypothesis strategies for Markdown, and small ways to prepare and measure one."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from services.ingest.page import PreparedPage
from services.ingest.text.preparation import prepare_page
from services.ingest.text.splitting import ChunkerSettings
from shared.contracts.files import VaultSettings

VAULT = VaultSettings(vault_id="test")
SMALL = ChunkerSettings(target_tokens=45, min_tokens=40, max_tokens=80, overlap_tokens=6)
"""A tenth of the real sizes, so that small examples reach every rule."""


def prepare(
    text: str | bytes, path: str = "wiki/page.md", settings: VaultSettings = VAULT, chunker: ChunkerSettings = SMALL
) -> PreparedPage:
    content = text if isinstance(text, bytes) else text.encode()
    return prepare_page(path, content, settings, chunker)


@dataclass(frozen=True)
class Block:
    text: str
    is_solid: bool = False


_WORDS = st.sampled_from(
    ["alpha", "Übung", "naïve", "x", "stream", "[[Page]]", "`code`", "consumer", "検索", "don't", "3.5", "word"]
)
_SENTENCE = st.tuples(st.lists(_WORDS, min_size=1, max_size=12), st.sampled_from([".", "!", "", "。"])).map(
    lambda parts: " ".join(parts[0]) + parts[1]
)
_PARAGRAPH = st.tuples(st.lists(_SENTENCE, min_size=1, max_size=12), st.sampled_from([" ", "\n"])).map(
    lambda parts: Block(parts[1].join(parts[0]))
)
_CODE = st.lists(st.sampled_from(["# no heading", "", "x = 1", "| a | b |", "long " * 30]), max_size=12)
_FENCE = st.tuples(_CODE, st.sampled_from(["", "python"])).map(
    lambda parts: Block(f"```{parts[1]}\n" + "".join(f"{line}\n" for line in parts[0]) + "```", is_solid=True)
)
_TABLE = st.lists(st.sampled_from(["cell", "a longer cell", "c " * 50]), min_size=1, max_size=12).map(
    lambda rows: Block("| a | b |\n|---|---|\n" + "\n".join(f"| {row} | y |" for row in rows), is_solid=True)
)
_LIST = st.lists(_SENTENCE, min_size=1, max_size=10).map(lambda items: Block("\n".join(f"- {item}" for item in items)))
_RUN = st.integers(1, 900).map(lambda length: Block("y" * length))
BLOCKS = st.one_of(_PARAGRAPH, _FENCE, _TABLE, _LIST, _RUN)


@dataclass(frozen=True)
class PageSection:
    level: int
    blocks: tuple[Block, ...]


SECTIONS = st.tuples(st.integers(1, 3), st.lists(BLOCKS, max_size=5)).map(
    lambda parts: PageSection(parts[0], tuple(parts[1]))
)
PAGES = st.lists(SECTIONS, min_size=1, max_size=8)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def render(sections: list[PageSection], front_matter: str = "", preamble: str = "") -> str:
    parts = [front_matter + preamble] if front_matter or preamble else []
    for number, section in enumerate(sections):
        parts.append("#" * section.level + f" Heading {number}")
        parts += [block.text for block in section.blocks]
    return "\n\n".join(parts) + "\n"
