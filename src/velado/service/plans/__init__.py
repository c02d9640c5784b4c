"""Plans of appointments."""
