"""Files whose line ends or encoding were converted, as by Windows programs: errors and warnings name what was added."""

import pathlib

import pytest

from programs import keygen, secret_file, some_bytes, stream

PLAIN = some_bytes(1000)
MARKS = {"UTF-8": ("UTF-8", "utf-8-sig"), "UTF-16LE": ("UTF-16", "utf-16"), "UTF-16BE": ("UTF-16", "utf-16-be")}
SAVE = "save it as UTF-8 without a byte order mark"
COPY_MARKED = "it is not encrypted, or was converted by an editor or by PowerShell's >; copy the original in binary mode"


@pytest.fixture(params=MARKS)
def converted(request):
    """The name of an encoding, and a function that converts to it."""
    name, codec = MARKS[request.param]
    begin = b"\xfe\xff" if codec == "utf-16-be" else b""
    return name, lambda data: begin + data.decode("latin-1").encode(codec)


@pytest.fixture
def identity():
    keygen("--x25519", "-o", "identity")
    return "identity"


def encrypted(key, identity):
    return {"sealed": stream("-k", key, input=PLAIN).out, "age": stream("-e", "-k", identity, input=PLAIN).out,
            "armored": stream("-a", "-e", "-k", identity, input=PLAIN).out}


@pytest.mark.parametrize("mode", ["-d", "--info", "--salvage", "--range 0:1", "--rekey -R identity.pub"])
@pytest.mark.parametrize("format", ["sealed", "age"])
def test_line_ends_of_a_header(key, identity, mode, format):
    data = encrypted(key, identity)[format].replace(b"\n", b"\r\n")
    secrets = [] if mode == "--info" else ["-k", identity, "-k", key]
    found = stream(*mode.split(), *secrets, input=data, via="file", status=4)
    assert found.error == "the line ends of the input were converted to CR LF"
    if mode != "--salvage":
        assert found.hint == "copy the original in binary mode"


@pytest.mark.parametrize("format", ["sealed", "age", "armored"])
def test_a_byte_order_mark_in_the_input(key, identity, converted, format):
    encoding, convert = converted
    data = convert(encrypted(key, identity)[format])
    for options in (["-d", "-k", key], ["-t", "-k", identity], ["--info"], ["-d", "-f", "age", "-k", identity]):
        found = stream(*options, input=data, status=4)
        assert (found.error, found.hint) == (f"the input begins with a {encoding} byte order mark", COPY_MARKED)


def test_a_byte_order_mark_in_a_file_of_keys(identity, converted):
    encoding, convert = converted
    keygen("-o", "hex")
    for name, original in ("key.txt", "hex"), ("identity.txt", identity), ("recipients.txt", "identity.pub"):
        secret_file(name, convert(pathlib.Path(original).read_bytes()))
    begins = f"begins with a {encoding} byte order mark"
    for run, options, error in (
        (stream, "-k key.txt", f"--key: key.txt {begins}"),
        (stream, "-d -k key.txt", f"--key: key.txt {begins}"),
        (stream, "-d -k identity.txt", f"--key: identity.txt {begins}"),
        (stream, "-R recipients.txt", f"--recipients-file: line 1 of recipients.txt {begins}"),
        (keygen, "-y identity.txt", f"--recipient: identity.txt {begins}"),
    ):
        found = run(*options.split(), status=2)
        assert (found.error, found.hint) == (error, SAVE), options


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"])
def test_a_raw_key_may_begin_with_the_bytes_of_a_mark(mark):
    secret_file("raw.key", mark + bytes(range(200, 232))[: 32 - len(mark)])
    sealed = stream("-k", "raw.key", input=PLAIN)
    assert stream("-d", "-k", "raw.key", input=sealed.out).out == PLAIN
    assert sealed.warnings == []


def test_a_byte_order_mark_in_a_passphrase_causes_a_warning(converted):
    """It is a part of the passphrase, so a file without it would not open what was sealed."""
    encoding, convert = converted
    secret_file("words", convert(b"correct horse\n"))
    sealed = stream("--passphrase-file", "words", input=PLAIN)
    warning = "the passphrase from {} begins with a {} byte order mark, which is part of it; Windows programs write one before text"
    assert sealed.warnings == [warning.format("words", encoding)]
    opened = stream("-d", "--passphrase-command", "cat words", input=sealed.out)
    assert (opened.out, opened.warnings) == (PLAIN, [warning.format("the output of --passphrase-command", encoding)])


def test_files_of_keys_may_have_converted_line_ends(identity):
    keygen("-o", "hex")
    for name in "hex", identity, "identity.pub":
        secret_file(f"{name}.crlf", pathlib.Path(name).read_bytes().replace(b"\n", b"\r\n"))
    made = stream("-R", "identity.pub.crlf", input=PLAIN).out
    assert stream("-d", "-k", "identity.crlf", input=made).out == PLAIN
    sealed = stream("-k", "hex", input=PLAIN).out
    assert stream("-d", "-k", "hex.crlf", input=sealed).out == PLAIN
