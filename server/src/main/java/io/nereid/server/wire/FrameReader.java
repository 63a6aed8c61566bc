package io.nereid.server.wire;

import java.nio.ByteBuffer;

/**
 * Finds the frames of HTTP/2 in what a client sends, and checks their form. The bytes of a body are
 * passed on as they come; any other frame has to be whole. To be used with the connection's lock,
 * but for {@link #buffer}, which is the reading thread's.
 */
final class FrameReader {

  /** What is found, in its order. Each may fail with what is wrong with it. */
  interface Frames {
    /** A head is complete, and has what came of it. */
    void head(int stream, boolean last);

    /** A frame of a body begins: so many bytes, of which {@code content} are no padding. */
    void dataBegins(int stream, int bytes, int content, boolean last);

    /** The next bytes of the frame, all of which are read then. */
    void data(int stream, ByteBuffer bytes, boolean last);

    /** The client ends a stream early. */
    void reset(int stream);

    /** One of some settings. */
    void setting(int number, long value);

    /** That were all. */
    void settingsEnd();

    /** A ping, or the answer to one. */
    void ping(long bytes, boolean isAnswer);

    /** The client takes more, of a stream or of all (0). */
    void windowUpdate(int stream, int count);

    /** A frame that carries nothing. */
    void idle();

    /** Something was wrong with a frame; whether there is more to take. */
    boolean failed(int stream, Http2Failure failure);
  }

  /** What a client sends before its first frame. */
  static final byte[] PREFACE = ReplyField.ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

  // Bytes that are read at a time: few at first, more for a client that sends much.
  private static final int FIRST_READ_BYTES = 4 << 10;
  private static final int MOST_READ_BYTES = 64 << 10;

  private final Frames frames;
  private final HeadBlock head;
  private ByteBuffer in = ByteBuffer.allocateDirect(FIRST_READ_BYTES).flip();
  private int prefaceCount; // bytes of it that came
  private boolean hasSettings; // which come first
  private int stream; // of the frame that is being read

  // A head that goes on.
  private boolean isInHead;
  private boolean headIsLast;

  // DATA of which more is to come.
  private boolean isInData;
  private boolean dataIsLast;
  private int dataLeft;
  private int paddingLeft;

  FrameReader(Frames frames, HeadBlock head) {
    this.frames = frames;
    this.head = head;
  }

  /** Whether the client's first frame came, and the next one at least begins. */
  boolean hasSettings() {
    return hasSettings;
  }

  /** Where what the client sends is to be read to; {@link #received} follows. */
  ByteBuffer buffer() {
    return in.compact();
  }

  /** Passes on all frames that are there now. */
  void received() {
    boolean isFull = !in.hasRemaining();
    in.flip();
    while (takeNext()) {}
    if (isFull && in.capacity() < MOST_READ_BYTES) {
      in = ByteBuffer.allocateDirect(MOST_READ_BYTES).put(in).flip();
    }
  }

  private boolean takeNext() {
    try {
      return prefaceCount < PREFACE.length ? takePreface() : isInData ? takeData() : takeFrame();
    } catch (Http2Failure e) {
      return frames.failed(stream, e);
    }
  }

  private boolean takePreface() {
    while (prefaceCount < PREFACE.length && in.hasRemaining()) {
      if (in.get() != PREFACE[prefaceCount++]) {
        throw broken("the preface of HTTP/2");
      }
    }
    return prefaceCount == PREFACE.length;
  }

  private boolean takeFrame() {
    if (in.remaining() < Http2Frame.HEADER_BYTES) {
      return false;
    }
    int at = in.position();
    int length = in.getInt(at) >>> 8;
    int type = in.get(at + 3) & 0xff;
    int flags = in.get(at + 4);
    int from = in.getInt(at + 5) & Integer.MAX_VALUE;
    if (length > Http2Frame.MOST_BYTES) {
      throw wrongSize("a frame of at most " + Http2Frame.MOST_BYTES, length);
    }
    if (isInHead && (type != Http2Frame.CONTINUATION || from != stream)) {
      throw broken("the rest of a head");
    }
    if (!hasSettings && (type != Http2Frame.SETTINGS || (flags & Http2Frame.ACK) != 0)) {
      throw broken("settings as the first frame");
    }
    boolean isPaddedData = type == Http2Frame.DATA && (flags & Http2Frame.PADDED) != 0;
    int needed = type != Http2Frame.DATA ? length : isPaddedData ? Math.min(1, length) : 0;
    if (in.remaining() < Http2Frame.HEADER_BYTES + needed) {
      return false;
    }
    stream = from;
    hasSettings = true;
    in.position(at + Http2Frame.HEADER_BYTES);
    if (type == Http2Frame.DATA) {
      beginData(flags, length);
    } else {
      in.position(in.position() + length);
      take(type, flags, at + Http2Frame.HEADER_BYTES, length);
    }
    return true;
  }

  // ---- DATA ------------------------------------------------------------------------------------

  private void beginData(int flags, int length) {
    checkOfStream();
    int padding = 0;
    int content = length;
    if ((flags & Http2Frame.PADDED) != 0) {
      padding = length == 0 ? 0 : in.get() & 0xff;
      content = length - 1 - padding;
      checkPadding(content);
    }
    dataIsLast = (flags & Http2Frame.END_STREAM) != 0;
    dataLeft = content;
    paddingLeft = padding;
    isInData = true;
    frames.dataBegins(stream, length, content, dataIsLast);
  }

