package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server process under full load, with all that clients do wrong. */
@Tag("slow")
class HttpSoakTest {

  private static final int SECONDS = 6;
  private static final int CONNECTIONS = 16;

  @TempDir Path directory;

  @Test
  void nothingIsLeftAfterLoad() throws Exception {
    SoakFigures figures = SoakFigures.of(directory, directory);
    try (HttpSoak soak = HttpSoak.start(directory)) {
      Soak.Verdict verdict = soak.run(SECONDS, CONNECTIONS, figures);
      assertEquals(0, soak.terminate());
      assertEquals(List.of(), verdict.faults(), verdict.figures());
      assertTrue(soak.answered.sum() > CONNECTIONS, verdict.figures()); // a slow machine does few
      assertTrue(soak.attacks().stream().allMatch(count -> count > 0), verdict.figures());
    }
  }

  @Test
  void partsAddUp() throws Exception {
    SoakFigures first = SoakFigures.of(directory, directory);
    first.add(10, 1000, 500, 40, 30, 0, 7);
    first.add(20, 1001, 500, 40, 30, 64, 9);
    first.beginPart();
    first.add(10, 900, 400, 41, 31, 0, 5);
    Path elsewhere = directory.resolve("another machine");
    SoakFigures second = SoakFigures.of(elsewhere, directory);
    second.add(10, 901, 401, 41, 31, 0, 1);
    assertEquals(40, second.seconds());
    List<String> lines = Files.readAllLines(elsewhere.resolve("figures.txt"));
    assertEquals("30 900 400 41 31 0 14", lines.get(2));
    assertEquals("40 901 401 41 31 0 15", lines.get(3));
    String page = Files.readString(second.draw());
    assertEquals(6, page.split("<svg ", -1).length - 1); // one a figure
    assertTrue(page.contains("threads: 31"), page);
  }
}
