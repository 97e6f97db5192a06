#!/usr/bin/env bash
# The tuning file of gpuaes-bench sweep: used and told of by -v where a device is used, otherwise not looked at;
# a damaged one is warned of, and changes neither the output nor the exit status.
# shellcheck source=../support/lib.sh
. "$(dirname "$0")/../support/lib.sh"

# The model as the driver tells it, or any.
model=$(cat /proc/driver/nvidia/gpus/*/information 2>/dev/null | sed -n "s/^Model:[[:blank:]]*//p" | sort -u) || true
models=$(grep -c . <<<"$model" || true)
if [ "$models" = 0 ]; then model='NVIDIA H200'; fi
version=$("$program" -V | head -n 1)
version=${version##* }
folder=$XDG_CACHE_HOME/gpuaes-stream
file=$folder/tuning-${model//[^A-Za-z0-9]/-}
mkdir -p "$folder"

# tune THREADS STREAMS: as gpuaes-bench sweep writes it.
tune() {
  printf 'gpuaes-stream %s\ndevice %s\nthreads %s\nblocks-per-thread 0\nstreams %s\n' \
    "$version" "$model" "$1" "$2" >"$file"
}
loud() { "$program" -v -f raw --iv "$iv" -k "$key" "$@"; }

make_input 3000001 plain
reference <plain >expected

for contents in good damaged fifo directory; do
  rm -rf "$file"
  case $contents in
    good) tune 128 3 ;;
    damaged) echo rubbish >"$file" ;;
    fifo) mkfifo "$file" ;;
    directory) mkdir "$file" ;;
  esac
  for lanes in auto cpu reference; do
    expect_exit 0 loud -i plain -l "$lanes"
    same expected "$work/stdout" "-l $lanes with a tuning file: $contents"
    expect_no_stderr tuning
  done
done
rm -r "$file"

has_cuda || skip "the rest, as no CUDA device is here"
[ "$models" = 1 ] || skip "the rest, as the driver tells of $models models"

tuned() { loud -i plain -l cuda:0 -b 64K; }
expect_exit 0 tuned
expect_no_stderr tuning
tune 128 3
expect_exit 0 tuned
same expected "$work/stdout" "with a tuning file"
expect_stderr "tuning file $file: threads 128, blocks per thread 0, streams 3"
expect_stderr 'lanes cuda:0:3'
expect_exit 0 loud -i plain -l cuda:0:2 -b 64K
expect_stderr 'lanes cuda:0:2'
tune 128 65
expect_exit 0 tuned
same expected "$work/stdout" "with a damaged tuning file"
expect_stderr "^gpuaes-stream: warning: tuning file $file is damaged"
expect_no_stderr 'lanes cuda:0:3'
expect_exit 0 gs -i plain -l cuda:0
expect_no_stderr tuning
version=99.0.0
tune 128 3
expect_exit 0 tuned
expect_no_stderr tuning
