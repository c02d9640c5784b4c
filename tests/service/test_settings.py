"""Settings: one list; from the environment, a file, or by default; wrong ones are named."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from velado.errors import InputError
from velado.service.admin import audit
from velado.service.secrets import Secrets
from velado.service.service import Service
from velado.service.settings import GB, KNOWN, load
from velado.service.store import Store
from velado.service.store.tables import AuditLine, Base, Version

DOCS = Path(__file__).parent.parent.parent / "docs" / "reference"


def test_the_environment_goes_before_the_file_and_options_before_both(tmp_path: Path) -> None:
    file = tmp_path / "studio.toml"
    file.write_text('port = 1\nupload_bytes = "2 GB"\napproval = true\nhost = "::1"\n')
    settings = load(file, {"VELADO_STUDIO_PORT": "2", "VELADO_STUDIO_HOST": "localhost"}, host="127.0.0.1", folder=tmp_path)
    assert (settings.port, settings.upload_bytes, settings.approval, settings.host) == (2, 2 * GB, True, "127.0.0.1")
    assert load(None, {"VELADO_STUDIO_CONFIG": str(file)}).port == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("port = -1", "bad-setting"),
        ('port = "many"', "bad-setting"),
        ("port = 1.5", "bad-setting"),
        ('approval = "perhaps"', "bad-setting"),
        ("prot = 1", "unknown-setting"),
        ("port = ", "bad-settings"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "studio.toml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        load(file, {})
    assert (error.value.code, error.value.file) == (code, str(file))


def test_a_secret_is_not_repeated() -> None:
    settings = load(None, {"VELADO_STUDIO_KEY": "ab" * 32, "VELADO_STUDIO_OIDC_SECRET": "geheim"})
    assert "abab" not in repr(settings)
    assert "geheim" not in repr(settings)


def test_every_setting_says_what_it_means_in_three_languages() -> None:
    from velado.sentences import Sentence

    for name, field in KNOWN.items():
        said = {Sentence(field.metadata["help"]).into(code) for code in ("en", "es", "pt")}
        assert len(said) == 3, name


@pytest.mark.parametrize("page", ["settings", "rest"])
def test_the_reference_is_what_the_code_says(page: str) -> None:
    """Otherwise: python docs/reference/write_settings.py, write_rest.py."""
    spec: Any = importlib.util.spec_from_file_location(f"write_{page}", DOCS / f"write_{page}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / f"{page}.md").read_text(encoding="utf-8") == module.page()


# The store


@pytest.mark.both_stores
def test_migrations_make_the_tables_that_the_code_has(settings: Any) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    store = Store(settings)
    store.upgrade()
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    store.upgrade()
    store.check()
    store.close()


@pytest.mark.both_stores
def test_a_store_of_the_first_version_is_brought_up_to_date(settings: Any) -> None:
    """Its documents count from then on, and the end of its audit log is sealed once."""
    from alembic import command

    from velado.service.store.migrate import configuration

    store = Store(settings)
    with store.engine.execution_options(velado_writes=True).begin() as connection:
        command.upgrade(configuration(connection), "0001")
        line = AuditLine(number=1, created="", actor="ana", action="x", subject="", detail={})
        line.hash = Secrets.of(settings, make=True).sign(audit._canonical_json(audit.FIRST, line))
        values = {key: getattr(line, key) for key in AuditLine.__table__.columns.keys()}  # noqa: SIM118
        connection.execute(insert(AuditLine), values)
        connection.exec_driver_sql(
            "INSERT INTO projects (id, created, name, document, version, changed, samples_only) "
            "VALUES ('p', '2026-01-01 00:00:00', 'p', '{}', 1, '2026-01-01 00:00:00', false)"
        )
        connection.exec_driver_sql(
            "INSERT INTO versions (project_id, number, document, created) VALUES ('p', 1, '{\"velado\": 1}', '2026-01-01 00:00:00')"
        )
    store.close()
    for _ in range(2):
        service = Service.open(settings, make=True)
        with service.store.reading() as db:
            assert audit.verify(db, service.secrets).broken is None
            assert db.get_one(Version, ("p", 1)).bytes == 13
        service.close()


@pytest.mark.both_stores
def test_a_store_of_another_version_is_left_alone(settings: Any) -> None:
    store = Store(settings)
    with pytest.raises(InputError, match="another version"):
        store.check()
    store.upgrade()
    with store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="another version"):
        store.check()
    with pytest.raises(InputError, match="newer Velado"):
        store.upgrade()
    store.close()


def test_a_store_that_does_not_answer_is_said_without_its_address(tmp_path: Path) -> None:
    store = Store(load(None, {}, folder=tmp_path, database="postgresql://ana:geheim@127.0.0.1:1/velado?connect_timeout=1"))
    with pytest.raises(InputError) as error:
        store.upgrade()
    assert error.value.code == "no-store"
    assert "geheim" not in str(error.value)
    with pytest.raises(InputError, match="SQLite or PostgreSQL"):
        Store(load(None, {}, folder=tmp_path, database="mysql://ana@host/velado"))
