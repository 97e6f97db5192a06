"""A passphrase is no longer in memory when the input is decrypted, unless another input may need it."""

import os
import re
import subprocess

import pytest

from processes import open_terminal, wait_until_idle
from programs import KEY, PATIENCE, SANITIZED, some_bytes, start
from terminals import await_question

pytest.importorskip("cryptography")
import age_format as af  # noqa: E402
import sealed_format as sf  # noqa: E402

PLAIN, SECRET = some_bytes(200_000), b"Correct-Horse-7"
BEGIN = 40_000  # bytes that a pipe holds
FILES = {"age": lambda: af.seal(PLAIN, [af.scrypt_stanza(bytes(16), SECRET)], bytes(16)),
         "sealed": lambda: sf.seal(PLAIN, [KEY], SECRET, 10)}


def memory_of(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            begin, end, access = re.match(r"(\w+)-(\w+) (..)", line).groups()
            if access != "rw":
                continue
            memory.seek(int(begin, 16))
            try:
                yield memory.read(int(end, 16) - int(begin, 16))
            except OSError:  # not readable, such as that of a device
                pass


@pytest.mark.root
@pytest.mark.skipif(SANITIZED, reason="sanitizers need more memory")
@pytest.mark.parametrize("program, options, input", [
    ("gpuage", "-d", "age"), ("gpuaes-stream", "-d -p", "age"), ("gpuaes-stream", "-d -p", "sealed"),
    ("gpuaes-stream", "-d -p --test", "sealed"), ("gpuaes-stream", "--rekey -p --new-passphrase", "sealed"),
    ("gpuage", "-p", None), ("gpuaes-stream", "-p", None)])
def test_it_is_wiped_once_the_file_key_is_known(program, options, input):
    data = FILES[input]() if input else PLAIN
    terminal, slave = open_terminal()
    child = start(program, *options.split(), start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                  stderr=slave)
    child.stdin.write(data[:BEGIN])
    child.stdin.flush()
    for answer in range(3 if "--rekey" in options else 1 if input else 2):
        await_question(child, terminal)
        assert any(SECRET in part for part in memory_of(child.pid)) == (answer > 0)
        os.write(terminal, SECRET + b"\n")
    wait_until_idle(child)
    assert not any(SECRET in part for part in memory_of(child.pid))
    child.stdin.write(data[BEGIN:])
    child.stdin.close()
    assert child.wait(PATIENCE) == 0
    os.close(terminal)
    os.close(slave)
