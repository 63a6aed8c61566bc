# shellcheck shell=bash
# './dev bench server': what a server takes and does, from its start to a minute after its load, beside
# another build in turns. Sourced after bench.sh; needs `root`, the top of the tree.

server_dir=$root/build/server-bench
readonly server_models='digits identity_fp32 simple simple_string'

# What CI holds: resident memory without the files that processes share, in MB. When ready it is 71 to 75
# once compilers rest and have given back theirs (80 to 84 beside one that works), and 88 with the parallel
# collector. After the load compilers still hold some of it: two builds took 287 to 339 and 318 to 364 in
# turns on two fast processors, and 541 with G1.
readonly most_ready_mb=80 most_loaded_mb=420

# And processor time until the server is ready and has answered its first requests over gRPC, in ms. Most
# of it is the compilers'; the limit allows for machines that are half as fast.
readonly most_first_ms=16000 first_requests=20000

server_usage() {
  cat <<'USAGE'
Usage: ./dev bench server [--base TREE] [--seconds N] [--idle N] [--only REGEX] [--guard]

Starts the server of this tree on four small models and measures it: memory, the start, the first
seconds, and requests of all kinds, with clients in C (h2load, wrk) and nereid perf for an open loop.

  --base     a tree that was built: its server is measured in turns with this one, A B B A
  --seconds  of each load, 4 unless said otherwise
  --idle     seconds after the load until memory is looked at again, 75 unless said otherwise
  --only     only loads whose name has this regular expression in it
  --guard    memory and the cost of the first requests alone, held to what CI allows
USAGE
}

# ---- What is sent ---------------------------------------------------------------------------------

# Prints a number as protobuf writes it, as escapes for printf.
varint() {
  local left=$1
  while ((left > 127)); do
    printf '\\x%02x' $((left & 127 | 128))
    left=$((left >> 7))
  done
  printf '\\x%02x' "$left"
}

# Writes the bodies of requests with so many elements: http-N, http-N.length and grpc-N.
server_bodies() {
  local count=$1 bytes=$((4 * $1)) json tensor head length
  json='{"id":"1","inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,'$count'],"parameters":{"binary_data_size":'$bytes'}}],"parameters":{"binary_data_output":true}}'
  printf '%d' "${#json}" >"$server_dir/http-$count.length"
  {
    printf '%s' "$json"
    head -c "$bytes" /dev/zero
  } >"$server_dir/http-$count"
  # A shape [1, count] and the input around it, then the raw contents.
  printf '%b' "\\x01$(varint "$count")" >"$server_dir/shape"
  length=$(stat -c %s "$server_dir/shape")
  tensor="\\x0a\\x06INPUT0\\x12\\x04FP32\\x1a$(varint "$length")\\x01$(varint "$count")"
  head="\\x0a\\x0didentity_fp32\\x2a$(varint $((16 + length)))$tensor\\x3a$(varint "$bytes")"
  length=$(($(printf '%b' "$head" | wc -c) + bytes))
  {
    printf '%b' "\\x00$(printf '\\x%02x' $((length >> 24)) $((length >> 16 & 255)) $((length >> 8 & 255)) $((length & 255)))"
    printf '%b' "$head"
    head -c "$bytes" /dev/zero
  } >"$server_dir/grpc-$count"
}

server_prepare() {
  local model i
  mkdir -p "$server_dir/models"
  for model in $server_models; do
    [[ -e $server_dir/models/$model ]] || cp -r "$root/examples/models/$model" "$server_dir/models/"
  done
  server_bodies 16
  server_bodies 150528
  printf '{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,1024],"data":[' >"$server_dir/json"
  for ((i = 1; i < 1024; i++)); do printf '%d.%d,' $((i % 7)) $((i * 37)); done >>"$server_dir/json"
  printf '0.5]}]}' >>"$server_dir/json"
}

# ---- Servers --------------------------------------------------------------------------------------

