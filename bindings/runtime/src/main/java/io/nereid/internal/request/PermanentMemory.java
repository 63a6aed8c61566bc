package io.nereid.internal.request;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Knows memory of users' that stays where it is as long as it is reachable. */
final class PermanentMemory {

  private static final Object GLOBAL_SCOPE = Arena.global().scope();

  /**
   * The class of automatic arenas' scopes. There is no other way to tell memory that stays as long
   * as it is reachable from memory that somebody can close; null when this platform's closeable
   * scopes are of the same class, so that nothing is taken for automatic by mistake.
   */
  private static final Class<?> AUTOMATIC_SCOPE = automaticScope();

  private PermanentMemory() {}

  private static Class<?> automaticScope() {
    Class<?> automatic = Arena.ofAuto().scope().getClass();
    try (Arena confined = Arena.ofConfined();
        Arena shared = Arena.ofShared()) {
      boolean distinct =
          automatic != confined.scope().getClass() && automatic != shared.scope().getClass();
      return distinct ? automatic : null;
    }
  }

  /** True if a request can refer to it, instead of a copy. */
  static boolean is(MemorySegment segment) {
    if (!segment.isNative() || segment.address() == 0) {
      return false;
    }
    MemorySegment.Scope scope = segment.scope();
    return scope.equals(GLOBAL_SCOPE) || scope.getClass() == AUTOMATIC_SCOPE;
  }
}
