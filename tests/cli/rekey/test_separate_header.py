"""Headers that travel without their files: --export-header writes one, --rekey replaces its keys, --header uses it."""

import json
import os
import pathlib

import pytest

import age_format as age
import sealed_format as sf
from parts_steps import flip, plan_and_seal, seal_in_parts
from programs import keygen, run, some_bytes, stream

PLAIN = some_bytes(200_001)
WRONG_HEADER = ("the header does not belong to the input: one of the two is of another file, or damaged; nothing was "
                "written")


@pytest.fixture(autouse=True)
def files(key):
    """`sealed`, `parts` and `directory` are for the key at home, `age` for the identity; `once` is the server's identity."""
    pathlib.Path("plain").write_bytes(PLAIN)
    for name in ("identity", "once"):
        keygen("--x25519", "-o", name)
    stream("-q", "-k", key, "plain", "-o", "sealed")
    stream("-R", "identity.pub", "plain", "-o", "age")
    seal_in_parts(key, PLAIN, 3, "parts")
    plan_and_seal(key, PLAIN, 3, "directory")
    run("gpuaes-parts", "join", "directory")
    return key


KINDS = ("sealed", "age", "parts", "directory")


def old_key(kind, key):
    return "identity" if kind == "age" else key


def make_header(kind, key, name="header", *options):
    """What happens at both ends: the header is exported, and opened by the server's identity afterwards."""
    stream("--export-header", kind, "-o", "exported")
    stream("-q", "--rekey", "-k", old_key(kind, key), *options, "-R", "once.pub", "exported", "-o", name)


def info(name):
    return json.loads(stream("--info", "--json", name).out)


@pytest.mark.parametrize("kind", KINDS)
def test_the_exported_header_is_the_beginning_of_the_file(kind):
    header = stream("--export-header", kind).out
    file = "directory/head" if kind == "directory" else kind
    assert header == pathlib.Path(file).read_bytes()[:info(kind)["header_bytes"]]
    assert stream("--export-header", stdin=open(file, "rb")).out == header


def test_the_header_of_armor_is_exported_without_armor(key):
    for kind, options in ("sealed", ["-k", key]), ("age", ["-R", "identity.pub"]):
        text = stream("-a", "-q", *options, "plain").out
        header = stream("--export-header", input=text).out
        pathlib.Path("text").write_bytes(text)
        pathlib.Path("exported").write_bytes(header)
        stream("-q", "--rekey", "-k", old_key(kind, key), "-R", "once.pub", "exported", "-o", "header")
        assert stream("-d", "-k", "once", "--header", "header", "text").out == PLAIN


@pytest.mark.parametrize("kind", KINDS)
def test_the_new_header_opens_the_file_which_stays_as_it_is(kind, key):
    make_header(kind, key)
    before = [(path, path.read_bytes()) for path in pathlib.Path().rglob("*") if path.is_file()]
    for options, want in (["-d"], PLAIN), (["--test"], b""), (["--range", "100000:7"], PLAIN[100000:100007]), (
            ["-d", "--share", "0/1"], PLAIN), (["--salvage"], PLAIN):
        assert stream(*options, "-k", "once", "--header", "header", kind).out == want, options
    assert all(path.read_bytes() == data for path, data in before)
    assert stream("-d", "-k", "once", kind, status=3).out == b""


@pytest.mark.parametrize("kind", ["sealed", "age", "parts"])
def test_the_file_may_come_from_a_pipe(kind, key):
    make_header(kind, key)
    data = pathlib.Path(kind).read_bytes()
    assert stream("-d", "-k", "once", "--header", "header", input=data).out == PLAIN
    result = stream("--salvage", "-k", "once", "--header", "header", input=data, status=2)
    assert result.error == "--salvage with --header requires a seekable input"


def test_shares_and_parts_of_a_directory(key):
    make_header("parts", key)
    pathlib.Path("whole").write_bytes(b"")
    for i in range(3):
        stream("-dk", "once", "--header", "header", "--share", f"{i}/3", "--into", "out", "parts", "-q")
    assert pathlib.Path("out").read_bytes() == PLAIN
    make_header("directory", key)
    whole = b"".join(stream("-dk", "once", "--header", "header", "--part", f"{i}", "directory").out for i in range(3))
    assert whole == PLAIN


def test_labels_bind_headers_too(key):
    stream("-q", "-k", key, "--label", "a", "plain", "-o", "sealed", "--force")
    make_header("sealed", key, "header", "--label", "a")
    assert stream("-dk", "once", "--label", "a", "--header", "header", "sealed").out == PLAIN
    assert "different label" in stream("-dk", "once", "--label", "b", "--header", "header", "sealed", status=4).error


