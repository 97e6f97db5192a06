#!/usr/bin/env bash
# If Slurm loses a node and runs its task again, the first attempt may end later and changes nothing.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
start_slurm
make_input 300000 plain

# lose_node OPTION...: starts gpuaes-cluster and stops the node on which the first attempt at part 1 waits for the file
# `hold` to disappear. Sets run and first, the processes of gpuaes-cluster and the attempt, and node.
lose_node() {
  rm -rf "$work/attempt"
  touch "$work/hold"
  "$bin/gpuaes-cluster" --engine slurm -k "$key" -n 4 "$@" 2>"$work/stderr" &
  run=$!
  wait_for "an attempt at part 1" test -s "$work/attempt/first"
  read -r first node <"$work/attempt/first"
  kill -STOP "${slurm_pid[$node]}"
  scontrol update nodename="$node" state=down reason=lost
}
# shellcheck disable=SC2016 # for the programs
before_part 1 'if mkdir "$work/attempt" 2>/dev/null; then
    echo "$$ $SLURMD_NODENAME" >"$work/attempt/first"
    while [ -e "$work/hold" ]; do sleep 0.1; done
  fi'

# The first attempt ends after the second, but before the run.
touch "$work/hold3"
# shellcheck disable=SC2016
before_part 3 'while [ -e "$work/hold3" ]; do sleep 0.1; done'
lose_node -i plain -o sealed
wait_for "a second attempt" test -s sealed.parts/1.part
cp -p sealed.parts/1.part "$work/second"
rm "$work/hold"
wait_for "the first attempt to end" gone "$first"
same "$work/second" sealed.parts/1.part
kill -CONT "${slurm_pid[$node]}"
rm "$work/hold3"
expect_success "$run"
expect_opens sealed plain
scontrol update nodename="$node" state=resume
wait_for "both nodes" slurm_has_nodes

# The first attempt ends after the run, when its directory has been made again.
lose_node -d -i sealed -o opened
expect_success "$run"
same plain opened
mkdir opened.parts
rm "$work/hold"
wait_for "the first attempt to end" gone "$first"
expect_empty <(ls -A opened.parts) "the new directory"
same plain opened
expect_files plain sealed opened opened.parts
