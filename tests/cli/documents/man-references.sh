#!/usr/bin/env bash
# Manual pages cite only pages, sections and files that exist, and name this project in their footer.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

cd "$top"
for page in man/*.[15]; do
  grep -qx '\.Os gpuaes-stream' "$page" || fail "$page: expected the footer '.Os gpuaes-stream'"
  while read -r _ name section _; do
    case $name in
      gpuaes-*) [ -f "man/$name.$section" ] || fail "$page: expected a page $name($section)" ;;
      dd | openssl-enc) ;;
      *) fail "$page: expected a known page, got $name($section)" ;;
    esac
  done < <(grep '^\.Xr ' "$page" || true)
  while read -r section; do
    grep -Eqx "\.S[hs] $section(\\\\&)?" "$page" || fail "$page: expected a section $section"
  done < <(sed -nE 's/^\.Sx ([^.,;)]*[^ .,;)]).*/\1/p' "$page")
  while read -r file; do
    [ -e "$file" ] || fail "$page: expected a file $file"
  done < <(grep -oE '\b[[:alnum:]/_-]+\.(md|hpp|cpp|cu)\b|\bscripts/[[:alnum:]-]+' "$page" || true)
done
