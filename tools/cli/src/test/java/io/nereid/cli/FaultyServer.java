package io.nereid.cli;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * The command line in a process whose calls libfiu lets fail: {@code FaultyServer FILE ARGUMENTS}.
 * Commands for libfiu come in memory that the file maps, since a thread that waited for them in a
 * system call would meet the faults itself. They come from one thread, {@link #ask}.
 */
final class FaultyServer {

  /** Bytes of the file. */
  static final int BYTES = 4096;

  private static final long ASKED = 0; // counts up
  private static final long DONE = 8; // the number of the last command that was obeyed
  private static final long RESULT = 16;
  private static final long TEXT = 24;
  private static final long FUNCTION = 1024;

  private static final int ONE_TIME = 1;
  private static final int ANYWHERE = -1;
  private static final int HITS = 100;
  private static final long PAUSE_NS = 200_000;

  private final MemorySegment shared;
  private final MethodHandle control;
  private final MethodHandle fail;
  private final MethodHandle enableBelow;
  private final SymbolLookup core;

  @SuppressWarnings("restricted")
  private FaultyServer(MemorySegment shared) throws IOException {
    this.shared = shared;
    SymbolLookup fiu = SymbolLookup.libraryLookup("libfiu.so.0", Arena.global());
    control = handle(fiu, "fiu_rc_string", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));
    fail = handle(fiu, "fiu_fail", FunctionDescriptor.of(JAVA_INT, ADDRESS));
    enableBelow =
        handle(
            fiu,
            "fiu_enable_stack",
            FunctionDescriptor.of(
                JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT));
    core = loaded("libnereid.so");
  }

  /** The symbols of a library that this process has loaded. */
  @SuppressWarnings("restricted")
  private static SymbolLookup loaded(String file) throws IOException {
    String path =
        Files.readAllLines(Path.of("/proc/self/maps")).stream()
            .filter(line -> line.endsWith("/" + file))
            .map(line -> line.substring(line.indexOf('/')))
            .findFirst()
            .orElseThrow(() -> new IOException(file + " is not loaded"));
    return SymbolLookup.libraryLookup(path, Arena.global());
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(
      SymbolLookup library, String name, FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), descriptor);
  }

  @SuppressWarnings("restricted")
  public static void main(String[] args) throws Throwable {
    MemorySegment shared = map(Path.of(args[0]));
    loadAll();
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          try {
            obey(shared);
          } catch (Throwable t) {
            t.printStackTrace();
          }
        });
    Main.main(Arrays.copyOfRange(args, 1, args.length));
  }

  /** Loads the product's classes: one that cannot be read stays unknown, which is Java's rule. */
  private static void loadAll() throws IOException {
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (entry.matches(".*(nereid|helidon|grpc|protobuf|jackson)[^/]*jar")) {
        try (JarFile jar = new JarFile(entry)) {
          jar.stream()
              .map(JarEntry::getName)
              .filter(name -> name.endsWith(".class") && !name.startsWith("META-INF"))
              .forEach(name -> load(name.substring(0, name.length() - 6).replace('/', '.')));
        }
      }
    }
  }

  private static void load(String name) {
    try {
      Class.forName(name, false, FaultyServer.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      // It needs a library that is not there.
    }
  }

  /** The memory of the two processes. */
  static MemorySegment map(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      return channel.map(MapMode.READ_WRITE, 0, BYTES, Arena.global());
    }
  }

  /**
   * Has a server obey one command.
   *
   * @param command one of libfiu's remote control; "hit NAME" is answered by 1 if a point has not
   *     failed yet that is to fail once, and has it fail
   * @param function a function of the core: the point that the command names fails once, below it;
   *     empty: the command is obeyed
   */
  static int ask(MemorySegment shared, Process server, String command, String function)
      throws IOException {
    shared.setString(TEXT, command);
    shared.setString(FUNCTION, function);
    long number = shared.get(JAVA_LONG, ASKED) + 1;
    JAVA_LONG.varHandle().setVolatile(shared, ASKED, number);
    while ((long) JAVA_LONG.varHandle().getVolatile(shared, DONE) != number) {
      if (!server.isAlive()) {
        throw new IOException("the server has ended");
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
    return shared.get(JAVA_INT, RESULT);
  }

  private static void obey(MemorySegment shared) throws Throwable {
    FaultyServer server = null;
    for (long number = 1; ; number++) {
      while ((long) JAVA_LONG.varHandle().getVolatile(shared, ASKED) != number) {
        LockSupport.parkNanos(PAUSE_NS);
      }
      if (server == null) {
        server = new FaultyServer(shared); // the core is loaded by now
      }
      shared.set(JAVA_INT, RESULT, server.obey());
      JAVA_LONG.varHandle().setVolatile(shared, DONE, number);
    }
  }

  private int obey() throws Throwable {
    String command = shared.getString(TEXT);
    String function = shared.getString(FUNCTION);
    if (!function.isEmpty()) {
      MemorySegment found = core.findOrThrow(function);
      MemorySegment name = shared.asSlice(TEXT);
      return (int) enableBelow.invokeExact(name, 1, 0L, ONE_TIME, found, ANYWHERE);
    }
    if (command.startsWith("hit ")) {
      MemorySegment name = shared.asSlice(TEXT + "hit ".length());
      for (int i = 0; i < HITS; i++) { // one by chance may let some go by
        if ((int) fail.invokeExact(name) != 0) {
          return 1;
        }
      }
      return 0;
    }
    // Memory for the call alone: its reason is libfiu's.
    return (int) control.invokeExact(shared.asSlice(TEXT), shared.asSlice(2 * FUNCTION));
  }
}
