#!/usr/bin/env bash
# Usage: audit-follows.sh AUDIT. The audit judges small pieces of machine code correctly. A stand-in for cuobjdump
# prints these, so no toolkit is needed.
set -u
audit=$1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
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

# as_sass KERNEL: prints the instructions on stdin as cuobjdump does, at 0x0, 0x10, 0x20 and so on.
as_sass() {
  local at=0 instruction
  printf '\t\tFunction : %s\n' "$1"
  while read -r instruction; do
    printf '        /*%04x*/                   %s ;   /* 0x0 */\n' $at "$instruction"
    at=$((at + 16))
  done
}

# expect STATUS WHAT PATTERN: audits $work/sass; checks the exit status, and that a line of output matches PATTERN.
expect() {
  local got=0
  "$audit" "$work/sass" >"$work/report" 2>&1 || got=$?
  [ "$got" = "$1" ] || fail "$2: expected exit status $1, got $got: $(cat "$work/report")"
  grep -qE -- "$3" "$work/report" || fail "$2: expected '$3', got $(cat "$work/report")"
}

# R4 is secret, because it was loaded; R2 and R3 hold an address from a kernel parameter.
begin='LDC.64 R2, c[0x0][0x210]
LDG.E R4, desc[UR4][R2.64]'

secret() { # WHAT PATTERN, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 1 "$1" "secret: .*$2"
}

public() { # WHAT, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 0 "$1" 'no branch depends'
}

unknown() { # WHAT PATTERN, instructions on stdin
  { echo "$begin" && cat && echo EXIT; } | as_sass kernel >"$work/sass"
  expect 1 "$1" "error: cannot follow: $2"
}

public 'data that is stored' <<<'STG.E desc[UR4][R2.64+0x10], R4'
public 'an address computed from a parameter' <<'SASS'
IADD3 R6, P0, R2, 0x10, RZ
IADD3.X R7, R3, RZ, RZ, P0, !PT
LDG.E R8, desc[UR4][R6.64]
SASS
secret 'a load' 'LDS R5, \[R4\]' <<<'LDS R5, [R4]'
secret 'a store' 'STS \[R4\+0x10\], R2' <<<'STS [R4+0x10], R2'
secret 'a copy to shared memory' 'LDGSTS' <<<'LDGSTS.E.BYPASS.128 [R9], desc[UR4][R4.64]'
secret 'a table in constant memory' 'LDC' <<<'LDC R5, c[0x3][R4]'
secret 'the upper half of an address' 'LDG' <<<'LDG.E R8, desc[UR4][R3.64]'
secret 'a uniform part of an address' 'LDS' <<'SASS'
R2UR UR6, R4
LDS R5, [R2+UR6]
SASS
secret 'the lane of a shuffle' 'SHFL' <<<'SHFL.IDX PT, R5, R2, R4, 0x1f'
public 'data that a shuffle moves' <<<'SHFL.IDX PT, R5, R4, R2, 0x1f'
secret 'the result of a shuffle' 'LDS' <<'SASS'
SHFL.IDX PT, R5, R4, R2, 0x1f
LDS R6, [R5]
SASS

