# shellcheck shell=bash
# Puts the Maven artifacts into a directory, as a release would publish them, and uses them from there.
# Sourced by ./dev after dist.sh.

artifact_repository=$root/build/repository

# One file as Maven's deploy goal would name it there.
artifact_put() {
  local file=$1 artifact=$2 ending=$3 to
  to=$artifact_repository/io/nereid/$artifact/$(dist_version)
  [[ -e $root/$file ]] || die "expected the artifact $file to be built, and it is not there"
  mkdir -p "$to"
  cp "$root/$file" "$to/$artifact-$(dist_version)$ending"
}

# Not by Maven's deploy goal: that leaves a second copy in the user's own repository, where any build
# would find it instead of what it has built itself.
artifacts_put() {
  local module artifact name version
  version=$(dist_version)
  rm -rf "$artifact_repository"
  artifact_put pom.xml nereid-parent .pom
  artifact_put dist/bom/pom.xml nereid-bom .pom
  artifact_put dist/tensorrt-11/pom.xml nereid-tensorrt-11 .pom
  for module in bindings/types proto bindings/client tools/perf bindings/runtime bindings/recording bindings/stores bindings/triton bindings/tensorrt integrations/flink integrations/micrometer integrations/spring-boot-starter integrations/text integrations/opentelemetry integrations/images integrations/junit benchmarks/jmh server server/console tools/cli; do
    artifact=nereid-${module##*/}
    name=$module/target/$artifact-$version
    # Beside nereid-server.jar, which the launcher starts.
    if [[ $module == tools/cli ]]; then name=tools/cli/target/nereid; fi
    artifact_put "$module/pom.xml" "$artifact" .pom
    artifact_put "$name.jar" "$artifact" .jar
    artifact_put "$name-sources.jar" "$artifact" -sources.jar
    artifact_put "$name-javadoc.jar" "$artifact" -javadoc.jar
    artifact_put "$module/target/$artifact.cdx.json" "$artifact" -cyclonedx.json
  done
}

# A local repository of Maven that shares everything with the user's own but our artifacts, which
# must come from the directory, and must not get into that one.
embed_local_repository() {
  local to=$1 users=$HOME/.m2/repository entry
  rm -rf "$to"
  mkdir -p "$to/io"
  for entry in "$users"/* "$users"/io/*; do
    case ${entry#"$users"/} in
      io | io/nereid) ;;
      *) if [[ -e $entry ]]; then ln -s "$entry" "$to/${entry#"$users"/}"; fi ;;
    esac
  done
}

# Runs a goal in a copy of an example, with the artifacts that are built and nothing of the tree around it.
# Prints what it says.
embed_example() {
  local name=$1
  shift
  rm -rf "$root/build/$name"
  cp -r "$root/examples/$name" "$root/build/$name"
  maven_in "$root/build/$name" --no-transfer-progress --quiet \
    "-Dmaven.repo.local=$root/build/embed-m2" "-Dnereid.version=$(dist_version)" \
    "-Dnereid.repository=$artifact_repository" "-D$name.models=$root/examples/models" "$@"
}

# Runs the samples with the artifacts that are built, and looks at what they print.
embed_run() {
  local said want='[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]'
  embed_local_repository "$root/build/embed-m2"
  said=$(embed_example embed compile exec:exec) || die "examples/embed failed: $said"
  [[ $said == *"in process: $want"*"served:     $want"* ]] ||
    die "expected examples/embed to print $want twice, got: $said"
  say "$said"
  want='doubles: [2.0, 4.0, 6.0, 8.0]'
  said=$(embed_example modular process-classes) || die "examples/modular failed: $said"
  [[ $said == *"$want"*"$want"* ]] ||
    die "expected examples/modular to print '$want' twice, from an image and from the class path, got: $said"
  say "$said"
  said=$(embed_example objective compile exec:exec) || die "examples/objective failed: $said"
  want='^3200 requests/s: .* answered, .*; *[1-9][0-9]* refused$'
  grep -qE "$want" <<<"$said" || die "expected examples/objective to answer some of 3200 requests/s and refuse others, got: $said"
  say "$said"
  readme_project "$(find_jdk)/bin/java"
}

# The modules that programs depend on, for Maven's --projects; with --also-make all that they need.
install_modules=dist/bom,bindings/runtime,bindings/recording,bindings/stores,bindings/triton,bindings/tensorrt,integrations/flink,integrations/micrometer,integrations/spring-boot-starter,integrations/text,integrations/opentelemetry,integrations/images,integrations/junit,benchmarks/jmh,bindings/client,tools/cli

# What a program pastes to depend on the artifacts that are installed.
install_hint() {
  local version onnxruntime
  version=$(dist_version)
  onnxruntime=$(onnxruntime_version)
  cat <<HINT
Installed io.nereid $version into the local Maven repository.

Maven, in pom.xml:

  <dependency>
    <groupId>io.nereid</groupId>
    <artifactId>nereid-runtime</artifactId>
    <version>$version</version>
  </dependency>
  <dependency> <!-- for ONNX models -->
    <groupId>com.microsoft.onnxruntime</groupId>
    <artifactId>onnxruntime</artifactId>
    <version>$onnxruntime</version>
    <scope>runtime</scope>
  </dependency>

Gradle, in build.gradle.kts:

  repositories { mavenLocal(); mavenCentral() }
  dependencies {
    implementation("io.nereid:nereid-runtime:$version")
    runtimeOnly("com.microsoft.onnxruntime:onnxruntime:$onnxruntime") // for ONNX models
  }

Compile for Java $java_major, and start Java with --enable-native-access=ALL-UNNAMED.
HINT
}

# Options are Maven's, such as -Dmaven.repo.local=DIR.
cmd_install() {
  require "${tools_build[@]}"
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip --projects "$install_modules" \
    --also-make install "$@" >&2
  install_hint
}

# Makes a project as README says, in an empty directory, and runs README's example in it by a command that starts
# Java. More options are Maven's, for the installation.
readme_project() {
  local project=$root/build/readme repository=$root/build/readme-m2 java hint want said
  read -ra java <<<"$1"
  shift
  embed_local_repository "$repository"
  hint=$(cmd_install "-Dmaven.repo.local=$repository" "$@") || die "./dev install failed"
  rm -rf "$project"
  mkdir -p "$project/src/main/java"
  cat >"$project/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>readme</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>$java_major</maven.compiler.source>
    <maven.compiler.target>$java_major</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
$(sed -n '/^  <dependency>/,/^Gradle/p' <<<"$hint" | sed '/^Gradle/d')
  </dependencies>
</project>
POM
  # shellcheck disable=SC2016 # the quotes are those of Markdown
  sed -n '/^```java/,/^```/p' "$root/README.md" | sed '/^```/d' >"$project/src/main/java/Main.java"
  maven_in "$project" --no-transfer-progress --quiet "-Dmaven.repo.local=$repository" package \
    dependency:build-classpath -Dmdep.includeScope=runtime -Dmdep.outputFile=class.path ||
    die "the project of README.md does not build"
  want='[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]'
  said=$(cd "$root" && "${java[@]}" --enable-native-access=ALL-UNNAMED \
    -cp "$project/target/classes:$(<"$project/class.path")" Main) || die "README.md's example failed: $said"
  [[ $said == "$want" ]] || die "expected README.md's example to print $want, got: $said"
  say "README.md's project: $said"
}

# Builds the artifacts and puts them into their directory. Options are Maven's, such as -Paarch64.
artifacts_build() {
  require "${tools_build[@]}"
  run_maven --no-transfer-progress --quiet -DskipTests -Dmaven.test.skip -Partifacts \
    --projects "$install_modules" --also-make package "$@" >&2
  artifacts_put
}

cmd_embed() {
  artifacts_build "$@"
  embed_run
}
