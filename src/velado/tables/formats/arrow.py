"""Arrow files (Feather): what they unpack to is known before they are unpacked, and nothing unchecked is used."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from velado.errors import InputError
from velado.sentences import Sentence
from velado.tables.files import free_memory

MAGIC = b"ARROW1\0\0"
OLD_MAGIC = b"FEA1"
MESSAGE_HEADER, BATCH_BUFFERS, BATCH_COMPRESSION, DICTIONARY_BATCH = 2, 2, 3, 1
"""Numbers of the fields of Arrow's messages (format/Message.fbs)."""


def read_arrow(path: Path) -> Any:
    """An Arrow file as a table whose every buffer was validated."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        if file.size() > free_memory() // 2:
            raise _too_large(path, file.size())
        data = file.read_buffer()
    if data[: len(OLD_MAGIC)].to_pybytes() == OLD_MAGIC:
        raise InputError("unreadable-file", "the format Feather 1 is not read", file=path, hint="Write it as Feather 2.")
    try:
        if data[: len(MAGIC)].to_pybytes() != MAGIC:
            raise ValueError
        # A file holds a stream, and behind it a table of contents, which need not tell the truth.
        stream = data[len(MAGIC) :]
        unpacked = unpacked_size(data)
        if unpacked > free_memory() // 2:
            raise _too_large(path, unpacked)
        reader = pa.ipc.open_stream(stream)
        batches = []
        for batch in reader:
            batch.validate(full=True)
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, ValueError, KeyError, TypeError, OSError, struct.error, IndexError):
        raise InputError("unreadable-file", "not a readable Arrow file", file=path) from None


def unpacked_size(data: Any) -> int:
    """Bytes that the compressed buffers of an Arrow file unpack to, as the file says."""
    import pyarrow as pa

    return sum(_unpacked_size(message) for message in pa.ipc.MessageReader.open_stream(data[len(MAGIC) :]))


def _too_large(path: Path, size: int) -> InputError:
    return InputError(
        "out-of-memory",
        Sentence("the file holds {size:,} bytes, more than half of the free memory", size=size),
        file=path,
        hint="Write it as Parquet, which is read piece by piece.",
    )


def _unpacked_size(message: Any) -> int:
    """Bytes that the compressed buffers of a message unpack to, as the file says."""
    if message.type not in ("record batch", "dictionary"):
        return 0
    data, body = memoryview(message.metadata), memoryview(message.body)
    batch = _field(data, _number(data, 0), MESSAGE_HEADER)
    if message.type == "dictionary" and batch is not None:
        batch = _field(data, _follow(data, batch), DICTIONARY_BATCH)
    if batch is None:
        return 0
    batch = _follow(data, batch)
    buffers = _field(data, batch, BATCH_BUFFERS)
    if buffers is None or _field(data, batch, BATCH_COMPRESSION) is None:
        return 0
    first = _follow(data, buffers)
    total = 0
    for i in range(_number(data, first)):
        offset, length = struct.unpack_from("<qq", data, first + 4 + 16 * i)
        if length >= 8:
            # Every compressed buffer begins with its length; −1 says that it is not compressed.
            total += max(struct.unpack_from("<q", body, offset)[0], 0)
    return total


def _number(data: memoryview, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


def _follow(data: memoryview, at: int) -> int:
    return at + _number(data, at)


def _field(data: memoryview, table: int, number: int) -> int | None:
    """Where a field of a flatbuffers table is; None if it is absent."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * number >= struct.unpack_from("<H", data, fields)[0]:
        return None
    offset = struct.unpack_from("<H", data, fields + 4 + 2 * number)[0]
    return table + offset if offset else None
