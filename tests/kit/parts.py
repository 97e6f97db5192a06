"""Files and directories made of parts."""

import struct

import parts_format as pf
import sealed_format as sf
from common import (
    BY_KEY, BY_X25519, DAMAGED, FILE_KEY, FOREIGN_KEY, PATTERN, SEALED, SEGMENT, SMALL, make_job, own_slot, x25519_slot)
from programs import flipped


def add_to(kit):
    add_whole(kit)
    for suite in 3, 4:
        Frames(kit, suite).add_all()
        add_damaged_segments(kit, suite)
        add_directories(kit, suite)
    add_damaged_long_index(kit)


def be64(value):
    return struct.pack(">Q", value)


def pieces_of(lengths):
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [PATTERN[end - length : end] for end, length in zip(ends, lengths)]


def replace(data, at, value):
    return data[:at] + value + data[at + len(value) :]


def add_whole(kit):
    def add(name, comment, lengths, of=0, suites=(3, 4)):
        for suite in suites:
            job = make_job(suite)
            kit.add(f"parts_{name}_suite_{suite:02}", comment, pf.join(job, pf.seal_parts(job, pieces_of(lengths), of)),
                    sum(lengths), **BY_KEY)

    add("1_empty", "one part without plaintext", [0])
    add("1_of_1", "one part, cut as 1", [100], 1)
    add("3", "three parts; how many there are was not known when they were sealed", [100, 50, 7])
    add("3_of_3", "three parts, cut as 3", [SEGMENT, SEGMENT, 5], 3)
    add("5_of_5", "five parts, cut as 5, some without plaintext", [SEGMENT, 1, 0, 0, 0], 5)
    add("lengths", "lengths around those of segments, and empty parts", [0, SEGMENT - 1, SEGMENT, 0, SEGMENT + 1, 0], 0, [3])
    add("of_any_lengths", "'of' is 3, but no cut results in these lengths; readers do not compare them", [1, 50, 30], 3)
    add("410", "410 parts: the index has two segments", [1] * 410, 0, [3])
    add("2048", "2048 parts: the index has five full segments and an empty one", [1] * 2048, 0, [3])


