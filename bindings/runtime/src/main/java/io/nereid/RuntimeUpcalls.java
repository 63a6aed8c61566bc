package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.NativeLibrary;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * The functions that the core calls about requests and its log. They are made once and live as long
 * as the process; which runtime is meant comes as the context. Nothing may be thrown out of them.
 */
final class RuntimeUpcalls {

  static final Logger LOGGER = System.getLogger("io.nereid");

  /** Address of an {@code nrd_complete_fn}. */
  static final long COMPLETE =
      NativeLibrary.upcall(
          find("complete", long.class, long.class, int.class),
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT));

  /** Address of an {@code nrd_respond_fn}. */
  static final long RESPOND =
      NativeLibrary.upcall(
          find("respond", long.class, long.class, long.class, int.class),
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT));

  /** Address of an {@code nrd_log_fn}. */
  static final long LOG =
      NativeLibrary.upcall(
          find("log", long.class, int.class, long.class, long.class),
          FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

  private RuntimeUpcalls() {}

  private static MethodHandle find(String name, Class<?>... parameters) {
    try {
      return MethodHandles.lookup()
          .findStatic(RuntimeUpcalls.class, name, MethodType.methodType(void.class, parameters));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  static void complete(long context, long tags, int count) {
    for (int i = 0; i < count; i++) {
      try {
        NativeRuntime.find(context).slots().complete(Memory.readLong(tags + (long) i * Long.BYTES));
      } catch (Throwable t) {
        logQuietly("a completion could not be delivered", t);
      }
    }
  }

  static void respond(long context, long tag, long outputs, int count) {
    try {
      NativeRuntime.find(context).slots().respond(tag, outputs, count);
    } catch (Throwable t) {
      logQuietly("a response could not be delivered", t);
    }
  }

  static void log(long context, int level, long message, long size) {
    try {
      LOGGER.log(level(level), Memory.readString(message, size));
    } catch (Throwable t) {
      // There is nowhere left to report it.
    }
  }

  private static Level level(int level) {
    return switch (level) {
      case 0 -> Level.ERROR;
      case 1 -> Level.WARNING;
      case 2 -> Level.INFO;
      default -> Level.DEBUG;
    };
  }

  /** Logs from where nothing may be thrown. */
  static void logQuietly(String message, Throwable cause) {
    try {
      LOGGER.log(Level.ERROR, message, cause);
    } catch (Throwable t) {
      // There is nowhere left to report it.
    }
  }
}
