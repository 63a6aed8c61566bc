package io.nereid.internal.config;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.model.ModelFile;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The files of one model. The files are not trusted: every read has a limit, and names from a
 * configuration stay inside the model's directory. Symbolic links may lead out of it, because
 * volumes and model caches consist of links; label files must stay inside the repository.
 */
public final class ModelFiles {

  /** The longest name in a file system, in bytes. */
  public static final int MAX_NAME_BYTES = 255;

  /** The most bytes in all label files of a model together. */
  static final int MAX_LABEL_BYTES = 16 << 20;

  /**
   * The most labels in all label files of a model together: each takes far more memory than its
   * text.
   */
  static final int MAX_LABELS = 1 << 20;

  /** Other names, and those that start with 0, are no versions; 18 digits always fit a long. */
  private static final Pattern VERSION = Pattern.compile("[1-9][0-9]{0,17}");

  /** Normalized paths that denote the base itself or its parent. */
  private static final Set<String> STEPS_OUT = Set.of("", ".", "..");

  private final Path directory;
  private final String name;

  /** The name of the model's only file; null: the model is a directory. */
  private final String file;

  @GuardedBy("this")
  private final Map<Path, List<String>> labels = new HashMap<>();

  @GuardedBy("this")
  private int labelBytesLeft = MAX_LABEL_BYTES;

  @GuardedBy("this")
  private int labelsLeft = MAX_LABELS;

  private long readNs;

  private ModelFiles(Path directory, String name, String file) {
    this.directory = directory;
    this.name = name;
    this.file = file;
  }

  /** The files of a model whose directory may have another name. */
  ModelFiles(Path directory, String name) {
    this(directory, name, null);
  }

  /** The files of a model that is a directory, or one file. */
  static ModelFiles of(Path place) {
    return ModelFile.isAt(place)
        ? ofFile(place, ModelFile.nameAt(place))
        : new ModelFiles(place, place.getFileName().toString());
  }

  /** The files of a model that is one file. */
  static ModelFiles ofFile(Path file, String name) {
    Path whole = file.toAbsolutePath();
    return new ModelFiles(whole.getParent(), name, whole.getFileName().toString());
  }

  /** The name of the model's only file; empty: the model is a directory. */
  Optional<String> file() {
    return Optional.ofNullable(file);
  }

  Path directory() {
    return directory;
  }

  String name() {
    return name;
  }

  /** Time spent with the file system so far. */
  long readNs() {
    return readNs;
  }

  /** Returns the name of one of the model's files in messages. */
  String shown(Path file) {
    Path relative = directory.relativize(file);
    return this.file == null ? name() + "/" + relative : relative.toString();
  }

  /** Returns a message without the directory of the files, which may be temporary. */
  String relative(String message) {
    return file == null
        ? message.replace(directory.toString(), name)
        : message.replace(directory + "/", "");
  }

  /** The directory of a version; for a model that is one file, the file's directory. */
  Path version(long version) {
    return file != null ? directory : directory.resolve(Long.toString(version));
  }

