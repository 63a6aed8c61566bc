package io.nereid.internal.repository;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The labels of one model's outputs: each file is read once, for all outputs and versions. */
final class LabelFiles {

  /** In all files of a model together. */
  static final int MAX_BYTES = 16 << 20;

  /** In all files of a model together: each takes far more memory than its text. */
  static final int MAX_LABELS = 1 << 20;

  private final ModelFiles files;
  private final Map<Path, List<String>> labels = new HashMap<>();
  private int bytesLeft = MAX_BYTES;
  private int labelsLeft = MAX_LABELS;

  LabelFiles(ModelFiles files) {
    this.files = files;
  }

  /** One label a line, as it is. Versions may be completed at the same time. */
  synchronized List<String> read(Path file) {
    List<String> known = labels.get(file);
    if (known != null) {
      return known;
    }
    long size = files.size(file);
    files.checkInsideRepository(file);
    if (size > bytesLeft) {
      throw tooLarge(file, MAX_BYTES + " bytes");
    }
    String text = files.readText(file, bytesLeft);
    List<String> read = List.copyOf(split(file, text));
    bytesLeft -= (int) size;
    labelsLeft -= read.size();
    labels.put(file, read);
    return read;
  }

  private List<String> split(Path file, String text) {
    List<String> lines = new ArrayList<>();
    int start = 0;
    while (start < text.length()) {
      int newline = text.indexOf('\n', start);
      int next = newline < 0 ? text.length() : newline;
      int end = next > start && text.charAt(next - 1) == '\r' ? next - 1 : next;
      if (lines.size() == labelsLeft) {
        throw tooLarge(file, MAX_LABELS + " labels");
      }
      lines.add(text.substring(start, end));
      start = next + 1;
    }
    return lines;
  }

  private NereidException tooLarge(Path file, String limit) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        files.shown(file) + ": a model's label files hold at most " + limit + " together");
  }
}
