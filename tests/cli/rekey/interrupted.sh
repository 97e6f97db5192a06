#!/usr/bin/env bash
# A signal at any time during --rekey leaves either the old or the new file, complete, and no other file. SIGKILL,
# which cannot be caught, may leave a temporary file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *
import random

random.seed(os.urandom(8))
secret_file("other-key", OTHER_KEY)
file_key, plain = os.urandom(32), make_input(1000)
bodies = sf.message(file_key, sf.MAGIC + b"\x01", plain)
# --rekey does not check segments, so random bytes suffice.
data = sf.header(file_key, [sf.key_slot(file_key, KEY)]) + bodies + os.urandom(16 << 20)
REST = data[HEADER - 56 :]
current, others = key, "other-key"


def rekey():
    command = [program, "-q", "--rekey", "-k", current, "--new-key", others, "-i", "file"]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    atexit.register(lambda: child.poll() is None and child.kill())
    return child


def holder(what):
    """The key that opens the file now."""
    with open("file", "rb") as f:
        now = f.read()
    expect_same(REST, now[HEADER - 56 :], f"{what}: bytes after the header")
    slots, end = sf.parse_header(now)
    for name, secret in ((key, KEY), ("other-key", OTHER_KEY)):
        if sf.unwrap(slots[0], secret, None, None) == file_key:
            expect_equal(sf.header_mac(file_key, now[:end]), now[end : end + 32], f"{what}: header MAC")
            return name
    fail(f"{what}: expected a slot of one of the keys")


with open("file", "wb") as f:
    f.write(data)
begin = time.monotonic()
expect_exit(rekey(), 0, "uninterrupted")
whole = time.monotonic() - begin
current, others = others, current
expect_equal(current, holder("uninterrupted"), "the key that opens it")
interrupted = 0
for i in range(24 if slow else 80):
    number = random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
    after = random.uniform(0, 1.1) * whole
    what = f"{signal.Signals(number).name} after {after * 1000:.1f} of {whole * 1000:.1f} ms"
    child = rekey()
    time.sleep(after)
    child.send_signal(number)
    code = finish(child, what)
    if code not in (0, -number):
        fail(f"{what}: expected success or death by the signal, got {code} ({child.stderr.read()})")
    messages = child.stderr.read()
    if number != signal.SIGKILL:  # SIGKILL may cause a message from a sanitizer
        expect_equal(b"", messages, f"{what}: messages")
    interrupted += code != 0
    now = holder(what)
    if code == 0:
        expect_equal(others, now, f"{what}: the key that opens it, after exit status 0")
    if now != current:
        current, others = others, current
    left = unfinished_files()
    if len(left) > (code == -signal.SIGKILL):
        fail(f"{what}: unexpected files: {left}")
    for name in left:
        os.remove(name)
expect_equal(["file", "other-key"], sorted(os.listdir()), "files")
if interrupted == 0:
    fail("expected some of the signals to come in time")
PYTHON
