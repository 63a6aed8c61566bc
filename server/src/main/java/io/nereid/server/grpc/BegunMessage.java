package io.nereid.server.grpc;

import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The first bytes of a message, where they lie. Its last content may be told where the rest
 * belongs, which comes later; whoever wants it now gets an {@link Unread}. The connection's loop
 * reads it.
 */
final class BegunMessage extends InputStream implements KnownLength, HasByteBuffer, DirectInput {

  /** The message cannot be read to its end by what is there. */
  static final class Unread extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Unread ONE = new Unread();

    private Unread() {
      super(null, null, false, false);
    }
  }

  private final WholeMessage here;
  private final int missing; // bytes behind what is here
  private ByteBuffer rest; // where those belong; null: nobody has said so

  /** For a message of that length. */
  BegunMessage(ByteBuffer here, int length) {
    missing = length - here.remaining();
    this.here = new WholeMessage(here);
  }

  /** Where the bytes belong that are not here; null: nobody wants them. */
  ByteBuffer rest() {
    return rest;
  }

  /** Nobody wants them any more: the place is given back. */
  void forgetRest() {
    rest = null;
  }

  @Override
  public int available() {
    return here.available() + (rest == null ? missing : 0);
  }

  @Override
  public int read() {
    int b = here.read();
    if (b < 0 && rest == null) {
      throw Unread.ONE;
    }
    return b;
  }

  @Override
  public int read(byte[] to, int offset, int count) {
    int some = here.read(to, offset, count);
    if (some < 0 && rest == null) {
      throw Unread.ONE;
    }
    return some;
  }

  @Override
  public long skip(long count) {
    return here.skip(count);
  }

  @Override
  public boolean byteBufferSupported() {
    return true;
  }

  @Override
  public ByteBuffer getByteBuffer() {
    if (here.available() == 0 && rest == null) {
      throw Unread.ONE;
    }
    return here.getByteBuffer();
  }

  @Override
  public int leastBytes() {
    return 1;
  }

  @Override
  public void readFully(ByteBuffer to) {
    if (here.available() > 0 || to.remaining() != missing) {
      throw Unread.ONE;
    }
    rest = to;
  }
}
