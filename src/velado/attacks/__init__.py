"""What an adversary could do with a release."""

from velado.attacks.background import background
from velado.attacks.base import MEASURES, Attack, Attacker, Attacks, Exposed, Prevention, Trial
from velado.attacks.homogeneity import homogeneity
from velado.attacks.label_matching import flat, relate_labels
from velado.attacks.linkage import Links, Truth, disclosure, linkage
from velado.attacks.lookup import lookup, lookup_together
from velado.attacks.order import order, order_of_releases
from velado.attacks.prevention import within_reach
from velado.attacks.records import Records
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
    "lookup_together",
    "order",
    "order_of_releases",
    "relate_labels",
    "releases",
    "similarity",
    "skewness",
    "within_reach",
]