# Starts the server of a tree under a name and waits until it is ready; sets pid_NAME, http_NAME, grpc_NAME
# and start_NAME, the milliseconds from the command to the line that says so.
server_start() {
  local name=$1 tree=$2 log=$server_dir/$1.log begun pid pause lines
  exec {pause}<> <(:)
  rm -f "$log" # what it says of an earlier run must not be taken for this one
  begun=$(date +%s%3N)
  "$tree/nereid" serve "$server_dir/models" --http-address 127.0.0.1 --http-port 0 --grpc-address 127.0.0.1 \
    --grpc-port 0 --metrics-port 0 >"$log" 2>&1 &
  pid=$!
  # Nothing is started to look or to wait: that would take a processor from what is measured.
  until [[ -e $log ]] && mapfile -t lines <"$log" && [[ $'\n'${lines[*]/#/$'\n'} == *$'\nReady '* ]]; do
    kill -0 $pid 2>/dev/null || die "the server of $tree ended; see ${log#"$PWD/"}"
    read -rt 0.01 -u "$pause" || true
  done
  exec {pause}>&-
  printf -v "start_$name" %d $(($(date +%s%3N) - begun))
  printf -v "pid_$name" %d $pid
  printf -v "http_$name" %s "$(sed -n 's|^Serving HTTP at \(.*\)$|\1|p' "$log")"
  printf -v "grpc_$name" %s "$(sed -n 's|^Serving gRPC at \(.*\)$|http://\1|p' "$log")"
}

server_stop() {
  local pid=pid_$1
  kill "${!pid}"
  wait "${!pid}" || true
}

# Megabytes: resident, and of it anonymous and files.
server_memory() {
  local pid=pid_$1
  awk '/^(VmRSS|RssAnon|RssFile)/ { printf "%d ", $2 / 1024 } END { print "" }' "/proc/${!pid}/status"
}

# Microseconds of a server's processors.
server_cpu() { awk '{ print ($14 + $15) * 10000 }' "/proc/$1/stat"; }

# ---- Loads ----------------------------------------------------------------------------------------

# name, protocol, body, connections, and for gRPC how many requests are under way on each.
server_loads() {
  cat <<'LOADS'
http-16-8 h1 http-16 8
http-16-32 h1 http-16 32
http-16-ids-8 ids http-16 8
http-16-ids-32 ids http-16 32
http-16-ids-500 ids http-16 500
http-16-ids-1000 ids http-16 1000
http-16-half-open perf-rate 16 32
http-json-8 h1 json 8
http-150528-1 h1 http-150528 1
http-150528-8 h1 http-150528 8
http-150528-32 h1 http-150528 32
grpc-16-1x8 grpc grpc-16 1 8
grpc-16-1x32 grpc grpc-16 1 32
grpc-16-8x4 grpc grpc-16 8 4
grpc-16-32x1 grpc grpc-16 32 1
grpc-16-500x1 grpc grpc-16 500 1
grpc-150528-1x1 grpc grpc-150528 1 1
grpc-150528-1x8 grpc grpc-150528 1 8
grpc-150528-1x32 grpc grpc-150528 1 32
LOADS
}

# Requests a second, CPU in us, and p50, p99, p99.9 and the longest in ms, of what h2load wrote down.
server_figures() {
  local seconds=$1 cpu=$2
  awk '$2 == 200 { print $3 }' "$server_dir/requests.log" | sort -n | awk -v s="$seconds" -v cpu="$cpu" '
    { t[NR] = $1 / 1000 }
    END {
      if (!NR) { print "none succeeded"; exit }
      printf "%9.0f %8.1f %8.2f %8.2f %8.2f %8.2f\n", NR / s, cpu / NR, t[int((NR + 1) / 2)], \
        t[int((NR - 1) * 0.99) + 1], t[int((NR - 1) * 0.999) + 1], t[NR]
    }'
}

# Sends one of the loads to a server; the rest is what h2load is told: for how long, what to write down.
server_send() {
  local name=$1 kind=$2 body=$3 connections=$4 each=$5 options=(-c "$4") url http=http_$1 grpc=grpc_$1
  shift 5
  url=${!http}/v2/models/identity_fp32/infer
  case $kind in
    h1) options+=(--h1) ;;
    grpc)
      options+=(-m "$each" -w 22 -W 24 -H content-type:application/grpc -H te:trailers)
      url=${!grpc}/inference.GRPCInferenceService/ModelInfer
      ;;
  esac
  [[ $body != http-* ]] || options+=(-H "inference-header-content-length:$(<"$server_dir/$body.length")")
  h2load -t 1 -d "$server_dir/$body" "${options[@]}" "$@" "$url" >"$server_dir/h2load.log"
}

# Loads a server once and prints the figures.
server_load() {
  local name=$1 seconds=$2 kind=$3 body=$4 connections=$5 each=${6:-1} before http=http_$1 pid=pid_$1
  case $kind in
    perf-rate) server_perf "${!http}" "$seconds" "$body" && return ;;
    ids) server_ids "$name" "$seconds" "$body" "$connections" && return ;;
  esac
  rm -f "$server_dir/requests.log"
  before=$(server_cpu "${!pid}")
  server_send "$name" "$kind" "$body" "$connections" "$each" -D "$seconds" "--log-file=$server_dir/requests.log"
  server_figures "$seconds" $(($(server_cpu "${!pid}") - before))
}

