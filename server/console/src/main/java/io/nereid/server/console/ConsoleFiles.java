package io.nereid.server.console;

import io.nereid.server.http.ConsoleProvider.Content;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.zip.GZIPOutputStream;

/**
 * The files of the pages, from the program's resources: read, hashed and compressed at the first
 * use, and kept. Any thread may call.
 */
final class ConsoleFiles {

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");

  /** The files of the plotting library, which comes in a package with its own name and version. */
  private static final Map<String, String> OF_UPLOT =
      Map.of("uplot.js", "uPlot.iife.min.js", "uplot.css", "uPlot.min.css");

  private static final String UPLOT_VERSION =
      "/META-INF/maven/org.webjars.npm/uplot/pom.properties";
  private static final String UPLOT_FILES = "/META-INF/resources/webjars/uplot/%s/dist/%s";

  private final Map<String, Optional<Content>> read = new ConcurrentHashMap<>();

  /** The file of a name without a folder; empty: there is none. */
  Optional<Content> file(String name) {
    Optional<Content> known = read.get(name);
    if (known != null) {
      return known;
    }
    Optional<Content> content = bytes(name).map(bytes -> content(name, bytes));
    if (content.isPresent()) { // unknown names are not kept, since they would add up
      read.put(name, content);
    }
    return content;
  }

  private static Optional<byte[]> bytes(String name) {
    try (InputStream in = ConsoleFiles.class.getResourceAsStream(resource(name))) {
      return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String resource(String name) throws IOException {
    String library = OF_UPLOT.get(name);
    if (library == null) {
      return name;
    }
    Properties properties = new Properties();
    try (InputStream in = ConsoleFiles.class.getResourceAsStream(UPLOT_VERSION)) {
      if (in != null) {
        properties.load(in);
      }
    }
    return UPLOT_FILES.formatted(properties.getProperty("version"), library);
  }

  private static Content content(String name, byte[] plain) {
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(plain);
      ByteArrayOutputStream zipped = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
        gzip.write(plain);
      }
      String tag = '"' + HexFormat.of().formatHex(hash, 0, 16) + '"';
      return new Content(type, tag, plain, zipped.toByteArray());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
