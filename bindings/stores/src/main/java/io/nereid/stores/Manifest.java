package io.nereid.stores;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The list of a model's files with their digests, and the signature below it. The text is the name
 * of the model, a line for each file with its SHA-256 and its path, and the signature in Base64.
 *
 * @param text all lines that are signed
 * @param signature by one of the keys
 */
record Manifest(String text, String signature) {

  /** The file in the model's directory. */
  static final String NAME = "nereid.manifest";

  private static final String HEAD = "nereid manifest 1\nmodel ";
  private static final String SIGNED = "signature ";
  private static final int MAX_BYTES = 16 << 20;

  /** The manifest of what is in a model's directory now, without a signature. */
  static Manifest of(Path model) throws IOException {
    StringBuilder text = new StringBuilder(HEAD + name(model) + "\n");
    for (String file : files(model)) {
      text.append(Hashes.sha256(model.resolve(file))).append(' ').append(file).append('\n');
    }
    return new Manifest(text.toString(), "");
  }

  /** Reads a model's manifest. */
  static Manifest read(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException("expected a signature in " + NAME + ", which is not there");
    }
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException(NAME + " is larger than " + MAX_BYTES + " bytes");
    }
    String all = new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.UTF_8);
    int end = all.lastIndexOf("\n" + SIGNED) + 1;
    if (!all.startsWith(HEAD) || end == 0) {
      throw new IOException(NAME + ": expected a manifest with a signature");
    }
    return new Manifest(all.substring(0, end), all.substring(end + SIGNED.length()).strip());
  }

  /** The digests by path that a file claims, whoever signed it; none where it is no manifest. */
  static Map<String, String> digests(Path file) throws IOException {
    try {
      return read(file).digests();
    } catch (IOException e) {
      return Map.of(); // what has to be signed is checked before it is loaded
    }
  }

  private Map<String, String> digests() throws IOException {
    Map<String, String> digests = new HashMap<>();
    for (String line : text.lines().skip(2).toList()) {
      int blank = line.indexOf(' ');
      if (blank != 64 || !line.substring(0, blank).matches("[0-9a-f]+")) {
        throw new IOException(NAME + ": expected a SHA-256 and a path in each line");
      }
      digests.put(line.substring(blank + 1), line.substring(0, blank));
    }
    return digests;
  }

  void write(Path model) throws IOException {
    Files.writeString(model.resolve(NAME), text + SIGNED + signature + "\n");
  }

  /** Throws unless a model's directory holds what was listed, and nothing else. */
  void check(Path model) throws IOException {
    if (!text.startsWith(HEAD + name(model) + "\n")) {
      throw new IOException(
          NAME + ": expected it to be of '" + name(model) + "', got one of another model");
    }
    Map<String, String> digests = digests();
    List<String> files = files(model);
    for (String file : files) {
      if (!digests.containsKey(file)) {
        throw new IOException(file + " is not in the signed manifest");
      }
      if (!Hashes.sha256(model.resolve(file)).equals(digests.get(file))) {
        throw new IOException(file + " is not the file that was signed");
      }
    }
    for (String file : digests.keySet()) {
      if (!files.contains(file)) {
        throw new IOException(file + " is in the signed manifest, but it is not there");
      }
    }
  }

  private static String name(Path model) {
    return model.toAbsolutePath().normalize().getFileName().toString();
  }

  /** The paths of a model's files but the manifest, in order. */
  private static List<String> files(Path model) throws IOException {
    if (!Files.isDirectory(model)) {
      throw new IOException("expected a directory: a model that is one file cannot be signed");
    }
    List<String> files = new ArrayList<>();
    try (Stream<Path> all = Files.walk(model, FileVisitOption.FOLLOW_LINKS)) {
      for (Path file : all.sorted().toList()) {
        String path = model.relativize(file).toString();
        if (Files.isRegularFile(file) && !path.equals(NAME)) {
          files.add(path);
        }
        if (path.contains("\n")) {
          throw new IOException("expected names of files without line breaks");
        }
      }
    }
    return files;
  }
}
