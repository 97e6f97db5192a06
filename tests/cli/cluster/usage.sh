#!/usr/bin/env bash
# gpuaes-cluster checks its options, and prints its help and its version.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
cluster=$bin/gpuaes-cluster
touch plain
refused() { # ERROR HINT OPTION...
  expect_cluster "$status" "${@:3}"
  expect_error "$1" "$2"
}
files=(-k "$key" -i plain -o sealed -n 2)
status=2
refused "no engine was given" "choose slurm, parallel or mpi with --engine" "${files[@]}"
refused "unknown engine 'dask'" "the engines are slurm, parallel, mpi" --engine dask "${files[@]}"
refused "unrecognized option '--frob'" "run with --help for a list of options" --frob
refused "option requires an argument -- 'n'" "run with --help for a list of options" -n
refused "unexpected argument 'plain'" "options of the engine follow --" "${files[@]}" plain
for option in -i -o -n; do
  case $option in
    -i) given=(-o sealed -n 2) ;;
    -o) given=(-i plain -n 2) ;;
    -n) given=(-i plain -o sealed) ;;
  esac
  refused "-i, -o and -n are required" "" --engine mpi -k "$key" "${given[@]}"
done
for count in 0 x 1.5 -1 01 1048577 99999999999999999999; do
  refused "-n: '$count' is not a number from 1 to 1048576" "" --engine mpi "${files[@]}" -n "$count"
done
refused "-i and -o are the same file" "" --engine mpi "${files[@]}" -o ./plain

status=1
refused "-i: $PWD/missing is not a regular file or block device" "" --engine mpi "${files[@]}" -i missing
refused "-o: $PWD/. is not a file that can be written" "" --engine mpi "${files[@]}" -o .
mkdir "$work/tools"
for tool in bash env sed readlink realpath getopt; do ln -s "$(command -v "$tool")" "$work/tools/$tool"; done
refused_without() { # PROGRAM
  local got=0
  PATH=$work/tools "$bin/gpuaes-cluster" --engine mpi "${files[@]}" 2>"$work/stderr" || got=$?
  [ "$got" = 1 ] || fail "without $1: expected exit status 1, got $got"
  expect_error "$1 was not found" "install it, or add its folder to PATH"
}
refused_without mpirun
ln -s "$(type -P true)" "$work/tools/mpirun"
mv "$bin/gpuaes-parts" "$work/parts"
refused_without gpuaes-parts
mv "$work/parts" "$bin/gpuaes-parts"
PATH=$PATH:$work/tools refused "cannot create the directory $PWD/missing/sealed.parts" "" --engine mpi "${files[@]}" -o missing/sealed

"$cluster" --help >help
grep -q '^ *gpuaes-cluster --engine ENGINE ' help || fail "expected help, got $(<help)"
"$cluster" -V >version
[ "$(<version)" = "$("$bin/gpuaes-parts" -V | sed '1s/parts/cluster/')" ] || fail "expected the version, got $(<version)"
