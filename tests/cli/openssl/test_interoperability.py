"""-f openssl and `openssl enc -aes-...-ctr -pbkdf2` read each other's output, with three key lengths and various
iteration counts. The format is not authenticated, so wrong secrets give wrong plaintext, and a warning says so."""

import itertools
import subprocess

from programs import each_way, expect_same, lanes, secret_file, some_bytes, stream

PASSPHRASE = b"correct horse\nsecond line\n"
WARNING = "the openssl format is not authenticated; modifications will go undetected"


def openssl(data, bits, *options):
    command = ["openssl", "enc", f"-aes-{bits}-ctr", "-pbkdf2", "-pass", "file:passphrase", *options]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def test_each_opens_what_the_other_sealed(batch, work):
    passphrase = secret_file(work / "passphrase", PASSPHRASE)
    counts = ([], ["--iter", "1"], ["--iter", "12345"])
    cases = [
        *((size, 256, [], []) for size in (0, 1, 15, 16, 17, 255, 16384, 1000003)),
        *((size, bits, ["-c", f"aes-{bits}"], count)
          for size, bits, count in itertools.product((0, 1, 5000), (128, 192, 256), counts)),
        *((200003, 256, ["-l", lane, "-b", size], []) for lane in lanes() for size in ("16K", "100")),
    ]
    for way, (size, bits, options, count) in each_way(batch, cases):
        way = stream if "cuda" in str(options) else way
        plain = some_bytes(size)
        words = ["-q", "--passphrase-file", passphrase, "-f", "openssl", *options, *count]
        theirs = [word.replace("--", "-") for word in count]
        sealed = way(*words, input=plain).out
        assert (len(sealed), sealed[:8]) == (16 + size, b"Salted__")
        expect_same(plain, openssl(sealed, bits, *theirs, "-d"), options)
        expect_same(plain, way("-d", *words, input=openssl(plain, bits, *theirs)).out, options)


def test_salts_and_undetected_errors():
    secret_file("passphrase", PASSPHRASE)
    secret_file("wrong", b"battery staple")
    options = ["-f", "openssl", "--passphrase-file", "passphrase"]
    plain = some_bytes(5000)
    one, other = (stream("-q", *options, input=plain).out for _ in range(2))
    assert one[:16] != other[:16]
    for wrong in (["-f", "openssl", "--passphrase-file", "wrong"], [*options, "--iter", "9999"]):
        assert stream("-q", "-d", *wrong, input=one).out != plain
    for direction in ("-e", "-d"):
        assert stream(direction, *options, input=one).err == f"gpuaes-stream: warning: {WARNING}\n"
    opened = stream("-q", "-d", *options, input=one)
    assert (opened.out, opened.err) == (plain, "")
