package io.nereid.stores;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Requests to services that hand out credentials, whose answers are short.
 *
 * @param client is shared by all stores
 */
record SmallHttp(CompletableFuture<HttpClient> client) {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  String get(URI uri, Map<String, String> headers) throws IOException {
    return send("GET", uri, headers, "");
  }

  /** Sends a request, and returns the text of the answer. */
  String send(String method, URI uri, Map<String, String> headers, String body) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .timeout(PATIENCE)
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    headers.forEach(request::header);
    try {
      HttpResponse<String> answer =
          client.join().send(request.build(), HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        String who = uri.getHost();
        throw new StoreException(
            answer.statusCode(),
            "no credentials: " + who + " answered with status " + answer.statusCode());
      }
      return answer.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
