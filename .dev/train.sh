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

# The headers of an inference over gRPC, none of them compressed.
aot_grpc_headers='\x83\x86\x04\x2a/inference.GRPCInferenceService/ModelInfer\x01\x09localhost'
aot_grpc_headers+='\x0f\x10\x10application/grpc\x00\x02te\x08trailers'
readonly aot_grpc_headers

# Sends one inference over gRPC: the least HTTP/2 there is. Frames of settings, of headers (89 bytes,
# none of them compressed) and of data (46: five of gRPC's own, and the message), each behind its
# length, type, flags and stream. The connection stays open: the reply is taken for it when the
# model's name is in it.
aot_grpc_request() {
  local port=$1 data=''
  data='\x00\x00\x00\x00\x29\x0a\x0didentity_fp32\x2a\x12\x0a\x06INPUT0\x12\x04FP32'
  data+='\x1a\x02\x01\x01\x3a\x04AAAA'
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  printf '%b' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' '\x00\x00\x00\x04\x00\x00\x00\x00\x00' \
    '\x00\x00\x59\x01\x04\x00\x00\x00\x01' "$aot_grpc_headers" \
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

# Loads the server in training over HTTP/1.1 with the generator of the given nereid command, so that the cache gets
# profiles of the methods that requests run through: a fresh server then compiles them at once, and for
# what they meet. Requests are few enough for some seconds, and enough to be profiled.
aot_load() {
  local port=$1 elements option command=()
  shift
  for option; do
    # Of the server in training alone.
    [[ $option == -XX:AOTCacheOutput=* ]] || command+=("$option")
  done
  for elements in 16 4096; do
    env -i "PATH=$PATH" "TMPDIR=${TMPDIR:-/tmp}" "HOME=${HOME:-/}" "JAVA_HOME=${JAVA_HOME:-}" \
      "${command[@]}" perf identity_fp32 --quiet --url "http://127.0.0.1:$port" \
      --shape "INPUT0:$elements" --concurrency 4 -p 500 -r 3 --warm-up 1500
  done
}

# The bytes of a number, as escapes for printf.
aot_bytes() {
  local number=$1 count=$2
  while ((count-- > 0)); do printf '\\x%02x' $((number >> 8 * count & 255)); done
}

# Sends requests on one connection of HTTP/2, few enough at a time that the server is never asked for more than it
# allows: the given number of batches of 8, each of the given headers and frames of data, as escapes. Frames are as
# above: settings and the connection's window, with room for all replies, and those of each request.
aot_load_http2() {
  local port=$1 batches=$2 headers=$3 frame id flags=0 stream=1 batch i head='' requests reader before=()
  local frames=("${@:4}")
  head="$(aot_bytes "$(printf '%b' "$headers" | wc -c)" 3)\\x01\\x04"
  for frame in "${frames[@]}"; do
    ((${#before[@]} < ${#frames[@]} - 1)) || flags=1 # the last one ends the request
    before+=("$(aot_bytes "$(printf '%b' "$frame" | wc -c)" 3)\\x00\\x0$flags")
  done
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  cat <&8 >/dev/null &
  reader=$!
  printf '%b' 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' \
    "$(aot_bytes 6 3)\\x04\\x00$(aot_bytes 0 4)\\x00\\x04$(aot_bytes 65536 4)" \
    "$(aot_bytes 4 3)\\x08\\x00$(aot_bytes 0 4)$(aot_bytes 1000000000 4)" >&8
  for ((batch = 0; batch < batches; batch++)); do
    requests=''
    for ((; stream < 16 * (batch + 1); stream += 2)); do
      printf -v id '\\x%02x\\x%02x\\x%02x\\x%02x' 0 $((stream >> 16)) $((stream >> 8 & 255)) $((stream & 255))
      requests+="$head$id$headers"
      for i in "${!frames[@]}"; do requests+="${before[i]}$id${frames[i]}"; done
    done
    printf '%b' "$requests" >&8
    if ((batch < 10)); then sleep 0.2; else sleep 0.005; fi # the first ones meet code that was never run
  done
  kill $reader
  exec 8>&-
}

# Inferences of 16 and of 4 096 FP32 over gRPC. Methods without tensors are not called: their messages are a thousand
# classes, which a start with the cache would load.
aot_load_grpc() {
  local port=$1 request='' input='\x0a\x06INPUT0\x12\x04FP32' tensor
  printf -v tensor '%064d' 0
  request="\\x0a\\x0didentity_fp32\\x1a\\x0512345\\x2a\\x12$input\\x1a\\x02\\x01\\x10\\x3a\\x40$tensor"
  aot_load_http2 "$port" 3000 "$aot_grpc_headers" '\x00\x00\x00\x00\x6c'"$request"
  printf -v tensor '%016384d' 0
  request="\\x0a\\x0didentity_fp32\\x1a\\x0512345\\x2a\\x13$input\\x1a\\x03\\x01\\x80\\x20\\x3a\\x80\\x80\\x01"
  aot_load_http2 "$port" 500 "$aot_grpc_headers" '\x00\x00\x00\x40\x2f'"$request" "$tensor"
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
        (aot_load_grpc "$grpc_port") >>"$log" 2>&1 || true
        aot_load "$port" "$@" >>"$log" 2>&1 || true
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
