#!/usr/bin/env bash
# Memory use does not depend on the length of the input.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
if sanitized; then skip "sanitizers use additional memory"; fi

from_file() { gs -l cpu:2 --stats stats -i sparse -o /dev/null; }
# shellcheck disable=SC2002 # the input must be a pipe
from_pipe() { cat sparse | gs -l cpu:2 --stats stats | cat >/dev/null; }
peak() { # SIZE WAY
  truncate -s "$1" sparse
  expect_exit 0 "$2"
  perl -0ne 'print $1 if /"peak_rss_bytes"\s*:\s*(\d+)/' stats
}
for way in from_file from_pipe; do
  small=$(peak 1M "$way")
  large=$(peak 512M "$way")
  # A small input does not fill the ring, which may account for 64 MiB; the default ring has at most 96 MiB.
  [ "$large" -le $((small + (64 << 20))) ] ||
    fail "$way: expected a peak of about $small bytes for 512 MiB, as for 1 MiB, got $large"
  [ "$large" -le $((160 << 20)) ] || fail "$way: expected a peak of less than 160 MiB, got $large bytes"
done
