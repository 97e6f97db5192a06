#!/usr/bin/env bash
# The commands in gpuaes-recipes(7) run as printed, each section in a folder of its own. Services are replaced: `ssh
# server` runs a command in the folder server, aws, zfs and btrfs copy files, and pass prints a passphrase. PostgreSQL,
# par2, GNU parallel and MPI are real; their sections are skipped if they are not installed. slurm-recipe.sh runs the
# section for Slurm.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"
need mandoc tar zstd
need_cryptography

mandoc -T ascii -O width=100 "$top/man/gpuaes-recipes.7" | sed 's/.\x08//g' >page

# commands_in SECTION: the commands after "$ ", with the lines that continue them.
commands_in() {
  awk -v title="   $1" '/^   [A-Z]/ { wanted = $0 == title } wanted && /^ +\$ / { sub(/^ +\$ /, ""); command = 1 } !NF { command = 0 } wanted && command' page
}

mkdir programs
cat >programs/ssh <<'END'
#!/bin/sh
# GNU parallel relies on SHELL, which sshd sets.
case $1 in
  server) cd server && shift ;;
  *) echo "$1" >>hosts && cd / && shift && export SHELL=/bin/sh ;;
esac
[ "$1" != -- ] || shift
exec sh -c "$*"
END
cat >programs/scp <<'END'
#!/bin/sh
exec cp "$1" "${2%:}/"
END
cat >programs/aws <<'END'
#!/bin/sh
case $4 in
  -) exec cat "$(basename "$3")" ;;
  *) exec cat >"$(basename "$4")" ;;
esac
END
cat >programs/zfs <<'END'
#!/bin/sh
case $1 in
  send) exec cat disk.img ;;
  receive) exec cat >received ;;
