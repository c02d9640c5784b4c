"""What an adversary could do with a release."""

from velado.attacks.background import background
from velado.attacks.base import MEASURES, Attack, Attacker, Attacks, Exposed, Prevention, Trial
from velado.attacks.homogeneity import homogeneity
from velado.attacks.linkage import Links, Truth, disclosure, linkage
from velado.attacks.lookup import lookup
from velado.attacks.order import order, order_of_releases
from velado.attacks.reach import within_reach
from velado.attacks.records import Records
from velado.attacks.relation import flat, related
from velado.attacks.releases import releases
from velado.attacks.similarity import similarity
from velado.attacks.skewness import skewness

ATTACKS: dict[str, Trial] = {
    "lookup": Trial(lookup, (("columns",),)),
    "homogeneity": Trial(homogeneity, (("sensitive",),)),
    "background": Trial(background, (("sensitive",),)),
    "skewness": Trial(skewness, (("sensitive",),)),
    "similarity": Trial(similarity, (("tree", "numbers"),)),
    "linkage": Trial(linkage, (("external",),)),
    "order": Trial(order, (("original", "other"),)),
    "releases": Trial(releases, (("other",),)),
}

__all__ = [
    "ATTACKS",
    "MEASURES",
    "Attack",
    "Attacker",
    "Attacks",
    "Exposed",
    "Links",
    "Prevention",
    "Records",
    "Trial",
    "Truth",
    "background",
    "disclosure",
    "flat",
    "homogeneity",
    "linkage",
    "lookup",
    "order",
    "order_of_releases",
    "related",
    "releases",
    "similarity",
    "skewness",
    "within_reach",
]
