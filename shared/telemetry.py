"""Logs (structlog) and traces (OpenTelemetry): set up once per process, in `__main__`.

Trace context travels in message headers (W3C `traceparent`). Without an OTLP endpoint in the environment spans cost
almost nothing and go nowhere.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Literal

import structlog
from opentelemetry import propagate, trace

LogFormat = Literal["console", "json"]

_tracer = trace.get_tracer("citebus")


def configure_logging(*, level: str = "INFO", style: LogFormat = "json") -> None:
    """Send structured logs to stderr, as JSON lines or readable on a terminal; called once."""
    renderer = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if style == "console"
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def configure_tracing(service: str) -> None:
    """Export spans by OTLP when OTEL_EXPORTER_OTLP_ENDPOINT is set and the extra `otel` is installed; else nothing."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        structlog.get_logger(__name__).warning(
            "telemetry.sdk_missing", advice="OTEL_EXPORTER_OTLP_ENDPOINT is set: pip install 'citebus[otel]'"
        )
        return
    provider = TracerProvider(resource=Resource.create({"service.name": f"citebus-{service}"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


@contextmanager
def handling(name: str, headers: Mapping[str, str] | None) -> Generator[None]:
    """Run a handler in a span that continues the caller's trace."""
    context = propagate.extract(dict(headers)) if headers else None
    with _tracer.start_as_current_span(name, context=context, kind=trace.SpanKind.SERVER):
        yield
