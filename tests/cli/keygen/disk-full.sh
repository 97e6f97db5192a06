#!/usr/bin/env bash
# If gpuaes-keygen cannot write a complete key file, it reports an error and removes the file.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

for kind in "" --x25519; do
  got=0
  # Messages go to a pipe, to which the limit does not apply.
  error=$(
    ulimit -f 0
    "$keygen" ${kind:+"$kind"} -o key 2>&1
  ) || got=$?
  [ "$got" = 1 ] || fail "gpuaes-keygen $kind: expected exit status 1, got $got ($error)"
  [[ $error == "gpuaes-keygen: error: cannot write key"*": File too large"* ]] ||
    fail "gpuaes-keygen $kind: expected an error that names the file, got: $error"
  [ ! -e key ] || fail "gpuaes-keygen $kind: expected no file, got $(stat -c "%s bytes" key)"
done
