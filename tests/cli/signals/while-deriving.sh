#!/usr/bin/env bash
# A signal ends the program promptly while it derives a key from a passphrase, leaves no -o file, and no message
# about the passphrase appears.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need python3
echo words >"$work/words"
chmod 600 "$work/words"
make_input 1000 plain
printf 'Salted__12345678 and more' >salted

WORDS=$work/words python <<'PYTHON'
from harness import *

words = os.environ["WORDS"]
for options in (["-i", "plain", "-e"], ["-i", "salted", "-d"]):
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [program, "-q", "-f", "openssl", "--iter", "2000000000", "--passphrase-file", words, "-o", "out"]
        child = subprocess.Popen([*command, *options], stderr=subprocess.PIPE)
        atexit.register(lambda child=child: child.poll() is None and child.kill())
        time.sleep(0.3)
        expect_death_by(child, number, "deriving")
        expect_equal(b"", child.stderr.read(), "messages")
        expect_equal(["plain", "salted"], sorted(os.listdir(".")), "files")
PYTHON
