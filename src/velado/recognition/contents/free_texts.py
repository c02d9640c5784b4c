"""Free text: what people wrote, which may say anything about anybody."""

from __future__ import annotations

from velado.recognition.contents.sample import Content, Sample


def free_text(sample: Sample) -> Content | None:
    """Long texts, hardly any of them twice."""
    if sample.plain_numbers or sample.distinct < 5:
        return None
    told = sample.topic == "text"
    share = sample.share(lambda v: len(v) >= (15 if told else 30) and v.count(" ") >= (2 if told else 4))
    if share >= (0.3 if told else 0.5) and sample.ratio >= (0.1 if told else 0.25):
        return Content("free text", share)
    return None
