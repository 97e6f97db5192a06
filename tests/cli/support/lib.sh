# shellcheck shell=bash
# Functions for the tests of the command line. A test is a short script that begins with
#
#     . "$(dirname "$0")/../support/lib.sh"
#
# and is run as `NAME.sh PROGRAM`. It exits with 0 if it passed, with 77 if it cannot run on this system (and prints
# why), and with another status, after a line "FAIL: ...", if it failed.
#
# The current directory is new and empty, so a test can check which files the program left. Keys and captured output are
# in its parent, $work. The reference implementation is `openssl enc`.
set -Eeuo pipefail
trap 'echo "FAIL: line $LINENO of $0: $BASH_COMMAND" >&2' ERR

[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath -- "$1")
[ -x "$program" ] || { echo "FAIL: $1 is not a program" >&2; exit 1; }
# shellcheck disable=SC2034 # for the tests
keygen=$(dirname "$program")/gpuaes-keygen parts=$(dirname "$program")/gpuaes-parts bench=$(dirname "$program")/gpuaes-bench
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the tests
top=$(cd "$here/../../.." && pwd)

work=$(mktemp -d)
mkdir "$work/here"
cd "$work/here"

skipped_parts=0
undo=()  # commands to run at exit, in reverse order
at_exit() { undo+=("$1"); }
leave() {
  local status=$? i
  trap - ERR
  set +e
  if [ "$status" = 0 ] && [ "$skipped_parts" != 0 ]; then status=77; fi
  for ((i = ${#undo[@]} - 1; i >= 0; i--)); do eval "${undo[i]}"; done
  cd /
  rm -rf "$work"
  exit "$status"
}
trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

exec </dev/null
umask 022
export LC_ALL=C
# The exit status of a sanitizer report must not be one that the program uses.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=99"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}halt_on_error=1:exitcode=99"
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}exitcode=99"

fail() {
  echo "FAIL: $*" >&2
  exit 1
}
skip() {
  echo "skipped: $*"
  exit 77
}
# Skips a part of a test: the rest runs, but the test does not count as passed.
skip_part() {
  echo "skipped: $*"
  skipped_parts=1
}
need() {
  local tool
  for tool; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}
need openssl perl

# --- Keys, and the two implementations that must agree ---------------------------------------------------------

declare -A key_hex=(
  [128]=000102030405060708090a0b0c0d0e0f
  [192]=000102030405060708090a0b0c0d0e0f1011121314151617
  [256]=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f
)
unhex() { perl -e 'print pack "H*", shift' "$1"; }
# The program warns about key files that others can read.
for bits in 128 192 256; do (umask 077 && unhex "${key_hex[$bits]}" >"$work/key$bits"); done

# use_key BITS: makes gs, gsealed and reference use the key of that length.
use_key() {
  bits=$1
  key=$work/key$bits
}
use_key 256
iv=f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff

# gs [OPTION]...: runs the program with key and iv, in raw format.
gs() { "$program" -f raw --iv "$iv" -q -k "$key" "$@"; }
# gsealed [OPTION]...: runs the program with key, in its default format.
gsealed() { "$program" -q -k "$key" "$@"; }
# reference: does what gs does, from stdin to stdout, with openssl.
reference() { openssl enc "-aes-$bits-ctr" -K "${key_hex[$bits]}" -iv "$iv" -nosalt; }

# make_input SIZE FILE: byte i is i mod 251, so all blocks differ, and so do chunks whose size is a power of two.
make_input() {
  perl -e '$n = shift; $s = join "", map chr, 0 .. 250; print substr $s x (int($n / 251) + 1), 0, $n' "$1" >"$2"
}

# --- Expectations ------------------------------------------------------------------------------------------------

# expect_exit STATUS COMMAND...: COMMAND (or a function) exits with STATUS, and its messages are well-formed. Leaves its
# output in $work/stdout and $work/stderr, unless COMMAND redirects it.
expect_exit() {
  local want=$1 got=0
  shift
  "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "expected exit status $want, got $got: $* (stderr: $(<"$work/stderr"))"
  check_messages "$want" "$*"
}

# check_messages STATUS WHAT: checks the messages in $work/stderr.
check_messages() {
  local errors hints
  errors=$(grep -c '^gpuaes-[a-z]*: error: ' "$work/stderr" || true)
  hints=$(grep -c '^gpuaes-[a-z]*: hint: ' "$work/stderr" || true)
  [ "$hints" -le 1 ] || fail "expected at most one hint, got $hints: $2 (stderr: $(<"$work/stderr"))"
  case $1 in
    0 | 141) [ "$errors" = 0 ] || fail "expected no error message with status $1: $2 (stderr: $(<"$work/stderr"))" ;;
    [1-4])
      [ "$errors" = 1 ] || fail "expected one error message, got $errors: $2 (stderr: $(<"$work/stderr"))"
      if grep -Ev '^gpuaes-[a-z]+: (error|warning|hint): [^A-Z ].*[^. ]$' "$work/stderr" >"$work/odd"; then
        fail "expected messages like 'gpuaes-stream: error: lowercase without a period', got: $(<"$work/odd")"
      fi
      ;;
  esac
  if [ "$1" = 2 ] && [ -s "$work/stdout" ]; then fail "expected no output with a usage error: $2"; fi
}

# expect_stderr REGEX, expect_no_stderr REGEX: about the last expect_exit, ignoring case.
expect_stderr() {
  grep -Eiq -- "$1" "$work/stderr" || fail "expected stderr to match '$1', got: $(<"$work/stderr")"
}
expect_no_stderr() {
  if grep -Eiq -- "$1" "$work/stderr"; then fail "expected stderr not to match '$1', got: $(<"$work/stderr")"; fi
}

