# shellcheck shell=bash
# Runs the tests of examples/kafka. Sourced by ./dev after artifacts.sh. Not part of './dev test': Kafka
# and what it needs are about 80 MB of jars.

cmd_kafka() {
  [[ ${1:-3} =~ ^[1-9][0-9]*$ ]] || die "expected './dev kafka [KILLS]', got: $1"
  artifacts_build
  embed_local_repository "$root/build/kafka-m2"
  maven_in "$root/examples/kafka" --no-transfer-progress "-Dmaven.repo.local=$root/build/kafka-m2" \
    "-Dnereid.version=$(dist_version)" "-Dnereid.repository=$artifact_repository" \
    "-Dkafka.kills=${1:-3}" verify
}
