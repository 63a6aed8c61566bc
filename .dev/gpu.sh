# shellcheck shell=bash
# NVIDIA's libraries for an image, and the bundle that verifies Nereid on a machine with a GPU and nothing
# else: no network, no Java, no TensorRT. Sourced by ./dev after dist.sh.

gpu_bundle=$root/build/gpu-bundle
# What does not change from build to build, 1.7 GB of it: packed once.
gpu_cache=$root/build/gpu-cache
# At most 60 MiB are asked for; less, so that a part and the sources fit into 64 MiB together.
readonly gpu_part=52m
# 19 takes half an hour on two processors and saves a tenth against 12, which takes five minutes.
gpu_level=${GPU_BUNDLE_LEVEL:-19}

# Chooses TensorRT 10 with CUDA 12, or 11 with CUDA 13, for what follows.
gpu_use() {
  gpu_major=$1
  case $gpu_major in
    10) gpu_cuda=12 gpu_versions=javacpp ;;
    11) gpu_cuda=13 gpu_versions=javacpp11 ;;
    *) die "expected TensorRT 10 or 11, got '$gpu_major'" ;;
  esac
  # Of TensorRT, what serves plans; JavaCPP's jars have neither the lean nor the dispatch runtime.
  gpu_serving=("libnvinfer.so.$gpu_major" "libnvinfer_plugin.so.$gpu_major" "libnvinfer_vc_plugin.so.$gpu_major")
  # What builds them, most of it kernels: of 10 for every architecture, of 11 those that are compiled where they run.
  gpu_building=("libnvonnxparser.so.$gpu_major" 'libnvinfer_builder_resource*.so.*')
}

# Of JavaCPP: what calls those.
readonly gpu_jni=(libjnijavacpp.so libjnicudart.so libjninvinfer.so libjninvinfer_plugin.so
  libjninvonnxparser.so)

gpu_version() { sed -n "s|^ *<$1>\(.*\)</$1>\$|\1|p" "$root/pom.xml" | head -n 1; }

# Fetches one of JavaCPP's jars with NVIDIA's own libraries; nothing else asks for them. Prints its path.
gpu_redist() {
  local artifact=$1 version=$2 classifier=$3 name repository=${GPU_MAVEN_REPOSITORY:-$HOME/.m2/repository}
  name=$artifact-$version-$classifier.jar
  name=$repository/org/bytedeco/$artifact/$version/$name
  if [[ ! -e $name ]]; then
    say "Fetching $artifact $version with NVIDIA's libraries ..."
    run_maven --no-transfer-progress --quiet --non-recursive "-Dmaven.repo.local=$repository" \
      dependency:get -Dtransitive=false \
      "-Dartifact=org.bytedeco:$artifact:$version:jar:$classifier" >&2
  fi
  printf '%s\n' "$name"
}

# The C runtime of CUDA: the machine's own where there is one, else out of a jar of 2 GB (of 13: 344 MB).
gpu_cudart() {
  local to=$1 found jar library=libcudart.so.$gpu_cuda version
  for found in "${CUDA_HOME:-/usr/local/cuda}/lib64/$library" /usr/local/cuda-"$gpu_cuda"*/lib64/"$library"; do
    if [[ -e $found ]]; then
      cp --dereference "$found" "$to"
      return
    fi
  done
  version=$(gpu_version "$gpu_versions-cuda.version")
  case $gpu_cuda in
    12) jar=$(gpu_redist cuda "$version" "$dist_platform-redist") ;;
    *) jar=$(gpu_redist cuda-redist "$version" "$dist_platform") ;;
  esac
  unzip -q -o -j "$jar" "*/$library" -d "$to"
}

