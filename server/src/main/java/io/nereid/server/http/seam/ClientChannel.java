package io.nereid.server.http.seam;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;

/**
 * A channel to a client, encrypted or not. All methods are as those of a {@link SocketChannel}. One
 * thread reads and writes; another may shut down and close, and may read while the first does
 * neither.
 */
public interface ClientChannel extends ReadableByteChannel {

  /** The socket beneath: for its addresses, not for its bytes. */
  SocketChannel socket();

  /** True if the bytes are encrypted. */
  boolean isEncrypted();

  /** Prepares the channel, as by a handshake, which may take long; called once. */
  void open() throws IOException;

  /** Writes at least something. */
  int write(ByteBuffer from) throws IOException;

  /** Writes at least something of several buffers. */
  long write(ByteBuffer[] from, int offset, int count) throws IOException;

  /** Writes all of a buffer, on a blocking channel. */
  default void writeAll(ByteBuffer from) throws IOException {
    while (from.hasRemaining()) {
      write(from);
    }
  }

  /** Sets whether reading waits for bytes; by default it does. */
  void configureBlocking(boolean blocking) throws IOException;

  /** Makes the reading thread see the end; it can still write. */
  void shutdownInput() throws IOException;

  /** Ends the output for the client; its further input is ignored. */
  void shutdownOutput() throws IOException;
}
