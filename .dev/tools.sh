# shellcheck shell=bash
# Finds, and installs, what the build needs. Sourced by ./nereid and ./dev, which set `self`.

readonly java_major=25

say() { printf '%s\n' "$*" >&2; }

die() {
  say "$self: $*"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# A JDK of our version, read from its release file: that is cheaper than to start it.
is_jdk() {
  [[ -x $1/bin/javac && -r $1/release && $(<"$1/release") == *JAVA_VERSION=\"${java_major}[.\"-]* ]]
}

# Prints the home of a JDK, the user's own choice first.
find_jdk() {
  local home on_path=''
  has javac && on_path=$(readlink -f "$(command -v javac)")
  for home in "${JAVA_HOME:-}" "${on_path%/bin/javac}" /usr/lib/jvm/* /usr/java/* \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
    if [[ -n $home ]] && is_jdk "$home"; then
      printf '%s\n' "$home"
      return
    fi
  done
  return 1
}

# Prints the home of a Java 17, which the client is tested on; needs no compiler.
find_java_17() {
  local release
  for release in /usr/lib/jvm/*/release /usr/java/*/release "${HOME:-}"/.sdkman/candidates/java/*/release; do
    if [[ -r $release && -x ${release%/release}/bin/java && $(<"$release") == *JAVA_VERSION=\"17[.\"-]* ]]; then
      printf '%s\n' "${release%/release}"
      return
    fi
  done
  return 1
}

has_cmake() {
  # Presets of version 3 came with CMake 3.21.
  local version
  version=$(cmake --version 2>/dev/null) || return 1
  [[ $version =~ ([0-9]+)\.([0-9]+) ]] &&
    ((BASH_REMATCH[1] > 3 || (BASH_REMATCH[1] == 3 && BASH_REMATCH[2] >= 21)))
}

has_cxx20() {
  printf '#include <atomic>\n#include <concepts>\n#include <span>\nint main() {}\n' |
    "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1
}

has_generator() { has ninja || has make; }

# What building needs. Each tool: its name for people | the test for it | its apt packages, best first | its
# dnf package.
tools_build=(
  "JDK $java_major|find_jdk|openjdk-$java_major-jdk-headless|java-$java_major-openjdk-devel"
  'Maven|has mvn|maven|maven'
  'CMake 3.21|has_cmake|cmake|cmake'
  'a C++20 compiler|has_cxx20|g++|gcc-c++'
  'Ninja or Make|has_generator|ninja-build|ninja-build'
)
# Sets `missing` to the lines of the given tools that are not there.
find_missing() {
  local tool check
  missing=()
  for tool in "$@"; do
    read -ra check <<<"$(cut -d'|' -f2 <<<"$tool")"
    "${check[@]}" >/dev/null 2>&1 || missing+=("$tool")
  done
}

missing_names() { printf '%s\n' "${missing[@]%%|*}" | paste -sd, | sed 's/,/, /g'; }

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif has sudo; then
    sudo "$@"
  else
    die "installing packages needs root or sudo: $*"
  fi
}

# The first of the given packages that the distribution offers.
apt_package() {
  local package
  for package in "$@"; do
    if [[ $(apt-cache policy "$package" 2>/dev/null) =~ Candidate:\ [^\(] ]]; then
      printf '%s\n' "$package"
      return
    fi
  done
  return 1
}

apt_install() {
  local tool names packages=() package
  as_root apt-get update -qq
  for tool in "${missing[@]}"; do
    read -ra names <<<"$(cut -d'|' -f3 <<<"$tool")"
    package=$(apt_package "${names[@]}") || die "this distribution has no package for" \
      "${tool%%|*}; install it from elsewhere (a JDK: Eclipse Temurin, then set JAVA_HOME)"
    packages+=("$package")
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "${packages[@]}"
}

dnf_install() {
  local tool packages=()
  for tool in "${missing[@]}"; do
    packages+=("${tool##*|}")
  done
  as_root dnf install -y -q "${packages[@]}"
}

# Installs what find_missing found, and checks that it helped.
install_missing() {
  say "$self: installing $(missing_names)"
  if has apt-get; then
    apt_install >&2
  elif has dnf; then
    dnf_install >&2
  else
    die "no apt-get or dnf here; install by hand: $(missing_names)"
  fi
  find_missing "${missing[@]}"
  [[ ${#missing[@]} == 0 ]] || die "still missing after the installation: $(missing_names)"
}

# Ends the script with one line unless every given tool is there. Where nobody would mind (a
# container's root, CI), what is missing is installed instead.
require() {
  find_missing "$@"
  [[ ${#missing[@]} == 0 ]] && return
  if [[ ${CI:-} == true ]] || { ((EUID == 0)) && has apt-get; }; then
    install_missing
  else
    die "missing: $(missing_names); './dev setup' installs it"
  fi
}
