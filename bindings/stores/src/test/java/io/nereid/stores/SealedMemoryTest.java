package io.nereid.stores;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Nereid;
import io.nereid.model.ModelState;
import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that a process takes while it loads a sealed model, files in memory included. */
@Tag("slow")
class SealedMemoryTest {

  private static final int SIDE = 4096;
  private static final int MATRICES = Integer.getInteger("nereid.matrices", 4);

  /** The place of the number of blocks, of 512 bytes each, in the system's record of a file. */
  private static final int BLOCKS_OFFSET = 64;

  @SuppressWarnings("restricted") // as all that calls native code
  private static final MethodHandle STAT =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("stat"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));

  @TempDir Path root;

  @Test
  void aFileAndItsWeightsAreNotThereAtTheSameTime() throws Exception {
    Path plain = Files.createDirectories(root.resolve("plain/m/1"));
    OnnxFile.write(plain.resolve("model.onnx"), MATRICES, SIDE);
    long size = Files.size(plain.resolve("model.onnx"));
    Path key = root.resolve("key");
    Seal.makeKey(key);
    Seal.ofFile(key).seal(plain.getParent(), root.resolve("sealed/m"));
    Files.delete(plain.resolve("model.onnx"));
    RepositoryOptions options =
        RepositoryOptions.builder()
            .repository(root.resolve("sealed"))
            .store(ModelStore.open(StoreOptions.builder().sealKeyFile(key).build()))
            .explicit()
            .build();
    try (Nereid nereid = Nereid.open(options)) {
      System.gc();
      long before = bytes();
      long[] most = {0};
      AtomicBoolean over = new AtomicBoolean();
      Thread watch =
          Thread.ofPlatform()
              .start(() -> {
                while (!over.get()) {
                  most[0] = Math.max(most[0], bytes());
                }
              });
      nereid.repository().load("m");
      over.set(true);
      watch.join();
      assertEquals(ModelState.READY, nereid.model("m").state());
      try (var request = nereid.model("m").newRequest().input("x", row());
          var answer = request.infer()) {
        float product = 1;
        for (int i = 0; i < MATRICES; i++) {
          product *= OnnxFile.scale(i);
        }
        assertEquals(product, answer.output("y").toFloatArray()[SIDE - 1], product * 1e-5);
      }
      String figures = size + " bytes of a file, " + (most[0] - before) + " more at most";
      System.out.println(figures);
      // Apart from the file: the heap of Java, and a matrix while it is laid out anew.
      assertTrue(most[0] - before < 1.1 * size + (192 << 20), figures);
    }
  }

  private static Tensor row() {
    float[] ones = new float[SIDE];
    java.util.Arrays.fill(ones, 1);
    return Tensor.ofFloats(ones, 1, SIDE);
  }

  /** The bytes of this process, and of the files that it has in memory alone. */
  private static long bytes() {
    try (Stream<String> status = Files.lines(Path.of("/proc/self/status"));
        Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      long resident =
          status
              .filter(line -> line.startsWith("VmRSS:"))
              .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
              .sum();
      return resident + files.mapToLong(SealedMemoryTest::blockBytes).max().orElse(0);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The memory of a file that is only there; 0 for others. */
  private static long blockBytes(Path file) {
    try (Arena arena = Arena.ofConfined()) {
      if (!Files.readSymbolicLink(file).toString().contains("memfd:nereid-model")) {
        return 0;
      }
      MemorySegment record = arena.allocate(256);
      int failed = (int) STAT.invokeExact(arena.allocateFrom(file.toString()), record);
      return failed == 0 ? 512 * record.get(ValueLayout.JAVA_LONG, BLOCKS_OFFSET) : 0;
    } catch (IOException e) {
      return 0; // it was closed in the meantime
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }
}
