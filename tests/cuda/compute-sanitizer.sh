#!/usr/bin/env bash
# Usage: compute-sanitizer.sh [BUILD]. Seals and opens a file on the first GPU, with every cipher family, under NVIDIA's
# compute-sanitizer, with the programs in the folder BUILD (default build). Exits with 99 if it finds an error.
set -euo pipefail

build=${1:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/gpuaes-keygen" -o "$folder/key"
"$build/gpuaes-keygen" --x25519 -o "$folder/identity"
head -c 20000003 /dev/urandom >"$folder/plain"
for kind in aes-256 kuznyechik age; do
  seal=(-c "$kind" -k "$folder/key") open=(-k "$folder/key")
  [[ $kind != age ]] || seal=(-R "$folder/identity.pub") open=(-k "$folder/identity")
  for tool in memcheck racecheck initcheck; do
    printf '%s, %s\n' "$kind" "$tool"
    filter=(compute-sanitizer --tool "$tool" --error-exitcode 99 "$build/gpuaes-stream" -q -l cuda:0:3 -b 1M)
    "${filter[@]}" "${seal[@]}" -i "$folder/plain" -o "$folder/sealed"
    "${filter[@]}" -d "${open[@]}" -i "$folder/sealed" -o "$folder/opened"
    cmp "$folder/plain" "$folder/opened"
  done
done
