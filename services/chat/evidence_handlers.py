"""Requests to calibrate: `citebus.v1.calibrate.<vault>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from services.chat.evidence_calibration import Calibrating
from shared.contracts.calibration import CalibrateRequest
from shared.service import Endpoint
from shared.topology import QUEUE_CHAT, Topology


def calibration_endpoints(topology: Topology, calibrating: Calibrating) -> Sequence[Endpoint[Any]]:
    """Return the endpoint, which takes the time that its request names."""
    return [
        Endpoint(
            "calibrate",
            topology.calibrate("*"),
            CalibrateRequest,
            calibrating.calibrate,
            QUEUE_CHAT,
            limit_s=lambda request: request.deadline_ms / 1000,
        )
    ]
