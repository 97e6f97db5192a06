#!/usr/bin/env bash
# No changed, missing or additional character of armor gives other plaintext, and armor cut anywhere is an error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from armor import *
from sealed_harness import *

plain = b"some text\n"
text = armor(sf.seal(plain, [KEY]))


def decrypt(data, what):
    """Returns whether the program decrypted the data, which it must not do with a wrong result."""
    got = run("-d", "-k", key, *QUICK, data=data)
    if (got.code, got.out) == (0, plain):
        return True
    if got.code not in (1, 3, 4) or got.out:
        fail(f"{what}: expected status 1, 3 or 4 and no output, got {got}")
    return False


# Only the newline at the end can be replaced, by other white space, or left out.
for k, at in enumerate(thinned(range(len(text)))):
    new = [b"A", b"B", b"+", b"=", b"-", b" ", b"\n", b"\r", b"\0", b"\x80", b"_"]
    other = next(c for c in new[k % len(new) :] + new if c != text[at : at + 1])
    is_end = at == len(text) - 1
    for what, data in (("changed", text[:at] + other + text[at + 1 :]), ("missing", text[:at] + text[at + 1 :])):
        expect_equal(is_end and not (what == "changed" and other.strip()), decrypt(data, f"byte {at} {what}"),
                     f"byte {at} {what} ({other})")
    if 0 < at < len(text) - 1 and not (other == b"\r" and text[at : at + 1] == b"\n"):
        expect_equal(False, decrypt(text[:at] + other + text[at:], f"{other} before byte {at}"), f"{other} before byte {at}")

for length in thinned(range(len(text) - 1)):
    got = expect(4, b"", "-d", "-k", key, *QUICK, data=text[:length], what=f"{length} characters")
    if length >= 14:
        expect_message(got, "error: the input is truncated", f"{length} characters")

# Lines removed, repeated or exchanged.
lines = text.splitlines(keepends=True)
for i in range(len(lines)):
    for what, data in (("removed", lines[:i] + lines[i + 1 :]), ("repeated", lines[:i] + lines[i : i + 1] + lines[i:])):
        expect_equal(False, decrypt(b"".join(data), f"line {i + 1} {what}"), f"line {i + 1} {what}")
    for j in range(i):
        data = [*lines[:j], lines[i], *lines[j + 1 : i], lines[j], *lines[i + 1 :]]
        expect_equal(False, decrypt(b"".join(data), f"lines {j + 1}, {i + 1}"), f"lines {j + 1} and {i + 1} exchanged")
PYTHON
