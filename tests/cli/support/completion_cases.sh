# shellcheck shell=bash disable=SC2154 # sourced after lib.sh, by the tests in completions/
# What bash, zsh and fish complete in the same way. A test defines
#
#     ask LINE: prints what the shell completes the last word of LINE to, one per line
#
# and then calls check_all_cases.

# make_scripts SHELL BEFORE AFTER: prints the completions of each program into the file BEFORE, its name, AFTER.
make_scripts() {
  local file
  mkdir -p "$(dirname "$2x")"
  for file in "$program" "$keygen" "$parts" "$bench"; do
    "$file" --completions "$1" >"$2$(basename "$file")$3"
  done
}

# words_of_answer LINE: reads LINE with all completions of its last word inserted, and prints them as ask does.
words_of_answer() {
  local answer word last=${1##*[ =<]} list
  read -r answer || fail "$1: the shell did not answer"
  answer=${answer#"${1%"$last"}"}
  [ "$answer" != "$last" ] || return 0
  read -r -a list <<<"$answer"
  for word in "${list[@]}"; do plain_word "$word"; done
}
# plain_word WORD: prints it without the option that it belongs to, or the = that follows an option.
plain_word() {
  case $1 in
    --*=?*) printf '%s\n' "${1#*=}" ;;
    --*=) printf '%s\n' "${1%=}" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# completes LINE [WORD]...: the shell completes the last word of LINE to exactly these words.
completes() {
  local line=$1 want got
  shift
  want=$(printf '%s\n' "$@" | sort)
  got=$(ask "$line" | sort)
  [ "$got" = "$want" ] || fail "$line: expected the completions ${want//$'\n'/ }; got: ${got//$'\n'/ }"
}

# long_options COMMAND...: those that its --help lists.
long_options() { "$@" --help | grep -oE '^  (    |-., )--[a-z0-9-]+' | sed 's/.*--/--/'; }

check_stream() {
  local file_option
  # shellcheck disable=SC2046 # words
  completes 'gpuaes-stream --' $(long_options "$program")
  completes 'gpuaes-stream -d --ke' --kernel --key
  completes 'gpuaes-stream -c ' aes-128 aes-192 aes-256 kuznyechik
  completes 'gpuaes-stream --cipher=aes' aes-128 aes-192 aes-256
  completes 'gpuaes-stream -f ' cobblestone openssl raw sealed
  completes 'gpuaes-stream -l ' auto auto:low-cpu cpu cuda reference
  completes 'gpuaes-stream -l auto:' auto:low-cpu
  completes 'gpuaes-stream --lanes=auto:l' auto:low-cpu
  completes 'gpuaes-stream --kernel ' bitslice ttable
  completes 'gpuaes-stream --completions ' bash fish zsh
  for file_option in '-k ' '-dk ' --key= '-i ' '-o ' '--stats ' '-p ' '<'; do
    completes "gpuaes-stream $file_option""ke" key1 key2
  done
  completes 'gpuaes-stream -r ke'
  completes 'gpuaes-stream -r @ke' @key1 @key2
  completes 'gpuaes-stream --recipient=@ke' @key1 @key2
  completes 'gpuaes-stream --label ke'
  completes 'gpuaes-stream --label=ke'
  completes 'gpuaes-stream -d -- gpuaes-keyg' gpuaes-keygen
}

check_keygen() {
  # shellcheck disable=SC2046 # words
  completes 'gpuaes-keygen --' $(long_options "$keygen")
  completes 'gpuaes-keygen -o ke' key1 key2
  completes 'gpuaes-keygen --recipient=ke' key1 key2
  completes 'gpuaes-keygen --completions z' zsh
  completes 'gpuaes-keygen ke'
}

check_parts() {
  local command
  for command in plan seal status join; do
    completes "gpuaes-parts ${command%?}" "$command"
    # shellcheck disable=SC2046 # words
    completes "gpuaes-parts $command --" $(long_options "$parts" "$command")
  done
  completes 'gpuaes-parts --' --completions --help --version
  completes 'gpuaes-parts plan -c k' kuznyechik
  completes 'gpuaes-parts plan -r @ke' @key1 @key2
  completes 'gpuaes-parts plan ke'
  completes 'gpuaes-parts seal ke' key1 key2
  completes 'gpuaes-parts seal -i ke' key1 key2
  completes 'gpuaes-parts seal --part ke'
  completes 'gpuaes-parts seal -l c' cpu cuda
  completes 'gpuaes-parts join dir --receipts ke' key1 key2
}

check_bench() {
  local command
  while read -r command; do
    completes "gpuaes-bench ${command%?}" "$command"
    # shellcheck disable=SC2046 # words
    completes "gpuaes-bench $command --" $(long_options "$bench" "$command")
  done < <("$bench" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
  completes 'gpuaes-bench --' --completions --help
  completes 'gpuaes-bench --completions ' bash fish zsh
  completes 'gpuaes-bench pipeline -l c' cpu cuda
  completes 'gpuaes-bench pipeline --source=' file pipe
  completes 'gpuaes-bench memory --ciphers k' kuznyechik
  completes 'gpuaes-bench kernels --modes e' ecb-decrypt ecb-encrypt
  completes 'gpuaes-bench read 2 <ke' key1 key2
  completes 'gpuaes-bench copy ke'
}

check_all_cases() {
  : >key1
  : >key2
  PATH=$(dirname "$program"):$PATH
  check_stream
  check_keygen
  check_parts
  check_bench
}
