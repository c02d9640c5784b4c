"""The diagnoses of the sample hospital: where they stand in the tree, whom they befall and what they cost."""

from __future__ import annotations

from typing import NamedTuple


class Profile(NamedTuple):
    """How often a diagnosis is made at its peak age, between which ages, and what it costs in euros."""

    female: float
    male: float
    youngest: float
    peak: float
    oldest: float
    cost: float
    spread: float


PROFILES = {
    "Circulatory system": {
        "Heart disease": {
            "Hypertensive heart disease": Profile(9, 9, 25, 75, 120, 2100, 0.5),
            "Myocardial infarction": Profile(4, 9, 30, 68, 115, 7800, 0.6),
            "Heart failure": Profile(11, 10, 40, 86, 130, 4300, 0.6),
        },
        "Cerebrovascular disease": {"Stroke": Profile(7, 8, 35, 80, 120, 6900, 0.8)},
    },
    "Respiratory system": {
        "Acute respiratory infection": {
            "Influenza": Profile(2, 2, -300, 50, 400, 1500, 0.5),
            "Pneumonia": Profile(4, 5, -60, 85, 200, 3600, 0.6),
            "Bronchiolitis": Profile(9, 11, -1, 0, 3, 2300, 0.4),
        },
        "Chronic respiratory disease": {
            "Asthma": Profile(3, 3, 1, 12, 90, 1800, 0.4),
            "Chronic obstructive pulmonary disease": Profile(4, 9, 40, 75, 110, 3400, 0.5),
        },
    },
    "Digestive system": {
        "Acute abdomen": {"Appendicitis": Profile(4, 5, 3, 18, 80, 3900, 0.4), "Gallstones": Profile(6, 4, 15, 62, 110, 3700, 0.4)},
        "Hernia": {"Inguinal hernia": Profile(1, 7, -5, 62, 110, 2400, 0.3)},
    },
    "Neoplasms": {
        "Breast and prostate cancer": {
            "Breast cancer": Profile(9, 0.1, 25, 60, 105, 8600, 0.7),
            "Prostate cancer": Profile(0, 8, 40, 70, 105, 7400, 0.6),
        },
        "Colon and lung cancer": {
            "Colon cancer": Profile(4, 5, 30, 72, 110, 11200, 0.6),
            "Lung cancer": Profile(2, 5, 35, 68, 105, 12400, 0.7),
        },
    },
    "Injuries": {
        "Fractures": {
            "Hip fracture": Profile(13, 6, 50, 92, 130, 8900, 0.4),
            "Wrist fracture": Profile(4, 3, -5, 40, 130, 2600, 0.4),
        },
        "Head injury": {"Concussion": Profile(1.5, 3, -10, 17, 120, 1300, 0.5)},
    },
    "Mental disorders": {
        "Mood disorders": {"Depression": Profile(4, 2, 11, 44, 110, 3100, 0.7)},
        "Substance use disorders": {"Alcohol dependence": Profile(1, 3, 17, 48, 90, 2900, 0.8)},
    },
    "Pregnancy and childbirth": {
        "Delivery": {
            "Vaginal delivery": Profile(30, 0, 15, 31, 46, 2500, 0.3),
            "Caesarean delivery": Profile(12, 0, 16, 34, 50, 4100, 0.3),
        },
        "Pregnancy complications": {"Pre-eclampsia": Profile(3, 0, 15, 33, 48, 3300, 0.5)},
    },
}

LEAVES = {name: profile for groups in PROFILES.values() for diagnoses in groups.values() for name, profile in diagnoses.items()}
