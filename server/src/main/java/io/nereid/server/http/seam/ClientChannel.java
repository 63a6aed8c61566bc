package io.nereid.server.http.seam;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;

/**
 * The bytes that a client sends and gets, encrypted or not. Everything means what it means to a
 * {@link SocketChannel}. One thread reads and writes; another may shut down and close, and may read
 * while the first does neither.
 */
public interface ClientChannel extends ReadableByteChannel {

  /** The socket beneath: for its addresses, not for its bytes. */
  SocketChannel socket();

  /** True if nobody else can read the bytes. */
  boolean isEncrypted();

  /** Does what has to be done before the first byte, which may take long; called once. */
  void open() throws IOException;

  /** Writes at least something. */
  int write(ByteBuffer from) throws IOException;

  /** Writes at least something of several buffers. */
  long write(ByteBuffer[] from, int offset, int count) throws IOException;

  /** Writes all of a buffer, where writing waits. */
  default void writeAll(ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      write(from);
    }
  }

  /** True if reading waits for something to come; it does by default. */
  void configureBlocking(boolean blocking) throws IOException;

  /** The thread that reads sees the end, and can still write. */
  void shutdownInput() throws IOException;

  /** The client sees the end of what was written; what it still sends means nothing any more. */
  void shutdownOutput() throws IOException;
}
