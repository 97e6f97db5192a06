"""An independent implementation of files made of parts: suites 03 and 04 of the sealed format, receipts, job files and
directories.
Follows gpuaes-stream(5), uses sealed_format.py, and shares no code with the program.

A Job is what all parts of a file have in common. frame() seals a part, and join() adds the index; for malformed files,
call these with other values for their fields. read_pipe() and read_file() yield the plaintext that a reader may release,
then end, or raise an Unopened with the exit status that the format specifies; outcome() collects both.
"""

import collections
import os
import pathlib
import struct

from cryptography.hazmat.primitives import constant_time, hashes, hmac

import sealed_format as sf
from sealed_format import SEGMENT, TAG, Damaged, Malformed, Unopened

AES, KUZNYECHIK = 3, 4  # suites
PART, INDEX = 1, 2  # kinds of frames
LIMITS = {AES: 1 << 52, KUZNYECHIK: 1 << 50}  # lengths of parts are less than this
MAX_PARTS = 1 << 20
FIELDS = struct.Struct(">BIIQ24s32s")  # of a frame header
ENTRY = struct.Struct(">Q32s")  # of the index

Header = collections.namedtuple("Header", "kind number of length salt commitment")


class Job(collections.namedtuple("Job", "file_key label head")):
    """head: the sealed file through the header MAC"""

    @property
    def suite(self):
        return self.head[16]

    @property
    def aead(self):
        """The suite of a whole message with the same cipher."""
        return self.suite - 2

    def context(self, header):
        return self.head[:17] + struct.pack(">BII", header.kind, header.number, header.of) + self.label

    def commitment(self, header):
        return sf.suite_of(self.aead, self.file_key, self.context(header), header.salt)[3]

    def check_commitment(self, header):
        check(constant_time.bytes_eq(self.commitment(header), header.commitment), "the commitment differs")


def check(condition, what):
    if not condition:
        raise Malformed(what)


def new_job(suite=AES, label=b"", file_key=None, **secrets):
    """secrets: arguments of make_slots()"""
    file_key = os.urandom(32) if file_key is None else file_key
    return Job(file_key, label, sf.header(file_key, sf.make_slots(file_key, **secrets), suite))


# --- Sealing -------------------------------------------------------------------------------------------------------

