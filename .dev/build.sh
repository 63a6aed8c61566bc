# shellcheck shell=bash
# Builds with Maven. Sourced after tools.sh; needs `root`, the top of the tree.

jar=$root/tools/cli/target/nereid-server.jar
stamp=$root/build/product.stamp
build_log=$root/build/build.log

# What the core is built from.
native_paths=(cmake native/CMakeLists.txt native/CMakePresets.json native/nereid.map native/include native/base
  native/identity native/isolation native/memory native/core native/onnxruntime native/triton)

# The version of ONNX Runtime that pom.xml asks for.
onnxruntime_version() { sed -n 's|.*<onnxruntime.version>\(.*\)</onnxruntime.version>.*|\1|p' "$root/pom.xml"; }

# Only a fresh build tree takes it up: an existing one keeps its generator.
prefer_ninja() {
  if has ninja; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi
}

# What another tree of the sources or an earlier commit has compiled, this tree need not.
prefer_ccache() {
  has ccache || return 0
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 \
    CCACHE_SLOPPINESS=pch_defines,time_macros
}

# When the sources are from: the commit's time, or what SOURCE_TIME says where there is no repository.
source_time() {
  printf '%s\n' "${SOURCE_TIME:-$(TZ=UTC0 git -C "$root" log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ \
    --format=%cd 2>/dev/null || printf '2026-01-01T00:00:00Z')}"
}

# CMake refuses a build tree that was copied or moved with the sources: such a one is made anew.
forget_moved_builds() {
  local cache
  for cache in "$1"/build/*/CMakeCache.txt; do
    if [[ -e $cache ]] && ! grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=${cache%/*}" "$cache"; then
      rm -rf "${cache%/*}"
    fi
  done
}

# Maven in a directory, on the JDK that the code needs, wherever it is called from: the formatter runs
# inside Maven's own JVM, as do javac and, in the profile locks, Error Prone, which javac is opened to. Two options
# keep Maven's libraries from warning about themselves; with the third the times in jars, which have no zone, are
# the same everywhere.
maven_in() {
  local directory=$1 jdk jobs opts java_17 package
  shift
  if java_17=$(find_java_17); then set -- "-Djava17.home=$java_17" -Djava17.skip=false "$@"; fi
  jdk=$(find_jdk)
  jobs=$(nproc)
  opts="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Duser.timezone=UTC ${MAVEN_OPTS:-}"
  for package in api file main model parser processing tree util; do
    opts+=" --add-exports=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"
  done
  for package in code comp; do opts+=" --add-opens=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"; done
  prefer_ninja
  (
    cd "$directory"
    forget_moved_builds "$PWD"
    prefer_ccache "$PWD"
    exec env "JAVA_HOME=$jdk" "MAVEN_OPTS=$opts" mvn --batch-mode "-Dnative.jobs=$jobs" \
      "-Dproject.build.outputTimestamp=$(source_time)" "$@"
  )
}

run_maven() { maven_in "$root" "$@"; }

product_is_current() {
  [[ -e $stamp && -e $jar ]] || return 1
  local newer
  newer=$(cd "$root" && find pom.xml bindings/types/pom.xml bindings/types/src proto/pom.xml proto/src bindings/client/pom.xml bindings/client/src/main tools/perf/pom.xml tools/perf/src/main bindings/runtime/pom.xml \
    bindings/runtime/src/main bindings/recording/pom.xml bindings/recording/src/main bindings/stores/pom.xml bindings/stores/src/main bindings/triton/pom.xml bindings/triton/src/main bindings/tensorrt/pom.xml bindings/tensorrt/src/main integrations/text/pom.xml integrations/text/src/main \
    server/pom.xml server/src/main server/console/pom.xml server/console/src/main tools/cli/pom.xml tools/cli/src/main "${native_paths[@]}" \
    -newer "$stamp" -print -quit)
  [[ -z $newer ]]
}

# Reads Maven's output and says, once a step, what it is at: over one line of a terminal, else in
# plain lines, without the steps within a module.
show_progress() {
  local line step='' terminal=''
  [[ -t 2 ]] && terminal=yes
  while IFS= read -r line; do
    if [[ $line =~ ^\[INFO\]\ Building\ ([A-Za-z-]+)\ .*\[([0-9]+/[0-9]+)\] ]]; then
      step="[${BASH_REMATCH[2]}] ${BASH_REMATCH[1]}"
      if [[ $terminal ]]; then printf '\r\e[K%s' "$step" >&2; else say "$step"; fi
    elif [[ $terminal && $line =~ ^\[INFO\]\ Downloading\ .*/([^/]+)$ ]]; then
      printf '\r\e[K%s: downloading %.60s' "${step:-starting}" "${BASH_REMATCH[1]}" >&2
    elif [[ $terminal && $line =~ ^\[INFO\]\ ---\ .*:([a-z-]+)\ \((default-)?([^\)]+)\) ]]; then
      # Maven calls an execution without a name "default": its goal says more.
      printf '\r\e[K%s: %s' "$step" "${BASH_REMATCH[3]/#default/${BASH_REMATCH[1]}}" >&2
    fi
  done
  if [[ $terminal ]]; then printf '\r\e[K' >&2; fi
}

# Runs the build and, when it succeeds, marks the product as current.
build_now() {
  local started=$SECONDS
  local noise='\[Help 1\]|stack trace|-X switch|more information|mvn <args>|After correcting|^\[ERROR\] *$'
  say 'Building Nereid ...'
  # Taken before the build, so that an edit during it counts as newer.
  touch "$stamp.new"
  if run_maven -DskipTests -Dmaven.test.skip --projects tools/cli --also-make package 2>&1 |
    tee "$build_log" | show_progress; then
    mv "$stamp.new" "$stamp"
    say "Built in $((SECONDS - started)) s"
  else
    grep -E '^\[ERROR\]|error:|CMake Error' "$build_log" | grep -vE "$noise" | tail -n 30 >&2 || true
    die "the build failed; its whole output is in ${build_log#"$PWD/"}"
  fi
}

# Brings tools/cli/target up to date if the sources have moved on since the last time.
build_product() {
  product_is_current && return
  require "${tools_build[@]}"
  mkdir -p "$root/build"
  # A second caller waits here for the first, and then finds the work done.
  exec 9>"$root/build/product.lock"
  if has flock && ! flock --nonblock 9; then
    say 'Waiting for another build ...'
    flock 9
  fi
  product_is_current || build_now 9>&-
  exec 9>&-
}
