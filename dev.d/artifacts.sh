# shellcheck shell=bash
# Puts the Maven artifacts into a directory, as a release would publish them, and uses them from there.
# Sourced by ./dev after tools.sh and build.sh.

artifact_repository=$root/build/repository
artifact_options=(-Partifacts "-DaltDeploymentRepository=local::file:$artifact_repository")

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

# Runs the sample with the artifacts that are in the directory, and looks at what it prints.
embed_run() {
  local said want='[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]'
  embed_local_repository "$root/build/embed-m2"
  # In a copy, with nothing of the tree around it but the models.
  rm -rf "$root/build/embed"
  cp -r "$root/examples/embed" "$root/build/embed"
  said=$(maven_in "$root/build/embed" --no-transfer-progress --quiet \
    "-Dmaven.repo.local=$root/build/embed-m2" "-Dnereid.version=$(dist_version)" \
    "-Dnereid.repository=$artifact_repository" "-Dembed.models=$root/examples/models" \
    compile exec:exec) || die "examples/embed failed: $said"
  [[ $said == *"in process: $want"*"served:     $want"* ]] ||
    die "expected examples/embed to print $want twice, got: $said"
  say "$said"
}

cmd_embed() {
  require "${tools_build[@]}"
  rm -rf "$artifact_repository"
  run_maven --no-transfer-progress --quiet -DskipTests "${artifact_options[@]}" deploy >&2
  embed_run
}
