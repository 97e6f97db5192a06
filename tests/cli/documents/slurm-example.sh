#!/usr/bin/env bash
# The example for Slurm in gpuaes-parts(1) runs as printed.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/slurm.sh
. "$here/slurm.sh"
need mandoc
PATH=$(dirname "$program"):$PATH
start_slurm

mandoc -T ascii -O width=100 "$top/man/gpuaes-parts.1" | sed 's/.\x08//g' |
  awk '/^   Slurm/ { wanted = 1; next } /^   [^ ]/ { wanted = 0 } wanted' | sed -n '/^ *\$ /,$ { s/^ *\$ //; p }' >example
[ "$(grep -c sbatch example)" = 2 ] || fail "expected an example with two jobs, got: $(<example)"

make_input 3000000 disk.img
gpuaes-parts plan -q -k "$key" -o job
bash -eu example
wait_for "the jobs to end" no_slurm_jobs
gsealed -d -i disk.sealed | cmp - disk.img
