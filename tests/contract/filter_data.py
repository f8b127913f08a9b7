"""Random payloads and filters over them: few fields and values, so that they meet often."""

from __future__ import annotations

from hypothesis import strategies as st

from shared.vectors.filter import All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.ranges import range_values

PATHS = ("note.md", "wiki/a.md", "wiki/sub/a.md", "raw/a.md", "wiki/ä b.md", 'o"dd/$.md')
DAYS = ("2024-12-31", "2025-01-01", "2025-01-01T12:00:00Z", "2025-01-01T13:30+01:00")
WORDS = ("a", "b", "A", "", "ä", "a b", "true", "1", "x'; --", '"\\')
NUMBERS = (0, 1, 2, 10, -1, 0.5, 1.5, 2.5e-3, 1e20)

_scalars = st.sampled_from((*WORDS, *NUMBERS, *DAYS, "0.50", "1e3", True, False))
_values = st.none() | _scalars | st.lists(_scalars, max_size=3)
_folders = st.sampled_from(("wiki/", "wiki/sub/", "raw/", "none/", "wiki", "", "/", "note.md", "wiki/a.md"))

FRONT_MATTER = ("area", "level", "confidence", "period", "tags", "last_verified")
FIELDS = ("path", "path_prefixes", "kind", "title", *FRONT_MATTER)


@st.composite
def fields(draw: st.DrawFn) -> dict[str, object]:
    """Return payload fields as front matter gives them: values of any kind, lists and absent ones."""
    given: dict[str, object] = draw(st.dictionaries(st.sampled_from(FRONT_MATTER), _values))
    return {**given, **range_values(given)}


def payload(path: str, front_matter: dict[str, object]) -> dict[str, object]:
    """Return the payload of a point of the page at `path`."""
    folders = [path[: index + 1] for index, character in enumerate(path) if character == "/"]
    own = {"path": path, "path_prefixes": [*folders, path], "kind": path.partition("/")[0], "title": path}
    return {"vault_id": "v", **own, **front_matter}


_texts = st.one_of(_scalars, st.sampled_from(PATHS), _folders)
_in = st.builds(
    FieldIn,
    st.sampled_from(FIELDS),
    st.lists(_texts.map(lambda value: repr(value) if isinstance(value, float) else value), max_size=3).map(tuple),
)
_moments = st.sampled_from((1735603200.0, 1735689600.0, 1735732800.0, 1735734600.0))
_bounds = st.none() | st.sampled_from((*map(float, NUMBERS), 0.25, 0.1 + 0.2)) | _moments
_ranges = st.builds(
    FieldRange,
    st.sampled_from(("level", "confidence", "period", "last_verified")),
    st.sampled_from(("number", "date")),
    gt=_bounds, gte=_bounds, lt=_bounds, lte=_bounds,
)  # fmt: skip
_leaves: st.SearchStrategy[PointFilter] = st.one_of(_in, _ranges, st.builds(FieldExists, st.sampled_from(FIELDS)))


def _groups(parts: st.SearchStrategy[PointFilter]) -> st.SearchStrategy[PointFilter]:
    several = st.lists(parts, max_size=3).map(tuple)
    return st.one_of(st.builds(Not, parts), st.builds(All, several), st.builds(AnyOf, several))


def filters() -> st.SearchStrategy[PointFilter]:
    """Return trees of all kinds of conditions."""
    return st.recursive(_leaves, _groups, max_leaves=6)
