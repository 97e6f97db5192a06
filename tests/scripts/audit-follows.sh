#!/usr/bin/env bash
# Usage: audit-follows.sh AUDIT. What the audit says of small pieces of machine code, which a stand-in for cuobjdump
# shows it: wants no toolkit.
set -u
audit=$1
command -v python3 >/dev/null || { echo "skipped: no python3 here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/cuobjdump" <<'SH'
#!/bin/sh
cat "$4"
SH
cp "$work/cuobjdump" "$work/nvdisasm"
chmod +x "$work/cuobjdump" "$work/nvdisasm"
export PATH=$work:$PATH

fail() {
  echo "FAIL: $*"
  exit 1
}

# as_sass KERNEL: the instructions of stdin as cuobjdump shows them, at 0x0, 0x10, 0x20 and so on.
as_sass() {
  local at=0 instruction
  printf '\t\tFunction : %s\n' "$1"
  while read -r instruction; do
    printf '        /*%04x*/                   %s ;   /* 0x0 */\n' $at "$instruction"
    at=$((at + 16))
  done
}

# expect STATUS WHAT PATTERN: of the program in $work/sass, the exit status and a line that it says.
expect() {
  local got=0
  "$audit" "$work/sass" >"$work/said" 2>&1 || got=$?
  [ "$got" = "$1" ] || fail "$2: expected exit status $1, got $got: $(cat "$work/said")"
  grep -qE -- "$3" "$work/said" || fail "$2: expected '$3', got $(cat "$work/said")"
}

# R4 is what was loaded, R2 and R3 an address that is a parameter.
begin='LDC.64 R2, c[0x0][0x210]
LDG.E R4, desc[UR4][R2.64]'

secret() { # WHAT PATTERN, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 1 "$1" "secret: .*$2"
}

public() { # WHAT, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 0 "$1" 'none depends'
}

unknown() { # WHAT PATTERN, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 1 "$1" "error: cannot follow: $2"
}

public 'data that is stored' <<<'STG.E desc[UR4][R2.64+0x10], R4'
public 'an address that is made of a parameter' <<'SASS'
IADD3 R6, P0, R2, 0x10, RZ
IADD3.X R7, R3, RZ, RZ, P0, !PT
LDG.E R8, desc[UR4][R6.64]
SASS
secret 'a load' 'LDS R5, \[R4\]' <<<'LDS R5, [R4]'
secret 'a store' 'STS \[R4\+0x10\], R2' <<<'STS [R4+0x10], R2'
secret 'a copy to shared memory' 'LDGSTS' <<<'LDGSTS.E.BYPASS.128 [R9], desc[UR4][R4.64]'
secret 'a table of constants' 'LDC' <<<'LDC R5, c[0x3][R4]'
secret 'the upper half of an address' 'LDG' <<<'LDG.E R8, desc[UR4][R3.64]'
secret 'a uniform part of an address' 'LDS' <<'SASS'
R2UR UR6, R4
LDS R5, [R2+UR6]
SASS
secret 'the lane of a shuffle' 'SHFL' <<<'SHFL.IDX PT, R5, R2, R4, 0x1f'
public 'what a shuffle moves' <<<'SHFL.IDX PT, R5, R4, R2, 0x1f'
secret 'what a shuffle moved' 'LDS' <<'SASS'
SHFL.IDX PT, R5, R4, R2, 0x1f
LDS R6, [R5]
SASS

# What instructions make of what they read.
secret 'the last of four registers' 'LDS R5, \[R11\]' <<'SASS'
LDG.E.128 R8, desc[UR4][R2.64]
LDS R5, [R11]
SASS
secret 'a carry' 'LDS' <<'SASS'
IADD3 R6, P0, R4, 0x10, RZ
IADD3.X R7, R3, RZ, RZ, P0, !PT
LDS R8, [R7]
SASS
secret 'the upper half of what is added to a product' 'LDS R8, \[R7\]' <<'SASS'
IMAD.WIDE.U32 R6, R2, 0x4, R3.reuse
LDS R8, [R7]
SASS
secret 'a comparison' '@P1 LDG' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
@P1 LDG.E R8, desc[UR4][R2.64]
SASS
secret 'a selection' 'LDS' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
SEL R6, R2, RZ, P1
LDS R8, [R6]
SASS
secret 'a vote' '@P1 BRA' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
VOTE.ANY P1, P1
@P1 BRA 0x50
SASS
secret 'a ballot' 'LDS' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
VOTE.ANY R5, PT, P1
LDS R6, [R5]
SASS
secret 'predicates as a number' 'LDS' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
P2R R5, PR, RZ, 0x2
LDS R6, [R5]
SASS
secret 'a number as predicates' '@P2 EXIT' <<'SASS'
R2P PR, R4, 0x4
@P2 EXIT
SASS
secret 'predicates that a number does not reach' '@P1 EXIT' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
R2P PR, R2, 0xc
@P1 EXIT
SASS
public 'what was secret and is overwritten' <<'SASS'
MOV R4, R2
LDS R5, [R4]
SASS

# Paths.
secret 'a branch' '@P0 BRA' <<'SASS'
ISETP.NE.AND P0, PT, R4, RZ, PT
@P0 BRA 0x40
SASS
secret 'what one of two paths overwrites' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA 0x50
MOV R4, R2
LDS R5, [R4]
SASS
secret 'what is made in the loop behind its use' 'LDS' <<'SASS'
MOV R6, R2
LDS R5, [R6]
MOV R6, R5
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA 0x30
SASS
public 'what cannot be reached' <<'SASS'
BRA 0x40
LDS R5, [R4]
SASS
secret 'where threads meet' 'LDS' <<'SASS'
BSSY B0, 0x60
ISETP.NE.AND P0, PT, R2, RZ, PT
BSYNC B0
EXIT
LDS R5, [R4]
SASS
public 'what was overwritten under the same guard' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 MOV R4, R2
@P0 LDS R5, [R4]
SASS
secret 'what was overwritten under the opposite guard' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@!P0 MOV R4, R2
@P0 LDS R5, [R4]
SASS
secret 'what was overwritten under a guard that changed' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 MOV R4, R2
ISETP.NE.AND P0, PT, R3, RZ, PT
@P0 LDS R5, [R4]
SASS

unknown 'a call' CALL <<<'CALL.REL.NOINC 0x40'
unknown 'a branch to a register' BRX <<<'BRX R2 -0x10'
unknown 'an instruction that nobody told it of' DADD <<<'DADD R6, R4, R2'
unknown 'a load that nobody told it of' LDSM <<<'LDSM.16.M88.4 R8, [R4]'

# Kernels.
{
  as_sass one <<<EXIT
  printf 'LDG.E R4, desc[UR4][R2.64]\nLDS R5, [R4]\nEXIT\n' | as_sass two
  as_sass two <<<EXIT
} >"$work/sass"
expect 1 'the first of two kernels of one name' 'secret: .*LDS'
{
  as_sass one <<<EXIT
  printf 'LDG.E R4, desc[UR4][R2.64]\nLDS R5, [R4]\nEXIT\n' | as_sass ttable_kernel
} >"$work/sass"
expect 0 'a kernel that has to be asked for' 'none depends'
"$audit" "$work/sass" ttable_kernel >"$work/said" && fail 'a kernel that looks up tables, by its name: expected a failure'
"$audit" "$work/sass" missing >"$work/said" 2>&1 && fail 'a kernel that is missing: expected a failure'
grep -q 'no kernel missing' "$work/said" || fail "a kernel that is missing: got $(cat "$work/said")"
as_sass ttable_kernel >"$work/sass" <<<EXIT
expect 1 'no kernel but one that has to be asked for' 'error: .*only kernels that look up tables'
: >"$work/sass"
expect 77 'no code for Hopper' skipped
