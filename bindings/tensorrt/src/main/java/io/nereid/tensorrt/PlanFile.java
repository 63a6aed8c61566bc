package io.nereid.tensorrt;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A plan, mapped until this is closed. Its first bytes are read here, as far as NVIDIA's own tools
 * read them: a tag, the number of the format, and the version of TensorRT that built it. The GPU
 * that it is for is not among them.
 */
final class PlanFile implements AutoCloseable {

  /** The bytes that are read of every plan. */
  static final long HEADER_BYTES = 28;

  private static final int TAG = 0x74727466; // "ftrt"
  private static final int FORMAT = 0;
  private static final long FORMAT_AT = 4;
  private static final long VERSION_AT = 24;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment bytes;

  PlanFile(Path path) {
    boolean open = false;
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      open = true;
    } catch (IOException e) {
      throw new NereidException(StatusCode.NOT_FOUND, "cannot read the plan " + path, e);
    } finally {
      if (!open) {
        arena.close();
      }
    }
  }

  MemorySegment bytes() {
    return bytes;
  }

  /** True if bytes begin as plans of TensorRT 8.6 and later do. */
  static boolean isPlan(MemorySegment plan) {
    return plan.byteSize() >= HEADER_BYTES && plan.get(INT, 0) == TAG;
  }

  /** The version that built a plan; empty when its format is not known. */
  static Optional<TensorRtVersion> version(MemorySegment plan) {
    if (!isPlan(plan) || plan.get(INT, FORMAT_AT) != FORMAT) {
      return Optional.empty();
    }
    return Optional.of(
        new TensorRtVersion(
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 1)),
            Byte.toUnsignedInt(plan.get(JAVA_BYTE, VERSION_AT + 2))));
  }

  /** The version that built the plan in a file; empty: it is none, or cannot be read. */
  static Optional<TensorRtVersion> versionOf(String path) {
    try (PlanFile file = new PlanFile(Path.of(path))) {
      return version(file.bytes());
    } catch (NereidException | InvalidPathException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    arena.close();
  }
}