# A closed loop of requests whose JSON has an id each, by wrk.
server_ids() {
  local name=$1 seconds=$2 body=$3 connections=$4 before http=http_$1 pid=pid_$1
  before=$(server_cpu "${!pid}")
  wrk -t 1 -c "$connections" -d "$seconds" -s "$root/.dev/ids.lua" "${!http}" -- \
    "$server_dir/$body" "$(<"$server_dir/$body.length")" >"$server_dir/wrk.log"
  awk -v cpu=$(($(server_cpu "${!pid}") - before)) '
    /^answered/ && $4 { print "some failed"; exit }
    /^answered/ { printf "%9.0f %8.1f %8.2f %8.2f %8.2f %8.2f\n", $2 / $6, cpu / $2, $8, $9, $10, $11 }' "$server_dir/wrk.log"
}

# An open loop at half of what the load of the same size reached, by nereid perf.
server_perf() {
  local url=$1 seconds=$2 elements=$3
  "$root/nereid" perf identity_fp32 --url "$url" --shape "INPUT0:$elements" --rate $((saturation / 2 + 1)) --poisson \
    -p $((seconds * 250)) -r 4 --warm-up 500 2>&1 | tee "$server_dir/perf.log" |
    awk '/^poisson / { printf "%9d %8s %8.2f %8.2f %8.2f %8.2f\n", $3, $(NF - 3), $4 / 1000, $7 / 1000, $8 / 1000, $9 / 1000 }'
}

