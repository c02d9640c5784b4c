"""Appointments that keep people anonymous: place and hour become quasi-identifiers, so they are given out by groups.

After the work of the Universidad Complutense de Madrid (UCM) on anonymous screening programmes.
"""

from velado.appointments.anonymity_vectors import AnonymityVector
from velado.appointments.assign import assign_appointments, compare_planners
from velado.appointments.planners.best_fit import BestFit
from velado.appointments.planners.exact import Exact
from velado.appointments.planners.find_slots import FindSlots
from velado.appointments.planners.random_slots import RandomSlots
from velado.appointments.planners.registry import PLANNERS
from velado.appointments.planning import Planning
from velado.appointments.tables.generate import generate_people, generate_slots
from velado.appointments.tables.groups import Groups, anonymity_groups
from velado.appointments.tables.rows import save_table

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
