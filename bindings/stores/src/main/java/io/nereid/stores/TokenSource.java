package io.nereid.stores;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** A token of OAuth 2 that is asked for when it is needed, and again before it ends. */
final class TokenSource {

  /** The question, answered with JSON that has {@code access_token} and {@code expires_in}. */
  interface Question {
    String ask() throws IOException;
  }

  private static final Duration MARGIN = Duration.ofMinutes(2);

  private final Question question;

  @GuardedBy("this")
  private String token; // null: there is none

  @GuardedBy("this")
  private Instant ends;

  TokenSource(Question question) {
    this.question = question;
  }

  synchronized String get() throws IOException {
    if (token == null || ends.isBefore(Instant.now())) {
      Map<String, String> answer = SmallJson.strings(question.ask());
      token = answer.get("access_token");
      if (token == null) {
        throw new IOException("expected an access_token from the service that gives tokens");
      }
      long seconds = Long.parseLong(answer.getOrDefault("expires_in", "300"));
      ends = Instant.now().plusSeconds(seconds).minus(MARGIN);
    }
    return token;
  }

  /** Forgets a token that was refused; false: there was none. */
  synchronized boolean renew() {
    boolean known = token != null;
    token = null;
    return known;
  }
}
