"""Numbers with a check digit: ids of countries, cards, accounts; and phone numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from random import Random

from velado.recognition.contents.sample import Content, Sample
from velado.recognition.names import KNOWN
from velado.sentences import Sentence

NATIONAL = {
    "br.cpf": (Sentence("CPF (Brazil)"), r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}"),
    "br.cnpj": (Sentence("CNPJ (Brazil)"), r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}"),
    "es.nif": (Sentence("DNI, NIE or NIF (Spain)"), r"[A-Z0-9]-?\d{7}-?[A-Z0-9]"),
    "cl.rut": (Sentence("RUT (Chile)"), r"\d{1,2}\.?\d{3}\.?\d{3}-?[\dk]"),
    "ar.cuit": (Sentence("CUIT (Argentina)"), r"\d{2}-?\d{8}-?\d"),
    "mx.curp": (Sentence("CURP (Mexico)"), r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d"),
    "mx.rfc": (Sentence("RFC (Mexico)"), r"[A-ZÑ&]{3,4}-?\d{6}-?[A-Z0-9]{3}"),
    "co.nit": (Sentence("NIT (Colombia)"), r"\d{3}\.?\d{3}\.?\d{3}-?\d|\d{9,10}"),
    "pe.ruc": (Sentence("RUC (Peru)"), r"\d{11}"),
    "pe.cui": (Sentence("CUI (Peru)"), r"\d{8}-?[0-9A-K]"),
    "ec.ci": (Sentence("cédula (Ecuador)"), r"\d{9}-?\d"),
    "ec.ruc": (Sentence("RUC (Ecuador)"), r"\d{13}"),
    "uy.rut": (Sentence("RUT (Uruguay)"), r"\d{12}"),
    "py.ruc": (Sentence("RUC (Paraguay)"), r"\d{5,8}-\d"),
    "do.cedula": (Sentence("cédula (Dominican Republic)"), r"\d{3}-?\d{7}-?\d"),
    "ve.rif": (Sentence("RIF (Venezuela)"), r"[VEJPG]-?\d{8}-?\d"),
    "gt.nit": (Sentence("NIT (Guatemala)"), r"\d{2,11}-[\dk]"),
    "sv.nit": (Sentence("NIT (El Salvador)"), r"\d{4}-?\d{6}-?\d{3}-?\d"),
    "cr.cpf": (Sentence("cédula (Costa Rica)"), r"\d{1,2}-\d{3,4}-\d{4}"),
    "us.ssn": (Sentence("SSN (United States)"), r"\d{3}-\d{2}-\d{4}"),
    "us.itin": (Sentence("ITIN (United States)"), r"9\d{2}-\d{2}-\d{4}"),
    "ca.sin": (Sentence("SIN (Canada)"), r"\d{3}[ -]?\d{3}[ -]?\d{3}"),
    "gb.nhs": (Sentence("NHS number (United Kingdom)"), r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
    "ie.pps": (Sentence("PPS (Ireland)"), r"\d{7}[A-W][AHWTX]?"),
    "it.codicefiscale": (Sentence("codice fiscale (Italy)"), r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"),
    "fr.nir": (Sentence("NIR (France)"), r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}"),
    "de.idnr": (Sentence("tax id (Germany)"), r"\d{2} ?\d{3} ?\d{3} ?\d{3}"),
    "pt.nif": (Sentence("NIF (Portugal)"), r"\d{3} ?\d{3} ?\d{3}"),
    "pt.cc": (Sentence("cartão de cidadão (Portugal)"), r"\d{8} ?\d ?[A-Z0-9]{2}\d"),
    "pl.pesel": (Sentence("PESEL (Poland)"), r"\d{11}"),
    "nl.bsn": (Sentence("BSN (Netherlands)"), r"\d{4}\.?\d{2}\.?\d{3}"),
    "be.nn": (Sentence("national number (Belgium)"), r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}"),
    "se.personnummer": (Sentence("personnummer (Sweden)"), r"(\d{2})?\d{6}[-+]?\d{4}"),
    "no.fodselsnummer": (Sentence("fødselsnummer (Norway)"), r"\d{6} ?\d{5}"),
    "dk.cpr": (Sentence("CPR (Denmark)"), r"\d{6}-\d{4}"),
    "fi.hetu": (Sentence("HETU (Finland)"), r"\d{6}[-+A-Y]\d{3}[0-9A-Y]"),
    "ch.ssn": (Sentence("AHV number (Switzerland)"), r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    "at.vnr": (Sentence("insurance number (Austria)"), r"\d{4} ?\d{6}"),
    "ro.cnp": (Sentence("CNP (Romania)"), r"\d{13}"),
    "bg.egn": (Sentence("EGN (Bulgaria)"), r"\d{10}"),
    "hr.oib": (Sentence("OIB (Croatia)"), r"\d{11}"),
    "cz.rc": (Sentence("birth number (Czechia)"), r"\d{6}/?\d{3,4}"),
    "tr.tckimlik": (Sentence("T.C. Kimlik (Turkey)"), r"\d{11}"),
    "za.idnr": (Sentence("ID number (South Africa)"), r"\d{13}"),
    "il.idnr": (Sentence("identity number (Israel)"), r"\d{9}"),
    "in_.aadhaar": (Sentence("Aadhaar (India)"), r"\d{4}[ -]?\d{4}[ -]?\d{4}"),
    "in_.pan": (Sentence("PAN (India)"), r"[A-Z]{5}\d{4}[A-Z]"),
    "cn.ric": (Sentence("resident id (China)"), r"\d{17}[\dx]"),
    "kr.rrn": (Sentence("RRN (Korea)"), r"\d{6}-?\d{7}"),
    "au.tfn": (Sentence("TFN (Australia)"), r"\d{3} ?\d{3} ?\d{3}"),
}
"""Modules of stdnum, what they check, and what a value looks like that is worth checking."""
OTHERS = {
    "luhn": ("card numbers", r"[2-6]\d{3}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}|3\d{3}[ -]?\d{6}[ -]?\d{5}"),
    "iban": ("account numbers (IBAN)", r"[A-Z]{2}\d{2}([ -]?[A-Z0-9]){11,30}"),
    "ar.cbu": ("account numbers (CBU)", r"\d{22}"),
    "imei": ("numbers of phones (IMEI)", r"\d{2}-?\d{6}-?\d{6}-?\d"),
}
SUPPORTED = {"national id", "account", "person id", "id", "network"}
"""Topics of names that speak for a number with a check digit."""
CHECKED, FIRST = 200, 30
"""How many values are checked, and how many of these before the others."""
MANY, MOST = 10, 0.85
"""A number that nothing else speaks for: at least so many values, of which at least this share passes."""


def checked_numbers(sample: Sample) -> Content | None:
    """Ids of countries, cards and accounts, by their check digits.

    One number in ten passes by chance. So nearly all values must pass, and most must fail when a digit of them is
    changed: that tells a check digit that is met from a rule that nearly every number meets.
    """
    if sample.plain_numbers or sample.dates or sample.share(_digits_of) < 0.5:
        return None
    looked = sample.few(CHECKED)
    for module, (kind, shape) in {**NATIONAL, **OTHERS}.items():
        pattern = re.compile(shape, re.IGNORECASE | re.ASCII)
        matching = [v for v in looked.values if pattern.fullmatch(v)]
        if len(matching) < 0.5 * len(looked.values):
            continue
        valid = _validator(module)
        needed = 0.3 if sample.topic in SUPPORTED else MOST
        if sum(map(valid, matching[:FIRST])) < 0.5 * needed * len(matching[:FIRST]):
            continue
        passed = [v for v in matching if valid(v)]
        share = len(passed) / len(looked.values)
        if share < needed:
            continue
        by_chance = sum(map(valid, map(_change_digit, passed))) / len(passed)
        shaped = not any(v.isdigit() for v in passed)
        if sample.topic in SUPPORTED or (shaped and share >= MOST and by_chance <= 0.3 and len(passed) >= 3):
            return Content(kind if module in OTHERS else f"national ids: {kind}", share)
        if len(passed) >= MANY and (by_chance <= 0.3 or module == "us.ssn"):
            return Content(kind if module in OTHERS else f"national ids: {kind}", share)
    return None


def _digits_of(value: str) -> bool:
    return sum(c.isdigit() for c in value) >= 4


def _validator(module: str) -> Callable[[str], bool]:
    """Whether a number is valid; of an IBAN, by its own check digits, not by those that banks of a country add."""
    checking = import_module(f"stdnum.{module}")
    if module == "iban":
        return lambda value: bool(checking.is_valid(value, check_country=False))
    valid: Callable[[str], bool] = checking.is_valid
    return valid


def _change_digit(value: str) -> str:
    """The value with its last digit but one changed."""
    places = [i for i, c in enumerate(value) if c.isdigit()]
    at = places[-2] if len(places) > 1 else places[0]
    return value[:at] + str((int(value[at]) + 3) % 10) + value[at + 1 :]


REGIONS = (
    "US",
    "BR",
    "MX",
    "ES",
    "CO",
    "AR",
    "PE",
    "CL",
    "EC",
    "UY",
    "PT",
    "GB",
    "DE",
    "FR",
    "IT",
    "VE",
    "BO",
    "PY",
    "CR",
    "GT",
    "DO",
    "IN",
)
"""Countries whose local ways of writing a number are tried."""
CONTROLS = 5
"""So many times as many numbers by lot are checked, too."""
LOCAL = r"\(?0?\d{1,4}\)?[ .-]?\(?\d{1,5}\)?([ .-]?\d{2,5}){1,4}( ?(x|ext\.?) ?\d{1,5})?"


def phones(sample: Sample) -> Content | None:
    """Phone numbers: with ``+`` and a country, or as a country writes them.

    Bare digits are phone numbers only if the column's name says so: any nine digits are a number somewhere.
    """
    if sample.dates or sample.plain_numbers or sample.topic in KNOWN or sample.topic == "national id":
        return None
    if sample.matching(NATIONAL["us.ssn"][1]) >= 0.5:
        return None  # Of a person, also where the numbers were invented and none is valid.
    looked = sample.few(100)
    abroad = looked.matching(r"(\+|00)[1-9][\d ().-]{7,20}")
    if abroad >= 0.5:
        return Content("phone numbers", abroad)
    shaped = [v for v in looked.values if re.fullmatch(LOCAL, v) and 7 <= sum(c.isdigit() for c in v) <= 13]
    share = abroad + len(shaped) / max(len(looked.values), 1)
    if sample.topic == "phone":
        return Content("phone numbers", share) if share >= 0.5 else None
    grouped = [v for v in shaped if re.search(r"[ ().-]", v) and sum(c.isdigit() for c in v) >= 9]
    if len(grouped) < max(5, 0.7 * len(looked.values)):
        return None
    import phonenumbers

    def valid(value: str, region: str) -> bool:
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
        except phonenumbers.NumberParseException:
            return False

    lot = Random(0)
    others = [re.sub(r"\d", lambda _: lot.choice("0123456789"), v) for v in grouped * CONTROLS]
    for region in REGIONS:
        share = sum(valid(v, region) for v in grouped) / len(looked.values)
        if share < 0.75:
            continue
        by_chance = sum(valid(v, region) for v in others) / len(others)
        # Some countries accept nearly any digits: these are no evidence.
        if share - by_chance >= 0.4:
            return Content("phone numbers", share)
    return None
