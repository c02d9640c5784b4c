"""People, calendars and slots as tables."""
