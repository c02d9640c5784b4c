"""The web process: requests, answers, who asks."""
