# shellcheck shell=bash
# Starts the distribution where there is nothing: in a root that holds the C library, a shell and the
# unpacked tarball, without a network but its own loopback. Sourced by dist.sh.

# Copies a program or library, with the libraries it needs, to the same place in a root.
root_copy() {
  local to=$1 file=$2 library
  while IFS= read -r library; do
    mkdir -p "$to${library%/*}"
    cp --dereference --update "$library" "$to$library"
  done < <(printf '%s\n' "$file" && { ldd "$file" | grep -oE '/[^ ]+'; })
}

# The smallest root: a POSIX shell, the C library, and the devices that every process expects.
root_make() {
  local to=$1 library
  mkdir -p "$to"/{bin,dev,proc,tmp,opt,root}
  root_copy "$to" "$(readlink -f /bin/sh)"
  cp "$(readlink -f /bin/sh)" "$to/bin/sh"
  # Parts of the C library that are loaded by name.
  for library in libpthread.so.0 libdl.so.2 librt.so.1 libm.so.6 libnss_files.so.2 libresolv.so.2; do
    library=$("${CC:-cc}" -print-file-name=$library)
    # A bare name is one that this C library does not have.
    if [[ $library == /* ]]; then root_copy "$to" "$library"; fi
  done
  # What is not where the loader looks by itself: there is no cache of it here.
  mkdir -p "$to/lib"
  find "$to" -path "$to/proc" -prune -o -name '*.so.*' -type f -print | while IFS= read -r library; do
    cp --update "$library" "$to/lib/${library##*/}"
  done
}

can_unshare() {
  unshare --net --mount --pid --fork --kill-child \
    sh -c 'ip link set lo up || ifconfig lo up' >/dev/null 2>&1
}

# A model of texts: a cross-encoder that counts common words, and a tokenizer that knows three.
dist_text_model() {
  local to=$1/words
  mkdir -p "$to/1"
  cp "$root/native/test/models/common.onnx" "$to/1/model.onnx"
  cat >"$to/config.pbtxt" <<'CONFIG'
backend: "text"
max_batch_size: 4
parameters { key: "task" value: { string_value: "rerank" } }
CONFIG
  cat >"$to/1/tokenizer.json" <<'TOKENIZER'
{"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
 "post_processor": {"type": "TemplateProcessing",
  "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
  "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
   {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
  "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [1], "tokens": ["[SEP]"]}}},
 "model": {"type": "WordLevel", "unk_token": "[UNK]",
  "vocab": {"[UNK]": 0, "[SEP]": 1, "whales": 2, "dogs": 3, "swim": 4}}}
TOKENIZER
}

# In a root of its own: serves the bundled models and one of texts, asks two over HTTP with a shell
# alone, stops.
dist_start_in_root() {
  local to=$1 java_home=$2 name=$3
  # Programs of this system for what the empty root cannot do: they run outside of it.
  unshare --net --mount --pid --fork --kill-child bash -euo pipefail -s -- "$@" <<'INSIDE'
to=$1 java_home=$2 name=$3
mount --bind "$to" "$to"
mount -t proc proc "$to/proc"
for device in null zero random urandom; do
  : >"$to/dev/$device"
  mount --bind "/dev/$device" "$to/dev/$device"
done
ip link set lo up 2>/dev/null || ifconfig lo up
log=$to/tmp/log
: >"$log"
env -i PATH=/bin HOME=/root JAVA_HOME="$java_home" "$(command -v chroot)" "$to" \
  "/opt/$name/bin/nereid" serve "/opt/$name/examples/models" /text --http-address 127.0.0.1 --http-port 0 >"$log" 2>&1 &
server=$!
deadline=$((SECONDS + 300))
until grep -q '^Ready ' "$log"; do
  if ((SECONDS > deadline)) || ! kill -0 $server 2>/dev/null; then
    cat "$log" >&2
    echo 'the server did not become ready' >&2
    exit 1
  fi
  sleep 0.1
done
if ! grep -qz -- "-XX:+ExitOnOutOfMemoryError" "$to/proc/$server/cmdline"; then
  echo 'the launcher does not have the JVM end when its heap ran out' >&2
  exit 1
fi
port=$(sed -n 's|^Serving HTTP at http://127.0.0.1:\([0-9]*\)$|\1|p' "$log")
# Asks for a path with a body; the reply has to be good, and to have a text in it.
ask() {
  local reply
  exec 8<>"/dev/tcp/127.0.0.1/$port"
  printf 'POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
    "$1" "${#2}" "$2" >&8
  reply=$(timeout 20 cat <&8)
  exec 8>&-
  if [[ $reply != 'HTTP/1.1 200 OK'* || $reply != *"$3"* ]]; then
    printf 'expected 200 and %s, got:\n%s\n' "$3" "$reply" >&2
    cat "$log" >&2
    exit 1
  fi
}
ask /v2/models/simple/infer '{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1,16],"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]},{"name":"INPUT1","datatype":"INT32","shape":[1,16],"data":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}],"outputs":[{"name":"OUTPUT0"}]}' \
  '"data":[2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]'
ask /v1/rerank '{"model":"words","query":"whales swim","documents":["dogs","whales swim"],"top_n":1}' \
  '"results":[{"index":1,"relevance_score":0.88'
grep '^Ready ' "$log" >&2
kill -TERM $server
code=0
wait $server || code=$?
if ((code != 0)); then
  cat "$log" >&2
  echo "expected exit code 0 after SIGTERM, got $code" >&2
  exit 1
fi
INSIDE
}

dist_check_one() {
  local name=$1 with_jdk=$2 to
  to=$(mktemp -d)
  root_make "$to"
  tar --extract --directory "$to/opt" --file "$dist_dir/$name.tar.gz"
  dist_text_model "$to/text"
  local java_home=''
  if [[ $with_jdk ]]; then
    # Not where the launcher looks by itself.
    java_home=/jdk
    cp -r --dereference "$(find_jdk)" "$to/jdk"
    root_copy "$to" "$to/jdk/bin/java"
  elif env -i PATH=/bin "$(command -v chroot)" "$to" /bin/sh -c 'command -v java'; then
    die 'the empty root has a Java'
  fi
  say "== $name in an empty root"
  dist_start_in_root "$to" "$java_home" "$name" || die "$name does not work in an empty root; it is in $to"
  rm -rf "$to"
}

# Without any Java, the launcher says what to install.
dist_check_says_what_is_missing() {
  local name=$1 to said
  to=$(mktemp -d)
  root_make "$to"
  tar --extract --directory "$to/opt" --file "$dist_dir/$name.tar.gz" --wildcards '*/bin/*'
  if said=$(env -i PATH=/bin "$(command -v chroot)" "$to" "/opt/$name/bin/nereid" --version 2>&1) ||
    [[ $said != "nereid: needs a JDK $java_major"* ]]; then
    die "without a JDK, expected the launcher to fail and to say so, got: $said"
  fi
  rm -rf "$to"
}

dist_check() {
  if ! can_unshare; then
    say 'Skipped: the distribution in an empty root, which needs root and unshare.'
    return
  fi
  dist_check_says_what_is_missing "$(dist_name)"
  dist_check_one "$(dist_name)" yes
  dist_check_one "$(dist_name -jre)" ''
}