  /** Refuses names that could leave the repository or could not be told apart in a message. */
  public static void checkName(String name) {
    String wrong = null;
    if (name.isBlank()) {
      wrong = "Model name cannot be empty";
    } else if (name.equals(".") || name.equals("..") || name.matches("(?s).*[/\\\\].*")) {
      wrong = "model name must not contain path traversal characters";
    } else if (bytes(name) > MAX_NAME_BYTES) {
      wrong = "model name is longer than " + MAX_NAME_BYTES + " bytes";
    } else if (!name.codePoints().allMatch(ModelFiles::isPlain)) {
      wrong = "model name must not contain blanks or control characters";
    } else if (!isFileName(name)) {
      wrong = "model name must not contain letters that the server's locale lacks";
    }
    if (wrong != null) {
      String shown = name.length() > 80 ? name.substring(0, 80) + "..." : name;
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, wrong + ", got '" + printable(shown) + "'");
    }
  }

  /** True if a file can have the name: one with an accent needs a locale that has it. */
  public static boolean isFileName(String name) {
    try {
      Path.of(name);
      return true;
    } catch (InvalidPathException e) {
      return false;
    }
  }

  /** Returns the length of a name as a file system counts it. */
  public static int bytes(String name) {
    return name.getBytes(StandardCharsets.UTF_8).length;
  }

  private static boolean isPlain(int character) {
    return !Character.isWhitespace(character)
        && !Character.isSpaceChar(character)
        && !Character.isISOControl(character)
        && Character.getType(character) != Character.FORMAT
        && Character.getType(character) != Character.SURROGATE
        && character != 0xFFFD; // stands for bytes that are not UTF-8
  }

  /** Returns text for a message: on one line, without control characters. */
  public static String printable(String text) {
    return text.replaceAll("[\\p{Cc}\\p{Cf}]", "?");
  }

  /**
   * A file that a configuration names, below a directory of the model.
   *
   * @param what names the setting in messages
   */
  public static Path inside(Path base, String name, String what) {
    try {
      Path relative = base.getFileSystem().getPath(name).normalize();
      if (!name.isBlank()
          && !relative.isAbsolute()
          && !STEPS_OUT.contains(relative.toString())
          && !relative.startsWith("..")) {
        return base.resolve(relative);
      }
    } catch (InvalidPathException e) {
      // A character that no path can have.
    }
    throw new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "expected %s to name a file inside the model's directory, got '%s'"
            .formatted(what, printable(name)));
  }

  /** Refuses links out of the repository, for files whose content clients can see. */
  void checkInsideRepository(Path file) {
    try {
      Path real = file.toRealPath();
      Path repository = directory.toAbsolutePath().getParent().toRealPath();
      if (!real.startsWith(directory.toRealPath()) && !real.startsWith(repository)) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            shown(file) + " is a link that leads out of the model repository");
      }
    } catch (IOException e) {
      throw failure(shown(file), e);
    }
  }

  // ---- Labels ----------------------------------------------------------------------------------

  /** Returns the labels in a file, one a line. Several versions may ask at the same time. */
  synchronized List<String> labels(Path file) {
    List<String> known = labels.get(file);
    if (known != null) {
      return known;
    }
    long size = size(file);
    checkInsideRepository(file);
    if (size > labelBytesLeft) {
      throw tooLarge(file, MAX_LABEL_BYTES + " bytes");
    }
    String text = readText(file, labelBytesLeft);
    List<String> read = List.copyOf(splitLabels(file, text));
    labelBytesLeft -= (int) size;
    labelsLeft -= read.size();
    labels.put(file, read);
    return read;
  }

  @GuardedBy("this")
  private List<String> splitLabels(Path file, String text) {
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
        shown(file) + ": a model's label files hold at most " + limit + " together");
  }

  // ---- Reading ---------------------------------------------------------------------------------

  /** The numbers of the directories that hold versions, ascending. */
  TreeSet<Long> versions() {
    return file != null ? new TreeSet<>(Set.of(1L)) : timed(this::listVersions);
  }

  private <T> T timed(Supplier<T> read) {
    long startNs = System.nanoTime();
    try {
      return read.get();
    } finally {
      readNs += System.nanoTime() - startNs;
    }
  }

  private TreeSet<Long> listVersions() {
    TreeSet<Long> versions = new TreeSet<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(directory)) {
      for (Path path : paths) {
        String name = path.getFileName().toString();
        if (VERSION.matcher(name).matches() && Files.isDirectory(path)) {
          versions.add(Long.parseLong(name));
        }
      }
      return versions;
    } catch (DirectoryIteratorException e) {
      throw failure(name(), e.getCause());
    } catch (IOException e) {
      throw failure(name(), e);
    }
  }

  /** The text of a file, which must be UTF-8. */
  String readText(Path file, int maxBytes) {
    String shown = shown(file);
    byte[] bytes = timed(() -> read(file, shown, maxBytes));
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, shown + " is not UTF-8 text");
    }
  }

  private static byte[] read(Path file, String shown, int maxBytes) {
    // Opening a pipe would wait for somebody to write into it.
    checkRegular(file, shown);
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(maxBytes + 1);
      if (bytes.length > maxBytes) {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT, shown + " is larger than " + maxBytes + " bytes");
      }
      return bytes;
    } catch (IOException e) {
      throw failure(shown, e);
    }
  }

  /** Throws unless there is a readable file that is not empty. */
  void checkModelFile(Path file) {
    if (size(file) == 0) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT, shown(file) + " is empty (0 bytes), expected a model");
    }
  }

  /** The size of a file, which must be readable. */
  long size(Path file) {
    String shown = shown(file);
    return timed(() -> {
      checkRegular(file, shown);
      if (!Files.isReadable(file)) {
        throw failure(shown, new AccessDeniedException(shown));
      }
      try {
        return Files.size(file);
      } catch (IOException e) {
        throw failure(shown, e);
      }
    });
  }

  private static void checkRegular(Path file, String shown) {
    if (!Files.isRegularFile(file)) {
      boolean there = Files.exists(file);
      throw new NereidException(
          there ? StatusCode.INVALID_ARGUMENT : StatusCode.NOT_FOUND,
          shown + (there ? " is not a file" : " is missing, or may not be looked at"));
    }
  }

  /** Returns the exception that says in words why an operation on a file failed. */
  public static NereidException failure(String shown, IOException cause) {
    return switch (cause) {
      case NoSuchFileException e -> because(StatusCode.NOT_FOUND, shown, "is gone", e);
      case AccessDeniedException e ->
          because(StatusCode.PERMISSION_DENIED, shown, "may not be read: permission denied", e);
      case NotDirectoryException e ->
          because(StatusCode.INVALID_ARGUMENT, shown, "is no directory", e);
      case FileSystemLoopException e ->
          because(StatusCode.INVALID_ARGUMENT, shown, "is a loop of symbolic links", e);
      // The exceptions' own messages begin with the path, which may be a temporary one.
      case FileSystemException e ->
          because(StatusCode.UNAVAILABLE, shown, "cannot be read: " + reason(e), e);
      default -> new NereidException(StatusCode.UNAVAILABLE, shown + " cannot be read", cause);
    };
  }

  private static String reason(FileSystemException cause) {
    return cause.getReason() == null ? cause.getClass().getSimpleName() : cause.getReason();
  }

  private static NereidException because(
      StatusCode code, String shown, String what, IOException cause) {
    NereidException failure = new NereidException(code, shown + " " + what);
    failure.initCause(cause);
    return failure;
  }
}
