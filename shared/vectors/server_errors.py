"""What a Qdrant server's refusals mean, by HTTP or gRPC, in errors of citebus."""

from __future__ import annotations

from types import TracebackType

import grpc
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from shared.errors import CitebusError, InvalidInput, NotFound, RateLimited, TooLarge, Unavailable

_BY_STATUS: dict[int, type[CitebusError]] = {400: InvalidInput, 401: InvalidInput, 403: InvalidInput, 404: NotFound,
                                             413: TooLarge, 422: InvalidInput, 429: RateLimited}  # fmt: skip
"""Any other status is the server's own trouble, and worth another try."""

_BY_CODE: dict[grpc.StatusCode, type[CitebusError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: InvalidInput, grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.UNAUTHENTICATED: InvalidInput, grpc.StatusCode.PERMISSION_DENIED: InvalidInput,
    grpc.StatusCode.RESOURCE_EXHAUSTED: RateLimited,
}  # fmt: skip


class ServerErrors:
    """A context in which the client's errors come out as errors of citebus, with their cause."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        translated = _translated(error)
        if translated is not None:
            raise translated from error


def _translated(error: BaseException | None) -> CitebusError | None:
    match error:
        case UnexpectedResponse():
            return _refused(_BY_STATUS.get(error.status_code or 0, Unavailable), error.content.decode(errors="replace"))
        case grpc.aio.AioRpcError():
            return _refused(_BY_CODE.get(error.code(), Unavailable), error.details() or "")
        case ResourceExhaustedResponse():
            return RateLimited(f"Qdrant asks to wait: {error}", retry_after_s=error.retry_after_s)
        case ResponseHandlingException() | OSError():
            return Unavailable(f"Qdrant can't be reached: {error}. Check its URL and that it runs.")
        case ValueError():  # the client's own checks, and its local mode
            kind = (
                NotFound if str(error).startswith("Collection") and str(error).endswith("not found") else InvalidInput
            )
            return _refused(kind, str(error))
        case _:
            return None


def _refused(kind: type[CitebusError], why: str) -> CitebusError:
    return kind(f"Qdrant refused: {why[:500]}")
