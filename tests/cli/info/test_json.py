"""The output of --info --json."""

import json

import pytest

from programs import some_bytes, stream


@pytest.mark.parametrize("name", [b"\x7f", b"\xc2\x80", b"\xc2\x9b2J", b"\x1b[2J", b"\xc2\xa0\xc3\xa9", b'"\\'])
def test_file_names_have_no_raw_control_characters(key, name):
    stream("-k", key, "-o", name, input=some_bytes(100))
    stream("-k", key, "-o", "other", input=b"")
    out = stream("--info", "--json", name, "other").out.decode()
    assert json.loads(out.splitlines()[0])["file"] == name.decode()
    assert all(c == "\n" or c.isprintable() or c == "\xa0" for c in out)


def test_bytes_that_are_not_utf8_become_replacement_characters(key):
    for name in (b"\x9b\xff", b"other"):
        stream("-k", key, "-o", name, input=b"")
    assert json.loads(stream("--info", "--json", b"\x9b\xff", "other").out.splitlines()[0])["file"] == "\ufffd\ufffd"
