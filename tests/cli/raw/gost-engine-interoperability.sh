#!/usr/bin/env bash
# gost-engine and the raw format with Kuznyechik produce the same output and read each other's, at lengths around every
# boundary and with all chunk sizes.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

iv=1234567890abcef0
gost() { openssl enc "$@" -engine gost -kuznyechik-ctr -K "${key_hex[256]}" -iv "$iv" -nosalt 2>"$work/engine"; }
if ! printf x | gost >"$work/one" || [ ! -s "$work/one" ]; then
  skip "openssl has no engine gost; Debian's libengine-gost-openssl provides it"
fi

kuznyechik() { "$program" -f raw -c kuznyechik --iv "$iv" -q -k "$key" "$@"; }
for size in 0 1 15 16 17 31 33 511 512 513 1023 1025 4096 16383 65537 1000003; do
  make_input "$size" plain
  gost <plain >expected
  for options in "-b 16 -l cpu:3" "-b 80 -l cpu:2" "-b 4K -l cpu:1" "-l cpu:3" "-l reference" "-l auto -i plain"; do
    [[ $options == "-b 16"* && $size -gt 70000 ]] && continue # would take too many chunks
    # shellcheck disable=SC2086 # several options
    expect_exit 0 kuznyechik $options <plain
    same expected "$work/stdout" "$size bytes, $options"
  done
  expect_exit 0 kuznyechik -d <expected
  same plain "$work/stdout" "$size bytes, decrypted"
  gost -d <expected >again
  same plain again "$size bytes, decrypted by the engine"
done

iv=ffffffffffffffff
make_input 5003 plain
gost <plain >expected
expect_exit 0 kuznyechik <plain
same expected "$work/stdout" "iv $iv"
