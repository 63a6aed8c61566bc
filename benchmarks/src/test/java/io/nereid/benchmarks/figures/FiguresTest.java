package io.nereid.benchmarks.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the drawings of the documents to the values from which they are made. */
class FiguresTest {

  private static final Path ROOT = Path.of("..");
  private static final Path DOCS = ROOT.resolve("docs");

  static List<Path> figures() throws IOException {
    try (Stream<Path> files = Files.list(DOCS.resolve("figures"))) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("figures")
  void drawingsShowWhatWasMeasured(Path file) throws IOException {
    Path image = DOCS.resolve("images").resolve(DrawFigures.name(file) + ".svg");
    assertEquals(
        Figure.parse(Files.readString(file)).svg(),
        Files.readString(image),
        "run './dev bench figures draw'");
  }

  @ParameterizedTest
  @MethodSource("figures")
  void aDocumentShowsEachDrawing(Path file) throws IOException {
    String image = "images/" + DrawFigures.name(file) + ".svg";
    try (Stream<Path> pages =
        Stream.concat(Files.list(DOCS), Stream.of(ROOT.resolve("README.md")))) {
      assertTrue(
          pages.filter(page -> page.toString().endsWith(".md")).anyMatch(page -> has(page, image)),
          () -> "no page of docs and not README.md shows " + image);
    }
  }

  private static boolean has(Path page, String text) {
    try {
      return Files.readString(page).contains(text);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
