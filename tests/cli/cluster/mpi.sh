#!/usr/bin/env bash
# gpuaes-cluster seals and opens a file with MPI, whose ranks take parts in turn.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
need mpirun
export OMPI_MCA_plm_rsh_agent=sh # no other host is used
cluster=(--engine mpi -k "$key" -n 6)
mpi=(-- --allow-run-as-root --oversubscribe -np 4)

make_input 300000 plain
expect_cluster 0 "${cluster[@]}" -i plain -o sealed "${mpi[@]}"
expect_opens sealed plain
expect_cluster 0 "${cluster[@]}" -d -i sealed -o opened "${mpi[@]}"
same plain opened
odd=$'it\'s "odd" {} %a\n$HOME'
expect_cluster 0 "${cluster[@]}" -d -i sealed -o "$odd" "${mpi[@]}"
same plain "$odd"
rm "$odd" opened

# A task that is killed does not end the other tasks of its rank.
# shellcheck disable=SC2016 # for the programs
before_part 1 'kill -9 $$'
expect_cluster 1 "${cluster[@]}" -d -i sealed -o opened "${mpi[@]}"
expect_error "part 1/6: its task was killed by signal 9" \
  "$PWD/opened.parts keeps 5 of 6 parts; run the same command again to continue"
expect_files plain sealed opened.parts
before_no_part
expect_cluster 0 "${cluster[@]}" -d -i sealed -o opened "${mpi[@]}"
same plain opened
rm opened

# If a rank is killed, mpirun ends the others; what they finished remains.
# shellcheck disable=SC2016
before_part 1 'until [ -e 2.part ]; do sleep 0.05; done; kill -9 $PPID'
expect_cluster 1 "${cluster[@]}" -i plain -o again "${mpi[@]}"
expect_stderr '^gpuaes-cluster: error: part [0-5]/6: '
expect_stderr 'again.parts keeps [1-5] of 6 parts; run the same command again to continue$'
before_no_part
expect_cluster 0 "${cluster[@]}" -i plain -o again "${mpi[@]}"
expect_opens again plain
expect_files plain sealed again

# Interrupted: no task remains.
# shellcheck disable=SC2016
before_part 1 'echo $$ >"$work/task"; while [ -e "$work" ]; do sleep 0.1; done'
"$bin/gpuaes-cluster" "${cluster[@]}" -d -i sealed -o opened "${mpi[@]}" 2>"$work/stderr" &
run=$!
wait_for "a task of part 1" test -s "$work/task"
kill "$run"
expect_killed TERM "$run" 2>/dev/null
wait_for "no task" gone "$(<"$work/task")"
before_no_part
expect_cluster 0 "${cluster[@]}" -d -i sealed -o opened "${mpi[@]}"
same plain opened
