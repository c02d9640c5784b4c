"""Words in names of columns, in English, Spanish and Portuguese, without accents; and what each of them says."""

from __future__ import annotations

PHRASES = {
    "marital": ("estado civil | situacao conjugal | situacion conyugal | civil status | marital status"),
    "birth": (
        "fecha nac | fec nac | f nac | dt nasc | data nasc | dt nac | ano nasc | ano nac | of birth | birth date | day of birth"
    ),
    "place": (
        "place of birth | lugar nacimiento | lugar de nacimiento | community area | police district | area code | "
        "census tract | census block"
    ),
    "country": ("country of birth | pais de nacimiento"),
    "health": ("cause of death | causa de muerte | causa morte | causa basica | causa do obito | obra social | plano de saude"),
    "postal": ("postal code | zip code | codigo postal | cod postal | post code"),
    "weight": (
        "factor expansion | factor de expansion | fator de expansao | fator expansao | peso amostral | peso "
        "muestral | survey weight | sample weight | sampling weight | final weight"
    ),
    "physical": ("body weight | peso corporal | how tall"),
    "network": ("ip address | direccion ip | endereco ip | mac address"),
    "person id": ("historia clinica | historia clinica numero"),
    "national id": (
        "social security | seguro social | national id | documento identidad | documento de identidad | titulo "
        "eleitor | titulo de eleitor"
    ),
    "crime": ("charge desc | charge description | charge degree | charge type"),
    "age": ("faixa etaria | years old"),
    "plate": ("license plate | licence plate"),
    "income": ("clase social"),
    "score": ("nota final | credit score"),
    "kind": (
        "tipo documento | tipo de documento | document type | tipo doc | location description | unidad medida | "
        "unidad de medida | work life balance"
    ),
    "account": ("credit card"),
    "name": (
        "nombre completo | full name | first name | last name | family name | middle name | given name | maiden "
        "name | nome completo | nome social | nome mae | nome da mae | nome do pai"
    ),
    "organization": ("razon social | razao social"),
    "race": ("pueblo indigena | pueblo originario | pueblos indigenas"),
    "orientation": ("sexual orientation | orientacion sexual | orientacao sexual"),
    "text": ("free text | open answer"),
    "household": ("numero de personas | n personas | family size | fam size | household size | number of children"),
    "language": ("mother tongue | lengua materna | lingua materna"),
    "occupation": ("employment status | self employed"),
    "education": ("grado de instruccion | grado instruccion | nivel de instruccion | nivel instruccion"),
    "date": ("date of death"),
}
"""By topic, words that together say something else than each of them."""

