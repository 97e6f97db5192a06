#!/usr/bin/env bash
# fish completes options, their arguments, files and commands, and shows what each option does.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/completion_cases.sh"
need fish

make_scripts fish "$work/fish/" .fish
for script in "$work"/fish/*; do fish --no-execute "$script"; done

# Prints WORD, a tab and its description.
ask_with_descriptions() {
  # shellcheck disable=SC2016 # for fish
  HOME=$work FISH_SCRIPTS=$work/fish fish -c 'set -p fish_complete_path $FISH_SCRIPTS; complete -C $argv[1]' "$1"
}
ask() {
  local word
  ask_with_descriptions "$1" | cut -f 1 | while read -r word; do plain_word "$word"; done
}

check_all_cases
completes 'gpuaes-stream -d -- gpuaes-keygen --x' --x25519
for line in $'gpuaes-stream --decr\t--decrypt\tDecrypt' $'gpuaes-bench cop\tcopy\tCopy standard input to standard output,' \
  $'gpuaes-stream --recip\t--recipient\tEncrypt for RECIPIENT;'; do
  shown=$(ask_with_descriptions "${line%%$'\t'*}")
  [[ $shown == "${line#*$'\t'}"* ]] || fail "expected the completion ${line#*$'\t'}, got: $shown"
done
