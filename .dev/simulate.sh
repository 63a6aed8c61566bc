# shellcheck shell=bash
# The simulator of the scheduler (native/test/simulation). Sourced by ./dev; needs `root`.

# Builds it from the native sources in a folder; prints where the program is.
simulate_build() {
  local sources=$1 target=$2
  cmake -S "$sources" -B "$target" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -g1 -DNDEBUG' -DNEREID_BUILD_TESTS=ON >&2 &&
    cmake --build "$target" --target simulate >&2 &&
    echo "$target/test/simulate"
}

# Runs it until the time is over or a rule is broken.
simulate_run() {
  local program
  program=$(simulate_build "$root/native" "$root/build/simulation" 2>"$root/build/simulation.log") || {
    cat "$root/build/simulation.log" >&2
    die "the simulator could not be built"
  }
  exec "$program" "$@"
}

# Plants each fault of native/test/simulation/faults in a copy of the sources, and sees that a minute finds it.
simulate_faults() {
  local copy=$root/build/simulation-faults patch program found missed=0
  rm -rf "$copy"
  mkdir -p "$copy/test-doubles"
  cp -r "$root/native" "$root/cmake" "$copy"
  cp -r "$root/test-doubles/rehearsal" "$copy/test-doubles"
  for patch in "$root"/native/test/simulation/faults/*.patch; do
    patch --silent --directory="$copy/native" --strip=1 <"$patch" || die "$(basename "$patch") does not apply"
    program=$(simulate_build "$copy/native" "$copy/build" 2>"$copy/log") || {
      cat "$copy/log" >&2
      die "$(basename "$patch") does not compile"
    }
    if found=$("$program" 1 60); then
      found="NOT FOUND: $found"
      missed=$((missed + 1))
    fi
    printf '%-28s %s\n' "$(basename "$patch" .patch)" "$found"
    patch --silent --reverse --directory="$copy/native" --strip=1 <"$patch"
  done
  ((missed == 0)) || die "$missed faults were not found"
}

cmd_simulate() {
  require "${tools_build[@]}"
  mkdir -p "$root/build"
  case ${1:-} in
    faults) simulate_faults ;;
    *) simulate_run "$@" ;;
  esac
}
