package io.nereid.server.http;

/**
 * Where a path leads.
 *
 * @param endpoint what is asked for
 * @param model the model's name; empty where the path names none
 * @param version the model's version; 0 where the path names none
 * @param repository whether the path names a repository, which no endpoint supports
 * @param region the shared memory region's name; empty where the path names none
 */
record Route(Endpoint endpoint, String model, long version, boolean repository, String region) {

  static final Route UNKNOWN = of(Endpoint.UNKNOWN);

  static Route of(Endpoint endpoint) {
    return new Route(endpoint, "", 0, false);
  }

  static Route ofRegion(Endpoint endpoint, String region) {
    return new Route(endpoint, "", 0, false, region);
  }

  Route(Endpoint endpoint, String model, long version, boolean repository) {
    this(endpoint, model, version, repository, "");
  }
}
