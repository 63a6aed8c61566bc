# shellcheck shell=bash
# Runs examples/flink: its tests, or its measurement. Sourced by ./dev after artifacts.sh. Not part of
# './dev test': Flink is about 200 MB of jars.

# Runs goals in the example, with the artifacts as they are built now.
flink_maven() {
  local repository=$root/build/flink-m2 version
  artifacts_build
  embed_local_repository "$repository"
  version=$(sed -n 's|.*<flink.version>\(.*\)</flink.version>.*|\1|p' "$root/pom.xml")
  # Flink's own provider; newer versions of the plugin want its parent, which is not published.
  run_maven --no-transfer-progress --quiet --non-recursive "-Dmaven.repo.local=$repository" \
    org.apache.maven.plugins:maven-dependency-plugin:2.8:copy "-DoutputDirectory=$root/build/flink" \
    "-Dartifact=org.apache.flink:flink-model-triton:$version" >&2
  maven_in "$root/examples/flink" --no-transfer-progress "-Dmaven.repo.local=$repository" \
    "-Dflink.version=$version" "-Dnereid.version=$(dist_version)" \
    "-Dnereid.repository=$artifact_repository" "$@"
}

cmd_flink() {
  case ${1:-} in
    '') flink_maven verify ;;
    kill) flink_maven verify "-Dflink.kills=${2:-20}" -Dit.test='ClusterIT#killed*' ;;
    measure) flink_maven verify "-Dflink.measure=${2:-200000}" -Dit.test='ClusterIT#rows*' ;;
    *) die "expected './dev flink', './dev flink kill [TIMES]' or './dev flink measure [ROWS]', got: $1" ;;
  esac
}
