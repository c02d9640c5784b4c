"""Who may do what, whose things are, and what each role sees of values and counts."""
