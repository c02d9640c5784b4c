"""What the columns of a table are: names, types, roles and the rule for missing values."""

from velado.schema.columns import MISSING_RULES, REST, ROLES, TYPES, Column, Role, Schema

__all__ = ["MISSING_RULES", "REST", "ROLES", "TYPES", "Column", "Role", "Schema"]
