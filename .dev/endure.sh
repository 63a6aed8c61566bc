# shellcheck shell=bash
# What takes too long for each change. Sourced by ./dev after summary.sh.

# The orders of threads that Lincheck tries, in tests tagged endure.
endure_orders() {
  local modules
  modules=$(grep -rl --include='*Test.java' '@Tag("endure")' bindings integrations server tools | sed 's|/src/.*||' | sort -u | paste -sd,)
  run_maven --no-transfer-progress --projects "$modules" --also-make -P '!native-tests' \
    -Dgroups=endure -DexcludedGroups=gpu -Drehearsal.phase=none -Dsurefire.failIfNoSpecifiedTests=false test
}

# The fast tests again and again: names what fails in a run and passes in another.
endure_flakes() {
  local runs=$1 run failed=0 log=$root/build/flakes.log compile=()
  mkdir -p "$root/build"
  for ((run = 1; run <= runs; ++run)); do
    remove_test_reports
    if run_maven --no-transfer-progress -DexcludedGroups=slow,gpu,endure -Drehearsal.phase=none -Djava17.skip \
      -Dmaven.test.failure.ignore "${compile[@]}" verify >"$log" 2>&1 && ! grep -E '^\[ERROR\] +[A-Za-z0-9]+Test\.' "$log"; then
      say "run $run of $runs: $(count_tests | (read -r tests _ && echo "$tests passed"))"
    else
      failed=$((failed + 1))
      say "run $run of $runs failed: see above, and build/flakes-$run.log"
      cp "$log" "$root/build/flakes-$run.log"
    fi
    # Jars are made anew, of classes that are the same: what uses them need not be compiled again.
    compile=(-Dmaven.compiler.useIncrementalCompilation=false)
  done
  ((failed == 0)) || die "$failed of $runs runs failed"
}

# System calls of a server that fail, by libfiu.
endure_faults() {
  require "${tools_faults[@]}"
  say "the seed is $2"
  mkdir -p "$root/build/faults"
  "${CC:-cc}" -O2 -fPIC -shared -Wall -Wextra -Werror -o "$root/build/faults/strdup.so" "$root/native/test/faults/strdup.c"
  test_program tools/cli io.nereid.cli.FaultsRun "$1" "$2"
}

cmd_endure() {
  require "${tools_build[@]}" "${tools_test[@]}"
  case ${1:-} in
    orders) endure_orders ;;
    faults) endure_faults "${2:-120}" "${3:-$RANDOM}" ;;
    flakes) endure_flakes "${2:-50}" ;;
    *) die "endure: expected orders, faults or flakes, got '${1:-}'" ;;
  esac
}
