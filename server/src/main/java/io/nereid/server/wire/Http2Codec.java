package io.nereid.server.wire;

import io.nereid.server.shared.FrameCount;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * What the frames of one HTTP/2 connection mean (RFC 9113): the states of its streams, flow
 * control, and bounds for what a client can have a server do and keep. Others read and write its
 * bytes. To be used with the connection's lock, but for {@link #readBuffer}, which is the reading
 * thread's.
 */
final class Http2Codec implements FrameReader.Frames {

  /** Answers to pings and settings that the client does not take. */
  private static final int MAX_WAITING_ANSWERS = 1000;

  /** Twice what all streams of a connection may have in their pieces at a time. */
  private static final int MOST_UNREAD_BYTES = 16 << 20;

  private static final int HEAD_TOO_LARGE = 431;

  /** Whoever serves streams. */
  interface Listener {
    /**
     * A stream begins with a head, names and values in turns, pseudo-fields first; false: it is
     * refused, and else has a listener of its own now.
     */
    boolean begun(Http2Stream stream, List<String> fields, boolean last);

    /** The client pings; gives what is expected of one that does so too often, else null. */
    default String pinged(FrameCount floods) {
      return floods.idle();
    }
  }

  private final Listener listener;
  private final int mostStreams;
  private final HeadBlock head;
  private final FrameReader reader;
  private final Http2Sending sending = new Http2Sending(this::sent);
  private final FrameCount floods = new FrameCount();
  private final FrameCount mistakes = new FrameCount();
  private final Http2Streams streams;
  private int firstWindow = -1; // what the settings that are being read say of it; -1: nothing
  private boolean ended;

  /** For a connection that may have so many streams, of which each may send so many bytes ahead. */
  Http2Codec(int headBytes, int mostStreams, int windowBytes, Listener listener) {
    this.listener = listener;
    this.mostStreams = mostStreams;
    head = new HeadBlock(headBytes);
    reader = new FrameReader(this, head);
    streams = new Http2Streams(sending, windowBytes);
    sending.settings(
        Http2Frame.MAX_CONCURRENT_STREAMS,
        mostStreams,
        Http2Frame.INITIAL_WINDOW_SIZE,
        windowBytes,
        Http2Frame.MAX_HEADER_LIST_SIZE,
        headBytes);
    streams.openWindow();
  }

  /** Whether the client has said what every client says first. */
  boolean hasSettings() {
    return reader.hasSettings();
  }

  /** Where what the client sends is to be read to; {@link #received(int)} takes it. */
  ByteBuffer readBuffer() {
    return reader.buffer();
  }

  /** Takes what was read; false: the connection is over. */
  boolean received(int count) {
    if (count < 0 || ended) {
      return false;
    }
    reader.received();
    sending.sendInTurns();
    return !ended;
  }

  /** Takes what was read before this was made. */
  boolean received(byte[] bytes, int from, int count) {
    int end = from + count;
    for (int at = from; at < end && !ended; ) {
      ByteBuffer room = readBuffer();
      int next = Math.min(end - at, room.remaining());
      room.put(bytes, at, next);
      at += next;
      reader.received();
    }
    sending.sendInTurns();
    return !ended;
  }

  // ---- Frames that came, by the reader ---------------------------------------------------------

  /** Ends a stream, or the connection. */
  @Override
  public boolean failed(int id, Http2Failure failure) {
    Http2Stream stream = streams.get(id);
    String tooMany = failure.endsStreamOnly() ? mistakes.reset() : null;
    if (failure.endsStreamOnly() && tooMany == null) {
      if (stream != null) {
        streams.reset(stream, failure.error());
      }
      return true;
    }
    Http2Error error = tooMany == null ? failure.error() : Http2Error.ENHANCE_YOUR_CALM;
    sending.goAway(streams.lastBegun(), error, tooMany == null ? failure.getMessage() : tooMany);
    ended = true;
    return false;
  }

  @Override
  public void head(int id, boolean last) {
    List<String> fields = head.fields(); // also of those that nobody is interested in
    floods.carried();
    checkUnread();
    Http2Stream stream = streams.get(id);
    if (stream != null) {
      trailers(stream, fields, last);
    } else if (streams.begins(id)) {
      begin(streams.begin(id, last), fields, last);
    } // else it was under way when its stream ended
  }