# Seconds of load until requests over gRPC reach nine tenths of what a second has once the server is warm, on a fresh one.
# That is the median of the last eight of fifteen: the largest is one in which nobody else used the machine.
server_first_seconds() {
  local sent=() warm s
  server_load "$1" 16 grpc grpc-16 1 32 >/dev/null
  mapfile -t sent < <(awk '$2 == 200 { print $1 }' "$server_dir/requests.log" | sort -n | awk '
    NR == 1 { first = $1 }
    { n[int(($1 - first) / 1000000)]++ }
    END { for (s = 0; s < 15; s++) print n[s] + 0 }')
  warm=$(printf '%s\n' "${sent[@]:7}" | sort -n | sed -n 4p)
  for ((s = 0; 10 * sent[s] < 9 * warm; s++)); do :; done
  echo $((s + 1))
}

# Starts each server five times, in turns, and prints what that took from the command to ready.
server_starts() {
  local i side start
  local -A took=()
  for ((i = 0; i < 5; i++)); do
    for side; do
      start=start_$side
      server_start "$side" "${trees[$side]}"
      server_stop "$side"
      took[$side]+=" ${!start}"
    done
  done
  for side; do printf '%-5s start ms  %s\n' "$side" "${took[$side]}"; done
}

server_all_loads() {
  local seconds=$1 only=$2 name kind body connections each order=(this) side figures
  shift 2
  (($# == 1)) || order=(base this this base)
  printf '%-20s %-5s %9s %8s %8s %8s %8s %8s\n' load tree req/s 'CPU us' 'p50 ms' p99 p99.9 longest
  while read -r name kind body connections each; do
    [[ $name =~ $only ]] || continue
    for side in "$@"; do server_load "$side" "$seconds" "$kind" "$body" "$connections" "$each" >/dev/null </dev/null; done
    for side in "${order[@]}"; do
      figures=$(server_load "$side" "$seconds" "$kind" "$body" "$connections" "$each" </dev/null)
      [[ $name != http-16-32 ]] || saturation=$(awk '{ print int($1) }' <<<"$figures")
      printf '%-20s %-5s %s\n' "$name" "$side" "$figures"
    done
  done < <(server_loads)
}

# Holds anonymous memory to what is allowed. A compiler that works, or has just done so, holds memory of its own
# for a while: on a slow machine, longer.
server_hold() {
  local what=$1 most=$2 figures i
  for ((i = 0; i < 10; i++)); do
    read -r -a figures < <(server_memory this)
    if ((figures[1] <= most)); then
      say "anonymous memory $what: ${figures[1]} MB, at most $most"
      return
    fi
    sleep 12
  done
  die "the server takes ${figures[1]} MB of anonymous memory $what, at most $most are allowed: .dev/server.sh"
}

# What a fresh server spends on its start and its first requests: the best of three, if the first takes too much.
server_guard_first() {
  local pid=pid_this started spent tries=0
  while :; do
    started=$(($(server_cpu "${!pid}") / 1000))
    server_send this grpc grpc-16 1 32 -n "$first_requests"
    spent=$(($(server_cpu "${!pid}") / 1000))
    say "processor time: $started ms until ready, $((spent - started)) for the first $first_requests requests, at most $most_first_ms together"
    ((spent > most_first_ms)) || return 0
    ((++tries < 3)) ||
      die "start and first requests take $spent ms of processor time, at most $most_first_ms are allowed: .dev/server.sh"
    server_stop this
    server_start this "$root"
  done
}

# What CI does: memory, and what the first requests cost.
server_guard() {
  local pid=pid_this
  server_start this "$root"
  grep -q '/nereid\.aot$' "/proc/${!pid}/maps" || die 'the server did not take its AOT cache: build/aot.log says what became of it'
  sleep 12
  server_hold 'when ready' "$most_ready_mb"
  server_guard_first
  for load in 'h1 http-150528 32' 'h1 json 32' 'grpc grpc-150528 1 32' 'grpc grpc-16 1 32'; do
    # shellcheck disable=SC2086
    server_load this 4 $load >/dev/null
  done
  server_hold 'after load' "$most_loaded_mb"
  server_stop this
}

# A tree with its product and a cache that is current.
server_build() {
  bash -c 'set -euo pipefail; self=dev; root=$1; cd "$root"; . .dev/tools.sh; . .dev/build.sh; . .dev/aot.sh
    build_product; aot_is_current || make_aot' _ "$1"
}

bench_server() {
  local base='' seconds=4 idle=75 only='' guard='' sides=(this) side tool saturation=1000
  local -A trees=([this]=$root)
  while (($#)); do
    case $1 in
      --base) base=$(cd "$2" && pwd) && shift ;;
      --seconds) seconds=$2 && shift ;;
      --idle) idle=$2 && shift ;;
      --only) only=$2 && shift ;;
      --guard) guard=yes ;;
      -h | --help) server_usage && return ;;
      *) bench_die $bench_usage "expected --base, --seconds, --idle, --only or --guard, got '$1'" ;;
    esac
    shift
  done
  for tool in h2load wrk; do
    has $tool || bench_die $bench_usage "$tool is missing: './dev setup' installs it"
  done
  server_prepare
  server_build "$root"
  if [[ $guard ]]; then
    (
      # shellcheck disable=SC2154 # server_start sets it
      trap 'kill "${pid_this-}" 2>/dev/null || true' EXIT # where a limit is passed
      server_guard
    )
    return
  fi
  if [[ $base ]]; then
    server_build "$base"
    sides=(base this)
    trees[base]=$base
  fi
  say 'ms from the command to ready; resident MB, anonymous, files; seconds until gRPC is at nine tenths, of three servers'
  server_starts "${sides[@]}"
  for side in "${sides[@]}"; do
    server_start "$side" "${trees[$side]}"
    sleep 12
    printf '%-5s ready      %s' "$side" "$(server_memory "$side")"
    printf ', first seconds'
    for _ in 1 2 3; do
      printf ' %s' "$(server_first_seconds "$side")"
      server_stop "$side" && server_start "$side" "${trees[$side]}"
    done
    echo
  done
  server_all_loads "$seconds" "$only" "${sides[@]}"
  for side in "${sides[@]}"; do printf '%-5s loaded     %s\n' "$side" "$(server_memory "$side")"; done
  sleep "$idle"
  for side in "${sides[@]}"; do
    printf '%-5s %3d s idle %s\n' "$side" "$idle" "$(server_memory "$side")"
    server_stop "$side"
  done
}
