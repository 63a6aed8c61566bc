package io.nereid.recording;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The segments of a directory, and which of them are to go. */
final class Retention {

  private Retention() {}

  /** The segments of a directory, the oldest recording first. */
  static List<Path> segments(Path directory) throws IOException {
    List<Path> segments = new ArrayList<>();
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(directory, Format.PREFIX + "*" + Format.SUFFIX)) {
      files.forEach(segments::add);
    }
    segments.sort(null);
    return segments;
  }

  /**
   * Deletes segments that were written before the age, and the oldest ones where all together take
   * more than they may. The one that is being written stays.
   */
  static void apply(Path directory, Path current, long mostBytes, Optional<Duration> age)
      throws IOException {
    List<Path> segments = segments(directory);
    segments.remove(current);
    Instant oldest = age.map(Instant.now()::minus).orElse(Instant.MIN);
    long total = 0;
    for (Path segment : segments.reversed()) {
      try {
        total += Files.size(segment);
        if (total > mostBytes || Files.getLastModifiedTime(segment).toInstant().isBefore(oldest)) {
          Files.delete(segment);
        }
      } catch (NoSuchFileException e) {
        continue; // another recorder of the directory has deleted it
      }
    }
  }
}
