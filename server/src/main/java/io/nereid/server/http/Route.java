package io.nereid.server.http;

/**
 * Where a path leads.
 *
 * @param endpoint what is asked for
 * @param model the model's name; empty where the path names none
 * @param version the model's version; 0 where the path names none
 * @param repository whether the path names a repository, which no endpoint supports
 */
record Route(Endpoint endpoint, String model, long version, boolean repository) {

  static final Route UNKNOWN = of(Endpoint.UNKNOWN);

  static Route of(Endpoint endpoint) {
    return new Route(endpoint, "", 0, false);
  }
}
