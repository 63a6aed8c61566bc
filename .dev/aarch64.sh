# shellcheck shell=bash
# Linux on aarch64, built and tested on x86-64. Sourced by ./dev after artifacts.sh.

# In the form of tools_build. Fedora's cross compiler has no C library to make programs with.
tools_aarch64=(
  'a C++ compiler for aarch64|has aarch64-linux-gnu-g++|g++-aarch64-linux-gnu|gcc-c++-aarch64-linux-gnu'
  'QEMU for programs of aarch64|has qemu-aarch64|qemu-user|qemu-user'
)

cmd_aarch64() {
  require "${tools_build[@]}" "${tools_test[@]}"
  find_missing "${tools_aarch64[@]}"
  if [[ ${#missing[@]} != 0 ]]; then install_missing; fi
  say '== native tests under QEMU'
  native_tests aarch64 "-Dnative.onnxruntime=$root/build/onnxruntime-aarch64" -Dnative.onnxruntime.platform=linux-aarch64
  dist_glibc_check aarch64
  say '== the jar for x86-64 and aarch64'
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip -Paarch64 \
    --projects bindings/runtime --also-make package >&2
  du --apparent-size -h "bindings/runtime/target/nereid-runtime-$(dist_version).jar" >&2
  if [[ ${AARCH64_JAVA:-} ]]; then
    say '== a program on aarch64'
    readme_project "$AARCH64_JAVA" -Paarch64
  else
    say "a program on aarch64 skipped: AARCH64_JAVA names no command that starts a Java $java_major for it"
  fi
}
