"""Search and resolve: request-reply with the retrieval service."""

from __future__ import annotations

from datetime import date
from typing import Literal
from uuid import UUID

from pydantic import Field, JsonValue

from shared.contracts.message import Message, Record, Sha256

Phase = Literal["vector", "expansion"]


class SearchRequest(Message):
    """A question to one vault (`citebus.v1.search.<vault>`)."""

    type: Literal["citebus.search.request.v1"] = "citebus.search.request.v1"
    query: str = Field(min_length=1, max_length=4000, description="1 to 4,000 characters, not only blanks.")
    k: int = Field(default=8, ge=1, le=50, description="Chunks to seed from; fewer come back only if fewer exist.")
    context_window: int = Field(
        default=32_768, ge=0, le=10_000_000, description="Tokens of the reader's window; a fifth of it is the budget."
    )
    expansion_depth: int = Field(default=2, ge=0, le=2, description="Steps over the page graph; 0: none.")
    filters: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="Payload field to a value (equals, as text), a list (any of) or an object of operators: `any`, "
        "`all`, `none` (`not`) with values; `gt`, `gte`, `lt`, `lte` with a number or an ISO 8601 date; `exists` with "
        "true or false; `prefix` of `path` with folders that end in `/`. All keys of an object must hold; `and`, `or` "
        "(lists of such objects) and `not` (one) combine them. What is unknown is an error, an empty list matches "
        "nothing. At most 64 conditions, 256 values each, 8 levels.",
    )
    profile: str | None = Field(default=None, description="Name of a retrieval profile; null: the default.")
    deadline_ms: int = Field(default=2_000, ge=1, le=60_000, description="Past it the reply holds what there is.")


class PageRef(Record):
    """A page as a reader names it."""

    id: UUID
    title: str = Field(min_length=1)
    slug: str = Field(min_length=1)


class Passage(Record):
    """Where one cited chunk stands in the decoded file."""

    chunk_id: UUID
    content_hash: Sha256
    revision: int
    heading_path: tuple[str, ...]
    char_start: int = Field(
        ge=0, description="Inclusive, in characters of the decoded file without its byte order mark."
    )
    char_end: int = Field(ge=0, description="Exclusive.")
    line_start: int = Field(ge=1, description="First line, from 1.")
    line_end: int = Field(ge=1, description="Line after the last one (half-open).")


class Staleness(Record):
    """The cited page is older than a source that it rests on: what it says may be superseded."""

    source_path: str = Field(description="The newest source, as the disk spells it, relative to the vault.")
    source_date: date = Field(description="Day that the source was written.")
    page_date: date = Field(description="Day up to which the page was kept true, before source_date.")
    by_file_time: bool = Field(
        default=False,
        description="The source names no day itself; source_date is when its file changed, which a copied or cloned "
        "vault makes too late.",
    )


class Citation(Record):
    """What `[n]` is."""

    n: int = Field(ge=1)
    ref: PageRef
    path: str = Field(description="The file, as the disk spells it, relative to the vault.")
    score: float
    phase: Phase
    similarity: float | None = Field(
        default=None, description="Best cosine of query and chunk, −1 to 1; null when no dense vector was compared."
    )
    passages: tuple[Passage, ...]
    stale: Staleness | None = Field(default=None, description="Null: not known to be older than a source.")
    weight: float | None = Field(
        default=None,
        gt=0,
        description="In phase expansion: how strongly the page graph connects it with what was found.",
    )
    via: PageRef | None = Field(default=None, description="In phase expansion: the page whose edge led here.")


class SearchResult(Record):
    """One line of the flat list of hits, in the order of the citations."""

    n: int
    id: UUID
    title: str
    slug: str
    score: float
    phase: Phase
    stale: bool = Field(default=False, description="The page is older than a source that it rests on.")
    weight: float | None = Field(default=None, gt=0, description="As in the citation.")
    via: UUID | None = Field(default=None, description="Page whose edge led here, in phase expansion.")


class Timings(Record):
    """Milliseconds per phase."""

    embed: float = 0.0
    search: float = 0.0
    expansion: float = 0.0
    budget: float = 0.0
    assembly: float = 0.0
    total: float = 0.0


class SearchReply(Message):
    """Context with citations, as many as there are distinct `[n]` in `text`. No hit: empty, not an error."""

    type: Literal["citebus.search.reply.v1"] = "citebus.search.reply.v1"
    query: str
    text: str = Field(
        description="`[n] title`, then the passages. Where a source has something that looks like `[n]`, an invisible "
        "U+2060 stands behind its bracket."
    )
    citations: tuple[Citation, ...]
    token_budget: int
    approx_tokens: int = Field(description="Tokens of `text`, never above token_budget.")
    data_version: int = Field(description="Of the vault when the reply was assembled; grows with every change.")
    results: tuple[SearchResult, ...]
    dropped: int = Field(default=0, ge=0, description="Passages that did not fit the budget.")
    dangling: int = Field(default=0, ge=0, description="Vectors found that no live row backs; left out.")
    truncated: bool = Field(default=False, description="The deadline cut a phase short.")
    degraded: str | None = Field(default=None, description="Why the profile did not run whole, e.g. embedding is down.")
    retriever: str
    space: str
    timings_ms: Timings = Timings()


class ResolveRequest(Message):
    """Asks what became of a stored citation's passage (`citebus.v1.resolve.<vault>`)."""

    type: Literal["citebus.resolve.request.v1"] = "citebus.resolve.request.v1"
    page_id: UUID
    chunk_id: UUID
    content_hash: Sha256


class ResolveReply(Message):
    """`current`: as cited. `moved`: same words, another place. `changed`: other words. `deleted`: the page is gone."""

    type: Literal["citebus.resolve.reply.v1"] = "citebus.resolve.reply.v1"
    state: Literal["current", "moved", "changed", "deleted"]
    ref: PageRef | None = None
    path: str | None = None
    passage: Passage | None = Field(default=None, description="Where it stands now; when changed, the nearest passage.")
    text: str | None = Field(default=None, description="What stands there now.")
    data_version: int