WORDS = {
    # Who: these never leave.
    "name": (
        "name names fname lname given forename surname lastname firstname fullname middlename nombre nombres nom "
        "nome nomes apellido apellidos ape sobrenome paterno materno vorname nachname prenom cognome nickname "
        "alias apelido apodo initials iniciales iniciais"
    ),
    "e-mail": ("email mail emails correo correos eletronico electronico"),
    "phone": (
        "phone phones telephone tel telefono telefonos telefone telefones fone celular cell cellphone mobile movil whatsapp fax tlf"
    ),
    "network": ("ip ipv4 ipv6 mac imei imsi msisdn cookie"),
    "url": ("url link website site homepage twitter facebook instagram linkedin handle username login"),
    "account": ("account acct iban swift card tarjeta cartao cuenta conta cbu clabe pix pan cvv agencia"),
    "plate": ("plate plates placa placas patente vin chasis chassi renavam licenseplate"),
    "national id": (
        "cpf cnpj dni nif nie nit rut cuil cuit curp rfc rg cedula ssn nhs pesel bsn nir personnummer passport "
        "pasaporte passaporte nis pis pasep nss cns ruc ife ine documento doc cartorio cnh nationalid citizen tin "
        "itin"
    ),
    "person": (
        "doctor physician officer attorney judge patient paciente patients person persona pessoa customer "
        "customers client cliente user usuario member socio membro employee empleado empregado funcionario "
        "servidor respondent respondente encuestado entrevistado passenger pasajero passageiro student estudiante "
        "estudante alumno aluno beneficiario beneficiary subject participant participante voter defendant victim "
        "victima vitima inmate offender borrower holder titular individuo mrn nhc prontuario legajo matricula "
        "badge driver conductor condutor worker trabajador trabalhador asegurado segurado inscrito elector "
        "eleitor"
    ),
    "household id": ("idhogar hhid idfamilia idvivienda iddomicilio"),
    "record": (
        "case caso ticket file record folio expediente processo proceso protocolo policy poliza apolice contract "
        "contrato order pedido invoice factura fatura docket serial acta boleta permit transaction receipt "
        "booking reserva incident claim siniestro sinistro visit episode episodio encounter admission internacao "
        "registro sample muestra amostra cabin cabina"
    ),
    "id": (
        "id ids uuid guid identifier identificador identificacion identificacao key clave chave hash token rowid "
        "objectid index idx oid fid"
    ),
    "number": ("number no num nro numero nr nu n code codigo cod correlativo"),
    "text": (
        "comment comments comentario comentarios observation observations observacion observaciones observacao "
        "observacoes obs note notes nota notas remark remarks description descripcion descricao detalle detalhe "
        "details narrative story relato message mensaje mensagem feedback review text texto motivo why explain "
        "summary resumen resumo"
    ),
    "address": (
        "address addr street streetaddress calle direccion rua endereco logradouro avenida via ruta block cuadra jiron carrera"
    ),
    "coordinate": (
        "latitude longitude lat lon lng latitud longitud coordinate coordinates coordenada coordenadas coord "
        "coords geom geometry geolocation geolocalizacion utm easting northing geopoint gps wkt latlong latlng "
        "xcoord ycoord"
    ),
    # What others know.
    "sex": ("sex sexo gender genero"),
    "age": ("age ages edad edades idade alter agegroup etaria etario"),
    "birth": ("birth birthday birthdate dob born nacimiento nacido nascimento nasc nac naissance geburtsdatum geboortedatum"),
    "postal": ("zip zipcode postal postcode cep plz cp"),
    "place": (
        "place geo lugar local location localidad localidade ubicacion city ciudad cidade town village pueblo "
        "aldea state estado uf province provincia region regiao municipio municipality municipalidad mun district "
        "distrito departamento department dept depto comuna bairro barrio neighborhood neighbourhood "
        "neighborhoods county condado parish parroquia paroquia canton ubigeo divipola ibge fips borough colonia "
        "residence residencia vereda corregimiento zone zona area ward tract geoid hood precinct beat sector "
        "suburb territory territorio naturalidade procedencia origin origen origem metro urban rural homecity "
        "hometown embarked"
    ),
    "country": ("country countries pais nation nationality nacionalidad nacionalidade native citizenship ciudadania cidadania"),
    "race": ("race raza raca ethnicity ethnic etnia etnico etnica cor skin indigena tribe caste raceethnicity"),
    "marital": ("marital civil conjugal conyugal married spouse casado"),
    "education": (
        "education educacion educacao educ edu schooling escolaridad escolaridade escolar degree instruccion "
        "instrucao estudios qualification school escuela escola college university universidad universidade "
        "faculdade colegio educational educacional titulacion highschool"
    ),
    "occupation": (
        "occupation ocupacion ocupacao job jobs work profession profesion profissao professional cargo puesto "
        "oficio employment employer empleo emprego workclass industry trabajo trabalho empleador estamento rank "
        "position cbo isco"
    ),
    "household": (
        "household hogar hogares family familia familiar fam dwelling vivienda domicilio moradia lar children "
        "hijos filhos kids siblings hermanos irmaos dependents relationship parentesco relation guardian sibsp "
        "parch famsize pessoas personas members miembros"
    ),
    "language": ("language idioma lengua lingua tongue"),
    "physical": ("height estatura altura tall eye eyes hair ojos cabello olhos cabelo"),
    "date": ("date fecha fec data dt dia day month mes year ano anio datum timestamp datetime"),
    # What nobody should learn.
    "health": (
        "diagnosis diagnoses diagnostico diag disease illness enfermedad doenca health salud saude icd icd10 icd9 "
        "cie cie10 cid cid10 hiv vih treatment tratamiento tratamento therapy drug drugs medication medicamento "
        "medicacion symptom symptoms sintoma sintomas blood sangre sangue disability discapacidad deficiencia "
        "pregnant embarazo gestante pregnancy smoker smoking alcohol depression mental cancer diabetes covid "
        "comorbidity comorbilidad death muerte obito cause causa vaccine vacuna vacina dalc walc bmi imc injury "
        "lesion lesao suicide contagio surgery cirugia cirurgia procedure allergy alergia cholesterol glucose "
        "insulin pressure bp hr ecg angina pain tumor tumour menopause heart pulse lab biopsy prescription stroke hypertension "
        "hipertension hipertensao chol hdl ldl triglycerides trigliceridos trestbps thalach oldpeak thal exang restecg "
        "fbs hemoglobin hemoglobina hba1c creatinine creatinina platelets plaquetas leukocytes leucocitos sodium "
        "potassium bilirubin albumin urea ferritin systolic diastolic bloodpressure colesterol glucosa glicose"
    ),
    "income": (
        "income ingreso ingresos renda rendimento salary salario salaries sueldo wage wages remuneracion "
        "remuneracao earnings pay haber haberes vencimento cost costs costo coste custo price precio preco charge "
        "charges balance saldo debt deuda divida loan prestamo emprestimo credit credito amount monto valor vl "
        "fee fare premium capital payment pago pagamento wealth gasto gastos despesa expense expenditure revenue "
        "turnover bonus pension rent alquiler aluguel arriendo tax impuesto benefit beneficio assets liabilities "
        "poverty pobreza"
    ),
    "crime": (
        "crime crimen delito arrest arrested offense offence conviction convicted felony misdemeanor recid "
        "recidivism jail prison prisoner custody sentence sentencia sentenca condena pena priors prior juv "
        "juvenile armed probation parole bail police policia violence violencia violent homicide homicidio iucr"
    ),
    "religion": ("religion religiao religious faith church credo culto"),
    "politics": (
        "party partido vote voto voted votacion politics political politica ideology ideologia union sindicato "
        "president candidate candidato"
    ),
    "orientation": ("orientation orientacion orientacao sexuality sexualidad sexualidade lgbt gay"),
    "score": (
        "score scores puntaje puntuacion pontuacao grade grades calificacion qualificacao rating points puntos "
        "pontos mark marks gpa exam examen exame result resultado g1 g2 g3"
    ),
    # Others.
    "weight": (
        "weight wgt fnlwgt afnlwgt weights ponderador ponderacion fexp fex peso pesos factor fator expansion expansao pondera wt"
    ),
    "organization": (
        "company empresa organization organizacion organizacao institution institucion instituicao agency product "
        "producto produto brand marca hospital clinic clinica service servicio servico plan plano model modelo "
        "project proyecto projeto entidad entidade program programa lawenforcementagency supplier proveedor "
        "fornecedor bank banco"
    ),
    "statistic": (
        "share pct percent percentage porcentaje porcentagem rate tasa taxa mean average avg media median mediana "
        "ratio pop population poblacion populacao proportion"
    ),
    "kind": (
        "type tipo kind class clase classe category categoria cat status situacion situacao condition condicion "
        "condicao level nivel group grupo flag is has indicator unidad unit clasificacion classificacao valid "
        "activo ativo active"
    ),
}
"""By topic, the words that say it; a word has one topic."""

STEMS = {
    "health": "diagnos enferm doenc patolog psiq medicam discapac",
    "birth": "nacim nascim",
    "religion": "religi",
    "education": "educac escolar",
    "occupation": "ocupac profesi profiss",
    "place": "municip neighbo",
    "country": "nacionalid",
    "race": "etnic ethnic",
    "phone": "telef",
    "name": "apellid",
    "text": "observac coment",
    "income": "remunera salari sueldo ingreso",
    "coordinate": "latitud longitud coordenad",
    "crime": "delit recidiv crimin arrest",
    "id": "identific",
}
"""By topic, beginnings of words that say it."""

ALONE = {
    "c p": "postal",
    "first": "name",
    "last": "name",
    "run": "national id",
    "x": "coordinate",
    "y": "coordinate",
    "long": "coordinate",
    "sib sp": "household",
    "title": "kind",
}
"""Names that say something only as a whole."""
