#!/usr/bin/env bash
# Usage: contents.sh PROGRAM. cpack makes packages with the right files, access, dependencies and control fields, and the
# packed programs run.
set -Eeuo pipefail
trap 'echo "FAIL: line $LINENO: $BASH_COMMAND" >&2' ERR
fail() { echo "FAIL: $*" >&2; exit 1; }
skip() { echo "skipped: $*"; exit 77; }

[ -z "${GPUAES_SANITIZED:-}" ] || skip "programs with sanitizers are not packaged"
for tool in cpack readelf dpkg-deb dpkg-shlibdeps mandoc; do
  command -v "$tool" >/dev/null || skip "$tool is not installed"
done
build=$(dirname "$(realpath "$1")")
top=$(realpath "$(dirname "$0")/../../..")
[ -w "$build" ] || skip "cannot write to $build, where cpack writes a list of files"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
umask 022

# With this generator, cpack does not build the project again.
(umask 077 && cpack --config "$build/CPackConfig.cmake" -D CPACK_CMAKE_GENERATOR=Ninja -B . >log 2>&1) ||
  fail "expected cpack to succeed, got: $(<log)"
mkdir tar deb
tar -C tar -xpf gpuaes-stream-*-Linux-*.tar.gz --strip-components=1
dpkg-deb --raw-extract gpuaes-stream_*.deb deb

# expect_tree DIRECTORY FILE...: the directory contains exactly these files, accessible as files of packages are, and one
# link.
expect_tree() {
  local odd
  (cd "$1" && find . ! -type d | cut -c 3- | sort) >got
  printf '%s\n' "${@:2}" | sort >want
  diff want got >difference || fail "$1: expected other files: $(<difference)"
  odd=$(find "$1" ! -type l ! -perm 644 ! -perm 755 -o -type d ! -perm 755 -o -path '*/bin/*' ! -perm 755)
  [ -z "$odd" ] || fail "expected mode 755 for directories and programs, 644 for other files: $odd"
  [ "$(find "$1" -type l -printf '%f %l')" = "open-sealed.py sealedfile.py" ] || fail "$1: expected one link"
}

doc=share/doc/gpuaes-stream
files=(bin/gpuaes-{stream,keygen,parts,bench} bin/gpuage{,-keygen} share/gpuaes-stream/{magic,{sealedfile,sealedfs,objectparts,open-sealed}.py} "$doc"/{README,SECURITY}.md)
for page in "$top"/man/*.[1-9]; do
  files+=("share/man/man${page##*.}/$(basename "$page").gz" "$doc/html/$(basename "$page").html")
done
for name in gpuaes-{stream,keygen,parts,bench}; do
  files+=("share/bash-completion/completions/$name" "share/fish/vendor_completions.d/$name.fish")
done
expect_tree tar "${files[@]}" share/zsh/site-functions/_gpuaes-{stream,keygen,parts,bench} $doc/{copyright,LICENSE,CHANGELOG.md}
expect_tree deb "${files[@]/#/usr/}" usr/share/zsh/vendor-completions/_gpuaes-{stream,keygen,parts,bench} \
  usr/$doc/{copyright,changelog.gz,changelog.Debian.gz} DEBIAN/{control,md5sums}

for page in "$top"/man/*.[1-9]; do
  gzip -dc "tar/share/man/man${page##*.}/$(basename "$page").gz" | cmp - "$page" || fail "expected $page, compressed"
done
gzip -dc deb/usr/$doc/changelog.gz | cmp - "$build/documents/CHANGELOG.md" || fail "expected the changelog, compressed"
(cd deb && md5sum --quiet -c DEBIAN/md5sums) || fail "expected the checksums of the packed files"

for name in gpuaes-{stream,keygen,parts,bench} gpuage{,-keygen}; do
  cmp "tar/bin/$name" "deb/usr/bin/$name" || fail "expected the same $name in both packages"
  readelf --wide --dynamic --sections "tar/bin/$name" >elf
  if grep -E 'RPATH|RUNPATH|\.symtab|NEEDED.*cuda' elf; then
    fail "$name: expected no run path, no symbols and no dependency on CUDA"
  fi
done

# expect_field NAME REGEX: about a field of the .deb.
expect_field() {
  local value
  value=$(dpkg-deb --field gpuaes-stream_*.deb "$1")
  [[ $value =~ ^$2$ ]] || fail "$1: expected a match of '$2', got '$value'"
}
expect_field Package gpuaes-stream
expect_field Version '[0-9]+\.[0-9]+\.[0-9]+-[0-9]+'
expect_field Architecture "$(dpkg --print-architecture)"
expect_field Section utils
expect_field Maintainer '[^<>]+ <[^<>@]+@[^<>@]+>'
expect_field Installed-Size '[0-9]+'
expect_field Description '[^.]+[^.]'$'\n''.*'
expect_field Depends '.*libssl3.*'
if dpkg-deb --field gpuaes-stream_*.deb Depends | grep -Ei 'cuda|nvidia'; then fail "expected no dependency on a driver"; fi

tar/bin/gpuaes-keygen -o new.key
tar -c tar/share | tar/bin/gpuaes-stream -k new.key >sealed
mkdir opened
tar/bin/gpuaes-stream -d -k new.key <sealed | tar -C opened -x
diff -r tar/share opened/tar/share || fail "expected the packed programs to encrypt and decrypt"
tar/bin/gpuaes-bench -h >help || fail "expected the packed gpuaes-bench to run"
