#!/usr/bin/env bash
# A file that opens does not prove who wrote it if it was sealed for both a key and a recipient, or rekeyed from a
# recipient to a key or passphrase. Each case prints one warning, unless -q is given; no other case does.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

identity = bytes(range(9, 41))
recipient = sf.to_text(sf.RECIPIENT, sf.public_key(identity))
secret_file("identity", sf.to_text(sf.IDENTITY, identity).encode() + b"\n")
secret_file("key2", OTHER_KEY)
secret_file("words", b"correct horse\n")
with open("list", "w") as f:
    f.write(recipient + "\n")
plain = make_input(1000)

BOTH = "sealing for both a key and a recipient; anyone with the identity could forge a file that the key opens"
REKEYED = "the input was sealed for a recipient, so anyone could have written it; the new key or passphrase does not prove who did"


def expect_warning(warning, *options, data=plain):
    """Exactly this warning or none, and none with -q."""
    for quiet in ([], ["-q"]) if warning else ([],):
        done = subprocess.run([program, *quiet, *options], input=data, capture_output=True)
        want = f"gpuaes-stream: warning: {warning}\n" if warning and not quiet else ""
        expect_equal((0, want), (done.returncode, done.stderr.decode()), f"{options} {quiet}")


K, R, WORDS = ["-k", key], ["-r", recipient], ["--passphrase-file", "words"]
expect_warning(BOTH, *K, *R)
expect_warning(BOTH, *K, "-r", "@list")
expect_warning(BOTH, *K, "-k", "key2", *R, "-c", "kuznyechik")
for options in (K, R, R + R, WORDS, K + ["-k", "key2"], K + WORDS):
    expect_warning(None, *options)

# As the warning claims, anyone who has the identity can make a file that the key opens.
both = run(*K, *R, data=plain).out
slots, end = sf.parse_header(both)
file_key = next(filter(None, (sf.unwrap(slot, None, None, identity) for slot in slots)))
expect_open(sf.seal(b"forged", slots=slots, file_key=file_key), b"forged", what="a file made with the identity alone")

with_key, with_words = sf.seal(plain, [KEY]), sf.seal(plain, passphrase=b"correct horse", log_n=10)
for_recipient = sf.seal(plain, recipients=[sf.public_key(identity)])
NEW_KEY, NEW_WORDS = ["--new-key", "key2"], ["--new-passphrase-file", "words"]
for new, warning in [(NEW_KEY, REKEYED), (NEW_WORDS, REKEYED), (NEW_KEY + NEW_WORDS, REKEYED), (NEW_KEY + R, REKEYED),
                     (R, None)]:
    expect_warning(warning, "--rekey", "-k", "identity", *new, data=for_recipient)
    expect_warning(warning, "--rekey", *K, *new, data=both)
for old, data in ((K, with_key), (WORDS, with_words)):
    for new, warning in [(NEW_KEY, None), (NEW_WORDS, None), (R, None), (NEW_KEY + R, BOTH), (NEW_KEY + NEW_WORDS, None)]:
        expect_warning(warning, "--rekey", *old, *new, data=data)

# Opening prints no warning.
for data, secrets in ((both, K), (both, ["-k", "identity"]), (for_recipient, ["-k", "identity"])):
    for mode in ("-d", "--test", "--salvage"):
        expect_warning(None, mode, *secrets, data=data)
PYTHON
