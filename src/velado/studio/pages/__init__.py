"""The pages, one file each: addresses, what is shown, what forms change."""
