"""open-sealed.py, as installed, opens what the programs write and refuses anything else. gpuaes-stream(5) quotes it."""

import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys

import pytest

import parts_steps
from processes import read_terminal
from programs import FOLDER, INSTALLED, KEY, PATIENCE, keygen, secret_file, some_bytes, stream

pytest.importorskip("cryptography")
import age_format  # noqa: E402
import parts_format  # noqa: E402
import sealed_format  # noqa: E402
from damage import HEADER, SEALED, SEGMENT, flip  # noqa: E402

TOP = pathlib.Path(__file__).parents[3]
PLAIN = some_bytes(2 * SEGMENT + 100)


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    """The command that runs the installed reader."""
    if INSTALLED:
        return [sys.executable, FOLDER.parent / "share/gpuaes-stream/open-sealed.py"]
    if not shutil.which("cmake"):
        pytest.skip("cmake is not installed")
    if not os.access(FOLDER, os.W_OK):
        pytest.skip(f"cannot write to {FOLDER}, where cmake writes a list of files")
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run(["cmake", "--install", FOLDER, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    return [sys.executable, prefix / "share/gpuaes-stream/open-sealed.py"]


@pytest.fixture
def opened(reader, key):
    """A function that runs the reader and returns its output. Without options, it is given the key."""

    def run(sealed, *options, error=None, begins=b""):
        """With `error`, the reader must fail with this message, after output that is the same as `begins`."""
        done = subprocess.run([*reader, *(options or ("-k", key))], input=sealed, capture_output=True, timeout=PATIENCE)
        message = f"open-sealed.py: error: {error}\n" if error else ""
        assert (done.stderr.decode(), done.returncode) == (message, bool(error))
        assert error is None or done.stdout == begins
        return done.stdout

    return run


def seal(plain, *options):
    return stream(*options, input=plain).out


def seal_in_parts(plain, count, key, *options):
    """Cuts the plaintext into parts and seals them."""
    parts_steps.seal_in_parts(key, plain, count, "in-parts", *options)
    return pathlib.Path("in-parts").read_bytes()


@pytest.mark.parametrize("size", [0, SEGMENT - 1, SEGMENT, SEGMENT + 1])
def test_it_opens_files_of_any_size(opened, key, size):
    assert opened(seal(some_bytes(size), "-k", key)) == some_bytes(size)


@pytest.mark.parametrize("size, count", [(0, 3), (1, 1), (SEGMENT, 1), (3 * SEGMENT, 3), (100000, 5)])
def test_it_opens_files_made_of_parts(opened, key, size, count):
    assert opened(seal_in_parts(some_bytes(size), count, key)) == some_bytes(size)


def test_it_opens_directories_if_they_are_whole(opened, key):
    directory = pathlib.Path("in-parts")
    parts_steps.plan_and_seal(key, PLAIN, 3, directory)
    parts_steps.join(directory)
    (directory / "other").touch()  # ignored
    assert opened(b"", "-k", key, directory) == PLAIN

    def refused(name, error, begins=b""):
        (directory / name).rename("away")
        opened(b"", "-k", key, directory, error=error, begins=begins)
        pathlib.Path("away").rename(directory / name)

    refused("index", "in-parts is not joined")
    refused("head", "[Errno 2] No such file or directory: 'in-parts/head'")
    refused("part.0000000", "part 0 is missing or damaged")
    refused("part.0000001", "part 1 is missing or damaged", PLAIN[:SEGMENT])
    refused("part.0000002", "part 2 is missing, or the index is damaged", PLAIN[: 2 * SEGMENT])
    part = directory / "part.0000001"
    part.write_bytes(part.read_bytes()[:-1])
    opened(b"", "-k", key, directory, error="segment 1 is not authentic", begins=PLAIN[: 2 * SEGMENT])
    opened(b"", "-k", key, "away", error="[Errno 2] No such file or directory: 'away'")


@pytest.mark.parametrize("content", [KEY, KEY.hex().encode(), KEY.hex().upper().encode() + b" \t\r\n\n"])
def test_it_reads_key_files(opened, key, content):
    assert opened(seal(PLAIN, "-k", key), "-k", secret_file("copy", content)) == PLAIN


def test_it_reads_identities(opened):
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    sealed = seal(PLAIN, "-f", "sealed", "-r", recipient)
    assert opened(sealed, "-k", "identity") == PLAIN
    text = next(line for line in pathlib.Path("identity").read_text().splitlines() if line.startswith("AGE-"))
    assert opened(sealed, "-k", secret_file("lowercase", b"# comment\n\t" + text.lower().encode() + b" \r\n")) == PLAIN
    typed = text[:-1] + ("P" if text[-1] == "Q" else "Q")
    opened(sealed, "-k", secret_file("typing-error", typed.encode()),
           error="the checksum of the identity is wrong: it has a typing error")
    opened(sealed, "-k", secret_file("short", text[:-1].encode()),
           error="the identity has the wrong length or a wrong character")


def test_it_reads_passphrases(opened):
    secret_file("passphrase", b" \xc3\xa9\xff \nanother line")
    assert opened(seal(PLAIN, "--passphrase-file", "passphrase"), "--passphrase-file", "passphrase") == PLAIN


def test_it_asks_for_the_passphrase(reader):
    secret_file("passphrase", b"correct horse")
    pathlib.Path("sealed").write_bytes(seal(PLAIN, "--passphrase-file", "passphrase"))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", '"$@" -p <sealed >opened', "sh", *reader])
    shown = read_terminal(terminal, lambda seen: seen.endswith(b"Enter passphrase: "))
    assert shown.endswith(b"Enter passphrase: "), shown
    os.write(terminal, b"correct horse\n")
    assert os.waitpid(pid, 0)[1] == 0
    assert pathlib.Path("opened").read_bytes() == PLAIN


def test_it_needs_the_label(opened, key):
    wrong = "the label is wrong, or the file is damaged"
    for sealed in (seal(PLAIN, "-k", key, "--label", "été"), seal_in_parts(PLAIN, 2, key, "--label", "été")):
        assert opened(sealed, "-k", key, "--label", "été") == PLAIN
        opened(sealed, error=wrong)
        opened(sealed, "-k", key, "--label", "other", error=wrong)


def test_it_opens_armored_files_as_it_says(reader, key):
    pathlib.Path("armored").write_bytes(seal(PLAIN, "-a", "-k", key))
    usage = reader[1].read_text().split('"""')[1]
    command = next(line for line in usage.splitlines() if "base64" in line).replace("ARMORED", "armored")
    done = subprocess.run(["sh", "-c", f'{command} | "$@"', "sh", *reader, "-k", key], capture_output=True, check=True)
    assert done.stdout == PLAIN


def test_it_writes_before_the_input_ends(reader, key):
    """The pieces are small enough for a pipe."""
    sealed = seal(PLAIN, "-k", key)
    with subprocess.Popen([*reader, "-k", key], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(sealed[: HEADER + 2 * SEALED])
        process.stdin.flush()
        assert process.stdout.read(2 * SEGMENT) == PLAIN[: 2 * SEGMENT]
        process.stdin.write(sealed[HEADER + 2 * SEALED :])
        process.stdin.close()
        assert process.stdout.read() == PLAIN[2 * SEGMENT :]


def test_it_says_what_it_does_not_support(opened, key):
    opened(seal(PLAIN, "-k", key, "-c", "kuznyechik"), error="this program does not support suite 02")
    opened(b"gpuaes-stream/2\n" + bytes(200), error="the input is neither a sealed file of version 1 nor an age file")
    slots = [(4, bytes(1168)), (5, b""), sealed_format.key_slot(KEY, bytes(32))]
    opened(sealed_format.seal(PLAIN, slots=slots),
           error="the secret opens no slot that this program supports; it did not try slot 1, slot 2")
    identity = sealed_format.to_text(sealed_format.PQ_IDENTITY, KEY).encode()
    opened(seal(PLAIN, "-k", key), "-k", secret_file("identity", identity),
           error="this program does not support post-quantum identities")


@pytest.fixture
def identity():
    return secret_file("identity", age_format.identity_text().encode())


@pytest.mark.parametrize("size", [0, age_format.SEGMENT - 1, age_format.SEGMENT, age_format.SEGMENT + 1])
def test_it_opens_age_files(opened, identity, size):
    assert opened(seal(some_bytes(size), "-r", age_format.recipient_text()), "-k", identity) == some_bytes(size)


def test_it_opens_age_files_with_a_passphrase(opened):
    secret_file("passphrase", b"correct horse")
    sealed = seal(PLAIN, "-f", "age", "--passphrase-file", "passphrase")
    assert opened(sealed, "--passphrase-file", "passphrase") == PLAIN


def test_it_opens_files_that_age_wrote(opened, identity):
    if not shutil.which("age"):
        pytest.skip("age is not installed")
    command = ["age", "-r", age_format.recipient_text()]
    sealed = subprocess.run(command, input=PLAIN, check=True, stdout=subprocess.PIPE).stdout
    assert opened(sealed, "-k", identity) == PLAIN


def test_it_tries_every_stanza_of_its_kind(opened, identity):
    file_key = bytes(16)
    other, ours = (age_format.x25519_stanza(file_key, recipient) for recipient in
                   (sealed_format.public_key(KEY[::-1]), age_format.RECIPIENT))
    grease = (["some-grease", "argument"], bytes(100))
    assert opened(age_format.seal(PLAIN, [grease, other, ours], file_key), "-k", identity) == PLAIN
    opened(age_format.seal(PLAIN, [grease, other], file_key), "-k", identity, error="the secret opens no stanza")
    opened(age_format.seal(PLAIN), error="the secret opens no stanza")  # a key file
    opened(age_format.seal(PLAIN), "-k", identity, "--label", "x", error="the input is an age file, which has no label")


AGE_STANZA = [age_format.x25519_stanza(bytes(16))]


@pytest.mark.parametrize("stanzas, error", [
    ([(["X25519", age_format.b64(bytes(32))], bytes(32))], "a stanza is malformed"),  # the shared secret is zero
    ([(["X25519", age_format.b64(b"x" * 32)], bytes(31))], "a stanza is malformed"),
    ([(["scrypt"], b""), (["X25519", "AAAA"], b"")], "a passphrase stanza excludes all others"),
    ([], "the header is malformed, too long or not of version 1"),
    ([(65 * ["a"], b""), *AGE_STANZA], "the header is malformed, too long or not of version 1"),
    ([(["a"], bytes(12 << 20))] + AGE_STANZA, "the header is too long"),
])
def test_malformed_headers_of_age_files_are_refused(opened, identity, stanzas, error):
    opened(age_format.seal(PLAIN, stanzas), "-k", identity, error=error)


def test_only_segments_of_age_files_before_the_damage_are_written(opened, identity):
    options, plain = ("-k", identity), some_bytes(2 * age_format.SEGMENT)
    sealed = age_format.seal(plain)
    begin = len(sealed) - 2 * age_format.SEALED
    for number in range(2):
        opened(flip(sealed, begin + number * age_format.SEALED), *options,
               error=f"segment {number} is not authentic", begins=plain[: number * age_format.SEGMENT])
    half = plain[: age_format.SEGMENT]
    opened(sealed[:-1], *options, error="segment 1 is not authentic", begins=half)
    opened(sealed[: -age_format.SEALED], *options, error="the input is truncated", begins=half)
    opened(sealed + b"x", *options, error="the input continues after its last segment", begins=plain)


def test_the_wrong_secret_opens_nothing(opened, key):
    secret_file("wrong", b"wrong")
    recipient = keygen("--x25519", "-o", "identity").out.decode().strip()
    keygen("-o", "other")
    keygen("--x25519", "-o", "other-identity")
    for sealed in (seal(PLAIN, "-k", key, "-r", recipient), seal_in_parts(PLAIN, 2, key, "-r", recipient)):
        for options in (("-k", "other"), ("-k", "other-identity"), ("--passphrase-file", "wrong")):
            opened(sealed, *options, error="the secret opens no slot")


@pytest.mark.parametrize("at, error", [
    (0, "the input is neither a sealed file of version 1 nor an age file"),
    (16, "this program does not support suite 00"),
    (17, "the number of slots is wrong"),
    (20, "the slots are damaged"),  # the type
    (22, "the slots are damaged"),  # the size
    (23, "the secret opens no slot"),  # the salt
    (86, "the secret opens no slot"),  # the wrapped file key
    (118, "the header is damaged"),  # the header MAC
    (119, "the label is wrong, or the file is damaged"),  # the salt of the message
    (174, "the label is wrong, or the file is damaged"),
])
def test_a_damaged_header_is_refused(opened, key, at, error):
    opened(flip(seal(PLAIN, "-k", key), at), error=error)


@pytest.mark.parametrize("slots, error", [
    ([], "the number of slots is wrong"),
    ([(0, b"")], "the slots are damaged"),
    ([(1, bytes(63))], "the slots are damaged"),
    ([(5, b"")] * 33, "the number of slots is wrong"),
    ([(2, bytes(67))] * 2, "a passphrase slot excludes some of the other slots"),
    ([(4, bytes(1168)), (2, bytes(67))], "a passphrase slot excludes some of the other slots"),
    ([(3, b"\xff" * 80), (3, bytes(80))], "the secret opens no slot"),  # not canonical; the shared secret is zero
])
def test_malformed_slots_are_refused(opened, slots, error):
    identity = sealed_format.to_text(sealed_format.IDENTITY, KEY).encode()
    opened(sealed_format.seal(PLAIN, slots=slots), "-k", secret_file("identity", identity), error=error)


def test_an_ephemeral_key_that_is_not_canonical_is_refused(opened):
    """X25519 ignores the highest bit of a public key, so one key would have two encodings."""
    public = sealed_format.public_key(KEY)
    _, body = sealed_format.x25519_slot(KEY, public, ephemeral=KEY)
    ephemeral = body[:31] + bytes([body[31] | 0x80])
    kek = sealed_format.x25519_kek(KEY, public, ephemeral, public)
    slots = [(3, ephemeral + sealed_format.wrap(kek, KEY))]
    secret_file("identity", sealed_format.to_text(sealed_format.IDENTITY, KEY).encode())
    opened(sealed_format.seal(PLAIN, slots=slots, file_key=KEY), "-k", "identity", error="the secret opens no slot")


def test_scrypt_parameters_are_limited(opened):
    secret_file("passphrase", b"x")
    for parameters in (bytes([9, 8, 1]), bytes([21, 8, 1]), bytes([17, 9, 1]), bytes([17, 8, 2])):
        opened(sealed_format.seal(PLAIN, slots=[(2, parameters + bytes(64))]), "--passphrase-file", "passphrase",
               error="the passphrase slot has scrypt parameters that are out of range")


def test_only_segments_before_the_damage_are_written(opened, key):
    sealed = seal(PLAIN, "-k", key)
    for number in range(3):
        begin = HEADER + number * SEALED
        for at in (begin, min(begin + SEALED, len(sealed)) - 1):
            opened(flip(sealed, at), error=f"segment {number} is not authentic", begins=PLAIN[: number * SEGMENT])
    first, second = sealed[HEADER:][:SEALED], sealed[HEADER + SEALED :][:SEALED]
    opened(sealed[:HEADER] + second + first + sealed[HEADER + 2 * SEALED :], error="segment 0 is not authentic")


def test_a_missing_end_and_appended_bytes_are_detected(opened, key):
    sealed = seal(PLAIN, "-k", key)
    for size in (0, 20, HEADER - 1, HEADER + 15):
        opened(sealed[:size], error="the input is truncated")
    opened(sealed[: HEADER + 16], error="segment 0 is not authentic")
    opened(sealed[: HEADER + SEALED - 1], error="segment 0 is not authentic")
    opened(sealed[: HEADER + SEALED], error="the input is truncated", begins=PLAIN[:SEGMENT])
    for changed in sealed[:-1], sealed + bytes(1), sealed + bytes(SEALED):
        opened(changed, error="segment 2 is not authentic", begins=PLAIN[: 2 * SEGMENT])


@pytest.fixture
def pieces():
    """A file made of three parts, as header, parts, index and number of parts."""
    job = parts_format.new_job(keys=[KEY])
    sealed = parts_format.seal_parts(job, parts_format.cut(PLAIN, 3), of=3)
    return [job.head, *sealed, parts_format.make_index(job, sealed), struct.pack(">Q", 3)]


def test_damaged_parts_are_refused(opened, pieces):
    head, first, second, third, index, end = pieces
    one, two = PLAIN[:SEGMENT], PLAIN[: 2 * SEGMENT]
    commitment = "the label is wrong, or the file is damaged"

    def refused(data, error, begins=b""):
        opened(b"".join(data), error=error, begins=begins)

    refused([head, second, first, third, index, end], "part 0 is missing or damaged")
    refused([head, first, first, second, third, index, end], "part 1 is missing or damaged", one)
    refused([head, first, second, index, end], "part 2 is missing, or the index is damaged", two)
    refused([head, index, end], "part 0 is missing, or the index is damaged")
    for at, error in ((0, "part 1 is missing, or the index is damaged"), (4, "part 1 is missing or damaged"),
                      (8, "part 1 is missing or damaged"), (9, "part 1 is missing or damaged"),
                      (17, commitment), (41, commitment)):
        refused([head, first, flip(second, at), third, index, end], error, one)
    refused([head, first, flip(second, 16), third, index, end], "segment 1 is not authentic", two)  # the length
    refused([head, first, flip(second, 73), third, index, end], "segment 0 is not authentic", one)
    refused([head, first, second, third, flip(index, 73), end], "segment 0 is not authentic", PLAIN)
    for wrong_end in (flip(end, 7), end + b"\0"):
        refused([*pieces[:-1], wrong_end], "the end of the file is damaged, missing or extended", PLAIN)


def test_a_part_that_the_index_does_not_list_is_refused(opened, pieces):
    head, *sealed = pieces[:4]
    job = parts_format.Job(*parts_format.open_job(head + bytes(56), key=KEY)[:2], head)
    sealed[1] = parts_format.frame(job, parts_format.PART, 1, 3, PLAIN[SEGMENT : 2 * SEGMENT])
    opened(b"".join([head, *sealed, *pieces[4:]]), error="the index does not match the parts", begins=PLAIN)


def test_the_manual_page_quotes_it(reader):
    page = (TOP / "man/gpuaes-stream.5").read_text()
    example = page[page.index(".Sh EXAMPLES") :]
    quoted = example[example.index(".Bd -literal\n") :].split(".Ed\n")[0].split("\n", 1)[1].replace("\\e", "\\")
    assert quoted.startswith("def open_message(")
    assert f"\n\n\n{quoted}\n\n" in reader[1].read_text()
