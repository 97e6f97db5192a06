#!/usr/bin/env bash
# zsh completes options, their arguments, files and commands.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
. "$here/completion_cases.sh"
need zsh
zsh -fc 'zmodload zsh/zpty' 2>/dev/null || skip "zsh has no pseudo-terminals"

make_scripts zsh "$work/zsh/_" ''
for script in "$work"/zsh/*; do zsh -n "$script"; done

# ^Xa inserts all completions; ^Xs saves the line and exits.
cat >"$work/.zshrc" <<'ZSH'
PS1=
fpath=($ZDOTDIR/zsh $fpath)
autoload -U compinit
compinit -u -d $ZDOTDIR/dump
zle -C all-matches complete-word _generic
bindkey '^Xa' all-matches
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
save() { print -r -- "$BUFFER" >$ZDOTDIR/answer; exit }
zle -N save
bindkey '^Xs' save
ZSH
ask() {
  rm -f "$work/answer"
  # shellcheck disable=SC2016 # for zsh
  HOME=$work ZDOTDIR=$work TERM=dumb zsh -fc \
    'zmodload zsh/zpty; zpty asked zsh -d -i; zpty -wn asked "$1"$'"'\x18a\x18s'"'; zpty -r asked >/dev/null' zsh "$1"
  words_of_answer "$1" <"$work/answer"
}

check_all_cases
completes 'gpuaes-stream -d -- gpuaes-keygen --x' --x25519
