"""Files with one message: sizes, labels, damaged segments; and armor."""

import os

import armor
import sealed_format as sf
from common import BY_KEY, DAMAGED, FILE_KEY, PATTERN, SEALED, SEGMENT, SMALL, make, own_slot
from programs import flipped


def add_to(kit):
    add_sizes(kit)
    add_labels(kit)
    for suite in 1, 2:
        add_damaged_segments(kit, suite)
    add_without_associated_data(kit)
    add_armor(kit)


def add_sizes(kit):
    for suite, sizes in ((1, (0, 1, 15, 16, 17, 16383, 16384, 16385, 32767, 32768, 32769, 50000)),
                         (2, (0, 1, 15, 16, 17, 16383, 16384, 16385, 32768))):
        for size in sizes:
            kit.add(f"size_{size}_suite_{suite:02}", f"{size} bytes of plaintext",
                    make([own_slot()], PATTERN[:size], suite), size, **BY_KEY)


def add_labels(kit):
    def refuse(name, comment, data, given):
        kit.add(f"label_{name}", comment, data, 0, DAMAGED, **BY_KEY, label=given)

    label = b"backup 2026-11-21"
    for suite in 1, 2, 3, 4:
        data = make([own_slot()], suite=suite, label=label)
        kit.add(f"label_suite_{suite:02}", "sealed with a label", data, 100, **BY_KEY, label=label)
        refuse(f"missing_suite_{suite:02}", f"sealed with the label '{label.decode()}'", data, None)
        refuse(f"wrong_suite_{suite:02}", f"sealed with the label '{label.decode()}'", data, b"backup 2026-11-22")
        refuse(f"not_expected_suite_{suite:02}", "sealed without a label", make([own_slot()], suite=suite), label)
    nfc, nfd = "caf\u00e9".encode(), "cafe\u0301".encode()
    for name, comment, given in (("one_byte", "a label of one byte", b"x"), ("255_bytes", "the longest label", b"x" * 255),
                                 ("spaces", "spaces belong to the label", b" a label "),
                                 ("utf-8", "a label in UTF-8", nfc), ("decomposed", "the same text in another form", nfd)):
        kit.add(f"label_{name}", comment, make([own_slot()], label=given), 100, **BY_KEY, label=given)
    for name, used, given in ("normalized", nfd, nfc), ("shorter", label, label[:-1]), ("longer", label[:-1], label):
        refuse(name, "the label differs from that of the file", make([own_slot()], label=used), given)


def add_damaged_segments(kit, suite):
    head = sf.header(FILE_KEY, [own_slot()], suite)

    def add(name, comment, data, released):
        kit.add(f"segment_{name}_suite_{suite:02}", comment, head + data, released, DAMAGED, **BY_KEY)

    def message(size, salt):
        return sf.message(FILE_KEY, head[:17], PATTERN[:size], salt, suite)

    def split(data):
        """Salt and commitment, and the segments."""
        return data[:56], *(data[at : at + SEALED] for at in range(56, len(data), SEALED))

    one, two = message(100, bytes(24)), message(SEGMENT + 100, bytes(range(24)))
    three, exact = message(2 * SEGMENT + 100, bytes(24)), message(2 * SEGMENT, bytes(24))  # the last of exact is empty
    (start, a, b), (salt, first, second, last), end = split(two), split(three), exact[-16:]
    assert start + a + b == two

    add("first_changed", "a bit of the first segment was changed", start + flipped(a, 0) + b, 0)
    add("first_tag_changed", "a bit of the first tag was changed", start + flipped(a, SEALED - 1) + b, 0)
    add("middle_changed", "a bit of the second segment was changed", salt + first + flipped(second, 5000) + last, SEGMENT)
    add("last_changed", "a bit of the last segment was changed", start + a + flipped(b, 0), SEGMENT)
    add("last_tag_changed", "a bit of the last tag was changed", flipped(two, len(two) - 1), SEGMENT)
    add("only_changed", "a bit of the only segment was changed", flipped(one, 56), 0)
    add("only_tag_changed", "a bit of the only tag was changed", flipped(one, len(one) - 1), 0)
    add("empty_changed", "a bit of the tag of an empty segment was changed", flipped(message(0, bytes(24)), 71), 0)
    add("cut_to_15", "only 15 bytes of the first segment are left", one[:71], 0)
    add("cut_in_first", "the file ends in the first segment", two[: 56 + 5000], 0)
    add("cut_after_first", "the last segment is missing", start + a, SEGMENT)
    add("cut_empty_last", "the last segment, which is empty, is missing", exact[:-16], 2 * SEGMENT)
    add("cut_to_15_in_last", "15 bytes of the last segment are left", start + a + b[:15], SEGMENT)
    add("cut_in_last_tag", "the last byte is missing", two[:-1], SEGMENT)
    add("appended_1", "a byte was appended", two + b"\0", SEGMENT)
    add("appended_16", "16 bytes were appended", two + bytes(16), SEGMENT)
    add("appended_to_full", "the last segment was extended to the size of a full one", two + bytes(SEALED - len(b)), SEGMENT)
    add("appended_segment", "the last segment is repeated", two + b, SEGMENT)
    add("appended_itself", "the file is repeated", one + head + one, 0)
    add("appended_next", "an empty segment with a right tag follows the last one", three + exact[-16:], 2 * SEGMENT)
    add("exchanged", "the first two segments were exchanged", salt + second + first + last, 0)
    add("first_missing", "the first segment is missing", salt + second + last, 0)
    add("middle_missing", "the second segment is missing", salt + first + last, SEGMENT)
    add("repeated", "the first segment is repeated", salt + first + first + second + last, SEGMENT)
    add("last_only", "only the last segment is left", salt + last, 0)
    add("empty_moved", "an empty last segment follows the wrong segment", salt + first + end, SEGMENT)
    add("other_message", "the first segment is that of another message with this file key", salt + a + second + last, 0)
    add("other_last", "the last segment is that of another message with this file key", start + a + last, SEGMENT)
    add("tags_exchanged", "the first two tags were exchanged",
        salt + first[:-16] + second[-16:] + second[:-16] + first[-16:] + last, 0)


