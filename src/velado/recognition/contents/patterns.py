"""Values that show by their signs alone what they are: e-mail and network addresses, links, UUIDs, hashes."""

from __future__ import annotations

import re

from velado.recognition.contents.sample import Content, Sample

SIGNS = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[a-z]{2,}",
    "links": r"(https?://|www\.)\S+",
    "UUIDs": r"\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?",
    "MAC addresses": r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}",
    "IP addresses": r"((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)"
    r"|(?=.*:.*:)(?=.*[0-9a-f])[0-9a-f]{0,4}(:[0-9a-f]{0,4}){3,7}",
    # At least one letter and one digit: 32 digits may be an account.
    "hashes": r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])"
    r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})",
    "machine codes": r"(?=[0-9a-f]*[0-9])[0-9a-f]{16,}|(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{20,}={0,2}",
}
"""By kind, the pattern of a whole value. Two signs of one value are not possible but for the last."""
ENOUGH = 0.2
"""So many different values with such signs are no accident; the rest may be "none", or another sign."""


def signs(sample: Sample) -> Content | None:
    """E-mail addresses, links, UUIDs, addresses in networks, hashes."""
    if sample.plain_numbers:
        return None
    patterns = {kind: re.compile(pattern, 0 if kind == "machine codes" else re.IGNORECASE) for kind, pattern in SIGNS.items()}
    counted = dict.fromkeys(patterns, 0)
    for value in sample.values:
        kind = next((k for k, p in patterns.items() if p.fullmatch(value)), None)
        if kind:
            counted[kind] += 1
    total = sum(counted.values()) / max(len(sample.values), 1)
    best = max(counted, key=lambda k: counted[k])
    if total < ENOUGH or (best == "machine codes" and (total < 0.8 or sample.matching(r"\d+") > 0.5)):
        return None
    return Content(best, total)
