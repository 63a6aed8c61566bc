package io.nereid.server.access;

/** The header fields of a request. */
public interface RequestFields {

  /** The value of a field, by its name in lower case; null when the request has none. */
  String value(String name);
}
