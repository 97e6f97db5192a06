#!/usr/bin/env bash
# A secret that opens no slot fails with status 3, without output: a wrong key or passphrase, a damaged slot, or no slot
# for that kind of secret.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(40000)
secret_file("other-key", OTHER_KEY)
secret_file("passphrase", b"correct horse\n")
secret_file("other-passphrase", b"battery staple\n")
with_key = sf.seal(plain, [KEY])
with_passphrase = sf.seal(plain, passphrase=b"correct horse", log_n=10)
with_both = sf.seal(plain, [KEY], b"correct horse", 10)

cases = [
    (with_key, ["-k", "other-key"], "wrong key"),
    (with_key, ["--passphrase-file", "passphrase"], "no passphrase slot"),
    (with_passphrase, ["--passphrase-file", "other-passphrase"], "wrong passphrase"),
    (with_passphrase, ["-k", key], "no key slot"),
    (with_both, ["-k", "other-key"], "wrong key for two slots"),
    (with_both, ["--passphrase-file", "other-passphrase"], "wrong passphrase for two slots"),
    (with_both, ["-k", "other-key", "--passphrase-file", "other-passphrase"], "both wrong"),
    (flip(with_key, 30), ["-k", key], "a damaged salt"),
    (flip(with_key, 60), ["-k", key], "a damaged file key"),
    (flip(with_key, 86), ["-k", key], "a damaged tag of a file key"),
    (flip(with_passphrase, 35), ["--passphrase-file", "passphrase"], "a damaged salt of a passphrase"),
]
for data, secret, what in cases:
    for via in ("pipe", "file"):
        got = expect_refused(3, data, *secret, what=what, via=via)
    expect_message(got, "hint: the input was sealed with other secrets, or its header is damaged; --info lists its slots\n|"
                   "none was given\n.*hint: (name the key file with -k|use -p to enter the passphrase)\n", what)
    expect(3, b"", "-d", *secret, "-o", "out", data=data, what=what)
    if os.path.exists("out"):
        fail(f"{what}: expected no output file")
for secret in (["-k", key], ["--passphrase-file", "passphrase"]):
    expect_open(with_both, plain, *secret, what="either")
# Several secrets, and one of them is right.
expect_open(with_key, plain, "-k", "other-key", "-k", key, what="the second key")
expect_open(with_both, plain, "-k", "other-key", "--passphrase-file", "passphrase", what="the passphrase")
PYTHON
