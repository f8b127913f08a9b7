"""Writes the generated files: `python -m deploy.documents schemas|docs [ROOT]` (`make schemas`, `make docs`).

Files of an earlier run that nothing generates any more are deleted from `schemas/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from deploy.documents.files import documentation, schemas, write
from shared.errors import InvalidInput

ROOT = Path(__file__).parents[2]


def main(arguments: list[str]) -> None:
    """Write one set of files and say how many changed. Raises InvalidInput for an unknown set."""
    sets = {"schemas": schemas, "docs": documentation}
    if not arguments or arguments[0] not in sets:
        raise InvalidInput(f"Say which files to write: {' or '.join(sets)}.")
    changed = write(sets[arguments[0]](), Path(arguments[1]) if len(arguments) > 1 else ROOT)
    sys.stdout.write(f"{arguments[0]}: {len(changed)} files changed\n")


if __name__ == "__main__":
    main(sys.argv[1:])
