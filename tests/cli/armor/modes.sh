#!/usr/bin/env bash
# Armored input works with --test, --info and --rekey, but not with --range and --salvage. Armor may be written to a
# terminal.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
import json

from armor import *
from sealed_harness import *

plain = make_input(40000)
sealed = sf.seal(plain, [KEY])
text = armor(sealed)


def write(data, name="file"):
    with open(name, "wb") as f:
        f.write(data)
    return name


def read(name="file"):
    with open(name, "rb") as f:
        return f.read()


for options, data in ((["-i", write(text)], b""), ([], text), (["-f", "sealed"], text)):
    expect_equal("""format         sealed, version 1
suite          01
cipher         aes-256
authenticated  yes
armor          yes
slot 1         key file
header         175 bytes
size           unknown; the input is armored
""", run("--info", *options, data=data).out.decode(), f"--info {options}")
    facts = json.loads(run("--info", "--json", *options, data=data).out)
    expect_equal((True, None, 175), (facts["armor"], facts["size"], facts["header_bytes"]), f"--json {options}")
expect_equal(False, json.loads(run("--info", "--json", data=sealed).out)["armor"], "--json without armor")

# --rekey keeps armor, and -a adds it.
new_key = secret_file("new", OTHER_KEY)
rekey = ("--rekey", "-k", key, "--new-key", new_key)
for name, data, options in (("armored", text, ()), ("armored, -a", text, ("-a",)), ("-a", sealed, ("-a",))):
    expect(0, b"", *rekey, *options, "-o", "out", data=data, what=name)
    expect_equal((0, plain), open_independently(dearmor(read("out")), key=OTHER_KEY), f"--rekey, {name}")
    write(data)
    expect(0, b"", *rekey, *options, "-i", "file", what=f"{name}, in place")
    expect_equal((0, plain), open_independently(dearmor(read()), key=OTHER_KEY), f"--rekey in place, {name}")
    expect_equal((0, plain), open_independently(dearmor(run(*rekey, *options, data=data).out), key=OTHER_KEY), name)
write(text[:-10])
got = expect(4, b"", *rekey, "-i", "file", what="--rekey, truncated")
expect_message(got, "error: file: the input is truncated: the armor has no END line", "--rekey, truncated")
expect_equal(text[:-10], read(), "--rekey, truncated: the file")

# Modes that need an offset.
hint = "gpuaes-stream: hint: remove the armor first, with sed /^-----/d FILE | base64 -di\n"
write(text)
for options in (["--range", "0:10"], ["--salvage"], ["--salvage", "--test"]):
    got = expect(2, b"", "-k", key, *options, "-i", "file", what=f"{options}")
    expect_equal(f"gpuaes-stream: error: file: {options[0]} does not work on armored input\n{hint}", got.err.decode(), f"{options}")
dearmored = subprocess.run("sed /^-----/d file | base64 -di", shell=True, check=True, capture_output=True).stdout
expect_equal(sealed, dearmored, "the hint's command")

# A terminal.
for options, want in ((["-k", key, "-a"], 0), ([*rekey, "-a"], 0), (rekey, 2)):
    master, slave = open_terminal()
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    data = text if "--rekey" in options else plain
    child = spawn("-q", *options, stdin=subprocess.PIPE, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    writer = threading.Thread(target=lambda: child.communicate(data))
    writer.start()
    shown = read_terminal(master)
    writer.join(PATIENCE)
    expect_exit(child, want, f"terminal, {options}")
    if want == 0:
        expect_equal((0, plain), open_independently(dearmor(shown), key=OTHER_KEY if "--rekey" in options else KEY),
                     f"terminal, {options}")
PYTHON
