#!/bin/sh
# Makes the root file system of the image out of a Debian one that it runs in: unpacks the distribution
# with its own Java, takes the native libraries out of their jars, and prepares quick starts. The
# Dockerfile runs it, and so does check-root.sh where there is no engine that builds images.
set -eu

die() {
  printf 'build-root: %s\n' "$*" >&2
  exit 1
}

[ $# = 1 ] || die "expected the distribution (nereid-VERSION-linux-x86_64-jre.tar.gz), got $# arguments"
tarball=$1
home=/opt/nereid
[ -r "$tarball" ] || die "expected a distribution, and $tarball cannot be read"
[ ! -e "$home" ] || die "expected a root without $home"

# The number is that of the manifests: a cluster cannot tell by a name that a user is not root.
groupadd --gid 10001 nereid
useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent \
  --shell /usr/sbin/nologin nereid
mkdir -p "$home" /models
tar --extract --gzip --file "$tarball" --directory "$home" --strip-components=1 --no-same-owner
[ -x "$home/runtime/bin/java" ] || die "expected a distribution with its own Java, got $tarball"

# The server unpacks its libraries when it first needs them: here, for good. So it needs no place that
# can be written and executed from, and no start pays for it.
unpacked=$(mktemp -d)
# The program of isolated models is unpacked for the first that is one.
XDG_CACHE_HOME=$unpacked "$home/bin/nereid" models --isolation identity_fp32=process \
  "$home/examples/models" >/dev/null
# The library for Triton's plug-ins is unpacked for the first model that needs one. This one cannot be
# loaded, since its plug-in is an empty file.
mkdir -p "$unpacked/models/none/1"
: >"$unpacked/models/none/1/libtriton_none.so"
cat >"$unpacked/models/none/config.pbtxt" <<'MODEL'
backend: "none"
input { name: "x" data_type: TYPE_FP32 dims: [ 1 ] }
output { name: "y" data_type: TYPE_FP32 dims: [ 1 ] }
MODEL
XDG_CACHE_HOME=$unpacked "$home/bin/nereid" models "$unpacked/models" >/dev/null 2>&1 || true
mkdir "$home/native"
for library in libnereid.so libtritonserver.so libonnxruntime.so nereid-child; do
  found=$(find "$unpacked" -name "$library" -type f)
  [ -n "$found" ] || die "expected the server to unpack $library"
  mv "$found" "$home/native/$library"
  chmod 644 "$home/native/$library"
done
chmod 755 "$home/native/nereid-child"
rm -rf "$unpacked/nereid"
# It holds nothing else that is used, for all platforms.
rm -f "$home"/lib/onnxruntime-*.jar

TMPDIR=$unpacked "$home/bin/nereid-prepare" || { # its log is in a file there
  cat "$unpacked"/* >&2
  die 'quick starts could not be prepared'
}
[ -s "$home/nereid.aot" ] || die 'expected a cache for quick starts'
chmod 644 "$home/nereid.aot"

ln -s "$home/bin/nereid" /usr/local/bin/nereid
rm -rf "$unpacked" "$home/docs" "$home/share/man" "$home/share/systemd"
rm -rf /tmp/* /var/tmp/* ~root/.cache /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log
