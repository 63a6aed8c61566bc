package io.nereid.model;

import io.nereid.internal.Checks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Models that are one file: {@code NAME.onnx} or {@code NAME.plan}. A repository can have them
 * beside directories, and such a file is itself a repository of one model.
 */
public final class ModelFile {

  /** The endings of the names of files that are models. */
  public static final List<String> ENDINGS = List.of(".onnx", ".plan");

  private ModelFile() {}

  /** True if the name has such an ending. */
  public static boolean isNamed(String name) {
    return ENDINGS.stream().anyMatch(Checks.notNull(name, "name")::endsWith);
  }

  /** True if such a file is there. */
  public static boolean isAt(Path path) {
    return isNamed(Checks.notNull(path, "path").toString()) && Files.isRegularFile(path);
  }

  /**
   * Returns the name of the model at a place: a directory's name, or a file's without its ending.
   */
  public static String nameAt(Path place) {
    String last = Checks.notNull(place, "place").getFileName().toString();
    return isAt(place) ? last.substring(0, last.lastIndexOf('.')) : last;
  }
}