class Frames:
    """Three parts with 100, 50 and 7 bytes, which anyone, or someone with the file key, has changed."""

    def __init__(self, kit, suite):
        self.kit, self.suite, self.job = kit, suite, make_job(suite)
        self.pieces, self.count = pieces_of([100, 50, 7]), be64(3)
        self.parts, self.again = (pf.seal_parts(self.job, self.pieces) for _ in range(2))
        self.index = pf.make_index(self.job, self.parts)
        self.entries = [pf.ENTRY.pack(len(piece), part[41:73]) for piece, part in zip(self.pieces, self.parts)]
        foreign_head = sf.header(FOREIGN_KEY, [own_slot(FOREIGN_KEY)], suite)
        self.foreign = pf.Job(FOREIGN_KEY, b"", foreign_head)
        self.foreign_parts = pf.seal_parts(self.foreign, self.pieces)

    def add(self, name, comment, frames, released, seeking, head=None):
        self.kit.add(f"{name}_suite_{self.suite:02}", comment, (head or self.job.head) + b"".join(frames), released, DAMAGED,
                     seeking, **BY_KEY)

    def add_all(self):
        self.add_changed_part()
        self.add_other_parts()
        self.add_other_indexes()
        self.add_other_ends()

    def add_changed_part(self):
        p, q, r = self.parts
        limit = pf.LIMITS[self.suite]
        for name, comment, at, value in (
            ("kind_0", "the kind of part 1 is 00", 0, b"\0"),
            ("kind_2", "the kind of part 1 is 02", 0, b"\2"),
            ("kind_3", "the kind of part 1 is 03", 0, b"\3"),
            ("number", "the number of part 1 is 2", 1, b"\0\0\0\2"),
            ("of", "'of' of part 1 is 3, and 0 in the other parts", 5, b"\0\0\0\3"),
            ("length_less", "the length of part 1 was changed", 9, be64(49)),
            ("length_more", "the length of part 1 was changed", 9, be64(51)),
            ("length_limit", "the length of part 1 is not less than its limit", 9, be64(limit)),
            ("length_highest", "the length of part 1 is 2^64 - 1", 9, be64(2**64 - 1)),
            ("length_overflow", "the length of part 1 is 2^64 - 73, so the size of its frame overflows", 9, be64(2**64 - 73)),
            ("salt", "the salt of part 1 was changed", 17, bytes([q[17] ^ 1])),
            ("commitment", "the commitment of part 1 was changed", 41, bytes([q[41] ^ 1])),
            ("ciphertext", "a bit of part 1 was changed", 73, bytes([q[73] ^ 1])),
            ("tag", "a bit of the tag of part 1 was changed", len(q) - 1, bytes([q[-1] ^ 1])),
        ):
            self.add(f"part_{name}", comment, [p, replace(q, at, value), r, self.index, self.count], 100, 100)

    def add_other_parts(self):
        (p, q, r), (_, other_q, _) = self.parts, self.again
        end = self.index, self.count
        of_3 = [pf.frame(self.job, pf.PART, 0, 3, self.pieces[0]), q, r]
        of_4 = pf.seal_parts(self.job, self.pieces, 4)
        self.add("part_0_of", "'of' of part 0 is 3, and 0 in the other parts",
                 [*of_3, pf.make_index(self.job, of_3), self.count], 100, 100)
        self.add("parts_of_4", "'of' is 4, but there are three parts",
                 [*of_4, pf.make_index(self.job, of_4), self.count], 157, 0)
        self.add("parts_exchanged", "parts 1 and 2 were exchanged", [p, r, q, *end], 100, 100)
        self.add("parts_first_exchanged", "parts 0 and 1 were exchanged", [q, p, r, *end], 0, 0)
        self.add("part_repeated", "part 1 is repeated", [p, q, q, r, *end], 150, 0)
        self.add("part_first_missing", "part 0 is missing", [q, r, *end], 0, 0)
        self.add("part_middle_missing", "part 1 is missing", [p, r, *end], 100, 0)
        self.add("part_last_missing", "part 2 is missing", [p, q, *end], 150, 0)
        self.add("part_of_another_file", "part 1 is that of another file", [p, self.foreign_parts[1], r, *end], 100, 100)
        self.add("part_mixed", "part 1 has the header of one attempt and the segment of another",
                 [p, q[:73] + other_q[73:], r, *end], 100, 100)
        self.add("part_other_attempt", "part 1 is a complete attempt other than that in the index",
                 [p, other_q, r, *end], 157, 100)
        self.add("parts_other_attempts", "all parts are complete attempts other than those in the index",
                 [*self.again, *end], 157, 0)
        self.add("parts_head_of_another_file", "the header is that of another file with the same key", [p, q, r, *end], 0, 0,
                 self.foreign.head)
        self.add("parts_message", "a message that is not divided into parts follows the header",
                 [sf.message(FILE_KEY, self.job.head[:17], SMALL, suite=self.suite - 2)], 0, 0)

    def index_of(self, *entries, **fields):
        return pf.frame(self.job, pf.INDEX, **{"number": 3, "of": 3, "plaintext": b"".join(entries), **fields})

    def add_other_indexes(self):
        p, q, r = self.parts
        e, f, g = self.entries

        def entry(length, part):
            return pf.ENTRY.pack(length, part[41:73])

        def add(name, comment, index, seeking=0, parts=(p, q, r), count=3):
            self.add(f"index_{name}", comment, [*parts, index, be64(count)], sum(len(part) - 89 for part in parts), seeking)

        add("missing", "the index is missing", b"")
        add("twice", "the index is repeated", self.index + self.index)
        add("of_another_file", "the index is that of another file", pf.make_index(self.foreign, self.foreign_parts))
        for name, at in ("salt", 17), ("commitment", 41), ("ciphertext", 73), ("tag", len(self.index) - 1):
            add(name, f"the {name} of the index was changed", flipped(self.index, at))
        add("kind_1", "the kind of the index is 01", pf.frame(self.job, pf.PART, 3, 3, e + f + g))
        add("kind_3", "the kind of the index is 03", replace(self.index, 0, b"\3"))
        add("number", "the number of the index is 4", self.index_of(e, f, g, number=4))
        add("of", "'of' of the index is 0", self.index_of(e, f, g, of=0))
        add("lists_exchanged", "the index lists parts 0 and 1 in the wrong order", self.index_of(f, e, g))
        add("lists_length", "the index lists another length of part 2", self.index_of(e, f, entry(8, r)))
        add("lists_lengths", "the index lists other lengths of parts 0 and 1, with the same sum",
            self.index_of(entry(99, p), entry(51, q), g))
        add("lists_length_limit", "the index lists a length that is not less than its limit",
            self.index_of(entry(pf.LIMITS[self.suite], p), f, g))
        add("lists_commitment", "the index lists another commitment of part 1", self.index_of(e, f[:8] + bytes(32), g), 100)
        add("lists_two", "the index lists two of the three parts", self.index_of(e, f))
        add("lists_two_of_2", "the index and the number of parts are those of parts 0 and 1",
            pf.make_index(self.job, [p, q]), count=2)
        add("lists_four", "the index lists four parts", self.index_of(e, f, g, g))
        add("lists_none", "there are no parts, and the index is empty", self.index_of(number=0, of=0), parts=(), count=0)
        add("without_parts", "there is an index, but no part", self.index, parts=())
        self.add("index_first", "the index is before the parts", [self.index, p, q, r, self.count], 0, 0)
        self.kit.add(f"index_other_attempt_suite_{self.suite:02}", "any attempt to seal the index is as good as another",
                     self.job.head + b"".join([p, q, r, pf.make_index(self.job, self.parts), self.count]), 157, **BY_KEY)

    def add_other_ends(self):
        p, q, r = self.parts
        parts = p + q + r
        for name, n in ("0", 0), ("2", 2), ("4", 4), ("over_limit", 2**20 + 1), ("highest", 2**64 - 1):
            self.add(f"number_{name}", "the last eight bytes are not the number of parts",
                     [parts, self.index, be64(n)], 157, 0)
        self.add("number_little-endian", "the last eight bytes are in the wrong order",
                 [parts, self.index, self.count[::-1]], 157, 0)
        for name, comment, frames, released in (
            ("to_header", "the file ends after the header MAC", b"", 0),
            ("in_first_header", "the file ends in the header of part 0", p[:72], 0),
            ("in_part", "the file ends in part 1", p + q[:-1], 100),
            ("after_part", "the file ends after part 1", p + q, 150),
            ("after_parts", "the file ends after the last part", parts, 157),
            ("in_index", "the file ends in the index", parts + self.index[:-1], 157),
            ("after_index", "the number of parts is missing", parts + self.index, 157),
            ("in_number", "the last byte is missing", parts + self.index + self.count[:-1], 157),
        ):
            self.add(f"parts_cut_{name}", comment, [frames], released, 0)
        whole = parts + self.index + self.count
        for name, comment, more in (("byte", "a byte was appended", b"\0"),
                                    ("number", "the number of parts is repeated", self.count),
                                    ("frames", "everything after the header is repeated", whole)):
            self.add(f"parts_appended_{name}", comment, [whole, more], 157, 0)


