"""The port of wire formats, and how replies are read: a broken one is worth another try, another format is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ValidationError

from shared.errors import InvalidInput, Unavailable

ReplyModel = TypeVar("ReplyModel", bound=BaseModel)


class WireFormat(Protocol):
    """How one kind of provider asks and answers."""

    @property
    def path(self) -> str:
        """Path under the base URL, with a leading slash."""
        ...

    def body(self, texts: Sequence[str]) -> dict[str, object]:
        """Return the JSON body that asks for the vectors of these texts."""
        ...

    def rows(self, reply: bytes) -> list[npt.NDArray[np.float32]]:
        """Return the vectors of a reply in the order of the texts.

        Raises Unavailable when it is no JSON (cut, or a proxy's page), InvalidInput when it is another format.
        """
        ...


def parse_reply(model: type[ReplyModel], reply: bytes) -> ReplyModel:
    """Return the reply as `model`; Unavailable when it is no JSON (cut, or a proxy's page), else InvalidInput."""
    try:
        return model.model_validate_json(reply)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise Unavailable("the embedding provider's reply is no JSON: cut off, or a proxy's page") from error
        field = ".".join(map(str, first["loc"]))
        raise InvalidInput(
            f"the embedding provider's reply has no valid `{field}`: CITEBUS_EMBEDDING_PROVIDER or "
            "CITEBUS_EMBEDDING_BASE_URL does not fit this server"
        ) from error
