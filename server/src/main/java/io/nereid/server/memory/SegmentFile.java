package io.nereid.server.memory;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A POSIX shared memory segment, read and written as a file, which it is on Linux.
 *
 * <p>The segment is not mapped: the client owns it, and a signal would end a server that touches a
 * mapping after the owner shortened the segment, or when the system has no memory left. Reading the
 * file turns that into an error of one request. The price is a system call for each tensor; the
 * bytes are copied once either way, between the segment and the runtime's pool.
 *
 * <p>The channel is an asynchronous one that works on the caller's thread: an interrupt of one
 * thread would close an ordinary channel for all its users.
 */
final class SegmentFile implements RegionMemory {

  /**
   * The prefix of the Python backend's own segments, which clients must not name: they could read
   * and write others' requests.
   */
  private static final String RESERVED_NAMES = "triton_python_backend_shm_region_";

  /** The directory in which the C library keeps shared memory segments. */
  static final Path DIRECTORY = Path.of("/dev/shm");

  /** The largest piece of a segment in one call: a byte buffer's size is an int. */
  private static final long PIECE_BYTES = 1L << 30;

  /** The longest name of a file, in bytes. */
  private static final int MAX_KEY_LENGTH = 255;

  private final String key;
  private final AsynchronousFileChannel channel;

  private SegmentFile(String key, AsynchronousFileChannel channel) {
    this.key = key;
    this.channel = channel;
  }

  /** Opens the segment with this key, such as {@code /input}, for a region. */
  static SegmentFile open(String region, String key) {
    Path path = path(region, key);
    if (path.getFileName().toString().startsWith(RESERVED_NAMES)) {
      throw invalidKey(
          region, key, "expected one that does not begin with '" + RESERVED_NAMES + "'");
    }
    try {
      BasicFileAttributes attributes =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!attributes.isRegularFile()) {
        throw cannotOpen(
            StatusCode.INVALID_ARGUMENT, key, "expected a shared memory segment, got another file");
      }
      // Replacing the file meanwhile does no harm: links are refused here too, and anything else
      // that can be opened for writing has size 0, so that no region fits into it.
      return new SegmentFile(
          key,
          AsynchronousFileChannel.open(
              path,
              Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
              InPlaceExecutor.INSTANCE));
    } catch (NoSuchFileException e) {
      throw cannotOpen(
          StatusCode.INVALID_ARGUMENT, key, "expected a segment with this key, got none");
    } catch (AccessDeniedException e) {
      throw cannotOpen(
          StatusCode.INVALID_ARGUMENT, key, "expected one that the server may read and write");
    } catch (FileSystemException e) {
      String reason = e.getReason();
      throw cannotOpen(StatusCode.INTERNAL, key, reason == null ? e.getMessage() : reason);
    } catch (IOException e) {
      throw cannotOpen(StatusCode.INTERNAL, key, e.getMessage());
    }
  }

  /**
   * Returns the path of a key, which names a file in the directory itself; as in the C library, a
   * leading slash is dropped.
   */
  private static Path path(String region, String key) {
    String name = key.startsWith("/") ? key.substring(1) : key;
    try {
      if (!name.isEmpty()
          && name.getBytes(StandardCharsets.UTF_8).length <= MAX_KEY_LENGTH
          && name.indexOf('/') < 0
          && !name.equals(".")
          && !name.equals("..")) {
        return DIRECTORY.resolve(name);
      }
    } catch (InvalidPathException e) {
      // A character that no path can have.
    }
    throw invalidKey(
        region,
        key,
        "expected '/NAME' without further slashes and of at most " + MAX_KEY_LENGTH + " bytes");
  }

  private static NereidException invalidKey(String region, String key, String reason) {
    String shown = key.length() > 80 ? key.substring(0, 80) + "..." : key;
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "cannot register shared memory region '%s' - invalid shm key '%s': %s"
            .formatted(region, shown, reason));
  }

  private static NereidException cannotOpen(StatusCode code, String key, String reason) {
    return new NereidException(
        code, "Unable to open shared memory region: '" + key + "': " + reason);
  }

  /** The present size of the segment, which its owner may change. */
  long byteSize() {
    try {
      return channel.size();
    } catch (IOException e) {
      throw failed("read", e);
    }
  }

  @Override
  public void read(long position, MemorySegment to) {
    long done = 0;
    while (done < to.byteSize()) {
      long count = Math.min(PIECE_BYTES, to.byteSize() - done);
      int read =
          await("read", channel.read(to.asSlice(done, count).asByteBuffer(), position + done));
      if (read <= 0) {
        throw tooShort(position + to.byteSize(), byteSize());
      }
      done += read;
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The segment must have room, and is not made longer; only if its owner shortens it between
   * the two calls here, it regains its old size.
   */
  @Override
  public void write(long position, MemorySegment from) {
    long end = position + from.byteSize();
    long size = byteSize();
    if (size < end && from.byteSize() > 0) {
      throw tooShort(end, size);
    }
    long done = 0;
    while (done < from.byteSize()) {
      long count = Math.min(PIECE_BYTES, from.byteSize() - done);
      done +=
          await(
              "written", channel.write(from.asSlice(done, count).asByteBuffer(), position + done));
    }
  }

  /** Returns the result of a call that has run already. */
  private int await(String what, Future<Integer> done) {
    try {
      return done.get();
    } catch (ExecutionException e) {
      throw failed(what, e.getCause());
    } catch (InterruptedException e) {
      throw new IllegalStateException("it was done before this waited", e);
    }
  }

  private NereidException tooShort(long end, long size) {
    return new NereidException(
        StatusCode.INVALID_ARGUMENT,
        "shared memory segment '%s' has become too short: expected at least %s bytes, got %s"
            .formatted(key, end, size));
  }

  private NereidException failed(String what, Throwable cause) {
    return new NereidException(
        StatusCode.INTERNAL, "shared memory segment '" + key + "' could not be " + what, cause);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // Nothing is buffered: each write was complete.
    }
  }

  /** Runs each task at once, on the submitting thread. Never shut down. */
  private static final class InPlaceExecutor extends AbstractExecutorService {

    static final InPlaceExecutor INSTANCE = new InPlaceExecutor();

    private InPlaceExecutor() {}

    @Override
    public void execute(Runnable task) {
      task.run();
    }

    @Override
    public void shutdown() {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<Runnable> shutdownNow() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return false;
    }
  }
}
