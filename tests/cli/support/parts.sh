# shellcheck shell=bash disable=SC2154 # sourced after lib.sh, by the tests in parts/
# Functions for tests of gpuaes-parts.

# plan NAME [OPTION]...: makes the job file NAME.
plan() { "$parts" plan -q -k "$key" -o "$@"; }

# seal_all JOB INPUT N PREFIX [OPTION]...: seals INPUT as N parts, the files PREFIX.0, PREFIX.1 and so on.
seal_all() {
  local job=$1 input=$2 n=$3 prefix=$4 i
  shift 4
  for ((i = 0; i < n; i++)); do
    "$parts" seal -q --job "$job" --part "$i/$n" -i "$input" -o "$prefix.$i" "$@" || fail "cannot seal part $i of $n"
  done
}

# seal_pipe JOB I OUT [OPTION]...: seals standard input as part I.
seal_pipe() {
  local job=$1 i=$2 out=$3
  shift 3
  cat | "$parts" seal -q --job "$job" --part "$i" -o "$out" "$@"
}

# patch FILE OFFSET HEX: overwrites bytes.
patch() { perl -e 'open F, "+<", shift; seek F, shift, 0; print F pack "H*", shift' "$@"; }

# flip FILE OFFSET: flips the lowest bit of a byte; a negative offset counts from the end.
flip() {
  perl -e 'open F, "+<", shift; my $at = shift; seek F, $at, $at < 0 ? 2 : 0; read F, my $byte, 1; seek F, -1, 1;
    print F chr(1 ^ ord $byte)' "$@"
}
