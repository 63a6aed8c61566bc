package io.nereid.server.memory;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A shared memory segment of a client's, unlinked when it is closed. */
public final class Segment implements AutoCloseable {

  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Path path;
  private final FileChannel channel;

  /** A segment of this size, filled with zeros. */
  public Segment(long byteSize) throws IOException {
    path = directory().resolve(freshName());
    channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    resize(byteSize);
  }

  /** Where segments are; skips the test where there are none. */
  static Path directory() {
    assumeTrue(
        Files.isWritable(SegmentFile.DIRECTORY),
        () -> SegmentFile.DIRECTORY + " is not there or cannot be written to");
    return SegmentFile.DIRECTORY;
  }

  /** A name that no other test has. */
  static String freshName() {
    return "nereid-test-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet();
  }

  public String key() {
    return "/" + path.getFileName();
  }

  public Segment write(long position, byte[] bytes) throws IOException {
    channel.write(ByteBuffer.wrap(bytes), position);
    return this;
  }

  public byte[] read(long position, int count) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(count);
    channel.read(bytes, position);
    return bytes.array();
  }

  public long byteSize() throws IOException {
    return channel.size();
  }

  /** Makes it shorter or longer, as its owner may at any time. */
  public void resize(long byteSize) throws IOException {
    if (byteSize < channel.size()) {
      channel.truncate(byteSize);
    } else if (byteSize > channel.size()) {
      channel.write(ByteBuffer.allocate(1), byteSize - 1);
    }
  }

  /** How often this process has it open, its own time not counted. */
  public long openCount() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(this::leadsHere).count() - 1;
    }
  }

  private boolean leadsHere(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith(path.toString());
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
    Files.delete(path);
  }
}