# Results of instructions.
secret 'the last of four registers' 'LDS R5, \[R11\]' <<'SASS'
LDG.E.128 R8, desc[UR4][R2.64]
LDS R5, [R11]
SASS
secret 'a carry' 'LDS' <<'SASS'
IADD3 R6, P0, R4, 0x10, RZ
IADD3.X R7, R3, RZ, RZ, P0, !PT
LDS R8, [R7]
SASS
secret 'the upper half of an addend' 'LDS R8, \[R7\]' <<'SASS'
IMAD.WIDE.U32 R6, R2, 0x4, R3.reuse
LDS R8, [R7]
SASS
secret 'a carry-less product' 'LDS R8, \[R6\]' <<'SASS'
CLMAD.LO R6, R2, R4, RZ
LDS R8, [R6]
SASS
secret 'the upper half of a carry-less product' 'LDS R8, \[R7\]' <<'SASS'
CLMAD.LO R6, R2, R4, RZ
LDS R8, [R7]
SASS
secret 'the upper half of a factor of a carry-less product' 'LDS R8, \[R6\]' <<'SASS'
LDG.E.64 R10, desc[UR4][R2.64]
MOV R10, R2
CLMAD.HI R6, R2, R10, RZ
LDS R8, [R6]
SASS
secret 'the upper half of the addend of a carry-less product' 'LDS R8, \[R6\]' <<'SASS'
LDG.E.64 R10, desc[UR4][R2.64]
MOV R10, R2
CLMAD.HI R6, R2, R2, R10
LDS R8, [R6]
SASS
public 'a carry-less product of an address' <<'SASS'
CLMAD.LO R6, R2, R2, R2
LDS R8, [R6]
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
secret 'predicates that R2P does not write' '@P1 EXIT' <<'SASS'
ISETP.GE.AND P1, PT, R4, 0x3, PT
R2P PR, R2, 0xc
@P1 EXIT
SASS
public 'a secret that was overwritten' <<'SASS'
MOV R4, R2
LDS R5, [R4]
SASS

# Paths.
secret 'a branch' '@P0 BRA' <<'SASS'
ISETP.NE.AND P0, PT, R4, RZ, PT
@P0 BRA 0x40
SASS
secret 'a secret that one of two paths overwrites' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA 0x50
MOV R4, R2
LDS R5, [R4]
SASS
secret 'a register that is used in a loop before it becomes secret' 'LDS' <<'SASS'
MOV R6, R2
LDS R5, [R6]
MOV R6, R5
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 BRA 0x30
SASS
public 'unreachable code' <<'SASS'
BRA 0x40
LDS R5, [R4]
SASS
secret 'the address where threads converge' 'LDS' <<'SASS'
BSSY B0, 0x60
ISETP.NE.AND P0, PT, R2, RZ, PT
BSYNC B0
EXIT
LDS R5, [R4]
SASS
public 'a secret overwritten under the same guard' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 MOV R4, R2
@P0 LDS R5, [R4]
SASS
secret 'a secret overwritten under the opposite guard' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@!P0 MOV R4, R2
@P0 LDS R5, [R4]
SASS
secret 'a secret overwritten under a guard that changed' 'LDS' <<'SASS'
ISETP.NE.AND P0, PT, R2, RZ, PT
@P0 MOV R4, R2
ISETP.NE.AND P0, PT, R3, RZ, PT
@P0 LDS R5, [R4]
SASS

unknown 'a call' CALL <<<'CALL.REL.NOINC 0x40'
unknown 'a branch to a register' BRX <<<'BRX R2 -0x10'
unknown 'an unknown instruction' DADD <<<'DADD R6, R4, R2'
unknown 'an unknown load' LDSM <<<'LDSM.16.M88.4 R8, [R4]'

echo EXIT | as_sass kernel | sed 's/0000/0010/' >"$work/sass"
expect 1 'a first instruction that cuobjdump cannot decode' 'error: cuobjdump cannot decode the instruction before 0010'
printf 'NOP\nNOP\nEXIT\n' | as_sass kernel | grep -v 0010 >"$work/sass"
expect 1 'an instruction that cuobjdump cannot decode' 'error: cuobjdump cannot decode the instruction before 0020'

# Kernels.
{
  as_sass one <<<EXIT
  printf 'LDG.E R4, desc[UR4][R2.64]\nLDS R5, [R4]\nEXIT\n' | as_sass two
  as_sass two <<<EXIT
} >"$work/sass"
expect 1 'the first of two kernels with the same name' 'secret: .*LDS'
"$audit" "$work/sass" one >"$work/report" || fail "one kernel by name: got $(cat "$work/report")"
"$audit" "$work/sass" missing >"$work/report" 2>&1 && fail 'a missing kernel: expected a failure'
grep -q 'no kernel missing' "$work/report" || fail "a missing kernel: got $(cat "$work/report")"
: >"$work/sass"
expect 77 'no code for Hopper' skipped
