"""Every error of citebus, in one tree, each either retryable or permanent.

    CitebusError
    ├── RetryableError          the same call may succeed later
    │   ├── Unavailable         a server or provider does not answer
    │   │   └── RateLimited     a provider asks to wait
    │   └── DeadlineExceeded    the time that the caller gave is over
    └── PermanentError          the same call fails again
        ├── InvalidInput        a request, a file or a setting is wrong
        │   └── TooLarge        beyond a stated limit
        ├── NotFound            the thing named does not exist
        ├── SpaceMismatch       the settings name another embedding space than the live one
        └── ServerTooOld        a server lacks a feature that citebus needs

`code` is what a caller of a request sees (`ErrorReply.code`) and never changes within a major version.
Messages say what happened, to what, and what to do; they are safe to show to a caller.
"""

from __future__ import annotations

from typing import ClassVar


class CitebusError(Exception):
    """Anything that citebus raises on purpose; `code` is stable, the message is for people."""

    code: ClassVar[str] = "internal"


class RetryableError(CitebusError):
    """The same call may succeed later; `retry_after_s` is what the other side asked for, if it did."""

    code: ClassVar[str] = "unavailable"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(RetryableError):
    """A server or provider cannot be reached or does not answer."""


class RateLimited(Unavailable):
    """A provider refuses for now."""


class DeadlineExceeded(RetryableError):
    """The caller's time is over."""

    code: ClassVar[str] = "deadline"


class PermanentError(CitebusError):
    """The same call fails again."""

    code: ClassVar[str] = "invalid"


class InvalidInput(PermanentError):
    """A request, a file or a setting is wrong."""


class TooLarge(InvalidInput):
    """Beyond a stated limit."""

    code: ClassVar[str] = "too_large"


class NotFound(PermanentError):
    """The thing named does not exist."""

    code: ClassVar[str] = "not_found"


class SpaceMismatch(PermanentError):
    """The settings name another embedding space than the one that is live."""


class ServerTooOld(PermanentError):
    """A server lacks a feature that citebus needs."""

    code: ClassVar[str] = "unavailable"
