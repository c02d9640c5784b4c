"""Invented tables of people, for tutorials, tests and benchmarks. No row describes a real person."""

from velado.samples.caoba import caoba
from velado.samples.ceara import covid_ceara
from velado.samples.hospital import DIAGNOSES, hospital

__all__ = ["DIAGNOSES", "caoba", "covid_ceara", "hospital"]
