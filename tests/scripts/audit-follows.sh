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

# as_sass KERNEL INSTRUCTIONS: prints the instructions, which are separated by "; ", as cuobjdump does, at 0x0, 0x10, 0x20
# and so on.
as_sass() {
  local at=0 instruction
  printf '\t\tFunction : %s\n' "$1"
  while read -r instruction; do
    printf '        /*%04x*/                   %s ;   /* 0x0 */\n' $at "$instruction"
    at=$((at + 16))
  done <<<"${2//; /$'\n'}"
}

# expect STATUS WHAT PATTERN: audits $work/sass; checks the exit status, and that a line of output matches PATTERN.
expect() {
  local got=0
  "$audit" "$work/sass" >"$work/report" 2>&1 || got=$?
  [ "$got" = "$1" ] || fail "$2: expected exit status $1, got $got: $(cat "$work/report")"
  grep -qE -- "$3" "$work/report" || fail "$2: expected '$3', got $(cat "$work/report")"
}

# R4 is secret, because it was loaded; R2 and R3 hold an address from a kernel parameter.
begin='LDC.64 R2, c[0x0][0x210]; LDG.E R4, desc[UR4][R2.64]'

# judge STATUS WHAT PATTERN INSTRUCTIONS: audits a kernel with these instructions.
judge() {
  as_sass kernel "$begin; $4; EXIT" >"$work/sass"
  expect "$1" "$2" "$3"
}
secret() { judge 1 "$1" "secret: .*$2" "$3"; } # WHAT PATTERN INSTRUCTIONS
public() { judge 0 "$1" 'no branch depends' "$2"; } # WHAT INSTRUCTIONS
unknown() { judge 1 "$1" "error: cannot follow: $2" "$3"; } # WHAT PATTERN INSTRUCTIONS

public 'data that is stored' 'STG.E desc[UR4][R2.64+0x10], R4'
public 'an address computed from a parameter' \
  'IADD3 R6, P0, R2, 0x10, RZ; IADD3.X R7, R3, RZ, RZ, P0, !PT; LDG.E R8, desc[UR4][R6.64]'
secret 'a load' 'LDS R5, \[R4\]' 'LDS R5, [R4]'
secret 'a store' 'STS \[R4\+0x10\], R2' 'STS [R4+0x10], R2'
secret 'a copy to shared memory' 'LDGSTS' 'LDGSTS.E.BYPASS.128 [R9], desc[UR4][R4.64]'
secret 'a table in constant memory' 'LDC' 'LDC R5, c[0x3][R4]'
secret 'the upper half of an address' 'LDG' 'LDG.E R8, desc[UR4][R3.64]'
secret 'a uniform part of an address' 'LDS' 'R2UR UR6, R4; LDS R5, [R2+UR6]'
secret 'the lane of a shuffle' 'SHFL' 'SHFL.IDX PT, R5, R2, R4, 0x1f'
public 'data that a shuffle moves' 'SHFL.IDX PT, R5, R4, R2, 0x1f'
secret 'the result of a shuffle' 'LDS' 'SHFL.IDX PT, R5, R4, R2, 0x1f; LDS R6, [R5]'

# Results of instructions.
secret 'the last of four registers' 'LDS R5, \[R11\]' 'LDG.E.128 R8, desc[UR4][R2.64]; LDS R5, [R11]'
secret 'a carry' 'LDS' 'IADD3 R6, P0, R4, 0x10, RZ; IADD3.X R7, R3, RZ, RZ, P0, !PT; LDS R8, [R7]'
secret 'the upper half of an addend' 'LDS R8, \[R7\]' 'IMAD.WIDE.U32 R6, R2, 0x4, R3.reuse; LDS R8, [R7]'
secret 'a carry-less product' 'LDS R8, \[R6\]' 'CLMAD.LO R6, R2, R4, RZ; LDS R8, [R6]'
secret 'the upper half of a carry-less product' 'LDS R8, \[R7\]' 'CLMAD.LO R6, R2, R4, RZ; LDS R8, [R7]'
secret 'the upper half of a factor of a carry-less product' 'LDS R8, \[R6\]' \
  'LDG.E.64 R10, desc[UR4][R2.64]; MOV R10, R2; CLMAD.HI R6, R2, R10, RZ; LDS R8, [R6]'
