package io.nereid.client;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.http.HttpClient;
import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Uses features of newer Java versions if available. It is compiled for Java 17, so it looks them
 * up by name.
 */
final class Platform {

  /** Another thread than the caller, for checking whether other threads may use memory. */
  private static final Thread OTHER = new Thread(() -> {});

  private static final MethodHandle IS_ACCESSIBLE = isAccessible();

  private Platform() {}

  /** Closes the connections of an HTTP client: at once since Java 21, before that once idle. */
  static void shutdown(HttpClient client) {
    try {
      HttpClient.class.getMethod("shutdownNow").invoke(client);
    } catch (ReflectiveOperationException e) {
      // The client ends by itself when it is unreachable.
    }
  }

  /**
   * True if the transport's threads may read a buffer. A view of an arena that is confined to one
   * thread is not shared.
   */
  static boolean isShared(ByteBuffer buffer) {
    if (!buffer.isDirect() || IS_ACCESSIBLE == null) {
      return true;
    }
    try {
      return (boolean) IS_ACCESSIBLE.invokeExact((Buffer) buffer, OTHER);
    } catch (Throwable e) {
      throw new IllegalStateException("a buffer does not tell who may read it", e);
    }
  }

  /** The method that checks access; null before Java 21, which has no confined memory. */
  private static MethodHandle isAccessible() {
    try {
      Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
      MethodHandles.Lookup lookup = MethodHandles.publicLookup();
      return MethodHandles.filterArguments(
          lookup.findVirtual(
              segment, "isAccessibleBy", MethodType.methodType(boolean.class, Thread.class)),
          0,
          lookup.findStatic(segment, "ofBuffer", MethodType.methodType(segment, Buffer.class)));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
