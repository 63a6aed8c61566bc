package io.nereid.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/**
 * POSIX shared memory of this machine, made and mapped here, for tensors that a server on the same
 * machine reads and writes in place. Register it with {@link
 * InferenceClient#registerSharedMemory(SharedMemory)}. Closing removes the memory: unregister it
 * before, and use no slice afterwards. The garbage collector unmaps it once no buffer of it is
 * left.
 */
public final class SharedMemory implements AutoCloseable {

  /** The directory in which Linux keeps the segments that {@code shm_open} opens. */
  private static final Path DIRECTORY = Path.of("/dev/shm");

  private static final int ZEROES_BYTES = 1 << 16;

  private final String key;
  private final Path file;
  private final int byteSize;
  private volatile ByteBuffer memory; // null: closed

  private SharedMemory(String key, Path file, ByteBuffer memory) {
    this.key = key;
    this.file = file;
    this.byteSize = memory.capacity();
    this.memory = memory;
  }

  /**
   * Makes a region that only this user can open, filled with zeroes.
   *
   * @param key its name in the system, as for {@code shm_open}: {@code /} followed by text without
   *     another
   * @param byteSize its size, which is taken from the machine's memory now; below 2<sup>31</sup>
   */
  public static SharedMemory create(String key, long byteSize) {
    if (!key.startsWith("/") || key.length() < 2 || key.indexOf('/', 1) >= 0) {
      throw new IllegalArgumentException(
          "expected a key like '/name', with no other slash, got '" + key + "'");
    }
    if (byteSize <= 0 || byteSize > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("expected a size above 0 and below 2^31, got " + byteSize);
    }
    Path file = DIRECTORY.resolve(key.substring(1));
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(
                StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      return map(key, file, channel, byteSize);
    } catch (FileAlreadyExistsException e) {
      throw new UncheckedIOException("shared memory '" + key + "' exists already", e);
    } catch (IOException e) {
      throw new UncheckedIOException("shared memory '" + key + "' cannot be made", e);
    }
  }

  private static SharedMemory map(String key, Path file, FileChannel channel, long byteSize)
      throws IOException {
    try {
      // Zeroes are written, since merely extending the file would fault at the first access without
      // room.
      ByteBuffer zeroes = ByteBuffer.allocateDirect((int) Math.min(ZEROES_BYTES, byteSize));
      for (long position = 0; position < byteSize; ) {
        zeroes.clear().limit((int) Math.min(zeroes.capacity(), byteSize - position));
        position += channel.write(zeroes, position);
      }
      ByteBuffer memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, byteSize);
      return new SharedMemory(key, file, memory);
    } catch (IOException | RuntimeException | Error e) {
      Files.deleteIfExists(file);
      throw e;
    }
  }

  /** The key that it was made with. */
  public String key() {
    return key;
  }

  /** The name for registering: the key without its slash. */
  public String name() {
    return key.substring(1);
  }

  /** Its size. */
  public long byteSize() {
    return byteSize;
  }

  /** A little-endian view of the whole memory. */
  public ByteBuffer byteBuffer() {
    ByteBuffer open = memory;
    if (open == null) {
      throw new IllegalStateException("shared memory '" + key + "' is closed");
    }
    return Buffers.view(open);
  }

  /** A part of the memory, for a tensor. */
  public Slice slice(long offset, long byteSize) {
    Objects.checkFromIndexSize(offset, byteSize, (long) this.byteSize);
    return new Slice(
        name(), offset, byteSize, Buffers.slice(byteBuffer(), (int) offset, (int) byteSize));
  }

  /** Removes the memory. Closing twice does nothing. */
  @Override
  public void close() {
    if (memory != null) {
      memory = null;
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        throw new UncheckedIOException("shared memory '" + key + "' cannot be removed", e);
      }
    }
  }

  /**
   * A part of a shared memory region that is registered with a server, with a tensor, or for one.
   * Made by {@link SharedMemory#slice}, or by {@link #of} for a region that another program maps.
   */
  public static final class Slice {

    private final String region;
    private final long offset;
    private final long byteSize;
    private final ByteBuffer mapped; // null: not mapped by this process

    Slice(String region, long offset, long byteSize, ByteBuffer mapped) {
      this.region = Objects.requireNonNull(region);
      if (offset < 0 || byteSize < 0) {
        throw new IllegalArgumentException(
            "offset and size of a slice must not be negative: " + offset + ", " + byteSize);
      }
      this.offset = offset;
      this.byteSize = byteSize;
      this.mapped = mapped;
    }

    /**
     * Makes a part of a region that the server knows by the name and that this process does not
     * map.
     */
    public static Slice of(String region, long offset, long byteSize) {
      return new Slice(region, offset, byteSize, null);
    }

    /** The name the region is registered under. */
    public String region() {
      return region;
    }

    /** Returns the offset in the region at which the slice begins. */
    public long offset() {
      return offset;
    }

    /** Its size. */
    public long byteSize() {
      return byteSize;
    }

    /**
     * A little-endian view of the memory; throws {@link IllegalStateException} if this process does
     * not map it.
     */
    public ByteBuffer byteBuffer() {
      if (mapped == null) {
        throw new IllegalStateException("region '" + region + "' is not mapped here");
      }
      return Buffers.view(mapped);
    }

    ByteBuffer mapped() {
      return mapped;
    }

    @Override
    public String toString() {
      return region + "[" + offset + ", " + byteSize + " bytes]";
    }
  }

  /**
   * A shared memory region that is registered with a server.
   *
   * @param name the name it is registered under
   * @param key its name in the system
   * @param offset its begin in the system's memory
   * @param byteSize its size
   */
  public record Registration(String name, String key, long offset, long byteSize) {}
}