secret 'the upper half of the addend of a carry-less product' 'LDS R8, \[R6\]' \
  'LDG.E.64 R10, desc[UR4][R2.64]; MOV R10, R2; CLMAD.HI R6, R2, R2, R10; LDS R8, [R6]'
public 'a carry-less product of an address' 'CLMAD.LO R6, R2, R2, R2; LDS R8, [R6]'
secret 'a comparison' '@P1 LDG' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; @P1 LDG.E R8, desc[UR4][R2.64]'
secret 'a selection' 'LDS' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; SEL R6, R2, RZ, P1; LDS R8, [R6]'
secret 'a vote' '@P1 BRA' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; VOTE.ANY P1, P1; @P1 BRA 0x50'
secret 'a ballot' 'LDS' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; VOTE.ANY R5, PT, P1; LDS R6, [R5]'
secret 'predicates as a number' 'LDS' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; P2R R5, PR, RZ, 0x2; LDS R6, [R5]'
secret 'a number as predicates' '@P2 EXIT' 'R2P PR, R4, 0x4; @P2 EXIT'
secret 'predicates that R2P does not write' '@P1 EXIT' 'ISETP.GE.AND P1, PT, R4, 0x3, PT; R2P PR, R2, 0xc; @P1 EXIT'
public 'a secret that was overwritten' 'MOV R4, R2; LDS R5, [R4]'

# Paths.
secret 'a branch' '@P0 BRA' 'ISETP.NE.AND P0, PT, R4, RZ, PT; @P0 BRA 0x40'
secret 'a secret that one of two paths overwrites' 'LDS' \
  'ISETP.NE.AND P0, PT, R2, RZ, PT; @P0 BRA 0x50; MOV R4, R2; LDS R5, [R4]'
secret 'a register that is used in a loop before it becomes secret' 'LDS' \
  'MOV R6, R2; LDS R5, [R6]; MOV R6, R5; ISETP.NE.AND P0, PT, R2, RZ, PT; @P0 BRA 0x30'
public 'unreachable code' 'BRA 0x40; LDS R5, [R4]'
secret 'the address where threads converge' 'LDS' \
  'BSSY B0, 0x60; ISETP.NE.AND P0, PT, R2, RZ, PT; BSYNC B0; EXIT; LDS R5, [R4]'
public 'a secret overwritten under the same guard' 'ISETP.NE.AND P0, PT, R2, RZ, PT; @P0 MOV R4, R2; @P0 LDS R5, [R4]'
secret 'a secret overwritten under the opposite guard' 'LDS' \
  'ISETP.NE.AND P0, PT, R2, RZ, PT; @!P0 MOV R4, R2; @P0 LDS R5, [R4]'
secret 'a secret overwritten under a guard that changed' 'LDS' \
  'ISETP.NE.AND P0, PT, R2, RZ, PT; @P0 MOV R4, R2; ISETP.NE.AND P0, PT, R3, RZ, PT; @P0 LDS R5, [R4]'

unknown 'a call' CALL 'CALL.REL.NOINC 0x40'
unknown 'a branch to a register' BRX 'BRX R2 -0x10'
unknown 'an unknown instruction' DADD 'DADD R6, R4, R2'
unknown 'an unknown load' LDSM 'LDSM.16.M88.4 R8, [R4]'

as_sass kernel EXIT | sed 's/0000/0010/' >"$work/sass"
expect 1 'a first instruction that cuobjdump cannot decode' 'error: cuobjdump cannot decode the instruction before 0010'
as_sass kernel 'NOP; NOP; EXIT' | grep -v 0010 >"$work/sass"
expect 1 'an instruction that cuobjdump cannot decode' 'error: cuobjdump cannot decode the instruction before 0020'

# Kernels.
{
  as_sass one EXIT
  as_sass two 'LDG.E R4, desc[UR4][R2.64]; LDS R5, [R4]; EXIT'
  as_sass two EXIT
} >"$work/sass"
expect 1 'the first of two kernels with the same name' 'secret: .*LDS'
: >"$work/sass"
expect 77 'no code for Hopper' skipped
