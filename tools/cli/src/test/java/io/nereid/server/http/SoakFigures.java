package io.nereid.server.http;

import io.nereid.perf.report.Chart;
import io.nereid.perf.report.Chart.Point;
import io.nereid.perf.report.Chart.Series;
import io.nereid.perf.report.HtmlPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The figures of all parts of a soak, in a file of a directory: a line for each moment, after so
 * many seconds of soaking in all. For one thread of one process at a time.
 */
final class SoakFigures {

  private static final String NAME = "figures.txt";

  private static final List<String> NAMES =
      List.of(
          "RSS (KiB)",
          "heap in use (KiB)",
          "descriptors",
          "threads",
          "pool in use (bytes)",
          "answers");

  private static final double SECONDS_AN_HOUR = 3600;

  private final Path directory;
  private final Path file;

  /** For each moment the seconds, and the figures in the order of their names. */
  private final List<long[]> lines = new ArrayList<>();

  /** The seconds and the answers of the parts before this one. */
  private final long[] before = new long[2];

  private SoakFigures(Path directory) {
    this.directory = directory;
    file = directory.resolve(NAME);
  }

  /**
   * The figures of a directory, to which others are added; if it has none, those of an earlier
   * directory are copied.
   */
  static SoakFigures of(Path directory, Path earlier) throws IOException {
    SoakFigures figures = new SoakFigures(Files.createDirectories(directory));
    Path kept = earlier.resolve(NAME);
    if (Files.notExists(figures.file) && Files.exists(kept)) {
      Files.copy(kept, figures.file);
    }
    if (Files.exists(figures.file)) {
      for (String line : Files.readAllLines(figures.file)) {
        figures.lines.add(List.of(line.split(" ")).stream().mapToLong(Long::parseLong).toArray());
      }
    }
    figures.beginPart();
    return figures;
  }

  /** Has what is added from here on count seconds and answers from 0 again. */
  void beginPart() {
    before[0] = seconds();
    before[1] = lines.isEmpty() ? 0 : lines.getLast()[NAMES.size()];
  }

  Path directory() {
    return directory;
  }

  /** The seconds of all parts. */
  long seconds() {
    return lines.isEmpty() ? 0 : lines.getLast()[0];
  }

  /** Adds a moment of this part. */
  void add(
      long seconds,
      long rssKib,
      long heapKib,
      long descriptors,
      long threads,
      long poolBytes,
      long answers)
      throws IOException {
    long[] line = {
      before[0] + seconds, rssKib, heapKib, descriptors, threads, poolBytes, before[1] + answers
    };
    lines.add(line);
    Files.writeString(
        file,
        LongStream.of(line).mapToObj(Long::toString).collect(Collectors.joining(" ")) + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** Draws each figure over the whole time, and returns the page. */
  Path draw() throws IOException {
    HtmlPage page = new HtmlPage("A soak of " + seconds() + " s");
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      List<Point> points = new ArrayList<>();
      for (long[] line : lines) {
        points.add(new Point(line[0] / SECONDS_AN_HOUR, line[i + 1], name + ": " + line[i + 1]));
      }
      page.figure(name, Chart.linear(name, "hours", name, List.of(new Series("", points))));
    }
    return Files.writeString(directory.resolve("figures.html"), page.toString());
  }
}
