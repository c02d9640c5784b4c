"""Who may sign in, and how: passwords, sessions, tokens, providers."""
