package io.nereid.statistics;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * Something of the user's that holds memory of the pool because it was not closed yet. Known with
 * {@code -Dnereid.leaks=record} only.
 *
 * @param kind what it is
 * @param modelName the model that it belongs to
 * @param modelVersion the model's version
 * @param thread the name of the thread that made the request
 * @param madeAt where {@code Model.newRequest} was called, innermost first; of a response, where
 *     that was done for its request
 */
public record OpenHandle(
    Kind kind, String modelName, long modelVersion, String thread, List<StackTraceElement> madeAt) {

  /** Requests and responses are closed each by itself. */
  public enum Kind {
    /** Holds inputs. */
    REQUEST("a request"),
    /** Holds outputs. */
    RESPONSE("a response to a request"),
    /** A request that executes, or a stream whose responses were not read to the end. */
    UNFINISHED("what was sent by a request");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /** Takes over the list. */
  public OpenHandle {
    Checks.notNull(kind, "kind");
    Checks.notNull(modelName, "modelName");
    Checks.notNull(thread, "thread");
    madeAt = List.copyOf(Checks.notNull(madeAt, "madeAt"));
  }

  /** The kind of the handle and the place where it was made, in one line. */
  @Override
  public String toString() {
    return "%s to model '%s' version %s, made at %s by thread '%s'"
        .formatted(
            kind.text,
            modelName,
            modelVersion,
            madeAt.isEmpty() ? "an unknown place" : madeAt.getFirst(),
            thread);
  }
}
