"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deploy.embedded.state import DATA_DIR_VARIABLE, default_data_dir

DataDir = Annotated[
    Path,
    typer.Option(
        "--data-dir",
        envvar=DATA_DIR_VARIABLE,
        default_factory=default_data_dir,
        show_default=False,
        resolve_path=True,
        file_okay=False,
        help="Folder with the state of the stack. Default: the user's folder for application data.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

VaultName = Annotated[
    str | None,
    typer.Option("--vault", metavar="ID|FOLDER", show_default=False, help="Id or folder of the vault."),
]

VaultFolder = Annotated[
    Path,
    typer.Argument(metavar="VAULT", exists=True, file_okay=False, resolve_path=True, help="Folder of the vault."),
]
