package io.nereid.internal.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandles;

/** The runtime's log, to which the core writes too, from any thread. */
public final class CoreLog {

  /** The logger of the runtime. */
  public static final Logger LOGGER = System.getLogger("io.nereid");

  private CoreLog() {}

  /** Logs a message and never throws. */
  public static void logQuietly(String message, Throwable cause) {
    try {
      LOGGER.log(Level.ERROR, message, cause);
    } catch (Throwable t) {
      // There is nowhere left to report it.
    }
  }

  /** The {@code nrd_log_fn}. */
  static final class Upcall {
    static final long LOG =
        NativeCalls.upcall(
            MethodHandles.lookup(),
            "log",
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

    private Upcall() {}

    static void log(long context, int level, long message, long size) {
      try {
        LOGGER.log(level(level), Memory.readString(message, size));
      } catch (Throwable t) {
        // There is nowhere left to report it.
      }
    }
  }

  /** Returns the level that the core means by a number. */
  public static Level level(int level) {
    return switch (level) {
      case 0 -> Level.ERROR;
      case 1 -> Level.WARNING;
      case 2 -> Level.INFO;
      default -> Level.DEBUG;
    };
  }
}
