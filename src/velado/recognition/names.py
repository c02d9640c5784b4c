"""What the name of a column says, in English, Spanish and Portuguese.

A name is split into words first, so that ``age`` is not found in ``language`` nor ``rg`` in ``cargo``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

PHRASES = {
    "estado civil": "marital", "situacao conjugal": "marital", "situacion conyugal": "marital", "civil status": "marital",
    "fecha nac": "birth", "fec nac": "birth", "f nac": "birth", "dt nasc": "birth", "data nasc": "birth", "dt nac": "birth", "ano nasc": "birth",
    "ano nac": "birth", "of birth": "birth", "birth date": "birth", "day of birth": "birth",
    "place of birth": "place", "country of birth": "country", "lugar nacimiento": "place", "lugar de nacimiento": "place", "pais de nacimiento": "country",
    "cause of death": "health", "causa de muerte": "health", "causa morte": "health", "causa basica": "health", "causa do obito": "health",
    "postal code": "postal", "zip code": "postal", "codigo postal": "postal", "cod postal": "postal", "post code": "postal",
    "factor expansion": "weight", "factor de expansion": "weight", "fator de expansao": "weight", "fator expansao": "weight", "peso amostral": "weight",
    "peso muestral": "weight", "survey weight": "weight", "sample weight": "weight", "sampling weight": "weight", "final weight": "weight",
    "body weight": "physical", "peso corporal": "physical", "ip address": "network", "direccion ip": "network", "endereco ip": "network", "mac address": "network",
    "obra social": "health", "plano de saude": "health", "historia clinica": "person id", "historia clinica numero": "person id", "social security": "national id",
    "seguro social": "national id", "national id": "national id", "documento identidad": "national id", "documento de identidad": "national id",
    "charge desc": "crime", "charge description": "crime", "charge degree": "crime", "charge type": "crime", "faixa etaria": "age", "years old": "age",
    "titulo eleitor": "national id", "titulo de eleitor": "national id", "license plate": "plate", "licence plate": "plate", "clase social": "income", "nota final": "score",
    "tipo documento": "kind", "tipo de documento": "kind", "document type": "kind", "tipo doc": "kind",
    "credit card": "account", "credit score": "score", "nombre completo": "name", "full name": "name", "first name": "name", "last name": "name", "family name": "name",
    "middle name": "name", "given name": "name", "maiden name": "name", "nome completo": "name", "nome social": "name", "nome mae": "name", "nome da mae": "name",
    "nome do pai": "name", "razon social": "organization", "razao social": "organization", "pueblo indigena": "race", "pueblo originario": "race", "pueblos indigenas": "race",
    "sexual orientation": "orientation", "orientacion sexual": "orientation", "orientacao sexual": "orientation", "free text": "text", "open answer": "text",
    "numero de personas": "household", "n personas": "household", "family size": "household", "fam size": "household", "household size": "household", "how tall": "physical",
    "community area": "place", "police district": "place", "area code": "place", "census tract": "place", "census block": "place", "mother tongue": "language",
    "lengua materna": "language", "lingua materna": "language", "location description": "kind", "marital status": "marital", "employment status": "occupation",
    "grado de instruccion": "education", "grado instruccion": "education", "nivel de instruccion": "education", "nivel instruccion": "education",
    "self employed": "occupation", "number of children": "household", "date of death": "date", "unidad medida": "kind", "unidad de medida": "kind",
}  # fmt: skip
"""Words that together say something else than each of them."""

WORDS = {
    # Who: these never leave.
    "name": "name names fname lname given forename surname lastname firstname fullname middlename nombre nombres nom nome nomes apellido apellidos ape "
    "sobrenome paterno materno vorname nachname prenom cognome nickname alias apelido apodo initials iniciales iniciais",
    "e-mail": "email mail emails correo correos eletronico electronico",
    "phone": "phone phones telephone tel telefono telefonos telefone telefones fone celular cell cellphone mobile movil whatsapp fax tlf",
    "network": "ip ipv4 ipv6 mac imei imsi msisdn cookie",
    "url": "url link website site homepage twitter facebook instagram linkedin handle username login",
    "account": "account acct iban swift card tarjeta cartao cuenta conta cbu clabe pix pan cvv agencia",
    "plate": "plate plates placa placas patente vin chasis chassi renavam licenseplate",
    "national id": "cpf cnpj dni nif nie nit rut cuil cuit curp rfc rg cedula ssn nhs pesel bsn nir personnummer passport pasaporte passaporte "
    "nis pis pasep nss cns ruc ife ine documento doc cartorio cnh nationalid citizen tin itin",
    "person": "patient paciente patients person persona pessoa customer customers client cliente user usuario member socio membro employee empleado empregado "
    "funcionario servidor respondent respondente encuestado entrevistado passenger pasajero passageiro student estudiante estudante alumno aluno beneficiario "
    "beneficiary subject participant participante voter defendant victim victima vitima inmate offender borrower holder titular individuo mrn nhc prontuario "
    "legajo matricula badge driver conductor condutor worker trabajador trabalhador asegurado segurado inscrito elector eleitor",
    "household id": "idhogar hhid idfamilia idvivienda iddomicilio",
    "record": "case caso ticket file record folio expediente processo proceso protocolo policy poliza apolice contract contrato order pedido invoice factura fatura "
    "docket serial acta boleta permit transaction receipt booking reserva incident claim siniestro sinistro visit episode episodio encounter admission internacao "
    "registro sample muestra amostra cabin cabina",
    "id": "id ids uuid guid identifier identificador identificacion identificacao key clave chave hash token rowid objectid index idx oid fid",
    "number": "number no num nro numero nr nu n code codigo cod correlativo",
    "text": "comment comments comentario comentarios observation observations observacion observaciones observacao observacoes obs note notes nota notas remark "
    "remarks description descripcion descricao detalle detalhe details narrative story relato message mensaje mensagem feedback review text texto motivo why "
    "explain summary resumen resumo",
    "address": "address addr street streetaddress calle direccion rua endereco logradouro avenida via ruta block cuadra jiron carrera",
    "coordinate": "latitude longitude lat lon lng latitud longitud coordinate coordinates coordenada coordenadas coord coords geom geometry geolocation "
    "geolocalizacion utm easting northing geopoint gps wkt latlong latlng xcoord ycoord",
    # What others know.
    "sex": "sex sexo gender genero",
    "age": "age ages edad edades idade alter agegroup etaria etario",
    "birth": "birth birthday birthdate dob born nacimiento nacido nascimento nasc nac naissance geburtsdatum geboortedatum",
    "postal": "zip zipcode postal postcode cep plz cp",
    "place": "place geo lugar local location localidad localidade ubicacion city ciudad cidade town village pueblo aldea state estado uf province provincia region regiao "
    "municipio municipality municipalidad mun district distrito departamento department dept depto comuna bairro barrio neighborhood neighbourhood neighborhoods county condado parish parroquia "
    "paroquia canton ubigeo divipola ibge fips borough colonia residence residencia vereda corregimiento zone zona area ward tract geoid hood precinct beat sector suburb "
    "territory territorio naturalidade procedencia origin origen origem metro urban rural homecity hometown embarked",
    "country": "country countries pais nation nationality nacionalidad nacionalidade native citizenship ciudadania cidadania",
    "race": "race raza raca ethnicity ethnic etnia etnico etnica cor skin indigena tribe caste raceethnicity",
    "marital": "marital civil conjugal conyugal married spouse casado",
    "education": "education educacion educacao educ edu schooling escolaridad escolaridade escolar degree instruccion instrucao estudios qualification school "
    "escuela escola college university universidad universidade faculdade colegio educational educacional titulacion highschool",
    "occupation": "occupation ocupacion ocupacao job jobs work profession profesion profissao professional cargo puesto oficio employment employer empleo emprego workclass "
    "industry trabajo trabalho empleador estamento rank position cbo isco",
    "household": "household hogar hogares family familia familiar fam dwelling vivienda domicilio moradia lar children hijos filhos kids siblings hermanos irmaos dependents relationship "
    "parentesco relation guardian sibsp parch famsize pessoas personas members miembros",
    "language": "language idioma lengua lingua tongue",
    "physical": "height estatura altura tall eye eyes hair ojos cabello olhos cabelo",
    "date": "date fecha fec data dt dia day month mes year ano anio datum timestamp datetime",
    # What nobody should learn.
    "health": "diagnosis diagnoses diagnostico diag disease illness enfermedad doenca health salud saude icd icd10 icd9 cie cie10 cid cid10 hiv vih treatment tratamiento tratamento "
    "therapy drug drugs medication medicamento medicacion symptom symptoms sintoma sintomas blood sangre sangue disability discapacidad deficiencia pregnant embarazo "
    "gestante pregnancy smoker smoking alcohol depression mental cancer diabetes covid comorbidity comorbilidad death muerte obito cause causa vaccine vacuna vacina dalc walc bmi imc "
    "injury lesion lesao suicide contagio surgery cirugia cirurgia procedure allergy alergia",
    "income": "income ingreso ingresos renda rendimento salary salario salaries sueldo wage wages remuneracion remuneracao earnings pay haber haberes vencimento cost costs costo coste custo "
    "price precio preco charge charges balance saldo debt deuda divida loan prestamo emprestimo credit credito amount monto valor vl fee fare premium capital payment pago pagamento wealth "
    "gasto gastos despesa expense expenditure revenue turnover bonus pension rent alquiler aluguel arriendo tax impuesto benefit beneficio assets liabilities poverty pobreza",
    "crime": "crime crimen delito arrest arrested offense offence conviction convicted felony misdemeanor recid recidivism jail prison prisoner custody sentence sentencia sentenca "
    "condena pena priors prior juv juvenile armed probation parole bail police policia violence violencia violent homicide homicidio iucr",
    "religion": "religion religiao religious faith church credo culto",
    "politics": "party partido vote voto voted votacion politics political politica ideology ideologia union sindicato president candidate candidato",
    "orientation": "orientation orientacion orientacao sexuality sexualidad sexualidade lgbt gay",
    "score": "score scores puntaje puntuacion pontuacao grade grades calificacion qualificacao rating points puntos pontos mark marks gpa exam examen exame result resultado g1 g2 g3",
    # Others.
    "weight": "weight wgt fnlwgt weights ponderador ponderacion fexp fex peso pesos factor fator expansion expansao pondera wt",
    "organization": "company empresa organization organizacion organizacao institution institucion instituicao agency product producto produto brand marca hospital clinic clinica "
    "service servicio servico plan plano model modelo project proyecto projeto entidad entidade program programa lawenforcementagency supplier proveedor fornecedor bank banco",
    "statistic": "share pct percent percentage porcentaje porcentagem rate tasa taxa mean average avg media median mediana ratio pop population poblacion populacao proportion",
    "kind": "type tipo kind class clase classe category categoria cat status situacion situacao condition condicion condicao level nivel group grupo flag is has indicator unidad unit "
    "clasificacion classificacao valid activo ativo active",
}  # fmt: skip
"""Which words say which topic; a word has one topic."""

STEMS = {
    "diagnos": "health", "enferm": "health", "doenc": "health", "patolog": "health", "psiq": "health", "nacim": "birth", "nascim": "birth",
    "religi": "religion", "educac": "education", "escolar": "education", "ocupac": "occupation", "profesi": "occupation", "profiss": "occupation", "municip": "place",
    "nacionalid": "country", "etnic": "race", "ethnic": "race", "telef": "phone", "apellid": "name", "observac": "text", "coment": "text", "remunera": "income",
    "salari": "income", "sueldo": "income", "ingreso": "income", "latitud": "coordinate", "longitud": "coordinate", "coordenad": "coordinate", "neighbo": "place", "delit": "crime",
    "recidiv": "crime", "medicam": "health", "discapac": "health", "crimin": "crime", "arrest": "crime", "identific": "id",
}  # fmt: skip
"""Beginnings of words, of five letters or more."""

PRECEDENCE = (
    "weight", "e-mail", "phone", "network", "coordinate", "url", "account", "plate", "national id", "household id", "text",
    "orientation", "religion", "politics", "health", "crime", "income",
    "birth", "age", "sex", "postal", "address", "country", "race", "marital", "occupation", "education", "language", "physical", "household",
    "date", "place", "score", "organization", "name", "person", "record", "id", "statistic", "kind", "number",
)  # fmt: skip
"""Which topic a name has that says several; the first of these."""

IDENTIFYING = frozenset({"name", "e-mail", "phone", "network", "url", "account", "plate", "national id", "household id", "person id", "record id", "id"})
"""Topics of columns that say who somebody is."""
KNOWN = (
    "sex", "age", "birth", "postal", "place", "race", "country", "marital", "education", "occupation", "date", "household", "language", "physical", "address",
)  # fmt: skip
"""Topics that others know of a person, best known first."""
PRIVATE = frozenset({"health", "income", "crime", "religion", "politics", "orientation", "score"})
"""Topics that people would not want known."""

ALONE = {
    "first": "name", "last": "name", "run": "national id", "x": "coordinate", "y": "coordinate", "long": "coordinate", "sib sp": "household", "title": "kind",
}  # fmt: skip
"""Names that say something only as a whole."""

_TOPIC = {word: topic for topic, words in WORDS.items() for word in words.split()}


def fold(text: str) -> str:
    """Lower case without accents.

    >>> fold("Situação")
    'situacao'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))


