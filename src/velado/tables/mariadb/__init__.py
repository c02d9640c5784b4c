"""MariaDB and MySQL: tables, views and queries of a server."""

from velado.tables.mariadb.engine import MariaDBEngine

__all__ = ["MariaDBEngine"]
