# shellcheck shell=bash
# './dev bench figures': the plots of the documents. Each is measured into a file of docs/figures, from which its
# drawing in docs/images is made. Sourced after peers.sh and server.sh; needs `root`, the top of the tree.

figures_dir=$root/docs/figures
readonly figures_all='peers connections large latency objective memory start'

figures_usage() {
  cat <<'USAGE'
Usage: ./dev bench figures [draw | NAME...]

Measures what the documents draw, and draws it: peers, connections, large, latency, objective, memory, start; all of
them in twenty minutes unless some are named. 'draw' draws what docs/figures has, and measures nothing.
USAGE
}

# Writes a figure's file: its name, the lines of its head, and rows from standard input.
figure() {
  local name=$1 processor
  shift
  processor=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)
  {
    printf '%s\n' "$@" "machine: $(nproc) processors (${processor:-$(uname -m)}), $(date +%F)" ''
    cat
  } >"$figures_dir/$name.txt.new"
  mv "$figures_dir/$name.txt.new" "$figures_dir/$name.txt"
}

# Loads a model of the server by nereid perf, with the arguments after the fields. Prints a row for each load: how much
# that is, and those fields of its figures, times in ms.
figures_perf() {
  local fields=$1 model=$2
  shift 2
  rm -f "$server_dir/perf.csv"
  "$root/nereid" perf "$model" -q -p 1000 -r 4 --warm-up 2000 --csv "$server_dir/perf.csv" "$@" >"$server_dir/perf.log" 2>&1 ||
    die "nereid perf failed: ${server_dir#"$root/"}/perf.log"
  awk -F, -v fields="$fields" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; count = split(fields, wanted, " "); next }
    {
      row = $2 + 0
      for (i = 1; i <= count; i++) {
        value = $column[wanted[i]]
        if (wanted[i] ~ /_us$/) value /= 1000
        row = row sprintf(value < 100 ? " | %.3g" : " | %.0f", value)
      }
      print row
    }' "$server_dir/perf.csv"
}

# Puts the columns of two files with the same loads beside each other.
figures_beside() { paste -d'|' "$1" <(cut -d'|' -f2- "$2"); }

# The same loads over HTTP and gRPC, of which the server has seen enough before.
# shellcheck disable=SC2154 # server_start sets the addresses
figures_both() {
  local fields=$1 shape=$2 warm
  shift
  warm=(--shape "$shape" --concurrency 32 --warm-up 10000)
  figures_perf requests_per_s identity_fp32 --url "$http_figures" "${warm[@]}" >"$server_dir/warm.rows"
  figures_perf requests_per_s identity_fp32 --url "${grpc_figures#http://}" -i grpc "${warm[@]}" >>"$server_dir/warm.rows"
  set -- --shape "$@"
  figures_perf "$fields" identity_fp32 --url "$http_figures" "$@" >"$server_dir/http.rows"
  figures_perf "$fields" identity_fp32 --url "${grpc_figures#http://}" -i grpc "$@" >"$server_dir/grpc.rows"
  figures_beside "$server_dir/http.rows" "$server_dir/grpc.rows"
}

figures_served() {
  server_start figures "$root"
  "$@"
  server_stop figures
}

figures_connections() {
  figures_both requests_per_s INPUT0:16 --request-ids --concurrency 1:256:x4 |
    figure connections 'about: Requests of 16 FP32 a second over requests in flight' 'chart: lines' 'log: x' \
      'x: requests in flight' 'y: requests/s' 'series: HTTP | gRPC' 'client: nereid perf on the same processors, an id for each request'
}

figures_large() {
  figures_both requests_per_s INPUT0:150528 --concurrency 1:64:x4 |
    figure large 'about: Requests of 150 528 FP32 a second over requests in flight' 'chart: lines' 'log: x' \
      'x: requests in flight' 'y: requests/s' 'series: HTTP | gRPC' 'client: nereid perf on the same processors, 602 112 bytes each way'
}

figures_latency() {
  local most
  most=$(figures_both requests_per_s INPUT0:16 --concurrency 32 | awk -F'|' '{ print int($2 < $3 ? $2 : $3) }')
  figures_both 'latency_p50_us latency_p99_us' INPUT0:16 --poisson --rate "$((most / 8)):$((most * 7 / 8)):$((most / 8))" |
    figure latency 'about: Latency over load, up to seven eighths of what the server answers at most' 'chart: lines' 'log: y' \
      'x: requests/s' 'y: ms' 'series: HTTP p50 | HTTP p99 | gRPC p50 | gRPC p99' \
      'client: nereid perf on the same processors, an open loop with random gaps'
}

# MiniLM with settings of one kind: 16 tokens, at most 32 rows, one instance.
figures_minilm() {
  local model=$server_dir/models/$1
  mkdir -p "$model/1"
  cp "$peers_directory/models/all-minilm-l6-v2-q.onnx" "$model/1/model.onnx"
  printf 'backend: "onnxruntime"\nmax_batch_size: 32\n%s\n' "$2" >"$model/config.pbtxt"
}

