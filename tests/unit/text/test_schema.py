import pytest

from services.ingest.text.schema import check_schema
from shared.contracts.files import SchemaRules
from shared.errors import InvalidInput
from tests.unit.text.pages import VAULT, prepare

RULES = SchemaRules(
    strict=True,
    required=("type", "last_verified"),
    allowed={"type": ("entity", "concept"), "tags": ("a", "b"), "level": ("1", "2")},
)
GOOD: dict[str, object] = {"type": "entity", "last_verified": "2026-05-31"}


def test_a_page_that_keeps_the_rules_passes() -> None:
    check_schema("wiki/x.md", GOOD | {"tags": "a, b", "level": 2}, RULES)


@pytest.mark.parametrize("empty", [{}, {"type": None}, {"type": "  "}, {"type": []}])
def test_a_missing_field_is_named_with_what_is_allowed(empty: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"the field type is missing \(allowed: 'entity', 'concept'\)"):
        check_schema("wiki/x.md", {"last_verified": "2026-05-31"} | empty, RULES)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"type": "person"}, "the field type has 'person', allowed: 'entity', 'concept'"),
        ({"tags": ["a", "c"]}, "the field tags has 'c', allowed: 'a', 'b'"),
        ({"tags": "a c"}, "the field tags has 'c'"),
        ({"level": 3}, "the field level has '3'"),
    ],
)
def test_a_value_that_is_not_allowed_is_named(wrong: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        check_schema("wiki/x.md", GOOD | wrong, RULES)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidInput, match=r"last_verified is missing.*type has"):
        check_schema("wiki/x.md", {"type": "person"}, RULES)


def test_exempt_paths_and_lenient_vaults_are_not_checked() -> None:
    check_schema("raw/x.md", {}, RULES)
    check_schema("wiki/x.md", {}, RULES.model_copy(update={"strict": False}))


def test_a_page_that_breaks_the_rules_is_rejected_and_nothing_is_defaulted() -> None:
    strict = VAULT.model_copy(update={"rules": RULES})
    with pytest.raises(InvalidInput, match="last_verified is missing"):
        prepare("---\ntype: entity\n---\nbody", settings=strict)
    assert prepare("---\ntype: entity\n---\nbody").fields["last_verified"] is None


def test_a_rejection_tells_that_the_front_matter_is_broken() -> None:
    with pytest.raises(InvalidInput, match=r"type is missing.*not valid YAML, line 1"):
        prepare("---\ntype: a: b\n---\nbody", settings=VAULT.model_copy(update={"rules": RULES}))
