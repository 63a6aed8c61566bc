package io.nereid.tensorrt.builder;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.bytedeco.tensorrt.nvinfer.IHostMemory;

/** Writes a serialized object of TensorRT into a file. */
final class SerializedFile {

  /** The bytes of one write: Java's buffers are limited to 2 GiB, plans are not. */
  private static final long CHUNK_BYTES = 1L << 30;

  private SerializedFile() {}

  /** Replaces the file in one step: a server that watches it must not see half of it. */
  @SuppressWarnings("restricted")
  static void write(Path file, IHostMemory memory) throws IOException {
    MemorySegment bytes =
        MemorySegment.ofAddress(memory.data().address()).reinterpret(memory.size());
    Path absolute = file.toAbsolutePath();
    Files.createDirectories(absolute.getParent());
    Path part = absolute.resolveSibling("." + absolute.getFileName() + ".new");
    try {
      try (FileChannel channel =
          FileChannel.open(
              part,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        for (long at = 0; at < bytes.byteSize(); ) {
          long size = Math.min(CHUNK_BYTES, bytes.byteSize() - at);
          at += channel.write(bytes.asSlice(at, size).asByteBuffer());
        }
        channel.force(true);
      }
      Files.move(
          part, absolute, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }
}
