# shellcheck shell=bash
# Trains a server for the AOT cache: starts it on the bundled models, sends it one request of each
# kind, and loads it for some seconds. Sourced by aot.sh in a tree, and by nereid-prepare in a distribution.

readonly aot_patience_s=600

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

# Loads the server in training with the generator of the given nereid command, so that the cache gets
# profiles of the methods that requests run through: a fresh server then compiles them at once, and for
# what they meet. Requests are few enough for some seconds, and enough to be profiled.
aot_load() {
  local port=$1 grpc_port=$2 elements option command=()
  shift 2
  for option; do
    # Of the server in training alone.
    [[ $option == -XX:AOTCacheOutput=* ]] || command+=("$option")
  done
  for elements in 16 4096; do
    env -i "PATH=$PATH" "TMPDIR=${TMPDIR:-/tmp}" "HOME=${HOME:-/}" "JAVA_HOME=${JAVA_HOME:-}" \
      "${command[@]}" perf identity_fp32 --quiet --url "http://127.0.0.1:$port" \
      --shape "INPUT0:$elements" --concurrency 4 -p 500 -r 3 --warm-up 1500
    env -i "PATH=$PATH" "TMPDIR=${TMPDIR:-/tmp}" "HOME=${HOME:-/}" "JAVA_HOME=${JAVA_HOME:-}" \
      "${command[@]}" perf identity_fp32 --quiet -i grpc --url "127.0.0.1:$grpc_port" \
      --shape "INPUT0:$elements" --concurrency 4 -p 500 -r 3 --warm-up 1500
  done
}

# The bytes of a number, as escapes for printf.
aot_bytes() {
  local number=$1 count=$2
  while ((count-- > 0)); do printf '\\x%02x' $((number >> 8 * count & 255)); done
}

# The same over HTTP/2, which that generator does not speak: inferences of 16 FP32 on one connection, few
# enough at a time that the server is never asked for more than it allows. Frames as above: settings and
# the connection's window, with room for all replies, and of each request its headers and its data.
aot_load_http2() {
  local port=$1 json body headers headers_length body_length id stream=1 batch i requests reader
  json='{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,16],"parameters":{"binary_data_size":64}}],"parameters":{"binary_data_output":true}}'
  printf -v body '%s%064d' "$json" 0
  headers='\x83\x86\x04\x1e/v2/models/identity_fp32/infer\x01\x09localhost'
  headers+="\\x00\\x1finference-header-content-length\\x03${#json}"
  headers_length=$(aot_bytes "$(printf '%b' "$headers" | wc -c)" 3)
  body_length=$(aot_bytes "${#body}" 3)
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  cat <&8 >/dev/null &
  reader=$!
  printf '%b' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' \
    "$(aot_bytes 6 3)\\x04\\x00$(aot_bytes 0 4)\\x00\\x04$(aot_bytes 65536 4)" \
    "$(aot_bytes 4 3)\\x08\\x00$(aot_bytes 0 4)$(aot_bytes 1000000000 4)" >&8
  for ((batch = 0; batch < 300; batch++)); do
    requests=''
    for ((i = 0; i < 8; i++)); do
      printf -v id '\\x%02x\\x%02x\\x%02x\\x%02x' 0 $((stream >> 16)) $((stream >> 8 & 255)) $((stream & 255))
      requests+="$headers_length\\x01\\x04$id$headers$body_length\\x00\\x01$id$body"
      stream=$((stream + 2))
    done
    printf '%b' "$requests" >&8
    if ((batch < 10)); then sleep 0.2; else sleep 0.01; fi # the first ones meet code that was never run
  done
  kill $reader
  exec 8>&-
}

# Keeps the JVM in training from compiling what only a start needs. What it compiles, a start with the cache
# compiles after a few calls: a fifth of its processor time went into what never runs again. Without such
# notes these methods are compiled by how often they run, as ever.
aot_directives() {
  local package matches=''
  for package in picocli io/nereid/cli java/lang/{classfile,invoke,module,reflect} java/util/{jar,logging,regex,zip} \
    jdk/internal/{classfile,foreign,jimage,loader,module,reflect} sun/{invoke,reflect}; do
    matches+="\"$package/*.*\", "
  done
  printf '[{ match: [%s], c2: { Exclude: true }, c1: { Exclude: true } }]\n' "${matches%, }"
}

# Runs the given nereid command as a server while the JVM takes notes; the cache is written to the
# given file when it ends, and what is said to the given log.
aot_train() {
  local cache=$1 log=$2 server port='' grpc_port='' deadline=$((SECONDS + aot_patience_s)) trained=''
  shift 2
  rm -f "$log" # what it says of an earlier run must not be taken for this one
  aot_directives >"$cache.directives"
  # Without variables that change the JVM or the server, and beside servers that have the usual ports.
  env -i "PATH=$PATH" "TMPDIR=${TMPDIR:-/tmp}" "HOME=${HOME:-/}" "JAVA_HOME=${JAVA_HOME:-}" \
    "nereid_aot_output=$cache" \
    "JDK_JAVA_OPTIONS=-XX:+UnlockDiagnosticVMOptions \"-XX:CompilerDirectivesFile=$cache.directives\"" \
    NEREID_METRICS_PORT=0 NEREID_GRPC_PORT=0 NEREID_GRPC_ADDRESS=127.0.0.1 \
    "$@" serve --http-address 127.0.0.1 --http-port 0 >"$log" 2>&1 &
  server=$!
  # An interrupt reaches this shell alone: what runs in the background does not hear Ctrl-C.
  trap 'kill -KILL $server 2>/dev/null; rm -f "$cache.directives"; exit 130' INT TERM HUP
  while ((SECONDS < deadline)) && kill -0 $server 2>/dev/null; do
    if grep -qs '^Ready ' "$log"; then
      port=$(sed -n 's|^Serving HTTP at http://127.0.0.1:\([0-9]*\)$|\1|p' "$log")
      grpc_port=$(sed -n 's|^Serving gRPC at .*:\([0-9]*\)$|\1|p' "$log")
      # In a shell of its own, which a connection that fails ends.
      if (aot_requests "$port" "$grpc_port") 2>>"$log"; then trained=yes; fi
      # Without a load the cache is worth less, and not nothing.
      if [[ $trained ]]; then
        (aot_load_http2 "$port") >>"$log" 2>&1 || true
        aot_load "$port" "$grpc_port" "$@" >>"$log" 2>&1 || true
      fi
      break
    fi
    sleep 0.1
  done
  kill -TERM $server 2>/dev/null
  while ((SECONDS < deadline)) && kill -0 $server 2>/dev/null; do sleep 0.1; done
  kill -KILL $server 2>/dev/null
  wait $server 2>/dev/null
  trap - INT TERM HUP
  rm -f "$cache.directives"
  [[ $trained && -s $cache ]]
}