# expect_error TEXT [HINT]: the last expect_exit printed exactly this error, and this hint or none.
expect_error() {
  local error hint
  error=$(sed -n 's/^gpuaes-[a-z]*: error: //p' "$work/stderr")
  hint=$(sed -n 's/^gpuaes-[a-z]*: hint: //p' "$work/stderr")
  [ "$error" = "$1" ] || fail "expected the error '$1', got '$error'"
  [ "$hint" = "${2:-}" ] || fail "expected the hint '${2:-}', got '$hint'"
}

# same EXPECTED ACTUAL [WHAT]
same() {
  cmp -- "$1" "$2" >"$work/cmp" 2>&1 || fail "${3:-$2}: expected the bytes of $1 ($(wc -c <"$1")), $(<"$work/cmp")"
}

# expect_empty FILE [WHAT]
expect_empty() {
  [ -e "$1" ] || fail "${2:-$1}: expected an empty file, got none"
  [ ! -s "$1" ] || fail "${2:-$1}: expected nothing, got $(wc -c <"$1") bytes: $(head -c 300 "$1" | tr '\0' ' ')"
}

# expect_files NAME...: the current directory contains exactly these files.
expect_files() {
  local want got
  want=$(printf '%s\n' "$@" | sort)
  got=$(find . -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)
  [ "$got" = "$want" ] || fail "expected exactly these files: ${want//$'\n'/ }; got: ${got//$'\n'/ }"
}

# --- Environment -------------------------------------------------------------------------------------------------

sanitized() { [ -n "${GPUAES_SANITIZED:-}" ]; }

# python < SCRIPT: runs a script, which can import harness.
python3=python3
python() {
  need "$python3"
  PROGRAM=$program KEY=$key KEY_HEX=${key_hex[$bits]} IV=$iv HIDE_PROC=$hide_proc \
    PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 "$python3" - || exit "$?"
}
# Must precede a script that imports sealed_harness.
need_cryptography() {
  for python3 in python3 /usr/bin/python3; do
    if "$python3" -c 'import cryptography.hazmat.primitives.ciphers.aead' 2>/dev/null; then return; fi
  done
  skip "python3-cryptography is not installed"
}

# Makes $program, $keygen and $parts run with a libcrypto that has ML-KEM, and exports OPENSSL, the openssl command of
# the same version. Skips the test without one.
need_ml_kem() {
  local name
  mkdir "$work/ml-kem"
  for name in "$program" "$keygen" "$parts" openssl; do
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$top/tests/support/with-ml-kem" "$name" >"$work/ml-kem/${name##*/}"
  done
  chmod +x "$work"/ml-kem/*
  "$work/ml-kem/gpuaes-keygen" --post-quantum >/dev/null 2>&1 ||
    skip "no libcrypto with ML-KEM; scripts/setup unpacks one on Debian 12"
  program=$work/ml-kem/gpuaes-stream keygen=$work/ml-kem/gpuaes-keygen parts=$work/ml-kem/gpuaes-parts
  export OPENSSL=$work/ml-kem/openssl
}

# "${as_user[@]}" COMMAND...: runs the command as user 65534 if the test runs as root. need_user, which must be called
# first, gives that user access to the program and the test's files, or skips the test.
as_user=()
need_user() {
  if [ "$(id -u)" = 0 ]; then
    need setpriv
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 755 "$work" "$work/here"
    chown 65534 "$work"/key*
    "${as_user[@]}" "$program" -V >/dev/null 2>&1 || skip "only root can run $program"
  fi
}

# without_proc COMMAND...: runs the command without /proc, which is needed to name a file created with O_TMPFILE; the
# program uses a temporary name instead. can_hide_proc: whether that works here. Sanitizers need /proc.
hide_proc='mount -t tmpfs none /proc && exec "$@"'
without_proc() { unshare -m sh -c "$hide_proc" sh "$@"; }
can_hide_proc() {
  if sanitized || [ "$(id -u)" != 0 ] || ! without_proc true 2>/dev/null; then
    skip_part "without /proc: needs root, mount namespaces, and no sanitizer"
    return 1
  fi
}

# mount_or_skip DIRECTORY ARGUMENT...: creates the directory and mounts a file system there until the test ends. The
# ARGUMENTs are passed to mount, before the directory.
mount_or_skip() {
  local directory=$1
  shift
  need mount umount
  mkdir "$directory"
  mount "$@" "$directory" 2>/dev/null || skip "cannot mount a file system"
  at_exit "umount '$(realpath "$directory")'"
}

# has_acls DIRECTORY: whether its file system supports access control lists.
has_acls() { setfacl -m u:65533:r "$1" 2>/dev/null && setfacl -b "$1"; }

# in_both_file_systems FUNCTION: calls it with an empty directory, first on the file system of the temporary directory
# ($work/there), then on tmpfs.
in_both_file_systems() {
  local memory
  mkdir "$work/there"
  "$1" "$work/there"
  if memory=$(mktemp -d /dev/shm/gpuaes-XXXXXX 2>/dev/null); then
    at_exit "rm -rf '$memory'"
    "$1" "$memory"
  else
    skip_part "tmpfs: cannot write to /dev/shm"
  fi
}

# The lanes to test: one and several of each kind.
lanes_here() {
  echo cpu:1 cpu:3 reference
  if has_cuda; then echo cuda:0:1 cuda:0:3; fi
}

has_cuda() {
  local lanes
  lanes=$("$program" --list-lanes 2>/dev/null) || true
  grep -Eq '^cuda:[0-9]' <<<"$lanes"
}
