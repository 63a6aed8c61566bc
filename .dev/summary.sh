# shellcheck shell=bash
# What all tests of a run came to, Java's and native ones. Sourced by ./dev; needs `root`, the top of the tree.

# Where the tests leave their reports: Surefire a file a class, CTest one a build.
test_reports() {
  find "$root" -path "$root/build/bench" -prune -o -path "$root/.git" -prune -o -type f \
    \( -path '*/target/surefire-reports/TEST-*.xml' -o -path "$root/build/*/ctest.xml" \) -print0
}

# Reports of earlier runs say nothing of this one.
remove_test_reports() { test_reports | xargs -0 --no-run-if-empty rm; }

# Prints tests, failed and skipped ones, as the attributes of each report's outermost element tell.
# shellcheck disable=SC2016 # it is for awk
count_tests() {
  test_reports | xargs -0 --no-run-if-empty cat | awk -v RS='>' '
    function number(name) {
      if (!match($0, "[ \t\n]" name "=\"[0-9]+")) return 0
      return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) + 0
    }
    /<testsuite[ \t\n]/ {
      tests += number("tests")
      failed += number("failures") + number("errors")
      skipped += number("skipped") + number("disabled")
    }
    END { print tests + 0, failed + 0, skipped + 0 }'
}

# Ends a run of all tests: to be called when the shell exits, with its status and when the run began. A run that
# failed elsewhere, as a build does, has failed once.
print_test_summary() {
  local status=$1 started=$2 counts tests failed skipped
  counts=$(count_tests)
  read -r tests failed skipped <<<"${counts:-0 0 0}"
  local passed=$((tests - failed - skipped)) minutes=$(((SECONDS - started + 30) / 60))
  if ((status != 0 && failed == 0)); then failed=1; fi
  printf 'passed %d, failed %d, skipped %d, in %d minutes\n' "$passed" "$failed" "$skipped" "$minutes"
  printf 'tests: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
}