@pytest.mark.parametrize("kind", ["sealed", "age", "parts"])
@pytest.mark.parametrize("mode", ["-d", "--test", "--range=0:10", "--salvage"])
def test_the_header_of_another_file_is_refused(kind, mode, key):
    os.rename(kind, "other")
    if kind == "age":
        stream("-R", "identity.pub", "plain", "-o", kind)
    elif kind == "parts":
        seal_in_parts(key, PLAIN, 3, kind)
    else:
        stream("-q", "-k", key, "plain", "-o", kind)
    make_header(kind, key)
    result = stream(mode, "-k", "once", "--header", "header", "other", status=4)
    assert result.out == b""
    if kind != "parts":
        assert result.error == f"other: header: {WRONG_HEADER}"


@pytest.mark.parametrize("mode", ["-d", "--range=0:10", "--salvage"])
def test_a_forged_header_releases_nothing(mode):
    """It has the nonce or salt of the file, but is for another file key."""
    body = pathlib.Path("age").read_bytes()[info("age")["header_bytes"] - 16:]
    forged = age.header(bytes(16), [age.x25519_stanza(bytes(16))])
    pathlib.Path("forged").write_bytes(forged + body[:16])
    pathlib.Path("own").write_text(age.identity_text() + "\n")
    os.chmod("own", 0o600)
    assert stream(mode, "-k", "own", "--header", "forged", "age", status=4).out == b""
    message = pathlib.Path("sealed").read_bytes()[info("sealed")["header_bytes"] - 56:]
    forged = sf.header(bytes(32), sf.make_slots(bytes(32), [bytes(32)]))
    pathlib.Path("forged").write_bytes(forged + message[:56])
    pathlib.Path("zeros").write_bytes(bytes(32))
    os.chmod("zeros", 0o600)
    assert stream(mode, "-k", "zeros", "--header", "forged", "sealed", status=4).out == b""


def test_salvage_survives_a_damaged_segment(key):
    for kind in "sealed", "age":
        make_header(kind, key)
        flip(kind, info(kind)["header_bytes"] + 5)
        size = info(kind)["segment_bytes"]
        result = stream("--salvage", "-k", "once", "--header", "header", kind, status=4)
        assert result.out == bytes(size) + PLAIN[size:]


@pytest.mark.parametrize("cut", [0, 1, 16, 100, -1])
def test_a_cut_header_is_an_error(cut, key):
    make_header("sealed", key)
    pathlib.Path("cut").write_bytes(pathlib.Path("header").read_bytes()[:cut])
    result = stream("-dk", "once", "--header", "cut", "sealed", status=4)
    assert result.out == b"" and result.error.startswith("sealed: cut: ")


def test_headers_of_other_formats_and_missing_ones_are_errors(key):
    make_header("age", key)
    assert stream("-dk", "once", "--header", "header", "sealed", status=4).error.startswith("sealed: header: ")
    assert stream("-dk", "once", "--header", "missing", "sealed", status=1).error.startswith("--header: ")
    pathlib.Path("raw").write_bytes(PLAIN)
    result = stream("-d", "-f", "raw", "--iv", "0" * 32, "-k", key, "--header", "header", "raw", status=2)
    assert result.error.endswith("the raw format does not support --header")
    assert "can be replaced" in stream("--export-header", "-f", "cobblestone", "raw", status=2).error
    assert stream("--export-header", "raw", status=4).out == b""


def test_usage(key):
    for options in (["-k", key, "--header", "h", "plain"], ["-tk", key, "--header", "h", "sealed", "age"],
                    ["--info", "--header", "h", "sealed"], ["--rekey", "-k", key, "--header", "h", "sealed"],
                    ["--export-header", "-k", key, "sealed"], ["--export-header", "sealed", "age"],
                    ["-dk", key, "--header", "sealed", "sealed", "-o", "sealed"]):
        assert stream(*options, status=2).error


def test_headers_of_files_for_four_post_quantum_recipients_are_small(ml_kem):
    for i in range(4):
        keygen("--post-quantum", "-o", f"pq{i}", wrap=ml_kem)
    recipients = [option for i in range(4) for option in ("-R", f"pq{i}.pub")]
    for form in "sealed", "age":
        header = stream("-f", form, *recipients, "plain", "-o", form, wrap=ml_kem) and stream("--export-header", form).out
        assert 4 * 1168 < len(header) < 8192


def test_no_warning_follows_a_header_alone(key):
    stream("--export-header", "age", "-o", "exported")
    result = stream("--rekey", "-k", "identity", "-R", "once.pub", "exported", "-o", "header")
    assert result.warnings == result.notes == []
    warning, = stream("--rekey", "-k", "identity", "-R", "once.pub", "age", "-o", "copy").warnings
    assert "replace the input with the output" in warning