  private void begin(Http2Stream stream, List<String> fields, boolean last) {
    if (fields == null) {
      sending.head(stream, HEAD_TOO_LARGE, List.of(), true);
      streams.reset(stream, Http2Error.NO_ERROR);
      return;
    }
    stream.missingBytes = head.check(fields);
    if (last) {
      checkLength(stream);
    }
    if (streams.count() > mostStreams || !listener.begun(stream, fields, last)) {
      streams.reset(stream, Http2Error.REFUSED_STREAM); // the client may try again
    }
  }

  private void trailers(Http2Stream stream, List<String> fields, boolean last) {
    checkInput(stream);
    if (!last || fields == null) {
      throw Http2Failure.ofStream(
          Http2Error.PROTOCOL_ERROR, "expected few fields as a stream's last frame");
    }
    HeadBlock.checkTrailers(fields);
    checkLength(stream);
    stream.inputEnded = true;
    stream.listener.inputEnded();
    streams.closeIfEnded(stream);
  }

  private static void checkInput(Http2Stream stream) {
    if (stream.inputEnded) {
      throw Http2Failure.ofStream(
          Http2Error.STREAM_CLOSED, "expected nothing behind the end of a stream");
    }
  }

  private static void checkLength(Http2Stream stream) {
    if (stream.missingBytes > 0) {
      throw Http2Failure.ofStream(
          Http2Error.PROTOCOL_ERROR, "expected a body as long as content-length");
    }
  }

  @Override
  public void dataBegins(int id, int bytes, int content, boolean last) {
    refuse(floods.data(content == 0 && !last));
    Http2Stream stream = streams.arrives(id, bytes);
    if (stream == null) {
      return;
    }
    checkInput(stream);
    if (stream.missingBytes != RequestHead.ABSENT) {
      stream.missingBytes -= content;
      if (stream.missingBytes < 0) {
        throw Http2Failure.ofStream(
            Http2Error.PROTOCOL_ERROR, "expected a body as long as content-length");
      }
    }
    if (last) {
      checkLength(stream);
    }
    streams.consumed(stream, bytes - content);
  }

  @Override
  public void data(int id, ByteBuffer bytes, boolean last) {
    Http2Stream stream = streams.get(id);
    if (stream != null) {
      stream.inputEnded |= last;
      streams.consumed(stream, stream.listener.received(bytes, last));
      streams.closeIfEnded(stream);
    }
  }

  @Override
  public void reset(int id) {
    Http2Stream stream = streams.known(id);
    if (stream != null) { // else the client resets it for each frame that was under way
      refuse(floods.reset());
      streams.close(stream);
    }
  }

  @Override
  public void setting(int number, long value) {
    switch (number) {
      case Http2Frame.HEADER_TABLE_SIZE -> sending.headTableBytes(value);
      case Http2Frame.ENABLE_PUSH -> {
        if (value > 1) {
          throw broken("0 or 1 for pushing");
        }
      }
      case Http2Frame.INITIAL_WINDOW_SIZE -> {
        if (value > Integer.MAX_VALUE) {
          throw tooLargeWindow();
        }
        firstWindow = (int) value;
      }
      case Http2Frame.MAX_FRAME_SIZE -> {
        if (value < Http2Frame.MOST_BYTES || value > Http2Frame.LARGEST_BYTES) {
          throw broken("a size of frames as there may be");
        }
      }
      default -> {}
    }
  }

  @Override
  public void settingsEnd() {
    if (firstWindow >= 0 && !sending.firstWindow(firstWindow, streams.open())) {
      throw tooLargeWindow();
    }
    firstWindow = -1;
    sending.settingsAnswer();
    checkAnswers();
  }

  /** Refusals and short replies are held until they are written. */
  private void checkUnread() {
    if (sending.frames().unwrittenBytes() > MOST_UNREAD_BYTES) {
      refuse(
          "expected a client that reads what it gets, of which more than "
              + MOST_UNREAD_BYTES
              + " bytes wait");
    }
  }

