# shellcheck shell=sh
# The options of every JVM that runs the product, for a shell of any kind. Sourced by aot.sh in a tree,
# and by bin/nereid in a distribution: an AOT cache is of use only to a JVM that has the same ones.
# docs/scaling.md has the figures of each.

# A JVM whose heap ran out may lack threads that died of it: it ends with 3, and a supervisor starts it anew.
jvm_options='--enable-native-access=ALL-UNNAMED -XX:+ExitOnOutOfMemoryError
  -XX:+UseCompactObjectHeaders -XX:TrimNativeHeapInterval=10000'
# Tensors are outside of the heap. On a small machine it begins small and grows where connections need it; on others
# the JVM chooses. A user who sets a collector or a heap gets exactly that.
case "$(nproc) ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}" in
  *-XX:+Use*GC* | *-Xm[nsx]* | *RAMPercentage* | *HeapSize* | *NewSize*) ;;
  [12]\ *) jvm_options="$jvm_options -XX:+UseSerialGC -XX:InitialRAMPercentage=0.4 -XX:NewSize=12m -XX:-ShrinkHeapInSteps" ;;
esac
# With an AOT cache, which the JVM passes over in silence if it does not fit. It is mapped where it was made for, so
# that nothing in it has to be changed: 20 MB less that no other process shares.
# shellcheck disable=SC2034 # the scripts that source this use it
aot_use='-XX:AOTMode=auto -Xlog:aot*=off,cds*=off -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0'
# The C library makes up to eight arenas a processor, and each keeps what compilers and models have freed until it is
# trimmed. With one a processor a server under load is 25 to 45 MB smaller, and as fast.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-$(nproc)}"
# Without a locale, as in most images, Java could open no file whose name has an accent.
if [ -z "${LC_ALL:-}${LC_CTYPE:-}${LANG:-}" ]; then export LC_ALL=C.UTF-8; fi
