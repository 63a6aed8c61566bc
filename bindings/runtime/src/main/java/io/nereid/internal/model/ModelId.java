package io.nereid.internal.model;

/**
 * What one model is known by.
 *
 * @param key what no other model has: the name or, where repositories are name spaces, the
 *     directory
 * @param name what clients call it
 * @param namespace the repository that it is in, where repositories are name spaces; else empty
 */
public record ModelId(String key, String name, String namespace) {

  /** The id of a model that has its name to itself. */
  public static ModelId of(String name) {
    return new ModelId(name, name, "");
  }

  /** The name in a key, for messages. */
  public static String shown(String key) {
    return key.substring(key.lastIndexOf('/') + 1);
  }
}