def add_damaged_segments(kit, suite):
    job = make_job(suite)

    def add(name, comment, changed, index, released, seeking=None):
        kit.add(f"parts_{name}_suite_{suite:02}", comment, job.head + b"".join(changed) + index, released, DAMAGED, seeking,
                **BY_KEY)

    p, q, r = parts = pf.seal_parts(job, pieces_of([SEGMENT + 100, SEGMENT, 5]))
    index = pf.make_index(job, parts) + be64(3)
    add("second_segment", "a bit of the second segment of part 0 was changed", [flipped(p, 73 + SEALED), q, r], index, SEGMENT)
    add("last_segment_missing", "the last segment of part 0 is missing", [p[: 73 + SEALED], q, r], index, SEGMENT, 0)
    add("empty_segment", "a bit of the last segment of part 1, which is empty, was changed", [p, flipped(q, 73 + SEALED), r],
        index, 2 * SEGMENT + 100)
    parts = pf.seal_parts(job, pieces_of([0, 100, 0, 50, 0]))
    index = pf.make_index(job, parts) + be64(5)
    for empty, released in (0, 0), (2, 100), (4, 150):
        for place, at in ("number", 4), ("commitment", 41), ("tag", 73):
            changed = [flipped(part, at) if i == empty else part for i, part in enumerate(parts)]
            add(f"empty_{empty}_{place}", f"the {place} of part {empty}, which is empty, was changed", changed, index,
                released)


