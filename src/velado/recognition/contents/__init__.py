"""What the values of a column look like, whatever its name: signs of people, one family of recognisers per file."""

from velado.recognition.contents.content import content_of
from velado.recognition.contents.sample import Content

__all__ = ["Content", "content_of"]
