"""Which numbers may be meant by what is written: a comma parts thousands in one language, a fraction in another."""

from __future__ import annotations

import re


def readings(written: str) -> frozenset[str]:
    """Return the numbers that `written` may stand for: a separator before three digits may part thousands."""
    sign = "-" if written.startswith("-") else ""
    digits = written.lstrip("-").replace("'", "").replace(" ", "")
    found: set[str] = set()
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", digits):
        found.add(re.sub(r"[.,]", "", digits))
    whole = re.fullmatch(r"(\d{1,3}(?:[.,]\d{3})+|\d+)(?:[.,](\d+))?", digits)
    if whole:
        fraction = (whole[2] or "").rstrip("0")
        found.add(re.sub(r"[.,]", "", whole[1]).lstrip("0") or "0" if not fraction else f"{_bare(whole[1])}.{fraction}")
    if re.fullmatch(r"\d+[.,]\d+", digits):
        front, back = re.split(r"[.,]", digits)
        back = back.rstrip("0")
        found.add(f"{_bare(front)}.{back}" if back else _bare(front))
    return frozenset(sign + each for each in found or {digits})


def _bare(digits: str) -> str:
    return re.sub(r"[.,]", "", digits).lstrip("0") or "0"
