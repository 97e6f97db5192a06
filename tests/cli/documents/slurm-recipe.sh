#!/usr/bin/env bash
# The recipe for Slurm in gpuaes-recipes(7) runs as printed. After a task has failed, the same lines seal the rest.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=../support/slurm.sh
. "$here/slurm.sh"
need mandoc

# Fails in the task of part 7, until the file `repaired` exists.
mkdir programs
cat >programs/gpuaes-parts <<END
#!/bin/sh
case "\$*" in
  *"--part 7") [ -e '$work/repaired' ] || exit 1 ;;
esac
exec '$parts' "\$@"
END
chmod +x programs/gpuaes-parts
PATH=$PWD/programs:$(dirname "$program"):$PATH
start_slurm

mandoc -T ascii -O width=100 "$top/man/gpuaes-recipes.7" | sed 's/.\x08//g' |
  awk '/^   [^ ]/ { wanted = /with Slurm/ } wanted && /^ +\$ / { sub(/^ +\$ /, ""); command = 1 } !NF { command = 0 } wanted && command' >recipe
[ "$(grep -c sbatch recipe)" = 2 ] || fail "expected a recipe with two jobs, got: $(<recipe)"

make_input 3000000 disk.img
cp "$key" backup.key
bash -euo pipefail recipe >"$work/stdout"
[ "$(head -n 1 "$work/stdout")" = 64 ] || fail "expected the number of parts, got $(<"$work/stdout")"
wait_for "the jobs to end" no_slurm_jobs
[ "$(gpuaes-parts status --missing disk.sealed || true)" = 7 ] ||
  fail "expected only part 7 to be missing, got: $(gpuaes-parts status disk.sealed)"

# All lines except that with plan.
touch "$work/repaired"
sed 1d recipe | bash -euo pipefail >"$work/stdout"
wait_for "the jobs to end" no_slurm_jobs
gsealed -d disk.sealed | cmp - disk.img
