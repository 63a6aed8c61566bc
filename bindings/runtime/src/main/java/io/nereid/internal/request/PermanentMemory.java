package io.nereid.internal.request;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Recognizes users' memory that stays valid as long as it is reachable. */
final class PermanentMemory {

  private static final Object GLOBAL_SCOPE = Arena.global().scope();

  /**
   * The class of automatic arenas' scopes. Only the class tells memory that lives while it is
   * reachable from memory that can be closed; null if closeable scopes have the same class on this
   * platform, so that no memory is taken for automatic by mistake.
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

  /** True if a request can refer to the memory instead of copying it. */
  static boolean is(MemorySegment segment) {
    if (!segment.isNative() || segment.address() == 0) {
      return false;
    }
    MemorySegment.Scope scope = segment.scope();
    return scope.equals(GLOBAL_SCOPE) || scope.getClass() == AUTOMATIC_SCOPE;
  }
}
