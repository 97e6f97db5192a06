#!/usr/bin/env bash
# Usage: setup-explains.sh SOURCE. scripts/setup and scripts/quickstart choose what to install and to build for, and say why
# they cannot. Runs copies in a separate tree, on a made-up system of fake commands.
# shellcheck disable=SC2016 # fake commands expand their own variables
set -u
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/source/scripts" "$tree/bin"
cp -r "$1"/scripts/{setup,setup.d,quickstart} "$tree/source/scripts"
cp "$1/CMakeLists.txt" "$tree/source"
cd "$tree/source" || exit 1

fail() {
  echo "FAIL: $*"
  exit 1
}

for tool in bash awk cat dirname env grep mkdir nproc sed tail tr xargs; do
  ln -s "$(command -v "$tool")" "$tree/bin/$tool"
done
unset CXX CUDACXX
export CUDA_PATH=$tree/cuda TREE=$tree
bin=$tree/bin

# fake NAME: makes a command; its script is on stdin.
fake() {
  { echo '#!/usr/bin/env bash'; cat; } >"$bin/$1"
  chmod +x "$bin/$1"
}

# A system on which everything is installed.
system() {
  rm -rf "$tree"/{cuda,calls,installed} build build-quickstart "$bin"/{sudo,nvcc,nvidia-smi}
  fake id <<<'echo 0'
  fake dpkg-query <<<'echo "installed:all "'
  fake apt-cache <<<'for name in "${@:2}"; do printf "%s:\n  Candidate: 1\n" "$name"; done'
  fake apt-get <<<'echo "$@" >>"$TREE/calls"; : >"$TREE/installed"'
  fake cmake <<<'echo "$@" >>"$TREE/calls"'
  fake g++ <<<''
  fake make <<<''
  fake file <<<''
  fake dpkg-shlibdeps <<<''
  fake openssl <<<'echo ML-KEM-768'
  mkdir -p build/tools/{aarch64,databases,python}
}

# The same with nothing installed, until apt-get runs.
bare_system() {
  system
  rm "$bin"/{g++,make,file,dpkg-shlibdeps}
  fake dpkg-query <<<'[ -e "$TREE/installed" ] && echo "installed:all "'
}

# expect STATUS OUTPUT COMMAND...: the whole output, without the part of a line after "(log:".
expect() {
  local status=0 output
  output=$(PATH=$bin "${@:3}" 2>&1) || status=$?
  output=${output//"$tree/"/}
  [ "$status" = "$1" ] || fail "${*:3}: expected exit status $1, got $status: $output"
  [ "$output" = "$2" ] || fail "${*:3}: expected '$2', got '$output'"
}

installs="setup: installing 6 packages with apt-get (log: build/setup.log)"

system
expect 0 "" scripts/setup
[ ! -e "$tree/calls" ] || fail "expected no call of apt-get, got $(<"$tree/calls")"

bare_system
expect 0 "$installs" scripts/setup --build
grep -c install "$tree/calls" | grep -qx 1 || fail "expected one call of apt-get install: $(<"$tree/calls")"
grep -q catch2 "$tree/calls" && fail "--build installs catch2"

bare_system
expect 0 "setup: installing 13 packages with apt-get (log: build/setup.log)" scripts/setup --package
grep -q ' libfmt-dev dpkg-dev file mandoc python3-cryptography python3-pytest python3-venv wget$' "$tree/calls" ||
  fail "expected the tools that pack and test: $(<"$tree/calls")"

bare_system
fake id <<<'echo 1000'
expect 1 "setup: error: not root, and sudo is not installed: run this as root: apt-get install g++ make libboost-dev \
libboost-program-options-dev libssl-dev libfmt-dev " scripts/setup --build
fake sudo <<<'echo "sudo: a password is required"; exit 1'
could_not="setup: error: could not install g++ make libboost-dev libboost-program-options-dev libssl-dev libfmt-dev (log: build/setup.log)"
expect 1 "$installs
sudo: a password is required
$could_not" scripts/setup --build

bare_system
fake apt-get <<<'[[ $* == *update* ]] || { echo "E: made up"; exit 100; }'
expect 1 "$installs
E: made up
$could_not" scripts/setup --build

system
expect 1 "setup: error: CUDACXX is set to missing, which was not found: set it to nvcc of a CUDA toolkit, or unset it" \
  env CUDACXX=missing scripts/setup

# expect_target TARGET ARGUMENTS: what quickstart builds for, with arguments for cmake. The disk is full.
expect_target() {
  fake cmake <<<'echo "$@" >>"$TREE/calls"; [ "$1" != --build ] || { echo "No space left on device"; exit 1; }'
  expect 1 "quickstart: installing missing packages (at most 0.5 GB), then building the programs into build-quickstart/ (a minute or two)
quickstart: target: $1
quickstart: building (log: build-quickstart/build.log)
No space left on device
quickstart: error: the build failed (log: build-quickstart/build.log)" \
    scripts/quickstart
  grep -qx -e "-S . -B build-quickstart -DBUILD_TESTING=OFF -DGPUAES_FAST_BUILD=ON $2" "$tree/calls" || fail "$1: got $(<"$tree/calls")"
}
nvcc='echo "Cuda compilation tools, release 13.0, V13.0.88"'
driver='echo "GPU 0: NVIDIA H200 (UUID: GPU-1)"'

system
expect_target "CPUs only: nvidia-smi finds no GPU" -DGPUAES_CUDA=OFF
fake nvidia-smi <<<"$driver"
expect_target "CPUs only: for NVIDIA H200, install CUDA Toolkit 12 or newer, then run this again" -DGPUAES_CUDA=OFF
fake nvcc <<<"$nvcc"
expect_target "CPUs and NVIDIA H200, with bin/nvcc 13.0" "-DGPUAES_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native"
mkdir -p "$CUDA_PATH/bin"
mv "$bin/nvcc" "$CUDA_PATH/bin"
expect_target "CPUs and NVIDIA H200, with cuda/bin/nvcc 13.0" "-DGPUAES_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=native"
fake nvidia-smi <<<'echo "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."; exit 9'
expect_target "CPUs only: there is a CUDA toolkit, but nvidia-smi finds no GPU with a driver" -DGPUAES_CUDA=OFF
