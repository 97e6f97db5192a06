#!/usr/bin/env bash
# gpuaes-cluster seals and opens a file with Slurm, and cancels its jobs when it is interrupted.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/cluster.sh
. "$here/cluster.sh"
start_slurm
cluster=(--engine slurm -k "$key" -n 4)

make_input 300000 plain
expect_cluster 0 "${cluster[@]}" -i plain -o sealed
expect_opens sealed plain

# Fewer tasks than parts; a name can contain anything.
odd=$'it\'s "odd" {} %a\\\n$HOME'
expect_cluster 0 "${cluster[@]}" -d -i sealed -o "$odd" -n 8 -- --array=1-2
same plain "$odd"
rm "$odd"
expect_files plain sealed

expect_cluster 1 "${cluster[@]}" -i plain -o again -- --partition=none
expect_error "cannot start the tasks: sbatch: error: Batch job submission failed: Invalid partition name specified"
expect_files plain sealed

# A program that is killed, and a whole task.
# shellcheck disable=SC2016 # for the programs
before_part 2 'kill -9 $$'
keeps="run the same command again to continue"
expect_cluster 1 "${cluster[@]}" -i plain -o again
expect_error "part 2/4: its task was killed by signal 9" "$PWD/again.parts keeps 3 of 4 parts; $keeps"
before_no_part
# shellcheck disable=SC2016
before_part 2 'kill -9 $PPID; sleep 5'
expect_cluster 1 "${cluster[@]}" -i plain -o again
expect_error "part 2/4: its task did not end; Slurm reports FAILED" "$PWD/again.parts keeps 3 of 4 parts; $keeps"
wait_for "no job to remain" no_slurm_jobs

# Interrupted.
before_no_part
before_part 2 "touch '$work/waits'; while [ -e '$work' ]; do sleep 0.1; done"
"$bin/gpuaes-cluster" "${cluster[@]}" -i plain -o again 2>"$work/stderr" &
run=$!
wait_for "a task of part 2" test -e "$work/waits"
kill "$run"
expect_killed TERM "$run" 2>/dev/null
expect_error "" "$PWD/again.parts keeps 3 of 4 parts; $keeps"
wait_for "all jobs to be canceled" no_slurm_jobs
before_no_part
expect_cluster 0 "${cluster[@]}" -i plain -o again
expect_opens again plain
expect_files plain sealed again
