# shellcheck shell=sh
# The options of every JVM that runs the product, for a shell of any kind. Sourced by aot.sh in a tree,
# and by bin/nereid in a distribution: an AOT cache is of use only to a JVM that has the same ones.

# A JVM whose heap ran out may lack threads that died of it: it ends with 3, and whoever supervises it
# starts it anew.
# Virtual threads that wait for sockets are woken by a thread that polls, not by a virtual one that such a thread wakes.
# What is called by reflection is called at a start alone, and once: classes that would make such calls faster cost more.
jvm_options='--enable-native-access=ALL-UNNAMED -XX:+ExitOnOutOfMemoryError
  -XX:+UseCompactObjectHeaders -XX:TrimNativeHeapInterval=10000 -Djdk.pollerMode=1
  -Djdk.reflect.useNativeAccessorOnly=true'
# Tensors are outside of the heap: it begins small and grows where connections need it. Who chooses a
# collector chooses all of this. docs/scaling.md has what was measured.
case "${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}" in
  *-XX:+Use*GC*) ;;
  *) jvm_options="$jvm_options -XX:+UseSerialGC -XX:InitialRAMPercentage=0.4 -XX:NewSize=12m" ;;
esac
# With an AOT cache, which the JVM passes over in silence if it does not fit. It is mapped where it was made for,
# so that nothing in it has to be changed: 22 MB less that no other process shares. Its profiles let the JVM compile
# thoroughly what a start alone needs, and inline so much that the first seconds of load go into that: it waits four
# times as long, and inlines less: no large code, and what is not called nearly each time only where it is short.
# docs/scaling.md has what was measured.
# shellcheck disable=SC2034 # whoever sources this uses it
aot_use='-XX:AOTMode=auto -Xlog:aot*=off,cds*=off -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0
  -XX:Tier4InvocationThreshold=20000 -XX:Tier4MinInvocationThreshold=2400 -XX:Tier4CompileThreshold=60000
  -XX:Tier4BackEdgeThreshold=160000 -XX:InlineSmallCode=1000 -XX:InlineFrequencyRatio=0.9'
# The C library makes up to eight arenas a processor, and each keeps what compilers and models have freed until it is
# trimmed. With one a processor a server under load is 25 to 45 MB smaller, and as fast.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-$(nproc)}"
