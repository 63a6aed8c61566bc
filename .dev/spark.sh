# shellcheck shell=bash
# Runs integrations/spark: its test, or its measurement. Sourced by ./dev after artifacts.sh. Not part of
# './dev test': Spark is about 280 MB of jars.

# Builds the example, with the artifacts as they are built now, and runs the goals given.
spark_maven() {
  artifacts_build
  embed_local_repository "$root/build/spark-m2"
  rm -rf "$root/integrations/spark/scoring/target" # jars of other versions would go to the executors, too
  maven_in "$root/integrations/spark" --no-transfer-progress \
    "-Dmaven.repo.local=$root/build/spark-m2" "-Dnereid.version=$(dist_version)" \
    "-Dnereid.repository=$artifact_repository" "$@"
}

# Images a second, in process and with two executors.
spark_measure() {
  local thousands=$1 options
  spark_maven --quiet -DskipITs package >&2
  read -ra options <<<"$(sed -n '/<driver.options>/,/<\/driver.options>/p' \
    "$root/integrations/spark/pom.xml" | sed 's|</*driver.options>||g' | tr '\n' ' ')"
  cd "$root/integrations/spark"
  JAVA_HOME=$(find_jdk) SPARK_HOME=$PWD/home/target SPARK_SCALA_VERSION=2.13 \
    "$(find_jdk)/bin/java" "${options[@]}" -cp 'scoring/target/jars/*:home/target/jars/*' \
    com.example.spark.Throughput 'local-cluster[2,1,1024]' scoring/target/jars \
    "$root/examples/models" "$root/examples/data/digits.csv" scoring/target "$thousands"
}

cmd_spark() {
  case ${1:-} in
    '') spark_maven verify ;;
    measure) spark_measure "${2:-2000}" ;;
    *) die "expected './dev spark' or './dev spark measure [THOUSANDS OF IMAGES]', got: $1" ;;
  esac
}
