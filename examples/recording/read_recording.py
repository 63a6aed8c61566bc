#!/usr/bin/env python3
"""Reads what 'nereid serve --record DIR' has written, with Python's own library alone.

    read_recording.py DIR      prints a line of JSON for each request

calls(DIR) gives dictionaries, whose tensors have their content as bytes (None: it was not
recorded). docs/recording.md describes the format.
"""
import json
import pathlib
import struct
import sys
import zlib

MAGIC = b"NRDREC1\0"
TYPES = ["", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
         "FP16", "FP32", "FP64", "BYTES", "BF16"]
PRESENCE = ["there", "redacted", "on_device"]
FIXED = ["arrival_ns", "duration_ns", "queue_ns", "compute_input_ns", "compute_infer_ns",
         "compute_output_ns", "deadline_ns", "timeout_ns", "priority", "batch_size", "version",
         "sequence_number"]


class Body:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def text(self):
        (length,) = self.take("i")
        self.at += length
        return self.data[self.at - length:self.at].decode()


def bodies(data):
    """The bodies of all whole records of a segment."""
    at = 32
    while at + 8 <= len(data):
        length, checksum = struct.unpack_from("<iI", data, at)
        body = data[at + 8:at + 8 + length]
        if length <= 0 or len(body) < length or zlib.crc32(body) != checksum:
            return  # the recorder was killed while it wrote this
        yield body
        at += 8 + length


def parameter(body):
    key, (kind,) = body.text(), body.take("B")
    if kind >= 3:
        return key, body.text() if kind == 3 else int(body.text())
    return key, body.take("?qd"[kind])[0]


def tensor(body, contents):
    output, code, presence, rank, number, size = body.take("BBBBiq")
    shape = list(body.take("%dq" % rank))
    content = contents[number] if presence == 0 else None
    return output, {"name": body.text(), "datatype": TYPES[code], "shape": shape,
                    "byte_size": size, "presence": PRESENCE[presence], "content": content}


def call(body, contents, start_ns):
    flags, status = body.take("BB")
    found = dict(zip(FIXED, body.take("8qiiqQ")))
    found.update(start_ns=start_ns, status=status)
    for bit, name in enumerate(["inline", "cache_hit", "sequence_start", "sequence_end"]):
        found[name] = bool(flags >> bit & 1)
    for name in ("sequence_name", "model", "id", "message"):
        found[name] = body.text()
    found["parameters"] = dict(parameter(body) for _ in range(body.take("H")[0]))
    found["wanted_outputs"] = [body.text() for _ in range(body.take("H")[0])]
    tensors = [tensor(body, contents) for _ in range(body.take("H")[0])]
    found["inputs"] = [each for output, each in tensors if not output]
    found["outputs"] = [each for output, each in tensors if output]
    return found


def calls(directory):
    """All requests of a directory's recordings, in the order in which they ended."""
    for path in sorted(pathlib.Path(directory).glob("nereid-*.nrec")):
        try:
            data, contents = path.read_bytes(), {}
        except FileNotFoundError:
            continue  # a recorder has deleted it since the directory was listed
        if data[:8] != MAGIC:
            continue
        (start_ns,) = struct.unpack_from("<q", data, 8)
        for body in map(Body, bodies(data)):
            found = None
            try:
                (kind,) = body.take("B")
                if kind == 1:
                    coding, number, _ = body.take("Biq")
                    stored = body.data[body.at:]
                    contents[number] = zlib.decompress(stored, -15) if coding else stored
                elif kind == 2:
                    found = call(body, contents, start_ns)
            except (struct.error, LookupError, ValueError, zlib.error):
                print(path.name + ": a record of another form", file=sys.stderr)
            if found:
                yield found


if __name__ == "__main__":
    for one in calls(sys.argv[1]):
        print(json.dumps(one, default=lambda content: content[:16].hex()))
