package io.nereid.stores;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * An object as a store lists it.
 *
 * @param key its name below the repository's prefix; one with a slash at its end is a directory
 * @param size in bytes
 * @param etag changes with its content; without quotes
 * @param md5 of its content, in hexadecimal digits, where the store lists that; else empty
 */
record StoredObject(String key, long size, String etag, String md5) {

  boolean isDirectory() {
    return key.endsWith("/");
  }

  /** The model that it belongs to. */
  String model() {
    int slash = key.indexOf('/');
    return slash < 0 ? key : key.substring(0, slash);
  }

  /** Its path in the model's directory; empty if the model is a file. */
  String path() {
    return key.substring(Math.min(key.length(), model().length() + 1));
  }

  /** Its place if the model's directory is {@code tree}. */
  Path place(Path tree) {
    return tree.resolve(path()).normalize();
  }

  boolean isManifest() {
    return path().equals(Manifest.NAME);
  }

  /** True if it can be a file below a directory, and of nothing but it. */
  boolean isSafe() {
    String name = isDirectory() ? key.substring(0, key.length() - 1) : key;
    for (String part : name.split("/", -1)) {
      if (part.isEmpty() || part.equals(".") || part.equals("..")) {
        return false;
      }
    }
    return name.chars().noneMatch(c -> c < ' ' || c == 0x7f) && isFileName(name);
  }

  /** True if a file can have the name: one with an accent needs a locale that has it. */
  private static boolean isFileName(String name) {
    try {
      Path.of(name);
      return true;
    } catch (InvalidPathException e) {
      return false;
    }
  }
}
