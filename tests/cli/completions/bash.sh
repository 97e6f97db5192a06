#!/usr/bin/env bash
# bash completes options, their arguments, files and commands, with the package bash-completion and without it.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/completion_cases.sh"

make_scripts bash "$work/bash-completion/completions/" ''
for script in "$work"/bash-completion/completions/*; do bash -n "$script"; done

# Types LINE and M-*, which inserts all completions, then turns the line into the argument of echo.
ask() {
  printf '%s\n' "PS1=; unset HISTFILE; $setup" "$1"$'\e*\x01echo \'ANSWER \x05\'' exit |
    HOME=$work TERM=dumb INPUTRC=/dev/null bash --norc --noprofile -i 2>/dev/null |
    sed -n 's/^ANSWER //p' | words_of_answer "$1"
}

setup="for script in '$work'/bash-completion/completions/*; do . \"\$script\"; done"
check_all_cases
# By default, bash completes host names after @, which then is a word of its own.
setup+="; shopt -u hostcomplete"
completes 'gpuaes-stream --recipient=@ke' @key1 @key2

package=/usr/share/bash-completion/bash_completion
if [ -f "$package" ]; then
  setup="BASH_COMPLETION_USER_DIR='$work/bash-completion'; . $package"
  check_all_cases
  completes 'gpuaes-stream -d -- gpuaes-keygen --x' --x25519
else
  skip_part "with bash-completion: the package is not installed"
fi
