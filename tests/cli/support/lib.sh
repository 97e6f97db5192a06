# shellcheck shell=bash
# Functions for the few tests of the command line that are shell scripts. Such a test begins with
#
#     . "$(dirname "$0")/../support/lib.sh"
#
# and is run as `NAME.sh PROGRAM`. It exits with 0 if it passed, with 77 if it cannot run on this system (and prints
# why), and with another status, after a line "FAIL: ...", if it failed.
#
# The current directory is new and empty. The key and captured output are in its parent, $work.
set -Eeuo pipefail
trap 'echo "FAIL: line $LINENO of $0: $BASH_COMMAND" >&2' ERR

[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath -- "$1")
[ -x "$program" ] || { echo "FAIL: $1 is not a program" >&2; exit 1; }
# shellcheck disable=SC2034 # for the tests
parts=$(dirname "$program")/gpuaes-parts
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the tests
top=$(cd "$here/../../.." && pwd)

work=$(mktemp -d)
mkdir "$work/here"
cd "$work/here"

undo=()  # commands to run at exit, in reverse order
at_exit() { undo+=("$1"); }
leave() {
  local status=$? i
  trap - ERR
  set +e
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
need() {
  local tool
  for tool; do command -v "$tool" >/dev/null || skip "$tool is not installed"; done
}
need perl

sanitized() { [ -n "${GPUAES_SANITIZED:-}" ]; }

key=$work/key
(umask 077 && perl -e 'print map chr, 0 .. 31' >"$key")

# gsealed [OPTION]...: runs the program with key.
gsealed() { "$program" -q -k "$key" "$@"; }

# make_input SIZE FILE: byte i is i mod 251, so all blocks differ.
make_input() {
  perl -e '$n = shift; $s = join "", map chr, 0 .. 250; print substr $s x (int($n / 251) + 1), 0, $n' "$1" >"$2"
}
