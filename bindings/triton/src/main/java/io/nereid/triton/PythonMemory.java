package io.nereid.triton;

import io.nereid.internal.ffi.CoreLog;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The files in shared memory through which Triton's Python backend talks to its processes. A killed
 * server leaves them behind: their names identify the process that made them, so that the next
 * server can remove them. Threads that open the backend call it; nothing here owns memory.
 */
final class PythonMemory {

  private static final String SETTING = "shm-region-prefix-name";
  private static final String BEGIN = "triton_python_backend_shm_region_nereid_";
  private static final Path FILES = Path.of("/dev/shm");
  private static final Path PROCESSES = Path.of("/proc");

  private PythonMemory() {}

  /**
   * Returns the settings of a backend; for Python's, adds a prefix for the files' names if there is
   * none.
   */
  static Map<String, String> named(String backend, Map<String, String> settings) {
    if (!backend.equals("python") || settings.containsKey(SETTING)) {
      return settings;
    }
    try {
      String namespace = namespace();
      removeOrphans(FILES, namespace);
      Map<String, String> named = new HashMap<>(settings);
      named.put(SETTING, prefix(namespace, Long.toString(ProcessHandle.current().pid())));
      return named;
    } catch (IOException e) {
      CoreLog.LOGGER.log(Level.DEBUG, "the files of Python models do not name this process: " + e);
      return settings;
    }
  }

  /** The namespace of process numbers, which differ between namespaces. */
  private static String namespace() throws IOException {
    return Files.readSymbolicLink(PROCESSES.resolve("self/ns/pid"))
        .toString()
        .replaceAll("\\D", "");
  }

  /**
   * The prefix for a process that is running; its start time distinguishes it from a later process
   * of the same number.
   */
  private static String prefix(String namespace, String process) throws IOException {
    String stat = Files.readString(PROCESSES.resolve(process).resolve("stat"));
    String start = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19];
    return BEGIN + namespace + "_" + process + "_" + start + "_";
  }

  /** Removes the files of processes of the namespace that are gone. */
  static void removeOrphans(Path directory, String namespace) throws IOException {
    int removed = 0;
    try (DirectoryStream<Path> files =
        Files.newDirectoryStream(directory, BEGIN + namespace + "_*")) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        String[] parts = name.substring(BEGIN.length()).split("_");
        if (parts.length > 3 && !isRunning(namespace, parts[1], name)) {
          removed += file.toFile().delete() ? 1 : 0; // the file may be another user's
        }
      }
    } finally {
      if (removed > 0) {
        CoreLog.LOGGER.log(
            Level.INFO,
            "removed "
                + removed
                + " files in "
                + directory
                + " of Python models whose server is gone");
      }
    }
  }

  private static boolean isRunning(String namespace, String process, String name) {
    try {
      return name.startsWith(prefix(namespace, process));
    } catch (IOException e) {
      return false;
    }
  }
}
