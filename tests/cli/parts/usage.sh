#!/usr/bin/env bash
# Command lines of gpuaes-parts that are refused.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/parts.sh"

make_input 1000 plain
plan job
refused() { # error, hint, ARGUMENT...
  local error=$1 hint=$2
  shift 2
  expect_exit 2 "$parts" "$@"
  expect_error "$error" "$hint"
}
list='gpuaes-parts -h lists the commands'
refused 'no command was given' "$list"
refused "unknown command 'unseal'" "$list" unseal
refused "unknown option '--label'" 'run with --help for a list of options' --label x
refused 'plan requires --output' '' plan -k "$key"
refused 'plan writes a new file, and cannot write to standard output' '' plan -k "$key" -o -
refused 'seal requires --job' '' seal --part 0 -o part
refused 'seal requires --part' '' seal --job job -o part
refused 'seal requires --output' '' seal --job job --part 0
refused 'seal writes a new file, and cannot write to standard output' '' seal --job job --part 0 -o -
refused 'too many arguments' 'run with --help for a list of options' seal --job job --part 0 -o part plain
refused '--lanes and --threads cannot be used together' '' seal --job job --part 0 -o part -l cpu -T 2
refused 'join requires --job' '' join part
refused 'join requires a file' 'gpuaes-parts join -h describes its arguments' join --job job
refused '--ends and --output cannot be used together' '' join --job job --ends x -o y part
refused '--receipts requires --ends' '' join --job job --receipts receipt
refused 'list requires --ends' '' list --job job
refused '--job and --key cannot be used together' '' list --job job -k "$key" --ends x
refused '--job and --label cannot be used together' '' open --job job --label x --ends x --part 0 part
refused 'open requires --part' '' open --job job --ends x part
refused 'open requires --part I, not I/N' 'parts are numbered from 0' open --job job --ends x --part 0/2 part
refused 'too many arguments' 'run with --help for a list of options' open --job job --ends x --part 0 one two

part_hint='use I/N, for example 0/4, with I less than N, and N at most 1048576'
for text in '' x 1/1 2/1 0/0 0/1048577 1048576 -1 1/ /1 1/2/3 0x1 '1 '; do
  expect_exit 2 "$parts" seal --job job -o part "--part=$text"
  [ -z "$text" ] || expect_error "invalid part '$text'" "$part_hint"
done
for text in x 0 1048577 -1; do
  refused "invalid --count '$text'" 'use a number from 1 to 1048576' join --job job "--count=$text" part
done

# A share of an input whose size is not known.
hint='use --part I to seal all of an input as one part'
expect_exit 2 "$parts" seal --job job --part 0/2 -o part < <(cat plain)
expect_error 'part 0: standard input is not a regular file or block device, and cannot be cut into parts' "$hint"
expect_exit 2 "$parts" seal --job job --part 0/2 -o part -i /dev/null
expect_error 'part 0: /dev/null is not a regular file or block device, and cannot be cut into parts' "$hint"
expect_exit 2 "$parts" seal --job plain --part 0/2 -o part -i plain
expect_error 'part 0: --job and the input are both read from plain' 'use a different file for one of them'
expect_exit 1 "$parts" seal --job job --part 0/2 -i plain -o missing/part
expect_files job plain

# A share of standard input counts from the current position.
{
  head -c 100 >/dev/null
  "$parts" seal --job job --part 0/1 -o part
} < <(cat plain) 2>/dev/null && fail "expected a usage error"
{ dd bs=100 count=1 status=none >/dev/null; "$parts" seal --job job --part 0/1 -o part; } <plain
"$parts" join --job job part | gsealed -d | cmp - <(tail -c +101 plain) || fail "expected the rest of the input"