  @Override
  public void ping(long bytes, boolean isAnswer) {
    refuse(isAnswer ? floods.idle() : listener.pinged(floods));
    if (!isAnswer) {
      sending.pingAnswer(bytes);
      checkAnswers();
    }
  }

  private void checkAnswers() {
    if (sending.waitingAnswers() > MAX_WAITING_ANSWERS) {
      refuse(
          "expected a client that reads the answers to its pings and settings, of which "
              + MAX_WAITING_ANSWERS
              + " wait");
    }
  }

  @Override
  public void windowUpdate(int id, int count) {
    if (id == 0) {
      if (count == 0) {
        throw broken("a window that grows");
      }
      if (!sending.grow(count)) {
        throw tooLargeWindow();
      }
      return;
    }
    Http2Stream stream = streams.known(id);
    if (stream == null) {
      return;
    }
    if (count == 0) {
      throw Http2Failure.ofStream(Http2Error.PROTOCOL_ERROR, "expected a window that grows");
    }
    if (!sending.grow(stream, count)) {
      throw Http2Failure.ofStream(Http2Error.FLOW_CONTROL_ERROR, "expected a window below 2^31");
    }
  }

  @Override
  public void idle() {
    refuse(floods.idle());
  }

  private static void refuse(String expected) {
    if (expected != null) {
      throw Http2Failure.ofConnection(Http2Error.ENHANCE_YOUR_CALM, expected);
    }
  }

  private static Http2Failure tooLargeWindow() {
    return Http2Failure.ofConnection(
        Http2Error.FLOW_CONTROL_ERROR, "expected windows below 2^31, got a larger one");
  }

  private static Http2Failure broken(String expected) {
    return Http2Failure.ofConnection(
        Http2Error.PROTOCOL_ERROR, "expected " + expected + ", got another");
  }

  // ---- Replies ---------------------------------------------------------------------------------

  /**
   * Writes a reply's head; {@code fields} are names and values in turns. What follows a body has no
   * status, which is 0 then.
   */
  void writeHead(Http2Stream stream, int status, List<String> fields, boolean last) {
    sending.head(stream, status, fields, last);
    streams.closeIfEnded(stream);
  }

  /**
   * Writes a part of a reply, of a copy or from where it lies. False: some has no room in the
   * client's windows, and is sent later; it stays where it is until then, or until the stream ends.
   */
  boolean writeData(Http2Stream stream, ByteBuffer bytes, boolean isLent, boolean last) {
    sending.data(stream, bytes, isLent, last);
    streams.closeIfEnded(stream);
    return stream.unsent == null;
  }

  /** Writes a part of a reply, unless many copies are to be written: then it has to wait, too. */
  boolean writeInTurn(Http2Stream stream, ByteBuffer bytes, boolean isLent) {
    if (isLent || sending.isRoomy()) {
      return writeData(stream, bytes, isLent, false);
    }
    sending.dataInTurn(stream, bytes);
    return false;
  }

  private void sent(Http2Stream stream) {
    stream.listener.sent();
    streams.closeIfEnded(stream);
  }

  /** What has no form but its own: pings, and whether there is room. */
  Http2Sending sending() {
    return sending;
  }

  /** What is to be written to the socket. */
  FrameBuffer frames() {
    return sending.frames();
  }

  /** All that there was is written, or never will be. */
  void allWritten() {
    sending.allWritten();
  }

  // ---- Flow and ends ---------------------------------------------------------------------------

  /** Bytes that came were used: the client may send as many more. */
  void consumed(Http2Stream stream, int count) {
    streams.consumed(stream, count);
  }

  /** Ends a stream early, unless it has ended. */
  void reset(Http2Stream stream, Http2Error why) {
    streams.reset(stream, why);
  }

  /** Tells the client to begin no more streams, and why. */
  void goAway(Http2Error error, String why) {
    if (!ended && streams.beginNoMore()) {
      sending.goAway(streams.lastBegun(), error, why);
    }
  }

  /** The streams that are open. */
  List<Http2Stream> open() {
    return List.copyOf(streams.open());
  }

  /** Ends all streams; what is to be written can still be had. */
  void close() {
    ended = true;
    open().forEach(streams::close);
  }
}
