package io.nereid.statistics;

import io.nereid.internal.Checks;
import java.util.List;

/**
 * A user's object that holds memory of the pool because it is not closed yet. Recorded only with
 * {@code -Dnereid.leaks=record}.
 *
 * @param kind the kind of object
 * @param modelName the model that it belongs to
 * @param modelVersion the model's version
 * @param thread the name of the thread that made the request
 * @param madeAt where {@code Model.newRequest} was called, innermost first; for a response, the
 *     place of its request
 */
public record OpenHandle(
    Kind kind, String modelName, long modelVersion, String thread, List<StackTraceElement> madeAt) {

  /** The kinds of objects; requests and responses are closed separately. */
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
