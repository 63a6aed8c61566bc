package io.nereid.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {

  private static final BenchmarkId CHANGED =
      BenchmarkId.of("a.RequestBenchmark.changed", Map.of("form", "<json> & \"more\""));

  @TempDir private Path directory;

  private static ComparisonRun run(Instant at) {
    String base = "v1";
    String candidate = "v2";
    SimulatedForks forks = new SimulatedForks(1, candidate, 1, 1, 0.01);
    Fork.Source<String> slowed =
        (side, id) -> {
          Fork fork = forks.run(side, id);
          double factor = side.equals(candidate) && id.equals(CHANGED) ? 1.5 : 1;
          return new Fork(fork.timeNs() * factor, fork.cpuNs() * factor, 300 * factor);
        };
    List<Outcome> outcomes =
        new Comparison<>(
                slowed,
                base,
                candidate,
                new Judge(0.05),
                Duration.ofMinutes(3),
                forks::nowNs,
                line -> {})
            .run(List.of(BenchmarkId.of("a.RequestBenchmark.same", Map.of()), CHANGED));
    return new ComparisonRun(
        at,
        "v1",
        "v2",
        "core",
        0.05,
        "a machine",
        outcomes,
        List.of(BenchmarkId.of("a.Old.one", Map.of())),
        List.of());
  }

  @Test
  void theTableSaysWhatIsSlower() {
    String table = ComparisonReport.text(run(Instant.EPOCH));
    String changed = table.lines().filter(line -> line.contains("changed")).findFirst().get();
    assertTrue(changed.contains("SLOWER"), table);
    assertTrue(changed.contains("450 B (+150)"), table);
    String same = table.lines().filter(line -> line.contains("same")).findFirst().get();
    assertTrue(same.contains("no change within"), table);
    assertTrue(table.contains("only in v1:\n  Old.one\n"), table);
  }

  @Test
  void thePageNeedsNothingElse() throws Exception {
    String page = ComparisonReport.html(run(Instant.EPOCH), Map.of());
    for (String outside : List.of("http://", "https://", "src=", "href=", "url(", "@import")) {
      assertFalse(page.contains(outside), outside);
    }
    assertTrue(page.contains("prefers-color-scheme: dark"));
    assertTrue(page.contains("form=&lt;json&gt; &amp; &quot;more&quot;"));
    // Drawings are well formed.
    String svg = page.substring(page.indexOf("<svg"), page.indexOf("</svg>") + 6);
    DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  @Test
  void historyIsWhatWasWritten() throws IOException {
    History.write(run(Instant.ofEpochSecond(20)), directory.resolve("b.json"));
    History.write(run(Instant.ofEpochSecond(10)), directory.resolve("c.json"));
    Files.writeString(directory.resolve("broken.json"), "{\"at\": 1");
    Files.writeString(directory.resolve("other.json"), "{\"at\": 1}");
    List<History.Point> points = History.read(directory).get(CHANGED.key());
    List<History.Point> times =
        points.stream().filter(point -> point.metric().equals("time")).toList();
    assertEquals(
        List.of(Instant.ofEpochSecond(10), Instant.ofEpochSecond(20)),
        times.stream().map(History.Point::at).toList());
    assertEquals(1.5, times.get(0).ratio(), 0.05);
    assertTrue(times.get(0).low() > 1 && times.get(0).high() < 2);
  }
}