figures_objective() {
  local server_dir=$root/build/figures most name
  [[ -e $peers_directory/models/all-minilm-l6-v2-q.onnx ]] || build_peers
  rm -rf "$server_dir"
  mkdir -p "$server_dir"
  figures_minilm objective 'parameters { key: "nereid.objective" value { string_value: "p99 100ms" } }'
  figures_minilm static 'dynamic_batching { max_queue_delay_microseconds: 5000 }'
  figures_minilm timeout 'dynamic_batching { max_queue_delay_microseconds: 5000 default_queue_policy { default_timeout_microseconds: 50000 } }'
  server_start figures "$root"
  local load=(--url "$http_figures" --shape input_ids:16 --shape attention_mask:16 --shape token_type_ids:16 --input-data zero)
  most=$(figures_perf requests_per_s static "${load[@]}" --concurrency 32 --warm-up 10000 | awk -F'|' '{ print int($2) }')
  for name in objective static timeout; do
    figures_perf within_per_s "$name" "${load[@]}" --within 100 --max-outstanding 2000 --rate "$((most / 4)):$((most * 2)):$((most / 4))" \
      >"$server_dir/$name.rows"
  done
  server_stop figures
  figures_beside "$server_dir/objective.rows" <(figures_beside "$server_dir/static.rows" "$server_dir/timeout.rows") |
    figure objective 'about: Answers within 100 ms over load, MiniLM with 16 tokens' 'chart: lines' 'x: requests/s' \
      'y: answers/s within 100 ms' 'series: p99 100 ms | static | timeout 50 ms' \
      'client: nereid perf on the same processors, an open loop'
}

# A row of memory: what the server did, and its resident and anonymous megabytes.
figures_memory_row() {
  local figures
  read -r -a figures < <(server_memory figures)
  printf '%s | %d | %d\n' "$1" "${figures[0]}" "${figures[1]}"
}

figures_memory_rows() {
  local load
  sleep 12
  figures_memory_row ready
  for load in 'h1 http-150528 32' 'h1 json 32' 'grpc grpc-150528 1 32' 'grpc grpc-16 1 32'; do
    # shellcheck disable=SC2086
    server_load figures 4 $load >/dev/null
  done
  figures_memory_row 'after four loads of 4 s'
  sleep 75
  figures_memory_row '75 s later'
}

figures_memory() {
  figures_memory_rows |
    figure memory 'about: Memory of the server with four models' 'chart: bars' 'y: MB' 'series: resident | anonymous' \
      'client: h2load with 32 in flight: large tensors over HTTP and gRPC, JSON, small ones over gRPC'
}

# A row of five starts: the medians of ms to ready and of processor time.
figures_start_row() {
  local name=$1 i ready=() spent=()
  shift
  for i in 1 2 3 4 5; do
    server_start figures "$root"
    # shellcheck disable=SC2154 # server_start sets them
    ready+=("$start_figures") spent+=("$(($(server_cpu "$pid_figures") / 1000))")
    server_stop figures
  done
  printf '%s | %d | %d\n' "$name" "$(printf '%s\n' "${ready[@]}" | sort -n | sed -n 3p)" \
    "$(printf '%s\n' "${spent[@]}" | sort -n | sed -n 3p)"
}

figures_start() {
  {
    figures_start_row 'with its AOT cache'
    # The launcher leaves the cache to whoever has an opinion about archives.
    JAVA_TOOL_OPTIONS=-Xshare:auto figures_start_row 'without'
  } | figure start 'about: From the command to ready, four models' 'chart: bars' 'y: ms' 'series: until ready | CPU time' \
    'client: none; medians of five starts'
}

# A column of a report of './dev bench peers', Nereid's and the one beside it, for small requests: a row for each
# number in flight, by threads that wait and by callbacks.
figures_peers_rows() {
  awk -F' *[|] *' -v ours="$1" '
    $2 ~ /^identity, 64 B/ {
      gsub(" ", "", $ours)
      gsub(" ", "", $(ours + 1))
      printf "%s %s | %s | %s\n", $2 ~ /callbacks/ ? "callbacks" : "waiting", $3, $ours, $(ours + 1)
    }' "$2"
}

figures_peers() {
  local report client='client: ./dev bench peers, in process, 64 bytes a request, medians of the forks'
  (bench_peers --peer triton --time 5m) >/dev/null # it becomes the JVM
  report=$(printf '%s\n' "$peers_directory"/results/*/peers.md | tail -n 1)
  figures_peers_rows 4 "$report" |
    figure peers-throughput "about: Requests a second beside Triton's core" 'chart: bars' 'y: requests/s' \
      "series: Nereid | Triton's core" "$client"
  figures_peers_rows 7 "$report" |
    figure peers-cpu "about: Processor time of a request beside Triton's core" 'chart: bars' 'y: µs of processor time' \
      "series: Nereid | Triton's core" "$client"
}

bench_figures() {
  local name names=("$@")
  [[ ${1-} != @(-h|--help) ]] || {
    figures_usage
    return
  }
  build_candidate || bench_die $bench_not_built 'this tree could not be built'
  if [[ ${1-} != draw ]]; then
    (($#)) || read -r -a names <<<"$figures_all"
    for name in "${names[@]}"; do
      [[ " $figures_all " == *" $name "* ]] || bench_die $bench_usage "expected draw, or some of $figures_all, got '$name'"
    done
    has h2load || bench_die $bench_usage "h2load is missing: './dev setup' installs it"
    mkdir -p "$figures_dir"
    server_prepare
    server_build "$root"
    trap 'kill "${pid_figures-}" 2>/dev/null || true' EXIT # where a measurement fails
    for name in "${names[@]}"; do
      say "measuring $name"
      case $name in
        connections | large | latency | memory) figures_served "figures_$name" ;;
        *) "figures_$name" ;;
      esac
    done
  fi
  "$(find_jdk)/bin/java" -cp "$bench_dir/sides/candidate/nereid-benchmarks.jar" io.nereid.benchmarks.figures.DrawFigures \
    "$figures_dir" "$root/docs/images"
}
