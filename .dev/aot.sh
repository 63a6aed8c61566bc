# shellcheck shell=bash
# The AOT cache: classes that are loaded and linked, and profiles of methods, from a run of the server
# on the bundled models. Starting with it takes half the time. It is a matter of speed alone: without
# it, or where it does not fit (another JDK, other jars), the JVM starts as ever.
# Sourced after tools.sh and build.sh.

# shellcheck source=.dev/train.sh
. "$root/.dev/train.sh"

aot_cache=$root/build/nereid.aot
# When the cache was last made, or could not be; in it, the JDK that was asked to.
aot_stamp=$root/build/aot.stamp
aot_log=$root/build/aot.log

# shellcheck source=.dev/java.sh
. "$root/.dev/java.sh"
# shellcheck disable=SC2206 # each word is an option
java_options=($jvm_options "-Dnereid.home=$root")

# The JDK that starts the server, with what its release file says: it may be updated in place.
aot_jdk() {
  local jdk
  jdk=$(find_jdk) || return 1
  printf '%s\n%s\n' "$jdk" "$(<"$jdk/release")"
}

# The stamp is older than a jar that was rebuilt since, by whatever command, or of another JDK. Where
# nothing can be written a cache that is not current stays as it is: the JVM passes over it.
aot_is_current() {
  [[ -w $root/build ]] || return 0
  [[ -e $aot_stamp && $(<"$aot_stamp") == "$(aot_jdk)" ]] || return 1
  local newer
  newer=$(find "$jar" "$root/tools/cli/target/lib" -name '*.jar' -newer "$aot_stamp" -print -quit)
  [[ -z $newer ]]
}

# Sets `aot_options`: the cache, where there is one.
aot_options() {
  aot_options=()
  # The JVM refuses to start with two opinions about its archives.
  local said="${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}"
  if [[ -r $aot_cache && $said != *-Xshare* && $said != *-XX:*AOT* && $said != *-XX:*Archive* ]]; then
    # shellcheck disable=SC2206 # each word is an option
    aot_options=("-XX:AOTCache=$aot_cache" $aot_use)
    # JVMs of isolated models may use it, too: their options have blanks between them.
    if [[ $said != *nereid.isolation.jvm* && $aot_cache != *' '* ]]; then
      aot_options+=("-Dnereid.isolation.jvm=-XX:AOTCache=$aot_cache $aot_use")
    fi
  fi
}

# In a tree the server starts on free ports, whatever a user has set.
aot_train_tree() {
  local jdk
  jdk=$(find_jdk) || return 1
  aot_train "$aot_cache.new" "$aot_log" "$jdk/bin/java" "${java_options[@]}" \
    "-XX:AOTCacheOutput=$aot_cache.new" -jar "$jar"
}

# Makes the cache anew; where that fails the log says why, and it is not tried again until a jar changes.
make_aot() {
  rm -f "$aot_cache" "$aot_cache.new"
  if aot_train_tree; then
    mv "$aot_cache.new" "$aot_cache"
  else
    rm -f "$aot_cache.new"
  fi
  aot_jdk >"$aot_stamp"
}

# The same behind a command, which does not wait: with what the processors have left, and for one caller.
# A JVM that has the old cache open keeps it.
make_aot_in_background() {
  aot_is_current && return
  has flock || return 0
  (
    exec 9>"$root/build/aot.lock" </dev/null >/dev/null 2>&1
    flock --nonblock 9 || exit 0
    trap '' INT HUP
    renice -n 10 "$BASHPID" || true
    make_aot 9>&-
  ) &
}
