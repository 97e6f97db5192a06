"""Messages begin with the program's name. -v reports how a run goes. If messages cannot be
written, neither the output nor the exit status changes."""

import os
import pathlib
import re
import subprocess
import unicodedata

import pytest

from processes import expect_exit
from programs import FOLDER, IV, PATIENCE, expect_same, flipped, keygen, openssl_ctr, raw, run, some_bytes, start, stream

RAW_WARNING = "the raw format is not authenticated; modifications will go undetected"
RING = r"\d+ buffers of 64 KiB, \d+ KiB in total"
LANE = r"cpu: \d+ chunks?, \d+ bytes; busy S, reading S, writing S, waiting S".replace("S", r"\d+\.\d{3} s")
SPEED = r"encrypted 977 KiB in \d+\.\d+ s \([\d.]+ [KMG]iB/s\)"
SUMMARY = r"1000000 bytes in, 1000000 bytes out; cpu:2 did 16 chunks, 1000000 bytes"


def test_messages_begin_with_the_name_of_the_program(key):
    """Even if it is called by another name."""
    os.symlink(FOLDER / "gpuaes-stream", "other-name")
    for command in FOLDER / "gpuaes-stream", pathlib.Path("other-name").absolute():
        result = run(command, "-f", "raw", "-k", key, status=2)
        assert result.err == (
            "gpuaes-stream: error: the raw format requires an IV\n"
            "gpuaes-stream: hint: give a new IV in hexadecimal; never use an IV twice with the same key\n")
        result = run(command, "-f", "raw", "-k", "missing", "--iv", IV, status=1)
        assert result.err == "gpuaes-stream: error: --key: cannot open missing: No such file or directory\n"


@pytest.mark.parametrize("options, error", [
    (["-i", "two\nlines"], "--input: cannot open two?lines: No such file or directory"),
    ([b"csi \x9b31m \xc2\x9b31m"], "cannot open csi ?31m ?31m: No such file or directory"),
    ([b"too long \xc0\xaf \xe0\x80\x9b surrogate \xed\xa0\x80"],
     "cannot open too long ?? ??? surrogate ???: No such file or directory"),
    (["reversed \u202egpj.exe"], "cannot open reversed ?gpj.exe: No such file or directory"),
    (["hidden \u061c\u200b\ufeff\U000e0041"], "cannot open hidden ????: No such file or directory"),
    (["-c", "aes\u200b-256"], "unknown cipher 'aes?-256'"),
])
def test_special_characters_in_names_are_replaced(key, options, error):
    assert raw(key, *options, status=(1, 2)).err.splitlines()[0] == f"gpuaes-stream: error: {error}"


@pytest.mark.skipif(float(unicodedata.unidata_version[:4]) > 18, reason="Python knows newer characters")
def test_characters_are_replaced_by_category():
    """Controls, format characters, separators of lines, private use and noncharacters. Others are invisible letters and
    marks. The second half of the Unicode planes has only private use and noncharacters."""
    planes = [*range(3), *range(14, 17)]
    known = {c: unicodedata.category(c) for plane in planes for c in map(chr, range(plane << 16, (plane + 1) << 16))}
    characters = [c for c, category in known.items() if category != "Cs" and c not in "\0?" and (
        category != "Cn" or ord(c) & 0xfffe == 0xfffe)]
    names = ["".join(characters[at:at + 20000]) for at in range(0, len(characters), 20000)]
    done = subprocess.run([FOLDER / "gpuaes-stream", "--info", *names], capture_output=True, timeout=PATIENCE)
    errors = done.stderr.decode().removesuffix("\n").split("\n")
    shown = "".join(each.removeprefix("gpuaes-stream: error: cannot open ").removesuffix(": File name too long")
                    for each in errors)
    replaced = {c for c, seen in zip(characters, shown, strict=True) if seen != c}
    assert replaced >= {c for c in characters if known[c] in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")}
    others = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    assert {c for c in replaced if known[c] not in ("Cc", "Cf", "Zl", "Zp", "Co", "Cn")} <= {
        *others, *map(chr, range(0xe0100, 0xe01f0))}


@pytest.mark.parametrize("options, notes", [
    ("-v", [RING, "workers cpu:2", SPEED, SUMMARY]),
    ("-v -v", [RING, r"OpenSSL \d.*", "workers cpu:2", LANE, LANE, SPEED, SUMMARY]),
])
def test_verbose_messages(key, options, notes):
    """-v reports the ring and the lanes, -vv also the version of libcrypto and the work of each lane."""
    plain = some_bytes(1_000_000)
    result = stream(*options.split(), "-f", "raw", "--iv", IV, "-k", key, "-l", "cpu:2", "-b", "64K",
                    input=plain, via="file")
    expect_same(openssl_ctr(plain), result.out)
    assert all(line.startswith("gpuaes-stream: ") for line in result.err.splitlines())
    assert result.warnings == [RAW_WARNING]
    assert re.fullmatch("\n".join(notes), "\n".join(result.notes))


@pytest.mark.parametrize("options, done", [
    ("-d -i sealed", "decrypted 30.5 MiB"),
    ("--test -i sealed", "verified 30.5 MiB"),
    ("--range 1M:100K -i sealed", "decrypted 100 KiB"),
    ("--share 0/2 -i sealed", "decrypted 16.0 MiB"),
    ("--salvage -i damaged", "recovered 30.4 MiB"),
    ("-f age -r RECIPIENT -i plain", "encrypted 30.5 MiB"),
    ("-a -i plain", "encrypted 30.5 MiB"),
])
def test_the_amount_is_that_of_the_plaintext(key, options, done):
    """Without the header, tags and lost bytes."""
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    pathlib.Path("plain").write_bytes(some_bytes(32_000_000))
    stream("-k", key, "-i", "plain", "-o", "sealed")
    damaged = flipped(pathlib.Path("sealed").read_bytes(), *range(1_000_000, 1_100_000, 10_000))
    pathlib.Path("damaged").write_bytes(damaged)
    secret = [] if "RECIPIENT" in options else ["-k", key]
    result = stream("-v", *secret, *options.replace("RECIPIENT", recipient).split(), status=(0, 4))
    line, = (note for note in result.notes if note.startswith(done.split()[0]))
    assert re.fullmatch(done + r" in (\d+\.\d+ s|\d:\d\d:\d\d) \([\d.]+ ([KMG]i)?B/s\)", line), line


@pytest.mark.parametrize("options, status", [
    ("-f raw -v -i plain -o out", 0),
    ("-f raw -i missing", 1),
    ("-f nonsense", 2),
])
def test_messages_that_cannot_be_written(key, options, status):
    pathlib.Path("plain").write_bytes(some_bytes(100000))
    reader, broken = os.pipe()
    os.close(reader)
    for error in broken, os.open("/dev/full", os.O_WRONLY):
        child = start("gpuaes-stream", *options.split(), "--iv", IV, "-k", key, stderr=error)
        os.close(error)
        expect_exit(child, status)
        if status == 0:
            expect_same(openssl_ctr(some_bytes(100000)), pathlib.Path("out").read_bytes())
            os.unlink("out")
