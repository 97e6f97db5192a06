#!/usr/bin/env bash
# All messages go to stderr, have the same form, begin with the program's name even if it is called by another name,
# and never show the key.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

ln -s "$program" other-name
for command in "$program" ./other-name; do
  expect_exit 2 "$command" -f raw -k "$key"
  expect_exit 1 "$command" -f raw -k missing --iv "$iv"
done

# A name with special characters does not break a message into two lines.
expect_exit 1 gs -i $'two\nlines'
[ "$(wc -l <"$work/stderr")" -le 2 ] || fail "expected an error and at most a hint, got: $(<"$work/stderr")"
expect_exit 1 gs $'stray\nargument'
expect_exit 1 gs -i $'escape \e[31m'
if grep -q $'\e' "$work/stderr"; then fail "expected no raw escape character in a message"; fi

printf '%s\n' "${key_hex[256]}" >hex
make_input 100000 plain
expect_exit 0 "$program" -v -f raw --iv "$iv" -k hex -i plain -o out --stats stats
expect_no_stderr "${key_hex[256]:0:12}|${key_hex[256]:40:12}"
if grep -Eiq "${key_hex[256]:0:12}|${key_hex[256]:40:12}" stats; then fail "expected no key in the stats"; fi
