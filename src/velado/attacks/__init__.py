"""What an adversary could do with a release."""
