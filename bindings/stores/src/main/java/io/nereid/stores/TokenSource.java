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
  private final boolean optional;

  @GuardedBy("this")
  private String token; // null: there is none

  @GuardedBy("this")
  private Instant ends = Instant.MIN;

  @GuardedBy("this")
  private Instant next = Instant.MIN; // when it is asked for again

  TokenSource(Question question) {
    this(question, false);
  }

  /** A source; optional: it may turn out that nobody is there to answer. */
  TokenSource(Question question, boolean optional) {
    this.question = question;
    this.optional = optional;
  }

  /** Returns a token that is valid; null: nobody answered, and is asked again in a minute. */
  synchronized String get(Instant now) throws IOException {
    if (next.isBefore(now)) {
      try {
        Map<String, String> answer = SmallJson.strings(question.ask());
        if (!answer.containsKey("access_token")) {
          throw new IOException("expected an access_token from the service that gives tokens");
        }
        token = answer.get("access_token");
        ends = now.plusSeconds(Long.parseLong(answer.getOrDefault("expires_in", "300")));
        next = ends.minus(MARGIN);
      } catch (IOException e) {
        if (!optional) {
          throw e;
        }
        token = ends.isAfter(now) ? token : null;
        next = now.plus(AwsCredentials.PAUSE);
      }
    }
    return token;
  }

  /** Has another token be asked for as one was refused; false: there was none. */
  synchronized boolean renew() {
    boolean known = token != null;
    next = known ? Instant.MIN : next;
    return known;
  }
}
