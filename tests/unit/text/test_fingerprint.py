from dataclasses import replace

import pytest

from services.ingest.text.fingerprint import config_hash
from services.ingest.text.splitting import ChunkerSettings
from shared.contracts.files import SchemaRules, VaultSettings
from tests.unit.text.pages import VAULT


@pytest.mark.parametrize(
    "changed",
    [
        VAULT.model_copy(update={"language": "de"}),
        VAULT.model_copy(update={"rules": SchemaRules(strict=True)}),
    ],
)
def test_settings_that_change_a_page_change_the_hash(changed: VaultSettings) -> None:
    assert config_hash(changed) != config_hash(VAULT)


def test_rules_count_when_they_are_strict() -> None:
    one, other = SchemaRules(strict=True, required=("a",)), SchemaRules(strict=True, required=("b",))
    assert len({config_hash(VAULT.model_copy(update={"rules": rules})) for rules in (one, other)}) == 2


@pytest.mark.parametrize(
    "same",
    [
        VAULT.model_copy(update={"vault_id": "another"}),
        VAULT.model_copy(update={"exclude": ("x/",)}),
        VAULT.model_copy(update={"never_cite": ()}),
        VAULT.model_copy(update={"rules": SchemaRules(strict=False, required=("a",))}),
    ],
)
def test_settings_that_leave_a_page_alone_leave_the_hash_alone(same: VaultSettings) -> None:
    assert config_hash(same) == config_hash(VAULT)


@pytest.mark.parametrize("size", ["target_tokens", "min_tokens", "max_tokens", "overlap_tokens"])
def test_each_size_of_the_chunker_counts(size: str) -> None:
    default = ChunkerSettings()
    assert config_hash(VAULT, replace(default, **{size: 1})) != config_hash(VAULT)
    assert config_hash(VAULT, default) == config_hash(VAULT)
