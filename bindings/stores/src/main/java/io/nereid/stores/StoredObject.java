package io.nereid.stores;

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

  /** True if it can be a file below a directory, and of nothing but it. */
  boolean isSafe() {
    String name = isDirectory() ? key.substring(0, key.length() - 1) : key;
    for (String part : name.split("/", -1)) {
      if (part.isEmpty() || part.equals(".") || part.equals("..")) {
        return false;
      }
    }
    return name.chars().noneMatch(c -> c < ' ' || c == 0x7f);
  }
}
