package io.nereid.benchmarks.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.perf.compare.BenchmarkId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;

/** The names are what comparisons and histories find benchmarks by. */
class BenchmarkNamesTest {

  private static final Path KNOWN = Path.of("benchmarks.txt");

  private static SortedSet<BenchmarkId> present() throws IOException {
    SortedSet<BenchmarkId> ids = new TreeSet<>();
    Path compiled = Path.of("target", "classes").resolve(BenchmarkList.BENCHMARK_LIST.substring(1));
    try (var list = Files.newInputStream(compiled)) {
      for (BenchmarkListEntry entry : BenchmarkList.readBenchmarkList(list)) {
        Map<String, String[]> parameters = entry.getParams().orElse(Map.of());
        ids.addAll(combinations(entry.getUsername(), new TreeMap<>(parameters)));
      }
    }
    return ids;
  }

  private static List<BenchmarkId> combinations(String name, TreeMap<String, String[]> parameters) {
    List<BenchmarkId> all = List.of(BenchmarkId.of(name, Map.of()));
    for (Map.Entry<String, String[]> parameter : parameters.entrySet()) {
      List<BenchmarkId> more = new ArrayList<>();
      for (BenchmarkId id : all) {
        for (String value : parameter.getValue()) {
          Map<String, String> values = new TreeMap<>(id.parameters());
          values.put(parameter.getKey(), value);
          more.add(BenchmarkId.of(name, values));
        }
      }
      all = more;
    }
    return all;
  }

  @Test
  void namesAndParametersAreTheOnesThatWereWrittenDown() throws IOException {
    String present =
        present().stream().map(BenchmarkId::key).collect(Collectors.joining("\n", "", "\n"));
    assertEquals(
        Files.readString(KNOWN),
        present,
        "a benchmark that is renamed loses its history, and comparisons with older commits pass it"
            + " over; if that is meant, write the new list into benchmarks/benchmarks.txt");
  }

  @Test
  void everyBenchmarkBelongsToASuiteAndEverySuiteHasSome() throws IOException {
    SortedSet<BenchmarkId> present = present();
    for (BenchmarkId id : present) {
      assertTrue(
          Stream.of(Suite.CORE, Suite.JSON, Suite.GRPC, Suite.HTTP, Suite.ONNX)
                  .filter(suite -> suite.contains(id))
                  .count()
              == 1,
          () -> id + " is to belong to one suite beside all");
    }
    for (Suite suite : Suite.values()) {
      assertTrue(present.stream().anyMatch(suite::contains), suite + " has none");
    }
    assertEquals(3, present.stream().filter(Suite.FAST::contains).count());
  }
}
