"""What keeps a service in order: the audit log, retention, storage, settings, health."""