@cache
def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name: at every sign, digit and change to capitals; of glued words the known parts.

    >>> words_of("fecha_nac"), words_of("PatientID"), words_of("streetaddress"), words_of("language")
    (('fecha', 'nac'), ('patient', 'id'), ('street', 'address'), ('language',))
    """
    apart = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-zà-ÿ])", " ", name)
    found: list[str] = []
    for word in re.findall(r"[a-z]+(?:[0-9]+(?![a-z]))?", fold(apart)):
        found += _parts(word)
    return tuple(found)


def _parts(word: str) -> Iterable[str]:
    bare = word.rstrip("0123456789")
    if word in _TOPIC or not bare:
        return [word]
    if bare in _TOPIC or _stem(bare):
        return [bare]
    for cut in range(3, len(bare) - 2):
        if bare[:cut] in _TOPIC and bare[cut:] in _TOPIC:
            return [bare[:cut], bare[cut:]]
    if bare.endswith("id") and bare[:-2] in _TOPIC:
        return [bare[:-2], "id"]
    if bare[0] in "mf" and len(bare) > 3 and bare[1:] in _TOPIC:
        return [bare[1:]]  # of the mother, of the father: Medu, Fjob
    return [word]


def _stem(word: str) -> str | None:
    return next((topic for stem, topic in STEMS.items() if word.startswith(stem)), None)


@cache
def topic_of(name: str) -> str | None:
    """What the name of a column says: one of the topics above, or None.

    >>> [topic_of(n) for n in ("Edad", "language", "dt_nasc", "Nombre municipio", "id_hogar", "cargo", "patient_id", "p17")]
    ['age', 'language', 'birth', 'place', 'household id', 'occupation', 'person id', None]
    """
    words = words_of(name)
    whole = " ".join(words)
    if whole in ALONE:
        return ALONE[whole]
    spaced = f" {whole} "
    said = {topic for phrase, topic in PHRASES.items() if f" {phrase} " in spaced}
    if said:
        return min(said, key=_rank)
    topics = [t for t in (_TOPIC.get(w) or _stem(w) for w in words) if t]
    if len(words) > 6:
        # A whole question: single words of it say little, but those about the person who answers.
        topics = [t for t in topics if t in PRIVATE or t in ("e-mail", "phone", "name")]
    if not topics:
        return None
    said = set(topics)
    if "id" in said or "number" in said:
        numbered = "id" in said
        if "household" in said and numbered:
            return "household id"
        if "person" in said:
            return "person id"
        if "record" in said:
            return "record id"
        rest = said - {"id", "number", "kind"}
        if not rest:
            return "id" if numbered else "number"
        said = rest
    if "birth" in said and said & {"place", "country"}:
        said.discard("birth")
    best = min(said, key=_rank)
    if best == "name" and "organization" in said:
        return "organization"
    if best == "person":
        return "person id" if len(words) <= 2 else None
    if best == "record":
        return "record id" if len(words) <= 2 else None
    return best


def _rank(topic: str) -> int:
    return PRECEDENCE.index(topic) if topic in PRECEDENCE else -1
