# shellcheck shell=bash
# The AOT cache: classes that are loaded and linked, and profiles of methods, from a run of the server
# on the bundled models. Starting with it takes half the time. It is a matter of speed alone: without
# it, or where it does not fit (another JDK, other jars), the JVM starts as ever.
# Sourced after tools.sh and build.sh.

aot_cache=$root/build/nereid.aot
# When the cache was last made, or could not be; in it, the JDK that was asked to.
aot_stamp=$root/build/aot.stamp
aot_log=$root/build/aot.log
readonly aot_patience_s=300

# Of every JVM that runs the product: one with others cannot use the cache.
java_options=(--enable-native-access=ALL-UNNAMED "-Dnereid.home=$root")

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
  newer=$(find "$jar" "$root/server/target/lib" -name '*.jar' -newer "$aot_stamp" -print -quit)
  [[ -z $newer ]]
}

# Sets `aot_options`: the JVM uses the cache if it fits and says nothing if it does not.
aot_options() {
  aot_options=()
  # The JVM refuses to start with two opinions about its archives.
  local said="${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}"
  if [[ -r $aot_cache && $said != *-Xshare* && $said != *-XX:*AOT* && $said != *-XX:*Archive* ]]; then
    aot_options=("-XX:AOTCache=$aot_cache" -XX:AOTMode=auto '-Xlog:aot*=off,cds*=off')
  fi
}

# Sends one request to the server in training and reads the reply to its end.
aot_request() {
  local port=$1 method=$2 path=$3 fields=$4 body=$5 reply
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  printf '%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n%b\r\n%b' \
    "$method" "$path" "${#body}" "$fields" "$body" >&8
  IFS= read -r -t 20 reply <&8
  cat <&8 >/dev/null
  exec 8>&-
  [[ $reply == 'HTTP/1.1 200 OK'* ]]
}

# Sends one inference over gRPC: the least HTTP/2 there is. Frames of settings, of headers (89 bytes,
# none of them compressed) and of data (46: five of gRPC's own, and the message), each behind its
# length, type, flags and stream. The connection stays open: the reply is taken for it when the
# model's name is in it.
aot_grpc_request() {
  local port=$1 headers='' data=''
  headers='\x83\x86\x04\x2a/inference.GRPCInferenceService/ModelInfer\x01\x09localhost'
  headers+='\x0f\x10\x10application/grpc\x00\x02te\x08trailers'
  data='\x00\x00\x00\x00\x29\x0a\x0didentity_fp32\x2a\x12\x0a\x06INPUT0\x12\x04FP32'
  data+='\x1a\x02\x01\x01\x3a\x04AAAA'
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  printf '%b' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' '\x00\x00\x00\x04\x00\x00\x00\x00\x00' \
    '\x00\x00\x59\x01\x04\x00\x00\x00\x01' "$headers" \
    '\x00\x00\x2e\x00\x01\x00\x00\x00\x01' "$data" >&8
  timeout 20 grep -aqm1 identity_fp32 <&8
  local found=$?
  exec 8>&-
  return $found
}

# One request of each kind.
aot_requests() {
  local port=$1 grpc_port=$2 json='' binary=''
  json='{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]}'
  binary='{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,1],"parameters":{"binary_data_size":4}}],"parameters":{"binary_data_output":true}}'
  aot_request "$port" GET /v2/health/ready '' '' &&
    aot_request "$port" GET /v2 '' '' &&
    aot_request "$port" GET /v2/models/identity_fp32 '' '' &&
    aot_request "$port" GET /v2/models/identity_fp32/config '' '' &&
    aot_request "$port" POST /v2/repository/index '' '{}' &&
    aot_request "$port" POST /v2/models/identity_fp32/infer '' "$json" &&
    aot_request "$port" POST /v2/models/identity_fp32/infer \
      "Inference-Header-Content-Length: ${#binary}\r\n" "${binary}AAAA" &&
    aot_request "$port" GET /v2/models/stats '' '' &&
    aot_grpc_request "$grpc_port"
}

# Runs the server while the JVM takes notes; the cache is written when it ends.
aot_train() {
  local jdk server port='' grpc_port='' deadline=$((SECONDS + aot_patience_s)) trained=''
  jdk=$(find_jdk) || return 1
  rm -f "$aot_log" # what it says of an earlier run must not be taken for this one
  # Without variables that change the JVM or the server, and beside servers that have the usual ports.
  env -i "PATH=$PATH" "TMPDIR=${TMPDIR:-/tmp}" "HOME=${HOME:-/}" \
    NEREID_METRICS_PORT=0 NEREID_GRPC_PORT=0 NEREID_GRPC_ADDRESS=127.0.0.1 \
    "$jdk/bin/java" "${java_options[@]}" "-XX:AOTCacheOutput=$aot_cache.new" \
    -jar "$jar" serve --http-address 127.0.0.1 --http-port 0 >"$aot_log" 2>&1 &
  server=$!
  # An interrupt reaches this shell alone: what runs in the background does not hear Ctrl-C.
  trap 'kill -KILL $server 2>/dev/null; exit 130' INT TERM HUP
  while ((SECONDS < deadline)) && kill -0 $server 2>/dev/null; do
    if grep -qs '^Ready ' "$aot_log"; then
      port=$(sed -n 's|^Serving HTTP at http://127.0.0.1:\([0-9]*\)$|\1|p' "$aot_log")
      grpc_port=$(sed -n 's|^Serving gRPC at .*:\([0-9]*\)$|\1|p' "$aot_log")
      # In a shell of its own, which a connection that fails ends.
      if (aot_requests "$port" "$grpc_port") 2>>"$aot_log"; then trained=yes; fi
      break
    fi
    sleep 0.1
  done
  kill -TERM $server 2>/dev/null
  while ((SECONDS < deadline)) && kill -0 $server 2>/dev/null; do sleep 0.1; done
  kill -KILL $server 2>/dev/null
  wait $server 2>/dev/null
  trap - INT TERM HUP
  [[ $trained && -s $aot_cache.new ]]
}

# Makes the cache anew; that it cannot be made is said once, until a jar changes.
make_aot() {
  local started=$SECONDS
  say 'Preparing quick starts ...'
  rm -f "$aot_cache" "$aot_cache.new"
  if aot_train; then
    mv "$aot_cache.new" "$aot_cache"
    say "Prepared in $((SECONDS - started)) s"
  else
    rm -f "$aot_cache.new"
    say "Starts will take longer: preparing them failed; see ${aot_log#"$PWD/"}"
  fi
  aot_jdk >"$aot_stamp"
}
