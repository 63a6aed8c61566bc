# shellcheck shell=bash
# Makes the distribution: two tarballs below build/dist, one for a JDK that is there, one with a Java
# of its own. Sourced by ./dev after tools.sh and build.sh.

# shellcheck source=.dev/dist_check.sh
. "$root/.dev/dist_check.sh"

dist_dir=$root/build/dist
readonly dist_platform=linux-x86_64
# The oldest C library that a release shall run with: that of Ubuntu 22.04.
readonly dist_glibc=2.35
# What the jars need, and what people need who look into a running server (jcmd, jfr).
readonly dist_modules=java.base,java.logging,java.management,java.naming,java.net.http,java.sql,jdk.jcmd,jdk.jfr,jdk.management,jdk.management.agent,jdk.net,jdk.unsupported,jdk.zipfs

dist_version() { sed -n 's|^  <version>\(.*\)</version>$|\1|p' "$root/pom.xml"; }

dist_name() { printf 'nereid-%s-%s%s\n' "$(dist_version)" "$dist_platform" "${1:-}"; }

# Archives get the commit's time, not that of the build: the same sources make the same bytes.
dist_tar() {
  local name=$1
  tar --create --directory "$dist_dir/stage" --sort=name --mtime="$(source_time)" --format=ustar \
    --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' "$name" |
    gzip --no-name >"$dist_dir/$name.tar.gz.new"
  mv "$dist_dir/$name.tar.gz.new" "$dist_dir/$name.tar.gz"
  say "$(du -h "$dist_dir/$name.tar.gz" | cut -f1) ${dist_dir#"$PWD/"}/$name.tar.gz"
}

