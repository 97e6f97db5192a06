#!/usr/bin/env bash
# With a wrong secret, a damaged header or another kind of file, --rekey exits with the status of decryption, writes no
# output and leaves the file unchanged. It does not check the segments.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

secret_file("key2", OTHER_KEY)
secret_file("key3", bytes(32))
secret_file("words", b"correct horse\n")
secret_file("identity", sf.to_text(sf.IDENTITY, bytes(range(32))).encode())
plain = make_input(40000)
good = sf.seal(plain, [KEY])
other = sf.seal(plain, [KEY])
cases = [
    (3, good, ["-k", "key3"], "wrong key"),
    (3, good, ["--passphrase-file", "words"], "a passphrase for a key's slot"),
    (3, good, ["-k", "identity"], "an identity for a key's slot"),
    (3, flip(good, 40), ["-k", key], "damaged slot"),
    (4, flip(good, 19 + 67 + 5), ["-k", key], "damaged header MAC"),
    (4, flip(good, HEADER - 56), ["-k", key], "damaged salt"),
    (4, flip(good, HEADER - 1), ["-k", key], "damaged commitment"),
    (4, good[: HEADER - 56] + other[HEADER - 56 :], ["-k", key], "the message of another file"),
    (1, good[:14] + b"2\n" + good[16:], ["-k", key], "another version"),
    (1, flip(good, 16, 4), ["-k", key], "another suite"),
    (4, b"Salted__12345678and so on", ["-k", key], "the openssl format"),
    (4, b"", ["-k", key], "an empty input"),
    (4, good[:15], ["-k", key], "truncated magic"),
]
cases += [(4, good[:size], ["-k", key], f"{size} bytes of a header") for size in (16, 20, 87, 119, HEADER - 1)]
for want, data, secret, what in cases:
    with open("file", "wb") as f:
        f.write(data)
    before = os.stat("file")
    expect(want, b"", "--rekey", *secret, "--new-key", "key2", data=data, what=what)
    for out in ([], ["-o", "out"]):
        expect(want, b"", "--rekey", *secret, "--new-key", "key2", "-i", "file", *out, what=what)
        expect_same(data, open("file", "rb").read(), f"{what}: the file")
        now = os.stat("file")
        expect_equal((before.st_ino, before.st_mtime_ns), (now.st_ino, now.st_mtime_ns), f"{what}: inode and time")
        expect_equal(["file", "identity", "key2", "key3", "words"], sorted(os.listdir()), f"{what}: files")

# Damaged, truncated or missing segments stay as they are.
for body in (flip(good, HEADER + 100)[HEADER:], good[HEADER:-1], good[HEADER : HEADER + 5], b"", good[HEADER:] + b"more"):
    data = good[:HEADER] + body
    got = run("--rekey", "-k", key, "--new-key", "key2", data=data)
    expect_equal((0, b""), (got.code, got.err), f"{len(body)} bytes after the header: exit status and messages")
    expect_same(data[HEADER - 56 :], got.out[HEADER - 56 :], f"{len(body)} bytes after the header")
    want = open_independently(data)
    expect_equal(want, open_independently(got.out, key=OTHER_KEY), f"{len(body)} bytes after the header: opened")
PYTHON
