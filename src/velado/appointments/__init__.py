"""Appointments that keep people anonymous: place and hour become quasi-identifiers, so they are given out by groups.

After the work of the Universidad Complutense de Madrid (UCM) on anonymous screening programmes.
"""

from velado.appointments.assigning import assign_appointments, compare_planners
from velado.appointments.best_fit import BestFit
from velado.appointments.exact import Exact
from velado.appointments.find_slots import FindSlots
from velado.appointments.generate import generate_people, generate_slots
from velado.appointments.groups import Groups, anonymity_groups
from velado.appointments.planners import PLANNERS
from velado.appointments.planning import Planning
from velado.appointments.random_slots import RandomSlots
from velado.appointments.rows import save_table
from velado.appointments.vectors import AnonymityVector

__all__ = [
    "PLANNERS",
    "AnonymityVector",
    "BestFit",
    "Exact",
    "FindSlots",
    "Groups",
    "Planning",
    "RandomSlots",
    "anonymity_groups",
    "assign_appointments",
    "compare_planners",
    "generate_people",
    "generate_slots",
    "save_table",
]
