"""Who may import what, beyond what import-linter can say: drivers by place, contracts, and who builds adapters."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source import PRODUCT, Module, imports, is_at, modules

PLACES_OF_DRIVERS = {
    "nats": (
        "shared/bus", "shared/delivery", "shared/provision", "shared/publishing", "shared/pull", "shared/service",
        "shared/telemetry", "deploy/embedded",
    ),
    "asyncpg": ("shared/postgres", "shared/provision", "deploy/embedded"),
    "qdrant_client": ("shared/vectors",),
    "qdrant_edge": ("shared/vectors",),
    "httpx": ("shared/embedding", "shared/http_provider", "shared/scoring", "services/chat/providers"),
    "httpx2": ("services/chat/providers",),
    "openai": ("services/chat/providers",),
    "anthropic": ("services/chat/providers",),
    "ollama": ("services/chat/providers",),
    "claude_agent_sdk": ("services/chat/providers",),
    "onnxruntime": ("shared/embedding", "shared/scoring"),
    "tokenizers": ("shared/embedding", "shared/scoring"),
}  # fmt: skip
"""Driver to the plumbing that may import it; every `adapters` folder may, too."""

FOR_EVERYONE = frozenset(
    {
        "shared/vectors/store", "shared/vectors/filter", "shared/vectors/ranges", "shared/vectors/bm25",
        "shared/embedding/embedder", "shared/embedding/settings",
    }
)  # fmt: skip
"""Modules beside shared adapters that any module may import: ports, settings, and what turns text into term weights."""


ROOMS_OF_ADAPTERS = ("services/chat/providers",)
"""Packages of adapters that are not called `adapters`: there are so many of one port."""

SETTINGS_OF_ADAPTERS = frozenset({"services.chat.providers.settings"})
"""Read in `__main__`, so any module may import them."""


def misplaced_drivers(root: Path) -> list[str]:
    """Imports of a driver outside adapters, its plumbing, and `app.py`, which hands connections to adapters."""
    return [
        f"{module.path}:{line}: imports {name}; only {', '.join(places)} and adapters may"
        for module in modules(root, *PRODUCT)
        if not (_is_adapter(module) or _is_app(module))
        for line, name in imports(module)
        if (places := PLACES_OF_DRIVERS.get(name.split(".")[0])) and not is_at(module.place, *places)
    ]


def impure_contracts(root: Path) -> list[str]:
    """Imports of contracts beyond pydantic, the standard library and each other."""
    allowed = sys.stdlib_module_names | {"pydantic"}
    return [
        f"{module.path}:{line}: imports {name}; contracts know pydantic and the standard library only"
        for module in modules(root, "shared/contracts")
        for line, name in imports(module)
        if name.split(".")[0] not in allowed and not name.startswith("shared.contracts.")
    ]


def adapters_outside_app(root: Path) -> list[str]:
    """Modules of services that import an adapter although they are neither `app.py` nor an adapter.

    A heuristic for "only app.py builds adapters": what is not imported is not built.
    """
    shared_adapters = set(_shared_adapters(root))
    return [
        f"{module.path}:{line}: imports the adapter {name}; take the port, app.py builds the adapter"
        for module in modules(root, "services")
        if not (_is_adapter(module) or _is_app(module))
        for line, name in imports(module)
        if _names_an_adapter(name) or _place(name) & shared_adapters
    ]


def builders_outside_app(root: Path) -> list[str]:
    """Functions of services named `build_…` outside `app.py`."""
    return [
        f"{module.path}:{node.lineno} {node.name}: builders live in app.py"
        for module in modules(root, "services")
        if not (_is_app(module) or is_at(module.place, *ROOMS_OF_ADAPTERS))
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("build_")
    ]


def _shared_adapters(root: Path) -> Iterator[str]:
    """Places of the adapters that lie beside a shared port: those that import a driver."""
    for module in modules(root, "shared/vectors", "shared/embedding", "shared/scoring"):
        if module.place not in FOR_EVERYONE and any(
            name.split(".")[0] in PLACES_OF_DRIVERS for _, name in imports(module)
        ):
            yield module.place


def _place(name: str) -> set[str]:
    """The module that `from a.b import c` may mean: a.b, or a.b.c."""
    place = name.replace(".", "/")
    return {place, place.rpartition("/")[0]}


def _is_adapter(module: Module) -> bool:
    return "adapters" in module.path.split("/") or is_at(module.place, *ROOMS_OF_ADAPTERS)


def _names_an_adapter(name: str) -> bool:
    if any(f"{name}.".startswith(f"{settings}.") for settings in SETTINGS_OF_ADAPTERS):
        return False
    return ".adapters." in f"{name}." or is_at(name.replace(".", "/"), *ROOMS_OF_ADAPTERS)


def _is_app(module: Module) -> bool:
    return module.path.startswith("services/") and module.path.endswith("/app.py")
