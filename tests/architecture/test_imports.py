"""Imports go the way that the architecture draws, and the rules that say so can fail."""

from __future__ import annotations

import importlib.util
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.architecture.rules_of_imports import (
    adapters_outside_app,
    builders_outside_app,
    impure_contracts,
    misplaced_drivers,
)
from tests.architecture.source import PRODUCT, ROOT, plant


def test_drivers_are_imported_only_where_they_belong() -> None:
    found = misplaced_drivers(ROOT)
    assert not found, "\n".join(found)


def test_contracts_know_pydantic_and_the_standard_library_only() -> None:
    found = impure_contracts(ROOT)
    assert not found, "\n".join(found)


def test_only_app_modules_import_adapters() -> None:
    found = adapters_outside_app(ROOT)
    assert not found, "\n".join(found)


def test_only_app_modules_have_builders() -> None:
    found = builders_outside_app(ROOT)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("package", PRODUCT)
def test_nobody_else_owns_our_import_names(package: str) -> None:
    assert set(packages_distributions().get(package, [])) <= {"citebus"}
    others = [path for path in sys.path if path and Path(path).resolve() != ROOT and (Path(path) / package).is_dir()]
    assert others == [], f"{package} is installed by someone else, too"
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin == str(ROOT / package / "__init__.py")


@pytest.mark.parametrize("statement", ["import nats", "import nats.js", "from nats.aio.client import Client"])
def test_a_driver_in_a_use_case_is_seen(tmp_path: Path, statement: str) -> None:
    root = plant(tmp_path, {"services/ingest/worker.py": f"def f():\n    {statement}\n", "shared/bus.py": statement})
    assert [found.split(":")[0] for found in misplaced_drivers(root)] == ["services/ingest/worker.py"]


def test_a_driver_in_the_plumbing_of_another_is_seen(tmp_path: Path) -> None:
    root = plant(tmp_path, {"shared/bus.py": "import asyncpg", "services/ingest/adapters/x.py": "import asyncpg"})
    assert [found.split(":")[0] for found in misplaced_drivers(root)] == ["shared/bus.py"]


def test_a_contract_that_imports_plumbing_is_seen(tmp_path: Path) -> None:
    pure = "import json\nfrom pydantic import Field\nfrom shared.contracts.message import Message\n"
    root = plant(tmp_path, {"shared/contracts/a.py": pure, "shared/contracts/b.py": "from shared.ids import VAULT_ID"})
    assert [found.split(":")[0] for found in impure_contracts(root)] == ["shared/contracts/b.py"]


@pytest.mark.parametrize(
    "statement",
    [
        "from services.ingest.adapters import ledger",
        "from services.ingest.adapters.ledger import PostgresLedger",
        "from shared.vectors.edge import EdgeStore",
        "from shared.vectors import edge",
    ],
)
def test_an_adapter_in_a_use_case_is_seen(tmp_path: Path, statement: str) -> None:
    files = {
        "shared/vectors/edge.py": "import qdrant_edge",
        "services/ingest/worker.py": statement,
        "services/ingest/app.py": statement,
        "services/ingest/handlers.py": "from shared.vectors.store import VectorStore",
    }
    found = adapters_outside_app(plant(tmp_path, files))
    assert [line.split(":")[0] for line in found] == ["services/ingest/worker.py"]


def test_a_builder_outside_app_is_seen(tmp_path: Path) -> None:
    text = "def build_ledger(): ...\n"
    root = plant(tmp_path, {"services/ingest/app.py": text, "services/ingest/worker.py": text})
    assert [found.split(":")[0] for found in builders_outside_app(root)] == ["services/ingest/worker.py"]