# What both tarballs have, out of what Maven has built.
dist_stage() {
  local to=$1 java
  java=$(find_jdk)/bin/java
  local classes=("-cp" "$jar:$root/tools/cli/target/lib/*")
  mkdir -p "$to"/{lib,docs,licenses,share/nereid,share/systemd}
  mkdir -p "$to"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
  cp -r "$root/dist/bin" "$root/LICENSE" "$to"
  cp "$jar" "$root/dist/README.md" "$to"
  cp -r "$root"/tools/cli/target/lib/. "$to/lib"
  "$java" "$root/.dev/OnePlatform.java" $dist_platform "$to"/lib/tokenizers-*.jar
  cp "$root"/docs/*.md "$to/docs"
  cp -r "$root/docs/images" "$to/docs"
  mkdir "$to/examples"
  cp -r "$root/examples/models" "$root/examples/data" "$root/examples/voice" "$to/examples"
  cp "$root/examples/models-src/README.md" "$to/examples"
  cp "$root/.dev/java.sh" "$root/.dev/train.sh" "$to/share/nereid"
  cp "$root/dist/systemd/nereid.service" "$to/share/systemd"
  cp "$root/tools/cli/target/nereid-cli.cdx.json" "$to/nereid.cdx.json"
  cp "$root/dist/tensorrt-11/target/nereid-tensorrt-11.cdx.json" "$to"
  cp "$root/LICENSE" "$to/licenses/Apache-2.0.txt"
  "$java" "${classes[@]}" "$root/.dev/Licences.java" "$root/dist/licenses" "$to/licenses" \
    "$to/nereid.cdx.json" "$to/lib" "$to/nereid-tensorrt-11.cdx.json" "$to/lib/tensorrt-11" ||
    die 'what would be shipped has licences that are not allowed; see above'
  "$java" "${classes[@]}" io.nereid.cli.ManPages "$to/share/man/man1"
  "$java" "${classes[@]}" io.nereid.cli.Main completion bash >"$to/share/bash-completion/completions/nereid"
  # zsh takes the same script as a function that it loads when it is first needed, and that has to
  # complete something then; the function knows no aliases, by which the script adds what zsh lacks.
  {
    printf '#compdef nereid\ncompopt() { :; }\n'
    cat "$to/share/bash-completion/completions/nereid"
    printf '_bash_complete -o default -F _complete_nereid\n'
  } >"$to/share/zsh/site-functions/_nereid"
  "$java" "${classes[@]}" io.nereid.cli.Main completion fish >"$to/share/fish/vendor_completions.d/nereid.fish"
  dist_cxx_runtime "$to"
}

# The C++ runtime, for images without one, and the text that allows to pass it on.
dist_cxx_runtime() {
  local to=$1 library text
  mkdir -p "$to/cxx"
  for library in libstdc++.so.6 libgcc_s.so.1; do
    cp --dereference "$("${CXX:-c++}" -print-file-name=$library)" "$to/cxx"
  done
  for text in /usr/share/doc/libstdc++6/copyright \
    /usr/share/licenses/{libstdc++,libgcc}/COPYING.RUNTIME; do
    if [[ -r $text ]]; then
      cp "$text" "$to/licenses/gcc-runtime.txt"
      return
    fi
  done
  die 'expected the licence of libstdc++ where Debian or Fedora put it, and found none: install libstdc++6 or libstdc++'
}

# A Java with the modules that are needed, made from the JDK that builds.
dist_runtime() {
  local to=$1 jdk
  jdk=$(find_jdk)
  "$jdk/bin/jlink" --add-modules "$dist_modules" --no-header-files --no-man-pages \
    --generate-cds-archive --output "$to/runtime" >&2
}

# The newest symbol version of the C library that a file asks for.
glibc_needed() { grep -aoE 'GLIBC_[0-9]+(\.[0-9]+)+' "$1" | cut -d_ -f2 | sort -Vu | tail -n 1; }

# Of what one of CMake's presets has built.
dist_glibc_check() {
  local preset=$1 library needed
  for library in libnereid.so libtritonserver.so nereid-child; do
    needed=$(glibc_needed "$root/build/$preset/$library")
    say "$preset/$library needs glibc $needed"
    if [[ $(printf '%s\n' "$needed" $dist_glibc | sort -V | tail -n 1) != "$dist_glibc" ]]; then
      say "dev: a release must run with glibc $dist_glibc, and this would not: build it on an older distribution"
    fi
  done
}

# Out of what is built: artifacts with their SBOM.
dist_assemble() {
  local plain with_java
  plain=$(dist_name)
  with_java=$(dist_name -jre)
  rm -rf "$dist_dir"
  mkdir -p "$dist_dir/stage"
  dist_glibc_check release
  dist_stage "$dist_dir/stage/$plain"
  dist_tar "$plain"
  cp -r "$dist_dir/stage/$plain" "$dist_dir/stage/$with_java"
  dist_runtime "$dist_dir/stage/$with_java"
  dist_tar "$with_java"
  rm -rf "$dist_dir/stage"
  dist_sums
}

# What makes the tarball with a Java start quickly, to be unpacked over it. It is of its own because no
# two runs make the same one.
dist_aot() {
  local name
  name=$(dist_name -jre)
  rm -rf "$dist_dir/stage"
  mkdir -p "$dist_dir/stage"
  tar --extract --directory "$dist_dir/stage" --file "$dist_dir/$name.tar.gz"
  "$dist_dir/stage/$name/bin/nereid-prepare" >&2
  tar --create --gzip --directory "$dist_dir/stage" --owner=0 --group=0 --numeric-owner \
    --file "$dist_dir/$name-aot.tar.gz" "$name/nereid.aot"
  rm -rf "$dist_dir/stage"
  say "$(du -h "$dist_dir/$name-aot.tar.gz" | cut -f1) ${dist_dir#"$PWD/"}/$name-aot.tar.gz"
  dist_sums
}

dist_sums() { (cd "$dist_dir" && sha256sum ./*.tar.gz >SHA256SUMS); }

dist_build() {
  require "${tools_build[@]}"
  rm -rf "$root/tools/cli/target/lib" # what an earlier build needed must not be shipped
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip -Partifacts \
    --projects dist/bom,tools/cli --also-make package >&2
}

# The commit in two directories, built twice; what differs is named.
dist_reproduce() {
  local copies=$root/build/reproduce copy differs='' commit time
  # Fixed now: the branch may move while this takes its minutes.
  commit=$(git -C "$root" rev-parse HEAD)
  time=$(source_time)
  [[ -z $(git -C "$root" status --porcelain) ]] ||
    say 'dev: what is not committed is left out: the commit is built'
  rm -rf "$copies"
  for copy in one a/longer/way/to/two; do
    mkdir -p "$copies/$copy"
    git -C "$root" archive "$commit" | tar --extract --directory "$copies/$copy"
    SOURCE_TIME=$time "$copies/$copy/dev" dist
  done
  cd "$copies"
  while IFS= read -r file; do
    if ! cmp "one/$file" "a/longer/way/to/two/$file" >&2; then differs=yes; fi
  done < <(cd one && find build/dist -name '*.tar.gz' &&
    find . -path '*/target/*' -name 'nereid-*.jar' -not -path '*/lib/*' && find . -name '*.cdx.json')
  [[ ! $differs ]] || die "two builds of the same commit differ, see above; both are in ${copies#"$PWD/"}"
  say 'The same bytes from two directories:'
  (cd one/build/dist && cat SHA256SUMS)
  rm -rf "$copies"
}

cmd_dist() {
  case ${1:-} in
    '')
      dist_build
      dist_assemble
      ;;
    --aot)
      dist_build
      dist_assemble
      dist_aot
      ;;
    --check)
      dist_build
      dist_assemble
      dist_check
      ;;
    --reproduce) dist_reproduce ;;
    *) die "expected './dev dist', with --aot, --check or --reproduce if need be, got: $1" ;;
  esac
}
