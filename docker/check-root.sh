#!/usr/bin/env bash
# Checks the image without an engine: makes the same root with debootstrap and build-root.sh, and starts
# in it what the Dockerfile starts, as its user, on a root that cannot be written, without capabilities
# and with no network but a loopback.
# Needs root, debootstrap, unshare and setpriv: docker/check-root.sh TARBALL [LIBRARIES]
# With LIBRARIES, what './dev gpu-libraries' made, it is the image for GPUs.
set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tarball=${1:?expected the distribution, nereid-VERSION-linux-x86_64-jre.tar.gz}
libraries=${2:-}
work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT

# What stands in the Dockerfile decides, so that it is what is checked.
instruction() { sed -n "s/^$1 //p" "$here/Dockerfile" | tail -n 1; }
words() { tr -d '[]",' <<<"$1"; }
read -ra entrypoint <<<"$(words "$(instruction ENTRYPOINT)")"
read -ra arguments <<<"$(words "$(instruction CMD)")"
read -ra health <<<"$(words "$(sed -n 's/^HEALTHCHECK .*CMD //p' "$here/Dockerfile")")"
user=$(instruction USER)

debootstrap --variant=minbase trixie "$root"
cp "$here/build-root.sh" "$tarball" "$root/"
mkdir -p "$root/proc"
echo "== build-root.sh"
# It needs the loopback and /proc, as the build of an image has them, and no other network.
cat >"$work/build" <<'BUILD'
mount -t proc proc "$1/proc"
ip link set lo up
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" sh /build-root.sh "/$2"
BUILD
unshare --net --mount --pid --fork --kill-child bash -euo pipefail "$work/build" \
  "$root" "$(basename "$tarball")"
rm "$root/build-root.sh" "$root/$(basename "$tarball")"
if [[ $libraries ]]; then
  cp -r "$libraries/." "$root/opt/nereid/"
fi
du -sm "$root" | sed 's/\t.*/ MB in all/'
du -sm "$root"/opt/nereid/* | sort -rn | head -n 6

echo "== ${entrypoint[*]} ${arguments[*]} as $user"
cat >"$work/inside" <<'INSIDE'
set -euo pipefail
root=$1 models=$2 user=$3 work=$4
shift 4
health=()
while [[ $1 != -- ]]; do health+=("$1"); shift; done
shift
die() {
  printf 'check-root: %s\n' "$*" >&2
  if [[ -e $work/log ]]; then cat "$work/log" >&2; fi
  exit 1
}

ip link set lo up
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o noexec,nosuid,nodev,size=64m tmpfs "$root/tmp"
chmod 1777 "$root/tmp"
for device in null zero random urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
mount --bind "$models" "$root/models"
mount -o remount,bind,ro "$root/models"
mount -o remount,bind,ro "$root"
in_root() {
  exec setpriv --no-new-privs --bounding-set=-all,+setuid,+setgid,+sys_chroot --inh-caps=-all \
    env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin chroot --userspec="$user" "$root" "$@"
}

# In directories that everybody may write to otherwise.
said=$(in_root /bin/sh -c 'echo >/tmp/x && rm /tmp/x && echo >/var/tmp/x' 2>&1) && die 'the root can be written'
[[ $said == *'/var/tmp/x: Read-only file system'* ]] || die "expected a root that is read-only, got: $said"
unhealthy() {
  local code=0
  (in_root "${health[@]}") >"$work/said" 2>&1 || code=$?
  if ((code != 1)) || ! grep -q 'expected an answer, got ConnectException' "$work/said"; then
    cat "$work/said" >&2
    die "expected exit code 1 without a server, got $code"
  fi
}
unhealthy
(in_root "$@") >"$work/log" 2>&1 &
server=$!
deadline=$((SECONDS + 120))
until grep -q '^Ready ' "$work/log"; do
  ((SECONDS < deadline)) && kill -0 $server 2>/dev/null || die 'the server did not become ready'
  sleep 0.1
done
grep '^Ready ' "$work/log"
status=$(<"$root/proc/$server/status")
[[ $status =~ Name:.java && $status =~ Uid:.10001.10001.10001.10001 && $status =~ Gid:.10001 ]] ||
  die "expected the process itself to be the server, as 10001: $status"
[[ $status =~ CapEff:.0000000000000000 && $status =~ NoNewPrivs:.1 ]] ||
  die "expected no capabilities: $status"
(in_root "${health[@]}") || die 'not healthy'

body='{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1,16],"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]},{"name":"INPUT1","datatype":"INT32","shape":[1,16],"data":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}],"outputs":[{"name":"OUTPUT0"}]}'
exec 8<>/dev/tcp/127.0.0.1/8000
printf 'POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' \
  "${#body}" "$body" >&8
reply=$(timeout 20 cat <&8)
[[ $reply == 'HTTP/1.1 200 OK'* && $reply == *'"data":[2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]'* ]] ||
  die "a model of ONNX Runtime answered: $reply"
# The library for Triton's plug-ins says what is wrong with this one, so it was found and loaded.
mkdir -p "$root/tmp/plugins/none/1"
: >"$root/tmp/plugins/none/1/libtriton_none.so"
cat >"$root/tmp/plugins/none/config.pbtxt" <<'MODEL'
backend: "none"
input { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "y" data_type: TYPE_FP32 dims: [ 1 ] }
MODEL
(in_root "$1" models /tmp/plugins) >"$work/said" 2>&1 || true
grep -q 'libtriton_none.so is no shared library of 64 bits' "$work/said" ||
  die "expected the library for plug-ins to be loaded, got: $(<"$work/said")"
rm -r "$root/tmp/plugins"
unpacked=$(find "$root/tmp" -name '*.so*')
[[ ! $unpacked ]] || die "libraries were unpacked once more: $unpacked"

kill -TERM $server
code=0
wait $server || code=$?
((code == 0)) || die "expected exit code 0 after SIGTERM, got $code"
unhealthy
echo 'ready, healthy, answered, stopped with 0'
INSIDE
unshare --net --mount --pid --fork --kill-child bash "$work/inside" \
  "$root" "$here/../examples/models" "$user" "$work" "${health[@]}" -- \
  "${entrypoint[@]}" "${arguments[@]}"
