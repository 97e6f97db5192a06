#!/usr/bin/env bash
# Usage: prose-finds.sh PROSE. scripts/prose finds a phrase in each kind of text but not in code, and reports rows of
# the allowed list that are not needed. Runs a copy in a separate tree, with a table of invented phrases.
set -u
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree" || exit 1
mkdir -p scripts/prose.d src man tests/cli/topic tests/vectors build
cp "$1" scripts/prose
printf '%s\n' '# comment' 'xyzzy plugh  magic word' 'old_\w+      new_' >scripts/prose.d/phrases.txt
: >scripts/prose.d/allowed.txt

fail() {
  echo "FAIL: $*"
  exit 1
}

# expect STATUS WHAT EXPECTED: runs the check.
expect() {
  local status=0 output
  output=$(scripts/prose) || status=$?
  [ "$status" = "$1" ] || fail "$2: expected exit status $1, got $status: $output"
  [ "$output" = "$3" ] || fail "$2: expected '$3', got '$output'"
}

# expect_found FILE LINE WHAT, the file's content on stdin.
expect_found() {
  cat >"$1"
  expect 1 "$3" "$1:$2: 'xyzzy plugh': write: magic word"
  rm "$1"
}

# expect_clean FILE WHAT, the file's content on stdin.
expect_clean() {
  cat >"$1"
  expect 0 "$2" ""
  rm "$1"
}

expect 0 'a tree without phrases' ""
expect_found src/a.cpp 2 'a comment in C++' <<<$'int a;\nint b;  // the xyzzy plugh\n'
expect_found src/a.cpp 1 'a block comment' <<<'/* xyzzy plugh */ int a;'
expect_found src/a.cpp 1 'a comment that continues on the next line' <<<$'  // the xyzzy\n  // plugh'
expect_found src/a.hpp 1 'a message' <<<'const char text[] = "an xyzzy plugh";'
expect_found src/a.cpp 1 'a string that continues on the next line' <<<$'f("xyzzy "\n  "plugh");'
expect_found src/a.cpp 1 'a raw string' <<<'auto a = R"(a "xyzzy plugh")";'
expect_found src/a.cpp 1 'text after a digit separator' <<<"int a = 1'000;  // it's an xyzzy plugh"
expect_found src/a.cpp 1 'the name of a Catch2 test' <<<'TEST_CASE("an xyzzy plugh opens") {}'
expect_found scripts/a.py 2 'a docstring' <<<$'"""A\nxyzzy plugh."""'
expect_found scripts/a 2 'a comment in Python' <<<$'#!/usr/bin/env python3\n# xyzzy plugh'
expect_found scripts/a 2 'a shell script' <<<$'#!/bin/sh\n# xyzzy plugh'
expect_found man/a.1 2 'a man page' <<<$'.Sh NAME\nxyzzy plugh'
expect_found README.md 1 'Markdown' <<<$'# An xyzzy\nplugh'
expect_found CMakeLists.txt 1 'CMake' <<<'set(a "xyzzy plugh")'
expect_clean src/a.cpp 'code in C++' <<<'int a = xyzzy plugh; f("xyzzy", "plugh");'
expect_clean scripts/a.py 'code in Python' <<<'a = xyzzy plugh'
expect_clean build/a.md 'a build folder' <<<'xyzzy plugh'
expect_clean tests/vectors/a.txt 'vectors' <<<'xyzzy plugh'

: >tests/cli/topic/xyzzy-plugh.sh
expect 1 'the name of a test script' \
  "tests/cli/topic/xyzzy-plugh.sh:1: 'xyzzy plugh': write: magic word (in the file's name)"
rm tests/cli/topic/xyzzy-plugh.sh
echo 'int old_name;' >src/a.cpp
expect 1 'a name in code' "src/a.cpp:1: 'old_name': write: new_"
rm src/a.cpp

echo 'README.md  xyzzy plugh  the name of a game' >scripts/prose.d/allowed.txt
expect_clean README.md 'an allowed phrase' <<<'an Xyzzy plugh'
echo 'xyzzy plugh' >other.md
echo 'xyzzy plugh' >README.md
expect 1 'a phrase that is allowed elsewhere' "other.md:1: 'xyzzy plugh': write: magic word"
rm README.md other.md
expect 1 'an allowed phrase that does not occur' \
  "scripts/prose.d/allowed.txt: 'xyzzy plugh' no longer occurs in README.md"
echo 'README.md  xyzzy plugh' >scripts/prose.d/allowed.txt
scripts/prose 2>errors && fail 'an allowed phrase without a reason: expected a failure'
grep -q 'allowed.txt:1: expected 3 columns' errors || fail "an allowed phrase without a reason: got $(cat errors)"