esac
END
cp programs/zfs programs/btrfs
printf '#!/bin/sh\necho correct horse\necho another line\n' >programs/pass
chmod +x programs/*
PATH=$work/here/programs:$(dirname "$program"):$PATH

mkdir -p files/photos
echo 'a photo' >files/photos/1.jpg
make_input 100000 files/photos/2.jpg
make_input 300000 files/disk.img
"$keygen" -o files/backup.key
tar -C files -c photos | "$program" -q -k files/backup.key >files/photos.sealed
cp files/photos.sealed files/home.sealed
cp "$top/man/open-sealed.py" files

# run_section TITLE: runs its commands in a new folder, which becomes the current one.
run_section() {
  cd "$work/here"
  commands_in "$1" >commands
  [ -s commands ] || fail "expected commands in the section '$1'"
  rm -rf run
  cp -a files run
  cp -a files run/server
  cd run
  bash -euo pipefail ../commands >"$work/stdout" 2>"$work/stderr" ||
    fail "expected the commands in '$1' to succeed (stderr: $(<"$work/stderr"))"
  if grep -E '^gpuaes-stream: (error|warning|hint)' "$work/stderr"; then fail "expected no messages in '$1'"; fi
}
# opens_as KEY SEALED PLAIN
opens_as() {
  "$program" -q -d -k "$1" "$2" >"$work/opened" || fail "expected $2 to decrypt"
  same "$3" "$work/opened" "$2"
}

run_section 'Back up a directory'
[ "$(grep -c '^photos/2.jpg$' "$work/stdout")" = 2 ] || fail "expected a list of each archive"
"$program" -d -k backup.key photos.sealed | tar -d
"$program" -d -k backup.key photos.tar.zst.sealed | zstd -d | tar -d

run_section 'Back up ZFS and btrfs snapshots'
same disk.img received

run_section 'Back up a server that cannot read its backups'
"$program" -d -k identity server.sealed | tar -d

run_section 'Split a backup into pieces'
grep -q '^photos/2.jpg$' "$work/stdout" || fail "expected a list of the archive"
run_section 'Store a backup in S3'
grep -q '^photos/2.jpg$' "$work/stdout" || fail "expected a list of the archive"

run_section 'Take the passphrase from a password manager'

run_section 'Test backups'
printf '%s.sealed: ok\n' home photos | cmp - "$work/stdout" || fail "expected a line for each backup"
rm photos/2.jpg
if bash -euo pipefail ../commands >/dev/null 2>&1; then fail "expected tar to find the missing file"; fi

run_section 'Decrypt with several processes'
grep -q '^photos/2.jpg$' "$work/stdout" || fail "expected a list of the archive"
opens_as backup.key photos.sealed photos.tar

# same_in_parts: the recipe has made disk.sealed, in parts.
same_in_parts() {
  [ -e disk.sealed/part.0000063 ] || fail "expected 64 parts"
  opens_as backup.key disk.sealed disk.img
}

if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
  export PARALLEL_HOME=$work/parallel
  run_section 'Seal one file with GNU parallel'
  same_in_parts
  [ "$(sort -u hosts | tr '\n' ' ')" = "host1 host2 " ] || fail "expected two hosts, got $(<hosts)"
else
  skip_part "GNU parallel is not installed"
fi

if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
  # Also as root, with more ranks than processors, and without other hosts.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=sh
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  run_section 'Seal one file with MPI'
  same_in_parts
else
  skip_part "Open MPI is not installed"
fi

run_section 'Back up a header'
same ../files/photos.sealed photos.sealed
sed -n '/^dd /!p' ../commands | bash -euo pipefail
dd if=/dev/zero of=photos.sealed bs=175 count=1 conv=notrunc status=none
expect_exit 4 "$program" --salvage -k backup.key photos.sealed
grep '^dd ' ../commands | bash -euo pipefail 2>/dev/null
same ../files/photos.sealed photos.sealed "the file with its header"

run_section 'Replace a key'
bash -euo pipefail <(sed 1d ../commands) || fail "expected the loop to succeed again"
"$program" -d -k new.key photos.sealed | tar -d
expect_exit 3 "$program" -d -k backup.key photos.sealed

run_section 'Decrypt without gpuaes-stream'
grep -q '^photos/2.jpg$' "$work/stdout" || fail "expected a list of the archive"

if command -v par2 >/dev/null; then
  run_section 'Protect a backup against bad sectors'
  same ../files/photos.sealed photos.sealed
  "$program" -d -k backup.key photos.sealed >whole.tar
  same whole.tar photos.tar
  printf 'bad sector' | dd of=photos.sealed bs=1 seek=50000 conv=notrunc status=none
  par2 repair -q photos.sealed.par2 >/dev/null
  same ../files/photos.sealed photos.sealed "the repaired file"
else
  skip_part "par2 is not installed"
fi

# A PostgreSQL server in a folder, for a user other than root.
initdb=$(command -v initdb || printf '%s\n' /usr/lib/postgresql/*/bin/initdb | tail -n 1)
if [ -x "$initdb" ]; then
  need_user
  PATH=$(dirname "$initdb"):$PATH
  export PGHOST=$work/postgres PGUSER=backup PGDATABASE=shop
  as_owner() { "${as_user[@]}" "$@" </dev/null >"$work/postgres.log" 2>&1; }
  mkdir "$PGHOST"
  if [ "$(id -u)" = 0 ]; then chown 65534 "$PGHOST"; fi
  as_owner initdb -N -A trust -U backup -D "$PGHOST/data" || fail "initdb failed: $(<"$work/postgres.log")"
  at_exit "as_owner pg_ctl -m immediate -D '$PGHOST/data' stop"
  as_owner pg_ctl -w -D "$PGHOST/data" -l "$PGHOST/log" -o "-k $PGHOST -c listen_addresses= -F" start ||
    fail "PostgreSQL did not start: $(<"$work/postgres.log")"
  createdb shop
  psql -q -c 'create table orders as select n, md5(n::text) as item from generate_series(1, 20000) as n'
  run_section 'Back up a PostgreSQL database'
  count=$(psql -At -d shop_restored -c 'select count(*), min(item), max(item) from orders')
  [ "$count" = "$(psql -At -c 'select count(*), min(item), max(item) from orders')" ] ||
    fail "expected the same table after the restore, got $count"
else
  skip_part "PostgreSQL is not installed"
fi
