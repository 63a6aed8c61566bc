package io.nereid.server.memory;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.internal.cuda.CudaDriver;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;

/**
 * A client that has memory on GPU 0: another process, since a handle of CUDA's can only be opened
 * by a process that did not make it. It calls the driver by itself, so that it shares no code with
 * what is tested.
 */
public final class CudaExporter implements AutoCloseable {

  /** The first bytes of the memory, before anybody writes there. */
  public static byte firstContent(int position) {
    return (byte) (position % 251);
  }

  private final Process process;
  private final BufferedReader answers;
  private final Writer orders;
  private final byte[] handle;

  /** With an allocation of its own; skips the test where there is no GPU. */
  public CudaExporter(int byteSize) throws IOException {
    assumeTrue(CudaDriver.isPresent(), () -> "there is no GPU here: " + CudaDriver.absence());
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                CudaExporter.class.getName(),
                Integer.toString(byteSize))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    answers = process.inputReader(StandardCharsets.US_ASCII);
    orders = process.outputWriter(StandardCharsets.US_ASCII);
    handle = Base64.getDecoder().decode(answer());
  }

  private String answer() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new IOException("the process with the memory has ended");
    }
    return line;
  }

  /** What names the memory. */
  public byte[] handle() {
    return handle.clone();
  }

  /** What the memory holds now. */
  public byte[] contents() throws IOException {
    orders.write("read\n");
    orders.flush();
    return HexFormat.of().parseHex(answer());
  }

  @Override
  public void close() throws IOException {
    orders.close();
    answers.close();
    process.destroy();
  }

  // ---- The other process -----------------------------------------------------------------------

  private static final Linker LINKER = Linker.nativeLinker();

  @SuppressWarnings("restricted")
  private static int call(String name, MemoryLayout[] parameters, Object... arguments) {
    SymbolLookup driver = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
    try {
      int result =
          (int)
              LINKER
                  .downcallHandle(
                      driver.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, parameters))
                  .invokeWithArguments(arguments);
      if (result != 0) {
        throw new IllegalStateException(name + " failed with " + result);
      }
      return result;
    } catch (Throwable t) {
      throw new IllegalStateException(name, t);
    }
  }

  private static MemoryLayout[] of(MemoryLayout... layouts) {
    return layouts;
  }

  /** Prints the handle, then the contents for each line that comes in, until there are no more. */
  public static void main(String[] arguments) throws IOException {
    int byteSize = Integer.parseInt(arguments[0]);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      call("cuInit", of(JAVA_INT), 0);
      call("cuDevicePrimaryCtxRetain", of(ADDRESS, JAVA_INT), out, 0);
      call("cuCtxSetCurrent", of(JAVA_LONG), out.get(JAVA_LONG, 0));
      call("cuMemAlloc_v2", of(ADDRESS, JAVA_LONG), out, (long) byteSize);
      long pointer = out.get(JAVA_LONG, 0);
      MemorySegment host = arena.allocate(byteSize);
      for (int i = 0; i < byteSize; i++) {
        host.set(ValueLayout.JAVA_BYTE, i, firstContent(i));
      }
      MemoryLayout[] copyIn = of(JAVA_LONG, ADDRESS, JAVA_LONG);
      call("cuMemcpyHtoD_v2", copyIn, pointer, host, (long) byteSize);
      MemorySegment handle = arena.allocate(64);
      call("cuIpcGetMemHandle", of(ADDRESS, JAVA_LONG), handle, pointer);
      System.out.println(Base64.getEncoder().encodeToString(handle.toArray(ValueLayout.JAVA_BYTE)));
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      while (lines.readLine() != null) {
        MemoryLayout[] copyOut = of(ADDRESS, JAVA_LONG, JAVA_LONG);
        call("cuMemcpyDtoH_v2", copyOut, host, pointer, (long) byteSize);
        System.out.println(HexFormat.of().formatHex(host.toArray(ValueLayout.JAVA_BYTE)));
      }
      call("cuMemFree_v2", of(JAVA_LONG), pointer);
    }
  }
}
