"""Filters over the table `pages`: the same algebra as in the vector store, as one jsonpath predicate.

The statement that uses it stays one and the same, whatever is asked: names of fields come from a fixed list, and
values travel as variables of the path. It needs no index: it is for pages that were found already.
https://www.postgresql.org/docs/current/functions-json.html#FUNCTIONS-SQLJSON-PATH
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.vectors.filter import EVERYTHING, All, AnyOf, FieldExists, FieldIn, FieldRange, Not, PointFilter
from shared.vectors.payload import stored_filter, texts

_DOCUMENT = """p.fields || jsonb_build_object(
    'vault_id', p.vault_id, 'page_id', p.page_id, 'path', p.path, 'kind', p.kind, 'title', p.title
)"""

_BOUNDS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


def page_passes(path: int, variables: int) -> str:
    """Return a condition on the row `p` of `pages`, true where the filter is.

    Its parameters, by number, are what PagePredicate has: the path (null: no filter) and its variables.
    """
    return f"(${path}::text IS NULL OR jsonb_path_match({_DOCUMENT}, (${path}::text)::jsonpath, ${variables}::jsonb))"


@dataclass(frozen=True, slots=True)
class PagePredicate:
    """The two parameters of `page_passes`."""

    path: str | None
    """None lets every page through."""
    variables: dict[str, object] = field(default_factory=dict[str, object])


def page_predicate(where: PointFilter) -> PagePredicate:
    """Return a filter over pages. Raises InvalidInput for a field that no filter may name."""
    simple = stored_filter(where)
    if simple is EVERYTHING:
        return PagePredicate(None)
    writer = _Writer()
    return PagePredicate(writer.predicate(simple), writer.variables)


class _Writer:
    """Writes predicates of jsonpath (lax: a scalar is a list of one) and keeps the values that they name."""

    def __init__(self) -> None:
        self.variables: dict[str, object] = {}

    def predicate(self, where: PointFilter) -> str:
        match where:
            case All(parts):
                return self._joined(" && ", parts) or "1 == 1"
            case AnyOf(parts):
                return self._joined(" || ", parts) or "1 == 2"
            case Not(part):
                return f"!({self.predicate(part)})"
            case _:
                return self._condition(where)

    def _condition(self, where: FieldIn | FieldRange | FieldExists) -> str:
        match where:
            case FieldIn("path_prefixes", values):
                return self._below(values)
            case FieldIn(name, values):
                return f'exists($."{name}"[*] ? (@ == {self._variable(texts(values))}[*]))'
            case FieldExists(name):
                return f'exists($."{"path" if name == "path_prefixes" else name}"[*])'
            case FieldRange():
                return self._between(where)

    def _joined(self, operator: str, parts: tuple[PointFilter, ...]) -> str:
        return operator.join(f"({self.predicate(part)})" for part in parts)

    def _below(self, prefixes: tuple[str | int | bool, ...]) -> str:
        """Tell whether the path is one of these, or in one of those that are folders."""
        folders = [prefix for prefix in texts(prefixes) if prefix.endswith("/")]
        itself = f"$.path == {self._variable(texts(prefixes))}[*]"
        return " || ".join([itself, *(f"$.path starts with {self._variable(folder)}" for folder in folders)])

    def _between(self, where: FieldRange) -> str:
        given = ((sign, bound) for name, sign in _BOUNDS.items() if (bound := getattr(where, name)) is not None)
        bounds = " && ".join(f"@ {sign} {self._variable(bound)}" for sign, bound in given)
        return f'exists($."{where.key}"[*] ? ({bounds}))' if bounds else f'exists($."{where.key}"[*])'

    def _variable(self, value: object) -> str:
        name = f"v{len(self.variables)}"
        self.variables[name] = value
        return f"${name}"
