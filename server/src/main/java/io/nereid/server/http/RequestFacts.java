package io.nereid.server.http;

/** What handlers find out about the request that a connection is serving, for the logs. */
final class RequestFacts {

  private String id = "";
  private long version;

  /** Another request begins. */
  void begin() {
    id = "";
    version = 0;
  }

  /** What the body calls the request. */
  void id(String given) {
    id = given;
  }

  /** As it was given; empty: there is none. */
  String id() {
    return id;
  }

  /** The version of the model that is to answer. */
  void version(long chosen) {
    version = chosen;
  }

  /** As it was chosen; 0: there is none. */
  long version() {
    return version;
  }
}
