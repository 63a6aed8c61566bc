import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;

/**
 * Leaves out of jars the native libraries of all platforms but one: {@code java OnePlatform.java
 * PLATFORM JAR...}, where each jar has them in a folder {@code native/lib/PLATFORM}.
 */
final class OnePlatform {
  private static final String LIBRARIES = "native/lib/";

  private OnePlatform() {}

  /** Replaces the jars that are named. */
  public static void main(String[] args) throws IOException {
    for (int i = 1; i < args.length; i++) {
      Path jar = Path.of(args[i]);
      Path smaller = Path.of(args[i] + ".new");
      boolean found = false;
      try (JarFile all = new JarFile(jar.toFile());
          JarOutputStream out = new JarOutputStream(Files.newOutputStream(smaller))) {
        for (JarEntry entry : (Iterable<JarEntry>) all.stream()::iterator) {
          String name = entry.getName();
          String below = name.startsWith(LIBRARIES) ? name.substring(LIBRARIES.length()) : "";
          boolean own = below.startsWith(args[0] + "/");
          if (own || below.indexOf('/') < 0) {
            found |= own;
            copy(all, entry, out);
          }
        }
      }
      if (!found) {
        throw new IOException("expected " + LIBRARIES + args[0] + " in " + jar + ", it has none");
      }
      Files.move(smaller, jar, REPLACE_EXISTING);
    }
  }

  private static void copy(JarFile from, JarEntry entry, JarOutputStream out) throws IOException {
    JarEntry written = new JarEntry(entry.getName());
    written.setTimeLocal(entry.getTimeLocal()); // the same bytes in every time zone
    out.putNextEntry(written);
    try (InputStream in = from.getInputStream(entry)) {
      in.transferTo(out);
    }
    out.closeEntry();
  }
}
