# shellcheck shell=bash
# Benchmarks: comparing two builds, the comparison's own test, and what CI does with both.
# Sourced by ./dev after tools.sh and build.sh; needs `root`, the top of the tree.

bench_dir=$root/build/bench

# How a comparison ends: io.nereid.benchmarks.compare.CompareCommand says 0, 1, 2, 4 and 5.
readonly bench_slower=1 bench_usage=2 bench_not_built=3 bench_nothing_in_common=5

bench_die() {
  local code=$1
  shift
  say "$self bench: $*"
  exit "$code"
}

# Prints the benchmarks in whose name there is a pattern, as classes are called or as documents and reports call
# them: without 'Benchmark'.
benchmarks_named() {
  local pattern=$1 name
  cut -d' ' -f1 "$root/benchmarks/benchmarks.txt" | uniq | while IFS= read -r name; do
    if [[ $name =~ $pattern || ${name/Benchmark./.} =~ $pattern ]]; then printf '%s\n' "$name"; fi
  done
}

# Sets `core_arguments` to JMH's: each pattern among them stands for the benchmarks that it names, which is known
# before anything is built.
bench_core_arguments() {
  local names
  core_arguments=()
  while (($#)); do
    case $1 in
      -h | -l | -lp | -lprof | -lrf) core_arguments+=("$1") ;;
      -*) # an option of JMH's, and its value
        core_arguments+=("$1")
        if (($# > 1)); then
          core_arguments+=("$2")
          shift
        fi
        ;;
      *)
        names=$(benchmarks_named "$1")
        [[ $names ]] || bench_die $bench_usage "no benchmark has '$1' in its name; benchmarks/benchmarks.txt lists them"
        names=${names//./\\.}
        core_arguments+=("^(${names//$'\n'/|})\$")
        ;;
    esac
    shift
  done
}

# Puts the benchmarks that were built in a tree, with their class path, into a directory of their own, where they
# stay as they are when the tree changes.
keep_side() {
  local root=$1 side=$2
  rm -rf "$side" "$side.new"
  mkdir -p "$side.new"
  cp -rp "$root/benchmarks/target/nereid-benchmarks.jar" "$root/benchmarks/target/lib" "$side.new"
  mv "$side.new" "$side"
}

# Builds the benchmarks of a tree and keeps them so. Further arguments are Maven's.
build_side() {
  local root=$1 side=$2 log=$bench_dir/build.log # run_maven builds what root names
  shift 2
  mkdir -p "$bench_dir"
  run_maven --no-transfer-progress -DskipTests -Dmaven.test.skip \
    --projects benchmarks --also-make "$@" package >"$log" 2>&1 || {
    grep -E '^\[ERROR\]|error:|CMake Error' "$log" | head -n 20 >&2 || true
    say "$self bench: the whole output is in ${log#"$PWD/"}"
    return 1
  }
  keep_side "$root" "$side"
}

# The tree as it is. A side that is newer than all sources is used again.
build_candidate() {
  local side=$bench_dir/sides/candidate newer=''
  if [[ -e $side/nereid-benchmarks.jar ]]; then
    newer=$(find pom.xml ./*/pom.xml bindings/*/pom.xml integrations/*/pom.xml tools/perf/pom.xml benchmarks/jmh/pom.xml benchmarks/jmh/src/main bindings/types/src/main proto/src \
      bindings/client/src/main tools/perf/src/main bindings/runtime/src/main server/src/main benchmarks/src/main "${native_paths[@]}" \
      -newer "$side/nereid-benchmarks.jar" -print -quit)
    [[ $newer ]] || return 0
  fi
  say 'Building the benchmarks of this tree ...'
  build_side "$root" "$side"
}

# Whether the core of a commit is the one of this tree, which was just built.
has_same_core() {
  git diff --quiet "$1" -- "${native_paths[@]}" &&
    [[ ! $(git ls-files --others --exclude-standard -- "${native_paths[@]}") ]]
}

# Builds a commit in a work tree of its own, with a patch if one is given; prints where the result is.
build_commit() {
  local commit=$1 patch=${2:-} name=$1 tree options=()
  [[ ! $patch ]] || name=$commit-$(basename "$patch" .patch)-$(cksum <"$patch" | cut -d' ' -f1)
  local side=$bench_dir/sides/$name
  printf '%s\n' "$side"
  [[ ! -e $side/nereid-benchmarks.jar ]] || return 0
  tree=$bench_dir/trees/$name
  git worktree remove --force "$tree" 2>/dev/null || rm -rf "$tree"
  git worktree prune
  mkdir -p "$bench_dir/trees"
  git worktree add --quiet --detach "$tree" "$commit" || return 1
  if [[ $patch ]]; then
    git -C "$tree" apply "$patch" || return 1
  elif has_same_core "$commit" && [[ -e $root/build/release/libnereid.so ]]; then
    # Its library need not be built again: the build takes it from there.
    mkdir -p "$tree/build/release"
    cp "$root/build/release/libnereid.so" "$tree/build/release/"
    options=(-Dexec.skip=true)
  fi
  say "Building the benchmarks of $(git rev-parse --short "$commit")${patch:+ with $(basename "$patch")} ..."
  build_side "$tree" "$side" "${options[@]}" || return 1
  git worktree remove --force "$tree"
}

# Compares two directories with benchmarks; further arguments are CompareCommand's.
compare_sides() {
  local base=$1 base_name=$2 candidate=$3 candidate_name=$4
  shift 4
  "$(find_jdk)/bin/java" -XX:+UseSerialGC -cp "$bench_dir/sides/candidate/nereid-benchmarks.jar" \
    io.nereid.benchmarks.compare.CompareCommand --base "$base" --base-name "$base_name" \
    --candidate "$candidate" --candidate-name "$candidate_name" "$@"
}

compare_usage() {
  cat <<'USAGE'
Usage: ./dev bench compare BASE [--suite SUITE] [--only REGEX] [--time TIME] [--threshold PERCENT] [--out DIR]

Compares the benchmarks of this tree, as it is, with those of BASE: a commit, a tag, or a directory
with a tree that was built.

  --suite      core (unless said otherwise), json, grpc, http, onnx, all or fast
  --only       of the suite, only benchmarks whose name has this regular expression in it
  --time       as much as it may take, builds not counted: 90s, 10m (unless said otherwise), 1h
  --threshold  the slowdown that counts, 5% unless said otherwise
  --out        where the reports go, build/bench/report unless said otherwise

Ends with 0: nothing is slower; 1: something is; 2: wrong usage; 3: a side could not be built;
4: not everything could be measured; 5: the two have no benchmark in common.
USAGE
}

bench_compare() {
  local base=${1:-} side commit name
  case $base in
    -h | --help)
      compare_usage
      exit
      ;;
    '' | -*)
      compare_usage >&2
      bench_die $bench_usage "compare with what? Expected a commit, a tag or a directory, got '$base'"
      ;;
  esac
  shift
  require "${tools_build[@]}"
  if [[ -d $base ]]; then
    side=$base
    name=$base
  else
    commit=$(git rev-parse --verify --quiet "$base^{commit}") ||
      bench_die $bench_usage "expected a commit, a tag or a directory, got '$base', which is none here"
    name=$base
  fi
  build_candidate || bench_die $bench_not_built 'this tree could not be built'
  if [[ ! -d $base ]]; then
    side=$(build_commit "$commit") || bench_die $bench_not_built "$base could not be built"
  fi
  compare_sides "$side" "$name" "$bench_dir/sides/candidate" 'this tree' "$@"
}

# Compares with the commit before, and with one of long ago: a loss that is within the interval of each commit is not
# within that of a hundred.
bench_guard() {
  local base code=0
  for base in HEAD^ "$(grep -v '^#' "$root/benchmarks/pinned.txt")"; do
    bench_compare "$base" --out "$bench_dir/guard/$base" "$@" || code=$?
  done
  return "$code"
}

# Runs a comparison whose end is known beforehand.
expect_comparison() {
  local wanted=$1 what=$2 code=0
  shift 2
  compare_sides "$@" --out "$bench_dir/selftest" >"$bench_dir/selftest.log" 2>&1 || code=$?
  if [[ $code == "$wanted" ]]; then
    say "ok: $what"
  else
    cat "$bench_dir/selftest.log" >&2
    say "FAILED: $what: expected it to end with $wanted, it ended with $code"
    selftest_failed=yes
  fi
}

# Whether the comparison finds what is there, and nothing else: the last commit against itself, and
# against itself with slowdowns of a tenth planted in either language.
bench_selftest() {
  local count=${1:-20} commit head language i selftest_failed=''
  [[ $count =~ ^[0-9]+$ ]] ||
    bench_die $bench_usage "expected how often to compare a commit with itself, got '$count'"
  require "${tools_build[@]}"
  commit=$(git rev-parse --verify HEAD)
  build_candidate || bench_die $bench_not_built 'this tree could not be built'
  head=$(build_commit "$commit") || bench_die $bench_not_built 'HEAD could not be built'
  for language in core java; do
    local slow
    slow=$(build_commit "$commit" "$root/benchmarks/selftest/slow-$language.patch") ||
      bench_die $bench_not_built "slow-$language.patch could not be built on HEAD; if it does not" \
        "apply any more, plant the slowdown anew where requests pass now"
    expect_comparison $bench_slower "a slowdown of a tenth in the $language is found" \
      "$head" HEAD "$slow" "slow $language" --suite fast --only 'InlineIdentity' --time 5m
  done
  for ((i = 1; i <= count; i++)); do
    expect_comparison 0 "HEAD against itself raises no alarm, $i of $count" \
      "$head" HEAD "$head" 'HEAD again' --suite fast --time 45s
  done
  [[ ! $selftest_failed ]] || exit 1
}

# Counters that do not depend on the machine, held to benchmarks/budgets.txt.
bench_counters() {
  require "${tools_build[@]}" "${tools_test[@]}"
  build_candidate || bench_die $bench_not_built 'this tree could not be built'
  prefer_ninja
  # Maven leaves the native tests out of a build without tests, and this program is one of theirs.
  {
    cmake -S native --preset release -DNEREID_BUILD_TESTS=ON
    cmake --build build/release --target core_counters --parallel "$(nproc)"
  } >"$bench_dir/build.log" 2>&1 ||
    bench_die $bench_not_built "core_counters could not be built; see ${bench_dir#"$PWD/"}/build.log"
  "$(find_jdk)/bin/java" --enable-native-access=ALL-UNNAMED \
    -cp "$bench_dir/sides/candidate/nereid-benchmarks.jar" \
    io.nereid.benchmarks.counters.CounterCheck benchmarks/budgets.txt \
    build/release/bench/core_counters "$bench_dir/counters"
}

# Prints the commit that CI compares a change with: the one before, or HEAD where there are changes to it. Prints
# nothing where there is no such commit, or where only documentation changed, and says so.
previous_commit() {
  local base=HEAD^
  git rev-parse --git-dir >/dev/null 2>&1 || {
    say 'benchmarks skipped: this is no clone'
    return
  }
  [[ ! $(git status --porcelain --untracked-files=no) ]] || base=HEAD
  git rev-parse --verify --quiet "$base^{commit}" >/dev/null || {
    say 'benchmarks skipped: this clone has no previous commit'
    return
  }
  if ! git diff --name-only "$base" | grep -qvE '\.md$|^docs/'; then
    say 'benchmarks skipped: only documentation changed'
    return
  fi
  git rev-parse "$base^{commit}"
}

build_previous() {
  local base
  base=$(previous_commit)
  [[ ! $base ]] || build_commit "$base"
}

# What CI does on every change: a few benchmarks against the commit before, with a threshold that
# other work on the machine does not reach.
bench_ci() {
  local base side code=0
  base=$(previous_commit)
  [[ $base ]] || return 0
  build_candidate || die 'the benchmarks could not be built'
  side=$(build_commit "$base") || {
    say "benchmarks skipped: the previous commit, $base, could not be built"
    return
  }
  compare_sides "$side" "$base" "$bench_dir/sides/candidate" 'this tree' \
    --suite fast --time 60s --threshold 25% --out "$bench_dir/ci" || code=$?
  case $code in
    0) ;;
    "$bench_nothing_in_common") say 'benchmarks skipped: the previous commit has none of these' ;;
    "$bench_slower")
      die "slower than $base; './dev bench compare $base' looks closer, and $bench_dir/ci/compare.html shows it"
      ;;
    *) die "the benchmarks could not be measured" ;;
  esac
}
