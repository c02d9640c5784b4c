"""How far all that is published singles people out, in lines for a terminal."""

from __future__ import annotations

from velado.cli.language import current, translate_plain
from velado.cli.terminal import percent, say, table
from velado.evaluation.joint_exposure import JointExposure
from velado.evaluation.shown import sample_note

Line = tuple[str, str]


def headline_title(name: str) -> str:
    """What a headline figure is called within a table."""
    title = current().label("headline", name)
    return title[:1].lower() + title[1:]


def headline(joint: JointExposure | None) -> list[Line]:
    """What stands beside the risk by quasi-identifiers: the risk by everything else."""
    if joint is None:
        return []
    told = translate_plain(
        "{below:,} of {people:,} ({share:.2%}), {alone:,} alone",
        below=joint.below,
        people=joint.people,
        share=joint.share,
        alone=joint.alone,
    )
    lines = [(headline_title("exposed"), told)]
    if joint.private:
        below = joint.below_with_private / max(joint.people, 1)
        told = translate_plain("{alone:.2%} alone, {below:.2%} below k", alone=joint.share_alone_with_private, below=below)
        lines.append((headline_title("exposed-all"), told))
    return lines


def show_keys(joint: JointExposure | None) -> None:
    """How many columns it takes to find people, and which ones find the most."""
    if joint is None or not joint.below_with_private or joint.keys is None or joint.keys_with_private is None:
        return
    people = max(joint.people, 1)
    if joint.below:
        table(
            "Columns that are enough to find fewer than k people",
            [
                (
                    current().label("keys", n),
                    translate_plain("{n:,}", n=joint.keys[n]),
                    percent(joint.keys[n] / people),
                    translate_plain("{n:,}", n=joint.keys_with_private[n]),
                    percent(joint.keys_with_private[n] / people),
                )
                for n in joint.keys
            ],
            ("smallest key", "people, by what others could know", "", "by everything published", ""),
        )
        known = [s for s in joint.sets if not set(s.columns) & set(joint.private)][:6]
        table(
            "The most revealing columns",
            [(" + ".join(s.columns), translate_plain("{n:,}", n=s.alone), translate_plain("{n:,}", n=s.below)) for s in known],
            ("columns", "alone", "in groups smaller than k"),
        )
    if joint.sampled is not None:
        say("{told}", told=sample_note({"sampled": joint.sampled, "error": joint.error}, current()))


def show_narrowing(joint: JointExposure | None) -> None:
    """Which columns tell quasi-identifiers again that were generalized; for the owner."""
    for one in () if joint is None else joint.narrowing[:5]:
        say(
            "'{column}' tells '{quasi}' again: {left:.0%} of the values behind a label are left on average, one value for "
            "{one_left:,} of {hidden:,}",
            column=one.column,
            quasi=one.quasi_identifier,
            left=one.left,
            one_left=one.one_left,
            hidden=one.hidden,
        )
