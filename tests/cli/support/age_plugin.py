"""Age plugins for tests (c2sp.org/age-plugin); shares no code with the program.

install() writes the program of a plugin to a directory of PATH. Its code can call the functions of this module. The
plugins wrap a file key in a stanza `test` by XOR with a hash of the data in the recipient or identity."""

import base64
import hashlib
import json
import os
import pathlib
import signal
import sys

FOLDER = pathlib.Path(__file__).parent
DATA = b"data of a key"


# --- For tests -----------------------------------------------------------------------------------------------------

def install(folder, name="test", code="serve()", mode=0o755):
    """The code finds the current directory of the test in HERE."""
    program = pathlib.Path(folder) / f"age-plugin-{name}"
    program.write_text(f"#!{sys.executable}\nimport os, signal, sys, time\nsys.path.insert(0, {str(FOLDER)!r})\n"
                       f"sys.dont_write_bytecode = True\nfrom age_plugin import *\nHERE = {os.getcwd()!r}\n{code}\n")
    program.chmod(mode)
    return program


# --- Messages ------------------------------------------------------------------------------------------------------

def decode(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def encode(data):
    return base64.b64encode(data).decode().rstrip("=")


def read_line():
    line = sys.stdin.buffer.readline().decode()
    return line.removesuffix("\n") if line else sys.exit(1)


def receive():
    """Returns a list of arguments, and a body."""
    first = read_line()
    assert first.startswith("-> "), first
    body = b""
    while True:
        line = read_line()
        body += decode(line)
        if len(line) < 64:
            return first[3:].split(" "), body


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(*arguments, body=b""):
    text = encode(body if isinstance(body, bytes) else body.encode())
    lines = [text[i : i + 64] for i in range(0, len(text) + 1, 64)]
    write(f"-> {' '.join(arguments)}\n" + "".join(line + "\n" for line in lines))


def ask(*arguments, body=b""):
    """Sends a message, and returns the reply."""
    send(*arguments, body=body)
    return receive()


# --- A plugin ------------------------------------------------------------------------------------------------------

MACHINE = sys.argv[1].removeprefix("--age-plugin=") if len(sys.argv) == 2 else ""
if MACHINE in ("recipient-v1", "identity-v1"):  # end without a traceback
    for number in signal.SIGINT, signal.SIGPIPE:
        signal.signal(number, signal.SIG_DFL)


def bech32_data(text):
    digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    bits = "".join(f"{digits.index(c):05b}" for c in text.lower().rpartition("1")[2][:-6])
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8))


def mask(data, file_key):
    return bytes(a ^ b for a, b in zip(hashlib.sha256(b"wrap" + data).digest(), file_key))


def tag(data):
    return encode(hashlib.sha256(b"tag" + data).digest()[:4])


def hear():
    """The messages of the first phase."""
    messages = []
    while not messages or messages[-1][0] != ["done"]:
        messages.append(receive())
    return messages[:-1]


def texts(messages):
    return [arguments[1] for arguments, _ in messages if arguments[0] in ("add-recipient", "add-identity")]


def wrap(messages):
    file_key, = (body for arguments, body in messages if arguments == ["wrap-file-key"])
    for text in texts(messages):
        reply, _ = ask("recipient-stanza", "0", "test", tag(bech32_data(text)), body=mask(bech32_data(text), file_key))
        assert reply == ["ok"], reply


def file_keys(messages):
    for arguments, body in messages:
        for text in texts(messages):
            if arguments[:3] == ["recipient-stanza", "0", "test"] and arguments[3] == tag(bech32_data(text)):
                yield mask(bech32_data(text), body)


def unwrap(messages):
    for file_key in file_keys(messages):
        reply, _ = ask("file-key", "0", body=file_key)
        assert reply == ["ok"], reply


def serve(*between):
    """Does all that a plugin must. Calls the functions in `between` before it sends the result."""
    messages = hear()
    for function in between:
        function()
    {"recipient-v1": wrap, "identity-v1": unwrap}[MACHINE](messages)
    send("done")


def record(value, name="seen"):
    """Adds a line of JSON to a file in the current directory of the test."""
    with open(f"{sys.modules['__main__'].HERE}/{name}", "a") as file:
        file.write(json.dumps(value) + "\n")


def recorded(name="seen"):
    path = pathlib.Path(name)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
