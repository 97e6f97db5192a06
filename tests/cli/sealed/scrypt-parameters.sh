#!/usr/bin/env bash
# Invalid scrypt parameters are refused immediately and without much memory, but only if a passphrase is given. Valid
# parameters are r = 8, p = 1 and log2 N from 10 to 20.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

# Enough for a CPU lane and its ring, while N = 2^21 would need 2 GiB.
if ! sanitized; then ulimit -v $((1 << 20)); fi
python <<'PYTHON'
from sealed_harness import *

plain = make_input(20000)
secret_file("passphrase", b"correct horse")
good = [(10, 8, 1), (11, 8, 1), (14, 8, 1)]
refused = [(n, 8, 1) for n in (0, 1, 8, 9, 21, 22, 31, 32, 63, 64, 127, 128, 255)]
refused += [(10, r, 1) for r in (0, 1, 7, 9, 16, 128, 255)] + [(10, 8, p) for p in (0, 2, 16, 255)]
refused += [(0, 0, 0), (255, 255, 255), (10, 1, 8), (20, 255, 255), (17, 0, 0)]

for parameters in good:
    file_key = os.urandom(32)
    slots = [sf.passphrase_slot(file_key, b"correct horse", *parameters)]
    sealed = sf.seal(plain, slots=slots, file_key=file_key)
    expect_open(sealed, plain, "--passphrase-file", "passphrase", *QUICK, what=f"scrypt with {parameters}")
for parameters in refused:
    file_key = os.urandom(32)
    slots = [(sf.PASSPHRASE, bytes(parameters) + os.urandom(64)), sf.key_slot(file_key, KEY)]
    sealed = sf.seal(plain, slots=slots, file_key=file_key)
    what = f"scrypt with {parameters}"
    before = time.monotonic()
    expect_refused(4, sealed, "--passphrase-file", "passphrase", *QUICK, what=what)
    if time.monotonic() - before > A_SECOND:
        fail(f"{what}: expected the program to end at once")
    expect_open(sealed, plain, *QUICK, what=f"{what}, with the key")
PYTHON
