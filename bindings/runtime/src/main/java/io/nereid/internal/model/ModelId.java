package io.nereid.internal.model;

/**
 * The names that one model is known by.
 *
 * @param key unique to the model: the name or, if repositories are name spaces, the directory
 * @param name the name that clients call it by
 * @param namespace the model's repository, if repositories are name spaces; else empty
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
