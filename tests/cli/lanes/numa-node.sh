#!/usr/bin/env bash
# On a host with several NUMA nodes, the thread of a CUDA lane runs on the CPUs of its device's node while it works.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

has_cuda || skip "no CUDA device is here"
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then skip "needs root and mount namespaces"; fi
all=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
last=${all##*[-,]}
[ "$all" != "$last" ] || skip "needs two CPUs"

# Two nodes with memory. All devices are on node 0, which has only the last CPU.
mkdir -p "$work/node/node0" "$work/node/node1"
echo 0-1 >"$work/node/has_memory"
echo "$last" >"$work/node/node0/cpulist"
echo "$all" >"$work/node/node1/cpulist"
echo 0 >"$work/numa_node"
# shellcheck disable=SC2016 # expanded by the inner shell
on_two_nodes=(unshare -m bash -ec 'mount --bind "$1/node" /sys/devices/system/node
for file in /sys/bus/pci/devices/*/numa_node; do mount --bind "$1/numa_node" "$file"; done
exec "${@:2}"' bash "$work")
"${on_two_nodes[@]}" true || skip "cannot replace files in /sys"

make_input 100000 plain
reference <plain >expected
mkfifo pipe
"${on_two_nodes[@]}" "$program" -f raw --iv "$iv" -q -k "$key" -l cuda:0:2 <pipe >out &
pid=$!
exec 3>pipe
for ((tries = 0; tries < 100; ++tries)); do
  bound=$(sed -n 's/^Cpus_allowed_list:\t//p' "/proc/$pid/status")
  if [ "$bound" = "$last" ]; then break; fi
  sleep 0.1
done
[ "$bound" = "$last" ] || fail "expected a thread on CPU $last, got CPUs $bound"
cat plain >&3
exec 3>&-
wait "$pid" || fail "expected exit status 0, got $?"
same expected out