def begin(part, parts, size):
    """Where a part of an input begins if the input is cut into that many parts."""
    units = -(-size // SEGMENT)
    each = units // parts
    return min(size, SEGMENT * (each * part + min(part, units - each * parts)))


def cut(plaintext, parts):
    at = [begin(i, parts, len(plaintext)) for i in range(parts + 1)]
    return [plaintext[a:b] for a, b in zip(at, at[1:])]


def frame_size(length):
    return FIELDS.size + length + TAG * (length // SEGMENT + 1)


def frame(job, kind, number, of, plaintext, length=None, salt=None):
    """length: the field, if it is not that of the plaintext"""
    length = len(plaintext) if length is None else length
    context = job.context(Header(kind, number, of, length, None, None))
    return struct.pack(">BIIQ", kind, number, of, length) + sf.message(job.file_key, context, plaintext, salt, job.aead)


def seal_parts(job, pieces, of=0):
    return [frame(job, PART, number, of, piece) for number, piece in enumerate(pieces)]


def make_index(job, parts, **fields):
    """fields: number, of and length, if they are not those of an index of these parts"""
    headers = [Header(*FIELDS.unpack_from(part)) for part in parts]
    entries = b"".join(ENTRY.pack(header.length, header.commitment) for header in headers)
    return frame(job, INDEX, **{"number": len(parts), "of": len(parts), "plaintext": entries, **fields})


def join(job, parts):
    return job.head + b"".join(parts) + make_index(job, parts) + struct.pack(">Q", len(parts))


def seal(plaintext, parts, **fields):
    """Cuts the plaintext into parts. fields: arguments of new_job()"""
    job = new_job(**fields)
    return join(job, seal_parts(job, cut(plaintext, parts), parts))


# --- Receipts and job files ----------------------------------------------------------------------------------------

def mac(key, info, data):
    function = hmac.HMAC(sf.expand(key, info, 64), hashes.SHA512())
    function.update(data)
    return function.finalize()[:32]


def receipt_mac(job, fields):
    return mac(job.file_key, b"gpuaes-stream/1 receipt", job.head[:17] + b"\1" + fields + job.label)


def make_receipt(job, part):
    return part[1 : FIELDS.size] + receipt_mac(job, part[1 : FIELDS.size])


def read_receipt(job, receipt):
    """The frame header of the part."""
    check(len(receipt) == 104, "wrong size of a receipt")
    check(constant_time.bytes_eq(receipt_mac(job, receipt[:72]), receipt[72:]), "the MAC of the receipt differs")
    header = Header(*FIELDS.unpack(b"\1" + receipt[:72]))
    job.check_commitment(header)
    return header


class Input(collections.namedtuple("Input", "name is_device size modified changed")):
    """What a plan records of its input. Times are pairs of seconds and nanoseconds."""


NO_INPUT = Input(b"", False, 0, (0, 0), (0, 0))
INPUT = struct.Struct(">BQqIqI")


def planned(file):
    status = os.stat(file)
    times = (divmod(time, 10**9) for time in (status.st_mtime_ns, status.st_ctime_ns))
    return Input(os.fsencode(os.path.abspath(file)), False, status.st_size, *times)


def make_job_file(job, count=0, input=NO_INPUT):
    fields = b"".join((struct.pack(">B", len(job.label)), job.label, struct.pack(">H", len(job.head)), job.head,
                       struct.pack(">IH", count, len(input.name)), input.name,
                       INPUT.pack(input.is_device, input.size, *input.modified, *input.changed)))
    data = b"gpuaes-parts/1\n" + job.file_key + fields
    return data + mac(job.file_key, b"gpuaes-parts/1 job", data)


def read_job_file(data):
    """The job, the number of parts, and the input."""
    check(data[:15] == b"gpuaes-parts/1\n" and len(data) > 48, "not a job file")
    file_key, end = data[15:47], len(data) - 32
    check(constant_time.bytes_eq(mac(file_key, b"gpuaes-parts/1 job", data[:end]), data[end:]), "the job MAC differs")
    at = 47

    def take(size):
        nonlocal at
        at += size
        check(at <= end, "a job file is too short")
        return data[at - size : at]

    def take_text(size):
        return take(int.from_bytes(take(size), "big"))

    job = Job(file_key, take_text(1), take_text(2))
    count = int.from_bytes(take(4), "big")
    name = take_text(2)
    is_device, size, *times = INPUT.unpack(take(INPUT.size))
    check(at == end, "a job file is too long")
    check(job.suite in LIMITS and count <= MAX_PARTS and is_device in (0, 1), "wrong fields of a job file")
    return job, count, Input(name, bool(is_device), size, tuple(times[:2]), tuple(times[2:]))


# --- Opening -------------------------------------------------------------------------------------------------------

def open_job(data, label=b"", **secret):
    """secret: arguments of open_header()"""
    file_key, end = sf.open_header(data, suites=(AES, KUZNYECHIK), **secret)
    return Job(file_key, label, data[:end])


def read_header(data, at):
    check(len(data) >= at + FIELDS.size, "the input ends in a frame header")
    return Header(*FIELDS.unpack_from(data, at))


def read_segments(job, header, data, at):
    """Yields the plaintext of the frame at that offset of the data."""
    message = data[at + 17 : at + frame_size(header.length)]
    try:
        yield sf.open_message(job.file_key, job.context(header), message, Malformed, at + 17, job.aead)
    except Damaged as error:
        yield error.plaintext
        raise


def read_index(job, header, data, at, parts):
    check((header.kind, header.number, header.of, header.length) == (INDEX, parts, parts, 40 * parts), "a wrong index")
    return b"".join(read_segments(job, header, data, at))


def read_pipe(data, label=b"", **secret):
    job = open_job(data, label, **secret)
    at, entries, of = len(job.head), [], None
    while (header := read_header(data, at)).kind == PART:
        check(header.number == len(entries) < MAX_PARTS, "a wrong number of a part")
        check(of in (None, header.of), "parts of different cuts")
        check(header.length < LIMITS[job.suite], "a part is too long")
        yield from read_segments(job, header, data, at)
        entries.append(ENTRY.pack(header.length, header.commitment))
        of = header.of
        at += frame_size(header.length)
    check(entries, "no part")
    check(read_index(job, header, data, at, len(entries)) == b"".join(entries), "the index differs from the parts")
    check(of in (0, len(entries)), "parts of another cut")
    check(data[at + frame_size(header.length) :] == struct.pack(">Q", len(entries)), "a wrong end")


def read_file(data, label=b"", **secret):
    job = open_job(data, label, **secret)
    at, parts = len(job.head), int.from_bytes(data[-8:], "big")
    end = len(data) - 8 - frame_size(40 * parts)
    check(1 <= parts <= MAX_PARTS and end - at >= 89 * parts, "a wrong number of parts")
    entries = list(ENTRY.iter_unpack(read_index(job, read_header(data, end), data, end, parts)))
    check(all(length < LIMITS[job.suite] for length, _ in entries), "a part is too long")
    check(at + sum(frame_size(length) for length, _ in entries) == end, "the lengths differ from the size of the file")
    ofs = {0, parts}
    for number, entry in enumerate(entries):
        header = read_header(data, at)
        check((header.kind, header.number) == (PART, number) and header.of in ofs, "the wrong part")
        check((header.length, header.commitment) == entry, "the part is not that of the index")
        ofs = {header.of}
        yield from read_segments(job, header, data, at)
        at += frame_size(header.length)


def part_name(number):
    return f"part.{number:07}"


def write_directory(name, job, parts, joined=True, count=0, input=NO_INPUT):
    """Makes a directory with head and parts, and with the index or, if it is not joined, the job file. A part that is
    None is missing."""
    files = {"head": job.head, **{part_name(i): part for i, part in enumerate(parts) if part is not None}}
    if joined:
        files["index"] = make_index(job, parts) + struct.pack(">Q", len(parts))
    else:
        files["job"] = make_job_file(job, count, input)
    os.mkdir(name, 0o700)
    for file, data in files.items():
        with open(os.open(f"{name}/{file}", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as f:
            f.write(data)


def concatenate(name):
    """The single file that a directory is."""
    folder = pathlib.Path(name)
    index = (folder / "index").read_bytes()
    count = int.from_bytes(index[-8:], "big")
    check(count <= MAX_PARTS and len(index) == frame_size(40 * count) + 8, "the index has the wrong size")
    files = [folder / part_name(i) for i in range(count)]
    check(all(file.exists() for file in files), "a part is missing")
    parts = [file.read_bytes() for file in files]
    check(all(len(part) == frame_size(read_header(part, 0).length) for part in parts), "the file of a part has the wrong size")
    return b"".join([(folder / "head").read_bytes(), *parts, index])


def read_directory(name, label=b"", **secret):
    yield from read_file(concatenate(name), label, **secret)


def outcome(reader):
    """The exit status and the plaintext that a reader releases."""
    released = []
    try:
        for plaintext in reader:
            released.append(plaintext)
        return 0, b"".join(released)
    except Unopened as error:
        return error.exit, b"".join(released)
