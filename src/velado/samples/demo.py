"""The demonstration: a sample table and its project file, ready to run and to change."""

from __future__ import annotations

from pathlib import Path

import yaml

from velado.errors import InputError
from velado.samples.hospital import DIAGNOSES, hospital
from velado.sentences import Sentence

PROJECT = """\
# Anonymize 5,000 synthetic hospital patients. Change k, the hierarchies or the models and run again:
#   velado run hospital.yaml
velado: 1
name: hospital
source: {path: patients.csv}

columns:
  name:           {role: identifier}
  national_id:    {role: identifier}
  birth_date:     # the decade is never given up: no level above it
    role: quasi-identifier
    type: date
    format: "%Y-%m-%d"
    hierarchy: {dates: [month, year, five-years, decade], top: false}
  sex:            {role: quasi-identifier}
  postal_code:    {role: quasi-identifier, hierarchy: {mask: right}}
  city:
    role: quasi-identifier
    hierarchy:
      groups:
        North: [Bilbao, Burgos, Vitoria-Gasteiz, Zaragoza]
        Mediterranean: [Barcelona, Valencia, Alicante, Palma]
        Centre and south: [Madrid, Albacete, Sevilla, Almería]
  marital_status: {role: quasi-identifier}
  diagnosis:        # only the patient and the hospital know it
    role: sensitive
    known: never
    hierarchy:
      tree:
TREE
  cost:           {role: sensitive, known: never, operation: {round: 100}}   # to the cent it would tell patients apart

models:
  - {k-anonymity: {k: 5}}
  - {distinct-diversity: {l: 3, column: diagnosis}}
  - {distinct-diversity: {l: 3, column: cost}}
  # - {t-closeness: {t: 0.5, column: diagnosis, distance: hierarchical}}   # uses the tree above

method: {lattice: {suppression: 0.05, objective: loss}}

output: {path: patients_anonymous.csv}
"""


COMMENTS = (
    Sentence("Anonymize 5,000 synthetic hospital patients. Change k, the hierarchies or the models and run again:"),
    Sentence("the decade is never given up: no level above it"),
    Sentence("only the patient and the hospital know it"),
    Sentence("to the cent it would tell patients apart"),
    Sentence("uses the tree above"),
)
"""What the project says to its reader."""


def write_demo(folder: Path, rows: int = 5000, language: str = "en") -> Path:
    """Write the sample and its project into a folder; a project that is there already stays as it is.

    A table of the same name that is not the sample is never replaced.
    """
    import pyarrow as pa
    import pyarrow.csv

    table, sample = folder / "patients.csv", pa.BufferOutputStream()
    pyarrow.csv.write_csv(hospital(rows), sample, pyarrow.csv.WriteOptions(quoting_style="needed"))
    text = sample.getvalue().to_pybytes()
    if table.exists() and (not table.is_file() or table.read_bytes() != text):
        raise InputError("file-exists", "there is another table of this name", file=table, hint="Choose another folder: --folder.")
    table.write_bytes(text)
    tree = yaml.safe_dump(DIAGNOSES, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
    project = folder / "hospital.yaml"
    if project.exists():
        return project
    described = PROJECT.replace("TREE", "\n".join("        " + line for line in tree.splitlines()))
    for comment in COMMENTS:
        described = described.replace(comment, comment.into(language))
    project.write_text(described, encoding="utf-8")
    return project