def add_without_associated_data(kit):
    head = sf.header(FILE_KEY, [own_slot()], 2)
    for name, plain in ("empty", b""), ("short", SMALL):
        salt = os.urandom(24)
        aead, nonce_of, _, commitment = sf.suite_of(2, FILE_KEY, head[:17], salt)
        kit.add(f"mgm_without_aad_{name}", "the segment was sealed without the associated data of suite 02",
                head + salt + commitment + aead.encrypt(nonce_of(0), plain, b""), 0, DAMAGED, **BY_KEY)


def add_armor(kit):
    text = armor.armor(make([own_slot()], PATTERN[:98]))  # needs padding
    begin, *lines, end = text.splitlines()
    for name, comment, data in (
        ("lf", "the last line ends with a newline", text),
        ("no_eol", "the last line does not end with a newline", text[:-1]),
        ("crlf", "lines end with a carriage return and a newline", text.replace(b"\n", b"\r\n")),
        ("white_space", "white space before and after the armor", b" \t\r\n\n" + text + b"\n \n"),
    ):
        kit.add(f"armor_{name}", comment, data, 98, **BY_KEY)

    def refuse(name, comment, *changed):
        kit.add(f"armor_{name}", comment, b"".join(line + b"\n" for line in changed), 98, DAMAGED, **BY_KEY)

    last, to_url_alphabet = lines[-1].rstrip(b"="), bytes.maketrans(b"+/", b"-_")
    refuse("text_before", "text before the armor", b"text", begin, *lines, end)
    refuse("text_after", "text after the armor", begin, *lines, end, b"text")
    refuse("twice", "the armor is repeated", begin, *lines, end, begin, *lines, end)
    refuse("no_end", "the last line is missing", begin, *lines)
    refuse("other_end", "the last line is that of age's armor", begin, *lines, end.replace(b"GPUAES-STREAM", b"AGE"))
    refuse("field", "a header field", begin, b"Comment: text", b"", *lines, end)
    refuse("empty_line", "an empty line within the armor", begin, lines[0], b"", *lines[1:], end)
    refuse("space", "a space at the end of a line", begin, lines[0] + b" ", *lines[1:], end)
    refuse("short_line", "a short line before the last", begin, lines[0][:60], lines[0][60:] + lines[1][:60], lines[1][60:],
           *lines[2:], end)
    refuse("long_line", "a line of 68 characters", begin, lines[0] + lines[1][:4], lines[1][4:], *lines[2:], end)
    refuse("no_padding", "the padding is missing", begin, *lines[:-1], last, end)
    refuse("padding_bits", "padding bits that are not zero", begin, *lines[:-1], last[:-1] + bytes([last[-1] + 1]) + b"==",
           end)
    refuse("url_alphabet", "the URL-safe alphabet", begin, *(line.translate(to_url_alphabet) for line in lines), end)
    refuse("cut", "the last line of Base64 is missing", begin, *lines[:-1], end)