  private boolean takeData() {
    int count = Math.min(dataLeft, in.remaining());
    if (count > 0 || dataLeft == 0) {
      dataLeft -= count;
      boolean isLast = dataIsLast && dataLeft == 0;
      if (count > 0 || isLast) {
        dataIsLast &= !isLast; // it is said once
        int limit = in.limit();
        int end = in.position() + count;
        in.limit(end);
        try {
          frames.data(stream, in, isLast);
        } finally {
          in.limit(limit).position(end);
        }
      }
    }
    int skipped = dataLeft > 0 ? 0 : Math.min(paddingLeft, in.remaining());
    in.position(in.position() + skipped);
    paddingLeft -= skipped;
    isInData = dataLeft > 0 || paddingLeft > 0;
    return !isInData;
  }

  // ---- Heads -----------------------------------------------------------------------------------

  private void takeHead(int flags, int at, int length) {
    checkOfStream();
    int from = at;
    int end = at + length;
    if ((flags & Http2Frame.PADDED) != 0) {
      end -= length == 0 ? 1 : in.get(from) & 0xff;
      from++;
    }
    if ((flags & Http2Frame.WITH_PRIORITY) != 0) {
      from += Http2Frame.PRIORITY_BYTES; // it means nothing here
    }
    checkPadding(end - from);
    headIsLast = (flags & Http2Frame.END_STREAM) != 0;
    head.clear();
    addToHead(flags, from, end - from);
  }

  private void addToHead(int flags, int at, int length) {
    isInHead = (flags & Http2Frame.END_HEADERS) == 0;
    head.add(in, at, length, !isInHead);
    if (!isInHead) {
      frames.head(stream, headIsLast);
    }
  }

  // ---- Other frames ----------------------------------------------------------------------------

  private void take(int type, int flags, int at, int length) {
    switch (type) {
      case Http2Frame.HEADERS -> takeHead(flags, at, length);
      case Http2Frame.CONTINUATION -> {
        if (!isInHead) {
          throw broken("a head that goes on");
        }
        addToHead(flags, at, length);
      }
      case Http2Frame.RESET -> {
        checkOfStream();
        checkLength(Integer.BYTES, length);
        frames.reset(stream);
      }
      case Http2Frame.SETTINGS -> takeSettings(flags, at, length);
      case Http2Frame.PING -> {
        checkOfConnection();
        checkLength(Long.BYTES, length);
        frames.ping(in.getLong(at), (flags & Http2Frame.ACK) != 0);
      }
      case Http2Frame.WINDOW_UPDATE -> {
        checkLength(Integer.BYTES, length);
        frames.windowUpdate(stream, in.getInt(at) & Integer.MAX_VALUE);
      }
      default -> takeIdle(type, length);
    }
  }

  /** What means nothing here, but has a form. */
  private void takeIdle(int type, int length) {
    switch (type) {
      case Http2Frame.PRIORITY -> {
        checkOfStream();
        checkLength(Http2Frame.PRIORITY_BYTES, length);
      }
      case Http2Frame.GO_AWAY -> {
        checkOfConnection();
        if (length < Http2Frame.GO_AWAY_BYTES) {
          throw wrongSize("a frame of at least " + Http2Frame.GO_AWAY_BYTES, length);
        }
      }
      case Http2Frame.PUSH_PROMISE -> throw broken("no promise of a client");
      default -> {}
    }
    frames.idle();
  }

  private void takeSettings(int flags, int at, int length) {
    checkOfConnection();
    frames.idle();
    if ((flags & Http2Frame.ACK) != 0) {
      checkLength(0, length);
      return;
    }
    if (length % Http2Frame.SETTING_BYTES != 0) {
      throw wrongSize("a frame of settings, " + Http2Frame.SETTING_BYTES + " each", length);
    }
    for (int i = at; i < at + length; i += Http2Frame.SETTING_BYTES) {
      frames.setting(in.getShort(i) & 0xffff, in.getInt(i + 2) & 0xffff_ffffL);
    }
    frames.settingsEnd();
  }

  // ---- Their form ------------------------------------------------------------------------------

  private void checkOfStream() {
    if (stream == 0) {
      throw broken("the number of a stream");
    }
  }

  private void checkOfConnection() {
    if (stream != 0) {
      throw broken("a frame of the connection");
    }
  }

  private static void checkPadding(int content) {
    if (content < 0) {
      throw broken("padding that is shorter than its frame");
    }
  }

  private static void checkLength(int expected, int length) {
    if (length != expected) {
      throw wrongSize("a frame of " + expected, length);
    }
  }

  private static Http2Failure broken(String expected) {
    return Http2Failure.ofConnection(
        Http2Error.PROTOCOL_ERROR, "expected " + expected + ", got something else");
  }

  private static Http2Failure wrongSize(String expected, int length) {
    return Http2Failure.ofConnection(
        Http2Error.FRAME_SIZE_ERROR, "expected " + expected + " bytes, got " + length);
  }
}
