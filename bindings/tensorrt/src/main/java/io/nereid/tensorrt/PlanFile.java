package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The bytes of a plan, mapped: they are read by the device's copies and nowhere else. */
final class PlanFile implements AutoCloseable {

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

  @Override
  public void close() {
    arena.close();
  }
}
