"""What the values of a column look like, whatever its name: signs of people, one family of recognisers per file."""

from velado.recognition.contents.content import Content, content_of

__all__ = ["Content", "content_of"]