# Puts CUDA's runtime and libraries of TensorRT into a directory.
gpu_unpack() {
  local to=$1 jar
  shift
  mkdir -p "$to"
  jar=$(gpu_redist tensorrt "$(gpu_version "$gpu_versions-tensorrt.version")" "$dist_platform-redist")
  unzip -q -o -j "$jar" "${@/#/*/}" -d "$to"
  gpu_cudart "$to"
  chmod u+rw,go+r "$to"/*
}

# TensorRT and CUDA's runtime, packed; the name has the version and the level.
gpu_pack_tensorrt() {
  local archive=$1 stage=$gpu_cache/stage
  [[ ! -e $archive ]] || return 0
  rm -rf "$stage"
  gpu_unpack "$stage/tensorrt" "${gpu_serving[@]}" "${gpu_building[@]}"
  find "$stage/tensorrt" -type f -printf '%11s %f\n' >&2
  say "Packing them at level $gpu_level ..."
  tar --create --directory "$stage" --owner=0 --group=0 --numeric-owner tensorrt |
    zstd --quiet "-$gpu_level" --threads=0 --force -o "$archive.new"
  mv "$archive.new" "$archive"
  rm -rf "$stage"
}

# Java, the jars, the launchers and the script: what changes from build to build.
gpu_pack_nereid() {
  local archive=$1 stage=$gpu_bundle/stage home=$gpu_bundle/stage/nereid
  rm -rf "$stage"
  mkdir -p "$home/lib" "$home/gpu" "$home/examples" "$home/bin"
  cp "$root"/benchmarks/gpu/target/lib/*.jar "$root/benchmarks/gpu/target/nereid-gpu.jar" "$home/lib"
  cp -r "$root/bindings/tensorrt/target/tensorrt-11" "$home/lib"
  cp "$root/benchmarks/gpu/verify" "$home/gpu"
  cp -r "$root/examples/models" "$home/examples"
  dist_runtime "$home"
  dist_cxx_runtime_of "$home"
  tar --create --directory "$stage/nereid" --owner=0 --group=0 --numeric-owner . |
    zstd --quiet "-$gpu_level" --threads=0 --force -o "$archive"
  rm -rf "$stage"
}

# For machines without the C++ runtime.
dist_cxx_runtime_of() {
  local to=$1 library
  mkdir -p "$to/cxx"
  for library in libstdc++.so.6 libgcc_s.so.1; do
    cp --dereference "$("${CXX:-c++}" -print-file-name=$library)" "$to/cxx"
  done
}

# The program that unpacks, with its libraries: a bare machine has none.
gpu_unpacker() {
  local to=$1
  mkdir -p "$to/zstd"
  cp --dereference "$(command -v zstd)" "$to/zstd/zstd"
  ldd "$to/zstd/zstd" | awk '$3 ~ /lib(zstd|lz4|lzma|z)\.so/ { print $3 }' |
    xargs -r cp --dereference -t "$to/zstd"
}

# With 11: TensorRT 11 in place of 10.
cmd_gpu_bundle() {
  gpu_use "${1:-10}"
  has zstd || die "needs zstd: install it"
  has unzip || die "needs unzip: install it"
  require "${tools_build[@]}"
  local tensorrt
  tensorrt=$gpu_cache/tensorrt-$(gpu_version "$gpu_versions-tensorrt.version")-$gpu_level.tar.zst
  mkdir -p "$gpu_cache"
  rm -rf "$gpu_bundle"
  mkdir -p "$gpu_bundle"
  rm -rf "$root/benchmarks/gpu/target/lib" # what an earlier build needed must not be packed
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip --projects benchmarks/gpu --also-make \
    package >&2
  gpu_pack_tensorrt "$tensorrt"
  gpu_pack_nereid "$gpu_bundle/nereid.tar.zst"
  (
    cd "$gpu_bundle"
    # Two archives: who has the first on the machine brings only the second anew.
    split --bytes=$gpu_part --numeric-suffixes --suffix-length=2 "$tensorrt" tensorrt.part-
    split --bytes=$gpu_part --numeric-suffixes --suffix-length=2 nereid.tar.zst nereid.part-
    rm nereid.tar.zst
  )
  gpu_unpacker "$gpu_bundle"
  cp "$root/benchmarks/gpu/unpack" "$gpu_bundle/unpack"
  (
    cd "$gpu_bundle"
    find . -type f -printf '%P\n' | sort | xargs sha256sum >../gpu-bundle.sums
    mv ../gpu-bundle.sums SHA256SUMS
    du -b -- * | sort -k 2 | awk '{ printf "%11d %s\n", $1, $2 }' >&2
  )
  say "The bundle is ${gpu_bundle#"$PWD/"}: bring all of it, in any order, into one directory there;"
  say "then './unpack DIRECTORY' and 'DIRECTORY/gpu/verify'."
}

# What an image for GPUs has beyond the distribution that was built, in a directory: NVIDIA's libraries
# that serve plans, of TensorRT 10 unless other versions are named, and JavaCPP's unpacked, so that no start does it.
cmd_gpu_libraries() {
  has unzip || die "needs unzip: install it"
  [[ $# -ge 1 ]] || die "gpu-libraries: expected a directory, and versions of TensorRT if need be"
  local to=$1 jar jars=() majors=("${@:2}") major
  for jar in javacpp cuda tensorrt; do
    jar=$(compgen -G "$root/tools/cli/target/lib/$jar-*-$dist_platform.jar") ||
      die "gpu-libraries: the server is not built: './dev dist' builds it"
    jars+=("$jar")
  done
  for major in "${majors[@]:-10}"; do
    gpu_use "$major"
    gpu_unpack "$to/tensorrt" "${gpu_serving[@]}"
  done
  mkdir -p "$to/native"
  for jar in "${jars[@]}"; do
    unzip -q -o -j "$jar" '*.so' -d "$to/jni"
  done
  mv "${gpu_jni[@]/#/$to/jni/}" "$to/native/"
  rm -rf "$to/jni"
  find "$to" -type f -printf '%11s %P\n' >&2
}

# The suite, in the tree.
cmd_gpu() {
  require "${tools_build[@]}"
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip --projects benchmarks/gpu --also-make \
    package >&2
  JAVA_HOME=$(find_jdk) exec "$root/benchmarks/gpu/verify" "$@"
}

# The tests for GPUs against test-doubles/rehearsal, where whatever a GPU completes comes late by a random time. The same
# seed gives the same times.
cmd_rehearse() {
  local seed=${1:-$((RANDOM * 32768 + RANDOM))} delay=${REHEARSAL_DELAY_US:-1500}
  require "${tools_build[@]}" "${tools_test[@]}"
  rehearsal_forget
  say "== completions come up to $delay us late, by the seed $seed"
  REHEARSAL_DELAY_US=$delay REHEARSAL_SEED=$seed run_maven --no-transfer-progress --activate-profiles '!native-tests' \
    --projects server,benchmarks/gpu --also-make -Dgroups=gpu verify || die "failed by the seed $seed"
  rehearsal_summary
}

# What an earlier run of Maven's execution "rehearsal" has left, of which rehearsal_summary must not tell.
rehearsal_forget() {
  rm -f "$root"/{bindings/,benchmarks/,}*/target/{surefire-reports/*-rehearsal-no-GPU.*,rehearsal.txt}
}

# What Maven's execution "rehearsal" ran in place of a GPU. A test that was skipped there has found no
# stand-in. At their end the processes have told what was open still: the memory of devices that is kept for
# the next model and the streams of CudaDevice may be, and page locks that were made to stay.
rehearsal_summary() {
  local suites left
  suites=$(grep -h -m 1 '<testsuite ' "$root"/{bindings/,benchmarks/,}*/target/surefire-reports/TEST-*-rehearsal-no-GPU.xml)
  count() { grep -o " $1=\"[0-9]*\"" <<<"$suites" | awk -F '"' '{ sum += $2 } END { print sum + 0 }'; }
  say "$(count tests) tests for GPUs ran on this machine's processor, against test-doubles/rehearsal in place of NVIDIA's libraries."
  say 'No GPU was used: docs/gpu.md says what only one can tell.'
  [[ $(count skipped) == 0 ]] || die "$(count skipped) of them were skipped: see target/surefire-reports/*-rehearsal-no-GPU.txt"
  left=$(grep -hE '^(misuse|left): ' "$root"/{bindings/,benchmarks/,}*/target/rehearsal.txt |
    grep -vE '^left: (device memory .* of cudaMalloc|stream .* of cuStreamCreate|page lock .*)$') || return 0
  say "$left"
  die 'test-doubles/rehearsal tells of misuse, or of what is left at the end of a process'
}
