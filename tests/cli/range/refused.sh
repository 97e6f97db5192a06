#!/usr/bin/env bash
# --range writes nothing unless the input is complete and contains the range. Combining it with an unsuitable option is
# a usage error.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need_cryptography

python <<'PYTHON'
from sealed_harness import *

plain = make_input(3 * SEGMENT + 1000)
for options, data, start in (([], sf.seal(plain, [KEY]), HEADER), (["-f", "cobblestone"], sf.message(KEY, b"", plain), 56)):
    options = ["-k", key, *options]
    # Truncated anywhere, even if the whole range remains.
    cuts = [start + i * SEALED + n for i in range(4) for n in (0, 1, 15, 16, 17, 1000)] + [len(data) - 1]
    for cut in thinned(cuts, 3):
        for text in ("0:10", "0:0"):
            got = expect(4, b"", "--range", text, *options, data=data[:cut], via="file", what=f"truncated to {cut}")
        whole = (cut - start) // SEALED
        expect_message(got, rf"truncated.*\b({start + whole * SEALED}|{cut})\b.*\b0\b", f"truncated to {cut}")
    for more in (b"x", b"x" * 16, b"x" * SEALED):
        expect(4, b"", "--range", "0:10", *options, data=data + more, via="file", what="bytes appended")
    end = flip(data, len(data) - 1)
    got = expect(4, b"", "--range", "0:10", *options, data=end, via="file", what="damaged end")
    expect_message(got, rf"corrupt.*\b{start + 3 * SEALED}\b", "damaged end")
    expect(4, b"", "--range", "0:10", *options, data=data[:start - 1], via="file", what="truncated header")

    # Other damage matters only within the range: the good bytes before it are written, and counted from OFFSET.
    bad = flip(data, start + SEALED + 77)
    expect(0, plain[:SEGMENT], "--range", f"0:{SEGMENT}", *options, data=bad, via="file", what="before damage")
    expect(0, plain[2 * SEGMENT :], "--range", f"{2 * SEGMENT}:", *options, data=bad, via="file", what="after damage")
    for offset in (0, 1, 10000, SEGMENT - 1, SEGMENT, SEGMENT + 1, 2 * SEGMENT - 1):
        for chunk in ("16K", "1M"):
            got = expect(4, plain[offset:SEGMENT], "--range", f"{offset}:{SEGMENT + 1}", "-b", chunk, *options, data=bad,
                         via="file", what=f"damage from {offset}")
            good = max(SEGMENT - offset, 0)
            expect_message(got, rf"corrupt at byte {start + SEALED}; {good} bytes", f"damage from {offset}")

    size = len(plain)
    for text in (f"{size + 1}:0", f"{size + 1}:", f"{size}:1", f"0:{size + 1}", f"1:{size}", "1T:0", "16777215T:1023G",
                 "18446744073709551615:18446744073709551615", "1:18446744073709551615"):
        got = expect(2, b"", "--range", text, *options, data=data, via="file", what="beyond the end")
        expect_message(got, f"error: the range extends past the end of the plaintext, which has {size} bytes\n", text)
        offset = text.split(":")[0]
        hinted = "hint: --range OFFSET: decrypts to the end\n" in got.err.decode()
        expect_equal(offset.isdigit() and int(offset) <= size, hinted, f"{text}: the hint")

# For raw only the length is checked.
raw = ["-f", "raw", "--iv", iv, "-k", key]
for size in (0, 1, 16, 1000):
    data = reference(plain[:size])
    expect(0, plain[:size], "--range", "0:", *raw, data=data, via="file", what="raw")
    for text in (f"{size + 1}:0", f"{size}:1", f"0:{size + 1}"):
        expect(2, b"", "--range", text, *raw, data=data, via="file", what="raw, beyond the end")

secret_file("wrong", OTHER_KEY)
expect(3, b"", "--range", "0:1", "-k", "wrong", data=sf.seal(plain, [KEY]), via="file", what="wrong key")
PYTHON

make_input 100000 plain
gsealed -e -i plain -o sealed
(umask 077 && echo words >words)
"$program" -q -f openssl --passphrase-file words -i plain -o openssl
expect_exit 2 "$program" --range 0:1 -f openssl --passphrase-file words -i openssl
expect_error 'the openssl format does not support --range' 'formats that support it: sealed, cobblestone, raw'
expect_exit 2 gsealed --range 0:1 -e -i sealed
expect_exit 2 gsealed --range 0:1 --test -i sealed
expect_exit 2 "$program" --range 0:1 --info -i sealed
for range in '' : 1 1:-1 -1:1 1:2:3 :1 0x1:1 1k:1 1KK:1 1:1P ' 1:1' '1:1 ' 18446744073709551616:1 16777216T:1 1.5:1; do
  expect_exit 2 gsealed "--range=$range" -i sealed
  expect_stderr 'range|option'
done
expect_exit 2 gsealed --range 1:x -i sealed
expect_error "invalid range '1:x'" \
  'use OFFSET:LENGTH, or OFFSET: for the rest of the plaintext, in whole bytes or with K, M, G or T (powers of 1024)'
# A file whose reported size is 0 is not treated as empty.
expect_exit 2 gs -d --range 0: -i /proc/cpuinfo
expect_stderr 'range requires a seekable input'
# -o does not appear.
rm -f stdin wrong
expect_exit 2 gsealed --range 0:1M -i sealed -o out
head -c 90000 sealed >shorter
expect_exit 4 gsealed --range 0:1 -i shorter -o out
expect_files plain sealed words openssl shorter
