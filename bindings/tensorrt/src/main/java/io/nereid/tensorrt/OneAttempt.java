package io.nereid.tensorrt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.types.NereidException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An action that a process tries once, such as loading a library whose classes cannot be loaded
 * again: all later calls get the same result, or the same failure.
 */
final class OneAttempt<T> {

  private final Supplier<T> attempt;

  @GuardedBy("this")
  private T made;

  @GuardedBy("this")
  private NereidException failure;

  OneAttempt(Supplier<T> attempt) {
    this.attempt = attempt;
  }

  /** Returns the result of the attempt, which the first call makes. */
  synchronized T get() {
    if (made == null && failure == null) {
      try {
        made = attempt.get();
      } catch (NereidException e) {
        failure = e;
      }
    }
    if (failure != null) {
      throw new NereidException(failure.code(), failure.getMessage());
    }
    return made;
  }

  /** Returns the reason why {@link #get} fails; empty: it does not fail. */
  Optional<String> failure() {
    try {
      get();
      return Optional.empty();
    } catch (NereidException e) {
      return Optional.of(e.getMessage());
    }
  }
}
