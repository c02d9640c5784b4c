"""How files hold tables: text, workbooks, Arrow, SQLite."""
