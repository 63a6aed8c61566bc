package io.nereid.benchmarks.figures;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Draws each file of a directory with measured values into an SVG of another directory. */
final class DrawFigures {

  private DrawFigures() {}

  public static void main(String[] args) throws IOException {
    Path images = Path.of(args[1]);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(args[0]), "*.txt")) {
      for (Path file : files) {
        Path image = images.resolve(name(file) + ".svg");
        Files.writeString(image, Figure.parse(Files.readString(file)).svg());
        System.out.println(image);
      }
    }
  }

  /** The name of a figure by its file. */
  static String name(Path file) {
    return file.getFileName().toString().replace(".txt", "");
  }
}
