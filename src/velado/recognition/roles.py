"""Which role a column should have, and why."""

from __future__ import annotations

import re

NAMES = {
    "identifier": (
        r"name|nombre|nome|surname|apellido|sobrenome|e-?mail|correo|phone|tel[eé]fono|telefone|passport|pasaporte|"
        r"passaporte|dni|nif|rut|cpf|rg|ssn|curp|\bid\b|_id\b|\bid_|national[ _-]?id|account|cuenta|iban|patient|paciente"
    ),
    "sensitive": (
        r"diagnos|disease|illness|enferm|doen[cç]a|salary|salario|sal[aá]rio|income|ingreso|renda|wage|religion|"
        r"religi[oó]n|occupation|ocupaci|profess|cost|costo|custo|raca|raça|orient|treatment|tratamiento|tratamento|hiv|drug|cause"
    ),
    "quasi-identifier": (
        r"age|edad|idade|sex|sexo|gender|g[eé]nero|birth|nacim|nascim|zip|postal|cep|city|ciudad|cidade|place|lugar|"
        r"locali|state|estado|province|region|country|pa[ií]s|race|ethnic|etni|marital|civil|education|educaci|"
        r"escolar|job|work|native|nation|municip|district|bairro|neighbo"
    ),
}


def role_of(name: str, kind: str, distinct: int, rows: int) -> tuple[str, str]:
    """The role that suggests itself, and why."""
    said = {role: re.search(pattern, name, re.IGNORECASE) for role, pattern in NAMES.items()}
    if distinct <= 1:
        return "insensitive", "always the same value"
    if said["identifier"] and distinct > 0.5 * rows:
        return "identifier", f"its name, and {distinct:,} different values in {rows:,} records"
    if said["sensitive"]:
        return "sensitive", "its name says that people would not want it known"
    if said["quasi-identifier"]:
        return "quasi-identifier", "its name: others may know this about a person"
    if kind == "date":
        return "quasi-identifier", "a date: others may know when something happened to a person"
    if distinct > 0.95 * rows and kind != "number":
        return "identifier", f"{distinct:,} different values in {rows:,} records"
    if kind == "number" or distinct > 0.2 * rows:
        return "sensitive", "a measurement: rarely known to others, often private"
    return "quasi-identifier", f"few different values ({distinct:,}): others may know this about a person"
