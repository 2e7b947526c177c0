"""As much of protobuf's wire format as the kubelet's small messages need: nested messages and strings."""


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number, payload):
    """One length-delimited field."""
    content = payload.encode() if isinstance(payload, str) else payload
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(message):
    """(number, payload) of every field of a message that has length-delimited fields only."""
    at = 0

    def read_varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
    while at < len(message):
        key, size = read_varint(), read_varint()
        assert key & 7 == 2, f"field {key >> 3} is not a message or a string"
        yield key >> 3, message[at:at + size]
        at += size
