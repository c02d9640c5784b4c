"""Facts: which countries and states lie in which regions."""

from __future__ import annotations

REGIONS = {
    "002": {
        "015": "DZ EG EH LY MA SD TN",
        "011": "BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG",
        "017": "AO CD CF CG CM GA GQ ST TD",
        "014": "BI DJ ER ET IO KE KM MG MU MW MZ RE RW SC SO SS TF TZ UG YT ZM ZW",
        "018": "BW LS NA SZ ZA",
    },
    "019": {
        "021": "BM CA GL PM US",
        "013": "BZ CR GT HN MX NI PA SV",
        "029": "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
        "005": "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE",
    },
    "142": {
        "143": "KG KZ TJ TM UZ",
        "030": "CN HK JP KP KR MN MO TW",
        "035": "BN ID KH LA MM MY PH SG TH TL VN",
        "034": "AF BD BT IN IR LK MV NP PK",
        "145": "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
    },
    "150": {
        "151": "BG BY CZ HU MD PL RO RU SK UA",
        "154": "AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE SJ",
        "039": "AD AL BA ES GI GR HR IT ME MK MT PT RS SI SM VA XK",
        "155": "AT BE CH DE FR LI LU MC NL",
    },
    "009": {
        "053": "AU CC CX HM NF NZ",
        "054": "FJ NC PG SB VU",
        "057": "FM GU KI MH MP NR PW UM",
        "061": "AS CK NU PF PN TK TO TV WF WS",
    },
}
"""Countries (ISO 3166) by continent and region (UN M49)."""
OTHER_NAMES = {
    "US": "eeuu|ee uu|eua|u s|u s a|united states of america|estados unidos de america|estados unidos da america",
    "GB": "uk|u k|england|inglaterra|scotland|escocia|wales|gales|northern ireland|irlanda del norte|irlanda do norte|"
    "great britain|gran bretana|gra bretanha|united kingdom of great britain and northern ireland",
    "NL": "holland|holanda|the netherlands",
    "CZ": "czech republic|republica checa|republica tcheca",
    "RU": "russian federation|federacion de rusia|federacion rusa|federacao russa",
    "KR": "korea|corea|coreia|republic of korea|korea republic of|republica de corea",
    "KP": "korea democratic people s republic of",
    "CI": "ivory coast",
    "MM": "burma|birmania",
    "MK": "macedonia|macedonia del norte",
    "SZ": "swaziland|suazilandia|swazilandia",
    "CV": "cape verde",
    "TR": "turkey",
    "IR": "iran islamic republic of",
    "SY": "syrian arab republic",
    "BO": "bolivia plurinational state of|estado plurinacional de bolivia",
    "VE": "venezuela bolivarian republic of|republica bolivariana de venezuela",
    "TZ": "tanzania united republic of",
    "MD": "moldova republic of",
    "LA": "lao people s democratic republic|lao pdr",
    "VN": "viet nam",
    "CD": "democratic republic of the congo|congo democratic republic of the|republica democratica del congo",
    "CG": "congo|republic of the congo",
    "HK": "hong kong",
    "MO": "macau|macao",
    "PS": "palestine|palestina|state of palestine",
    "VA": "holy see|vatican|vaticano",
    "BN": "brunei darussalam",
    "TL": "east timor|timor leste|timor oriental",
    "TW": "taiwan province of china",
}
"""Names that CLDR does not have, folded."""
US_STATES = {
    "Northeast": {
        "New England": "CT Connecticut|ME Maine|MA Massachusetts|NH New Hampshire|RI Rhode Island|VT Vermont",
        "Middle Atlantic": "NJ New Jersey|NY New York|PA Pennsylvania",
    },
    "Midwest": {
        "East North Central": "IL Illinois|IN Indiana|MI Michigan|OH Ohio|WI Wisconsin",
        "West North Central": "IA Iowa|KS Kansas|MN Minnesota|MO Missouri|NE Nebraska|ND North Dakota|SD South Dakota",
    },
    "South": {
        "South Atlantic": "DE Delaware|DC District of Columbia|FL Florida|GA Georgia|MD Maryland|NC North Carolina|"
        "SC South Carolina|VA Virginia|WV West Virginia",
        "East South Central": "AL Alabama|KY Kentucky|MS Mississippi|TN Tennessee",
        "West South Central": "AR Arkansas|LA Louisiana|OK Oklahoma|TX Texas",
    },
    "West": {
        "Mountain": "AZ Arizona|CO Colorado|ID Idaho|MT Montana|NV Nevada|NM New Mexico|UT Utah|WY Wyoming",
        "Pacific": "AK Alaska|CA California|HI Hawaii|OR Oregon|WA Washington",
    },
}
"""States by region and division of the Census Bureau."""
BRAZILIAN_STATES = {
    "Norte": "AC Acre|AP Amapá|AM Amazonas|PA Pará|RO Rondônia|RR Roraima|TO Tocantins",
    "Nordeste": "AL Alagoas|BA Bahia|CE Ceará|MA Maranhão|PB Paraíba|PE Pernambuco|PI Piauí|RN Rio Grande do Norte|SE Sergipe",
    "Centro-Oeste": "DF Distrito Federal|GO Goiás|MT Mato Grosso|MS Mato Grosso do Sul",
    "Sudeste": "ES Espírito Santo|MG Minas Gerais|RJ Rio de Janeiro|SP São Paulo",
    "Sul": "PR Paraná|RS Rio Grande do Sul|SC Santa Catarina",
}
"""States by region of the IBGE."""
