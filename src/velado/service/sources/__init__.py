"""Sources: uploads, tables of connections, samples; how they are looked at, and how they go."""
