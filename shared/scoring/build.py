"""From settings to a scorer. Nothing is loaded or called until it is used."""

from __future__ import annotations

from shared.errors import InvalidInput
from shared.scoring.bundled import BundledScorer
from shared.scoring.bundled_weights import cross_encoder_folder
from shared.scoring.scorer import PassageScorer
from shared.scoring.settings import ScoringSettings


def build_scorer(settings: ScoringSettings) -> PassageScorer | None:
    """Return the scorer that the settings name, for the caller to close; None when the bundled one is not installed."""
    if settings.provider == "bundled":
        return BundledScorer(settings.threads, settings.window_tokens) if _is_installed() else None
    from shared.http_provider import HttpAddress  # noqa: PLC0415  (httpx takes 15 MB and 0.1 s that few need)
    from shared.scoring.http_scorer import HttpScorer  # noqa: PLC0415

    key = settings.api_key.get_secret_value() if settings.api_key else ""
    address = HttpAddress("scoring provider", str(settings.base_url), "CITEBUS_SCORING_", key, settings.timeout_s)
    return HttpScorer(settings.provider, settings.model or "", address)


def _is_installed() -> bool:
    try:
        return cross_encoder_folder().is_dir()
    except InvalidInput:
        return False
