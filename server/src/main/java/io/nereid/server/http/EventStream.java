package io.nereid.server.http;

import java.io.IOException;

/** A reply of server-sent events, each written as soon as it is there. */
final class EventStream {

  private static final String PREFIX = "data: ";
  private static final String END = "\n\n";
  private static final String LINE_END = "\r\n";

  private final ConnectionOutput output;
  private final boolean chunked;

  /** What goes in front of an event: the head of the reply, and of the chunk. */
  private final ResponseHead front;

  /**
   * Begins with the first event.
   *
   * @param chunked whether the client knows chunks; else the reply ends with the connection
   */
  EventStream(ConnectionOutput output, boolean chunked, boolean close) throws IOException {
    this.output = output;
    this.chunked = chunked;
    front = output.head();
    front.writeEventStream(chunked, close);
    output.beginPieces();
  }

  /** Sends what was written into the buffer, which is on one line, as an event. */
  void send(JsonBuffer json) throws IOException {
    long length = PREFIX.length() + json.size() + END.length();
    front.addContent(length);
    if (chunked) {
      front.append(Long.toHexString(length));
      front.append(LINE_END);
    }
    front.append(PREFIX);
    json.ascii(END);
    if (chunked) {
      json.ascii(LINE_END);
    }
    output.sendPieces(json.seal(front.bytes(), front.length()));
    front.clear();
  }

  /** No more events follow. */
  void end(JsonBuffer empty) throws IOException {
    if (chunked) {
      empty.ascii("0\r\n\r\n");
    }
    output.sendLastPieces(empty.seal(front.bytes(), front.length()));
  }
}
