# shellcheck shell=bash
# './dev bench objective': models that say in how long they answer, in a simulator and on the server.
# Sourced after bench.sh; needs `root`, the top of the tree.

objective_dir=$root/build/objective

objective_build_simulator() {
  prefer_ninja
  # Maven leaves the native tests out of a build without tests, and this program is one of theirs.
  unpack_onnxruntime
  cmake -S native --preset release -DNEREID_BUILD_TESTS=ON &&
    cmake --build build/release --target objective_bench --parallel "$(nproc)"
}

# Runs the simulator and makes the page of what it found. Ends with 1 where a bar is missed.
objective_simulate() {
  local code=0 plays=$objective_dir/simulation.jsonl words=$objective_dir/simulation.txt
  require "${tools_build[@]}" "${tools_test[@]}"
  build_candidate || bench_die $bench_not_built 'this tree could not be built'
  mkdir -p "$objective_dir"
  objective_build_simulator >"$objective_dir/build.log" 2>&1 ||
    bench_die $bench_not_built "the simulator could not be built; see ${objective_dir#"$PWD/"}/build.log"
  build/release/bench/objective_bench --json "$plays" "$@" | tee "$words" || code=${PIPESTATUS[0]}
  [[ $code == 2 ]] || objective_java SimulationBench "$plays" "$words" "$objective_dir/simulation.html"
  return "$code"
}

objective_java() {
  local class=$1
  shift
  "$(find_jdk)/bin/java" --enable-native-access=ALL-UNNAMED -cp "$bench_dir/sides/candidate/nereid-benchmarks.jar" \
    "io.nereid.benchmarks.objective.$class" "$@"
}

bench_objective() {
  if [[ ${1:-} == --server ]]; then
    shift
    require "${tools_build[@]}"
    build_candidate || bench_die $bench_not_built 'this tree could not be built'
    objective_java ServerBench --project "$root" "$@"
  else
    objective_simulate "$@"
  fi
}
