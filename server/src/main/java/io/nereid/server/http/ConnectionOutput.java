package io.nereid.server.http;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Writes replies: the head and JSON from the buffer, binary data from where it lies. As HTTP/1.1
 * does, unless {@link StreamOutput} takes its place.
 */
class ConnectionOutput {

  /** Largest piece of a segment in one buffer, whose size is an int. */
  private static final long PIECE_BYTES = 1L << 30;

  /** What is copied at a time to be compressed. */
  private static final int COPY_BYTES = 16 << 10;

  private final ClientChannel channel;
  private final ConnectionGuard guard;
  private final ResponseHead head = new ResponseHead();
  private boolean begun;

  ConnectionOutput(ClientChannel channel, ConnectionGuard guard) {
    this.channel = channel;
    this.guard = guard;
  }

  /** A new reply is to be made. */
  void begin() {
    begun = false;
    head.begin();
  }

  /** The reply tells the client's name for the request; null: there is none. */
  void requestId(String id) {
    head.requestId(id);
  }

  /** The reply has these fields, too, each with its line end. */
  void moreFields(String fields) {
    head.moreFields(fields);
  }

  /** The status of the reply that has begun. */
  Status status() {
    return head.status();
  }

  /** Bytes of its body. */
  long bodyBytes() {
    return head.contentLength();
  }

  /** For a reply that is sent in parts. */
  ResponseHead head() {
    return head;
  }

  /** Whether something of the reply may have been sent. */
  boolean hasBegun() {
    return begun;
  }

  /** Sends a reply; {@code headOnly} as HEAD asks for it. */
  void send(
      Status status, JsonBuffer json, List<MemorySegment> binary, boolean close, boolean headOnly)
      throws IOException {
    long jsonLength = json.size();
    long binaryLength = 0;
    for (int i = 0; i < binary.size(); i++) {
      binaryLength += binary.get(i).byteSize();
    }
    head.write(status, jsonLength + binaryLength, binaryLength > 0 ? jsonLength : -1, "", close);
    if (headOnly) {
      writeHead();
    } else if (json.hasRoom(binaryLength)) {
      for (int i = 0; i < binary.size(); i++) {
        json.write(binary.get(i));
      }
      writeReply(json, List.of());
    } else {
      writeReply(json, binary);
    }
  }

  /** What follows is under way: it takes as long as the client takes. */
  void beginWriting() {
    guard.writing();
    begun = true;
  }

  /** Writes the head, behind which nothing comes. */
  void writeHead() throws IOException {
    beginWriting();
    write(ByteBuffer.wrap(head.bytes(), 0, head.length()));
  }

  /** Writes the head and what belongs to it. */
  void writeReply(JsonBuffer json, List<MemorySegment> binary) throws IOException {
    beginWriting();
    List<ByteBuffer> pieces = json.seal(head.bytes(), head.length());
    if (pieces.size() == 1 && binary.isEmpty()) {
      write(pieces.getFirst());
    } else {
      writeAll(pieces, binary);
    }
  }

  /** Sends the reply to an infer request compressed. */
  void sendCompressed(
      Compression compression, JsonBuffer json, List<MemorySegment> binary, boolean close)
      throws IOException {
    JsonBuffer compressed = new JsonBuffer(json.heap());
    try (OutputStream to = compression.compress(compressed)) {
      json.writeTo(to);
      byte[] piece = new byte[COPY_BYTES];
      for (MemorySegment segment : binary) {
        for (long at = 0; at < segment.byteSize(); at += piece.length) {
          int count = (int) Math.min(piece.length, segment.byteSize() - at);
          MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, at, piece, 0, count);
          to.write(piece, 0, count);
        }
      }
    }
    long jsonLength = binary.isEmpty() ? -1 : json.size();
    head.write(Status.OK, compressed.size(), jsonLength, compression.field(), close);
    writeReply(compressed, List.of());
  }

  /** Sends a JSON reply with further header fields. */
  void sendWith(Status status, JsonBuffer json, String fields, boolean close, boolean headOnly)
      throws IOException {
    head.write(status, json.size(), -1, fields, close);
    if (headOnly) {
      writeHead();
    } else {
      writeReply(json, List.of());
    }
  }

  /** Whether the parts of a reply have to say how long they are. */
  boolean marksParts() {
    return true;
  }

  /** The head of a reply in parts is made, and may be sent with the first of them. */
  void beginPieces() throws IOException {}

  /** Sends a part of a reply, which may be its first. */
  void sendPieces(List<ByteBuffer> pieces) throws IOException {
    beginWriting();
    writeAll(pieces, List.of());
  }

  /** Sends the last part of a reply. */
  void sendLastPieces(List<ByteBuffer> pieces) throws IOException {
    sendPieces(pieces);
  }

  void write(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private void writeAll(List<ByteBuffer> pieces, List<MemorySegment> binary) throws IOException {
    addAll(binary, pieces);
    ByteBuffer[] all = pieces.toArray(ByteBuffer[]::new);
    for (int i = 0; i < all.length; ) {
      channel.write(all, i, all.length - i);
      while (i < all.length && !all[i].hasRemaining()) {
        i++;
      }
    }
  }

  /** Adds views of binary data to what is to be written. */
  static void addAll(List<MemorySegment> binary, List<ByteBuffer> pieces) {
    for (MemorySegment segment : binary) {
      for (long at = 0; at < segment.byteSize(); at += PIECE_BYTES) {
        long size = Math.min(PIECE_BYTES, segment.byteSize() - at);
        pieces.add(segment.asSlice(at, size).asByteBuffer());
      }
    }
  }

  /** Nothing more is written. */
  void end() throws IOException {
    channel.shutdownOutput();
  }
}
