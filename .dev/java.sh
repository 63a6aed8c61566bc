# shellcheck shell=sh
# The options of every JVM that runs the product, for a shell of any kind. Sourced by aot.sh in a tree,
# and by bin/nereid in a distribution: an AOT cache is of use only to a JVM that has the same ones.

# A JVM whose heap ran out may lack threads that died of it: it ends with 3, and whoever supervises it
# starts it anew.
jvm_options='--enable-native-access=ALL-UNNAMED -XX:+ExitOnOutOfMemoryError
  -XX:+UseCompactObjectHeaders -XX:TrimNativeHeapInterval=10000'
# Tensors are outside of the heap: it begins small and grows where connections need it. Who chooses a
# collector chooses all of this. docs/scaling.md has what was measured.
case "${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}" in
  *-XX:+Use*GC*) ;;
  *) jvm_options="$jvm_options -XX:+UseSerialGC -XX:InitialRAMPercentage=0.4 -XX:NewSize=12m" ;;
esac
