#!/usr/bin/env bash
# A truncated header, an empty input and input of another kind fail with status 4, without output.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

sealed = sf.seal(make_input(20000), [KEY])
several = sf.seal(b"some text", [OTHER_KEY, KEY])
secret_file("passphrase", b"correct horse")
with_passphrase = sf.seal(b"some text", [], b"correct horse", 10)
for length in thinned(range(HEADER + 1), 7):
    via = ("pipe", "file")[length % 2]
    expect_refused(4, sealed[:length], *QUICK, what=f"{length} bytes of a header", via=via)
for length in thinned(range(80, HEADER + 67, 5)):
    expect_refused(4, several[:length], *QUICK, what=f"{length} bytes of a header with two slots")
for length in thinned(range(20, HEADER + 3, 13)):
    secret = ["--passphrase-file", "passphrase"]
    expect_refused(4, with_passphrase[:length], *secret, *QUICK, what=f"{length} bytes of a header with a passphrase")
for length in (0, 1, 15, 16, 17, 20, 174):
    expect_refused(4, sealed[:length], "-f", "sealed", what=f"{length} bytes of a header, -f sealed")
    expect_refused(4, sealed[:length], "-o", "out", what=f"{length} bytes of a header, -o")
    if os.path.exists("out"):
        fail("expected no output file")
PYTHON
