package io.nereid.server.http.seam;

import io.helidon.common.uri.UriPath;
import io.helidon.http.HeaderValues;
import io.helidon.http.PathMatcher;
import io.helidon.http.PathMatchers.MatchResult;
import io.helidon.http.PathMatchers.PrefixMatchResult;
import io.helidon.http.Status;
import io.helidon.webserver.http.HttpRoute;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/**
 * Matches the targets of requests that have no path, such as "a:b". Helidon's patterns throw an
 * exception at some of these, so the route comes before all others. Connections' threads call it.
 */
final class NoPath implements PathMatcher {

  /** Answers as to an unknown path. */
  static HttpRoute route() {
    return HttpRoute.builder().path(new NoPath()).handler(NoPath::answer).build();
  }

  private static void answer(ServerRequest request, ServerResponse response) {
    response
        .status(Status.NOT_FOUND_404)
        .header(HeaderValues.CONTENT_TYPE_JSON)
        .send(ErrorBody.json("Not Found"));
  }

  @Override
  public MatchResult match(UriPath path) {
    return path.path() == null ? new MatchResult(true, null) : MatchResult.notAccepted();
  }

  @Override
  public PrefixMatchResult prefixMatch(UriPath path) {
    return PrefixMatchResult.notAccepted();
  }
}
