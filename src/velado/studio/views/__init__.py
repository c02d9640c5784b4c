"""What pages show: figures and words, made from what operations answer."""
