"""With -a, the sealed stream is Base64 between a BEGIN and an END line, which is detected when it is read. Armor works
as a filter, and an independent implementation reads and writes the same."""

import json
import os
import pathlib
import select
import subprocess

import pytest

from armor import AGE, BEGIN, SEALED as SEALED_ARMOR, armor, dearmor
from matrix import on_each_lane
from processes import expect_exit, open_terminal, read_terminal
from programs import (IV, KEY, PATIENCE, RAW, SANITIZED, expect_same, openssl_ctr, secret_file, some_bytes, start,
                      stream)
from terminals import without_control

pytest.importorskip("cryptography")
import age_format as age  # noqa: E402
import sealed_format as sf  # noqa: E402
from damage import HEADER, SEALED, SEGMENT  # noqa: E402

OTHER_KEY, PLAIN = bytes(range(32, 0, -1)), some_bytes(40000)


def open_armor(text, key=KEY):
    return sf.open_sealed(dearmor(text), key=key)


def expect_open(run, key, text, plain, *options, via="pipe"):
    expect_same(plain, run("-q", "-d", "-k", key, *options, input=text, via=via).out, options)


def test_an_independent_implementation_agrees(batch, key):
    sizes = [0, 1, 2, 3, 47, 48, 49, 1000, *(n * SEGMENT + d for n in (1, 2, 4) for d in (-1, 0, 1)), 100000]
    for i, (run, lane, size) in enumerate(on_each_lane(batch, sizes, 4)):
        plain, via = some_bytes(size), ("pipe", "file")[(i + i // len(sizes)) % 2]
        options = ["-l", lane, *(["-b", "16K"], ["-b", "48K"], [])[i % 3]]
        made = run("-q", "-k", key, "-a", *options, input=plain, via=via)
        assert made.err == ""
        expect_same(plain, open_armor(made.out), options)
        expect_open(run, key, made.out, plain, *options, via=via)
        expect_open(run, key, made.out, plain, *options, "-f", "sealed", via=via)
        independent = sf.seal(plain, [KEY])
        for newline in b"\n", b"\r\n":
            expect_open(run, key, armor(independent, newline), plain, *options, via=via)
        assert run("-q", "--test", "-k", key, *options, input=armor(independent), via=via).out == b""


@pytest.mark.parametrize("kind", [SEALED_ARMOR, AGE])
def test_armor_can_be_pasted_at_a_terminal(work, kind):
    """It ends with its END line, and the passphrase is asked for after it."""
    plain, file_key = PLAIN[:1000], bytes(16)
    made = sf.seal(plain, passphrase=b"two words", log_n=10) if kind == SEALED_ARMOR else age.seal(
        plain, [age.scrypt_stanza(file_key, b"two words")], file_key)
    result, lines = without_control("-d", "-p", on=("stdin", "stderr"), input=armor(made, kind=kind), answers=["two words"])
    expect_same(plain, result.out)
    assert lines[-1] == "Enter passphrase:"


@pytest.fixture
def rekey(key, work):
    return ["-q", "--rekey", "-k", key, "--new-key", secret_file(work.parent / "new", OTHER_KEY)]


def test_rekey_keeps_armor_and_can_add_it(key, rekey):
    sealed, file = sf.seal(PLAIN, [KEY]), pathlib.Path("file")
    text = armor(sealed)
    for data, options in (text, []), (text, ["-a"]), (sealed, ["-a"]):
        file.write_bytes(data)
        stream(*rekey, *options, "-o", "out", input=data)
        stream(*rekey, *options, "-i", "file")
        for rekeyed in pathlib.Path("out").read_bytes(), file.read_bytes(), stream(*rekey, *options, input=data).out:
            expect_same(PLAIN, open_armor(rekeyed, OTHER_KEY), options)
    file.write_bytes(text[:-10])
    truncated = stream(*rekey, "-i", "file", status=4)
    assert truncated.error == "file: the input is truncated: the armor has no END line"
    assert file.read_bytes() == text[:-10]


def test_modes_that_need_an_offset_do_not_work(key):
    sealed = sf.seal(PLAIN, [KEY])
    pathlib.Path("file").write_bytes(armor(sealed))
    pathlib.Path("age-file").write_bytes(armor(age.seal(PLAIN), kind=AGE))
    identity = secret_file("identity", age.identity_text().encode())
    for name, secret in ("file", key), ("age-file", identity):
        for mode in ["--range", "0:10"], ["--share", "0/2"], ["--salvage"], ["--salvage", "--test"]:
            found = stream("-q", "-k", secret, *mode, "-i", name, status=2)
            assert found.error == f"{name}: {mode[0]} does not work on armored input"
            assert found.hint == "remove the armor first, with sed /^-----/d FILE | base64 -di"
    dearmored = subprocess.run("sed /^-----/d file | base64 -di", shell=True, check=True, stdout=subprocess.PIPE).stdout
    assert dearmored == sealed, "the hint's command"


def test_armor_may_be_written_to_a_terminal(key, rekey):
    pathlib.Path("plain").write_bytes(PLAIN)
    pathlib.Path("text").write_bytes(armor(sf.seal(PLAIN, [KEY])))
    for name, options, status in (("plain", ["-q", "-k", key, "-a"], 0), ("text", [*rekey, "-a"], 0),
                                  ("text", rekey, 2)):
        master, slave = open_terminal()
        with open(name, "rb") as stdin:
            child = start("gpuaes-stream", *options, stdin=stdin, stdout=slave, stderr=subprocess.PIPE)
        os.close(slave)
        shown = read_terminal(master).replace(b"\r\n", b"\n")
        expect_exit(child, status)
        error = "error: refusing to write ciphertext to a terminal\n" if status else ""
        assert error.encode() in child.stderr.read()
        assert status or open_armor(shown, OTHER_KEY if name == "text" else KEY) == PLAIN


def test_armor_is_not_detected_if_another_format_is_named(key):
    pathlib.Path("plain").write_bytes(b"text\n")
    text = stream("-q", "-a", "-k", key, "-i", "plain").out
    pathlib.Path("armored").write_bytes(text)
    found = stream("-q", "-d", "-k", key, "-f", "cobblestone", "-i", "armored", status=3)
    assert found.error == "armored: this key and context do not open the input"
    assert stream(*RAW, "-k", key, "-d", "-i", "armored").out == openssl_ctr(text)
    assert stream("-q", "-d", "-k", key, "--iv", IV, "-i", "armored", status=2).error == "--iv requires -f raw"


def test_info(key):
    sealed = sf.seal(PLAIN, [KEY])
    facts = json.loads(stream("-q", "--info", "--json", input=armor(sealed)).out)
    assert (facts["armor"], facts["size"], facts["header_bytes"]) == (True, None, HEADER)
    assert json.loads(stream("-q", "--info", "--json", input=sealed).out)["armor"] is False


# --- Pipes ---------------------------------------------------------------------------------------------------------


def start_pipe(key, *options):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return start("gpuaes-stream", "-q", "-k", key, "-l", "cpu:1", *options, bufsize=0, **pipes)


def read(child, size):
    """That many bytes of its output, or those that arrive in time."""
    got = b""
    while len(got) < size and select.select([child.stdout], [], [], PATIENCE)[0]:
        got += os.read(child.stdout.fileno(), size - len(got)) or pytest.fail("expected more output")
    return got


@pytest.mark.parametrize("step", [1, 3, 64, 65, 66])
def test_text_may_arrive_in_any_pieces(key, step):
    plain = some_bytes(200)
    text = armor(sf.seal(plain, [KEY]))
    child = start_pipe(key, "-d")
    for at in range(0, len(text), step):
        child.stdin.write(text[at : at + step])
    assert child.communicate(timeout=PATIENCE) == (plain, b"")


def test_a_segment_is_written_when_its_lines_have_arrived(key):
    plain = some_bytes(3 * SEGMENT)
    text = armor(sf.seal(plain, [KEY]))
    child, sent = start_pipe(key, "-d"), 0
    for segments in 1, 2, 3:
        end = len(BEGIN) + 1 + (HEADER + segments * SEALED + 47) // 48 * 65
        child.stdin.write(text[sent:end])
        sent = end
        expect_same(plain[(segments - 1) * SEGMENT : segments * SEGMENT], read(child, SEGMENT))
    child.stdin.write(text[sent:])
    assert child.communicate(timeout=PATIENCE) == (b"", b"")


def test_memory_use_does_not_depend_on_the_length(key):
    plain = some_bytes(1000000 if SANITIZED else 50000000)
    size, sealed_size = len(plain), HEADER + len(plain) + 16 * (len(plain) // SEGMENT + 1)
    data, options = plain, ["-q", "-k", key, "-l", "cpu:1", "-b", "64K", "--stats", "stats"]
    for mode, sizes in ("-a", (size, sealed_size)), ("-d", (sealed_size, size)):
        data = stream(*options, mode, input=data, via="file").out
        stats = json.loads(pathlib.Path("stats").read_text())
        assert (stats["bytes_in"], stats["bytes_out"]) == sizes
        assert SANITIZED or stats["peak_rss_bytes"] < 40000000
    expect_same(plain, data)