def add_damaged_long_index(kit):
    job = make_job(3)
    sealed = pf.join(job, pf.seal_parts(job, pieces_of([1] * 410)))
    kit.add("index_second_segment_suite_03", "a bit of the second segment of the index was changed",
            flipped(sealed, len(sealed) - 9), 410, DAMAGED, 0, **BY_KEY)


def add_directories(kit, suite):
    job, pieces = make_job(suite), pieces_of([100, 0, 50])
    (p, q, r), (_, _, other_r) = parts, _ = pf.seal_parts(job, pieces), pf.seal_parts(job, pieces)
    files = {"head": job.head, "part.0000000": p, "part.0000001": q, "part.0000002": r,
             "index": pf.make_index(job, parts) + be64(3)}

    def add(name, comment, changed, released=150, expect="success", secret=BY_KEY):
        """changed: the files that differ; without a file if that is None."""
        present = {file: data for file, data in {**files, **changed}.items() if data is not None}
        kit.add(f"directory_{name}_suite_{suite:02}", comment, b"".join(present.values()), released, expect,
                files=[(file, len(data)) for file, data in present.items()], **secret)

    add("of_parts", "three parts, one of them without plaintext", {})
    add("new_head", "the slots were replaced", {"head": make_job(suite, slots=[x25519_slot()]).head}, secret=BY_X25519)
    add("other_files", "readers ignore other files", {"part.0000003": r, "notes": b"text"})
    index = files["index"]
    for name, comment, changed, released in (
        ("part_missing", "part 1 is missing", {"part.0000001": None}, 100),
        ("first_part_missing", "part 0 is missing", {"part.0000000": None}, 0),
        ("part_cut", "part 2 is a byte too short", {"part.0000002": r[:-1]}, 100),
        ("part_extended", "part 2 is a byte too long", {"part.0000002": r + b"\0"}, 100),
        ("part_boundary", "the first byte of part 1 is at the end of the file of part 0",
         {"part.0000000": p + q[:1], "part.0000001": q[1:]}, 0),
        ("parts_exchanged", "the files of parts 1 and 2 were exchanged", {"part.0000001": r, "part.0000002": q}, 100),
        ("part_other_attempt", "part 2 is a complete attempt other than that in the index", {"part.0000002": other_r}, 100),
        ("part_changed", "a bit of part 2 was changed", {"part.0000002": flipped(r, 80)}, 100),
        ("index_extended", "a byte was appended to the index", {"index": index + b"\0"}, 0),
        ("index_cut", "the last byte of the index is missing", {"index": index[:-1]}, 0),
        ("index_changed", "a bit of the index was changed", {"index": flipped(index, 73)}, 0),
        ("number_changed", "the last eight bytes are not the number of parts", {"index": index[:-8] + be64(2)}, 0),
        ("head_cut", "the last byte of the header is missing", {"head": job.head[:-1]}, 0),
        ("head_extended", "a byte was appended to the header", {"head": job.head + b"\0"}, 0),
    ):
        add(name, comment, changed, released, DAMAGED)
