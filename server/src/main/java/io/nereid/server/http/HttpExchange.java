package io.nereid.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.nereid.server.http.seam.ClientConnection;
import io.nereid.server.http.seam.ClientWriter;
import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One request after the other of a connection, with its reply, as handlers see them: Helidon's
 * request and response, plus a body for reading tensors, and replies that send tensors without a
 * copy. Used by the thread that serves the request.
 */
final class HttpExchange {

  /** The most bytes of a refused body that are skipped to keep the connection. */
  private static final long MAX_SKIPPED_BYTES = 1 << 20;

  private static final byte[] NOTHING = {};
  private static final Header RETRY_AFTER = HeaderValues.createCached("Retry-After", "1");

  private final ClientConnection connection;
  private final BooleanSupplier stopping;
  private final RequestBody body;

  private ServerResponse response; // null: Helidon does not see the request
  private ProtocolHead head; // null: it could not be read
  private final List<Header> fields = new ArrayList<>(); // fields of the reply
  private OutputStream parts; // null: the reply is not in parts
  private boolean closing;
  private int status; // 0: none so far
  private long bodyBytes;

  HttpExchange(ClientConnection connection, HttpLimits limits, BooleanSupplier stopping) {
    this.connection = connection;
    this.stopping = stopping;
    body = new RequestBody(connection.reader(), connection.heap(), limits);
  }

  /** Begins a request of which nothing was read. */
  void began() {
    response = null;
    head = null;
    parts = null;
    closing = false;
    fields.clear();
    status = 0;
    bodyBytes = 0;
  }

  /** Takes the request's head, which was read. */
  void start(ServerRequest asked, ServerResponse answer, ProtocolHead itsHead) {
    response = answer;
    head = itsHead;
    body.start(asked);
    closing =
        connection.closesAfterReply()
            || asked.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
    if (closing) {
      close();
    }
  }

  /** Begins a request that repeats the last one's head and that Helidon does not see. */
  void startRepeated(ProtocolHead itsHead, byte[] bytes, int from, int length) {
    head = itsHead;
    body.startGiven(bytes, from, length);
  }

  /** True if the request repeats the last one's head. */
  boolean isRepeated() {
    return response == null;
  }

  private void close() {
    closing = true;
    connection.closeAfterReply();
  }

  // ---- The request -----------------------------------------------------------------------------

  /** The head of the present request; null: it could not be read. */
  ProtocolHead head() {
    return head;
  }

  /** The body, decompressed; called once. */
  RequestBody content() {
    body.checkLength();
    if (ContentCoding.ofRequest(head.contentEncoding()) != ContentCoding.NONE) {
      body.inflate();
    }
    return body;
  }

  /** Ends the reply, after the handler has answered the request. */
  void finish() throws IOException {
    if (parts instanceof Whole) {
      throw new CloseConnectionException("the end of the reply is that of the connection");
    }
    body.finish();
  }

  /** Frees the body's resources, whatever the request's result. */
  void endBody() {
    body.endInflating();
  }

  /** The arrival of the request's tensors. */
  ArrivingTensors.Arrival arrival(ArrivingTensors all) {
    return all.new Arrival(connection, body);
  }

  /** Bytes of the body that came so far. */
  long receivedBytes() {
    return body.received();
  }

  /** The connection's bytes and addresses. */
  ClientConnection connection() {
    return connection;
  }

  /** True if the client went away meanwhile. */
  boolean clientGone() {
    return connection.isClientGone();
  }

  // ---- The reply -------------------------------------------------------------------------------

  /** Forgets the reply so far. */
  void clearReply() {
    fields.clear();
    if (response != null) {
      response.headers().clear();
    }
    parts = null;
  }

  /** Adds a field to the reply, which is to be sent next. */
  void field(Header field) {
    fields.add(field);
  }

  /** Adds a field with this value. */
  void field(HeaderName field, String value) {
    fields.add(HeaderValues.create(field, value));
  }

  /** Closes the connection after the reply. */
  void closeAfterReply() {
    close();
  }

  /** Sends the reply. Its body is the buffer's, and the binary data behind that. */
  void send(Status answer, PieceBuffer buffer, List<MemorySegment> binary) throws IOException {
    beginReply(answer);
    boolean unchanged = answer == Status.NOT_MODIFIED;
    bodyBytes = unchanged ? 0 : buffer.size() + PieceBuffer.byteSize(binary);
    if (!unchanged) {
      field(HeaderNames.CONTENT_LENGTH, Long.toString(bodyBytes));
    }
    if (head.isHeadMethod()) {
      bodyBytes = 0;
    } else if (bodyBytes > 0) {
      connection.writer().behind(buffer, binary);
    }
    if (isRepeated()) {
      replying(answer.code());
      connection.writer().reply(answer.http(), fields);
    } else {
      begin().write(NOTHING); // sends Helidon's head with the body
    }
  }

  private void beginReply(Status answer) throws IOException {
    body.skipCome(MAX_SKIPPED_BYTES);
    if (!body.isSkippable(MAX_SKIPPED_BYTES) || stopping.getAsBoolean()) {
      close();
    }
    if (closing) {
      field(HeaderValues.CONNECTION_CLOSE);
    }
    if (answer == Status.UNAVAILABLE) {
      field(RETRY_AFTER);
    }
    if (response != null) {
      response.status(answer.http());
    }
  }

  private OutputStream begin() {
    for (int i = 0; i < fields.size(); i++) {
      response.headers().add(fields.get(i));
    }
    return response.outputStream();
  }

  /** Sends the reply, in the coding that the client prefers. */
  void sendCompressed(PieceBuffer buffer, List<MemorySegment> binary) throws IOException {
    ContentCoding coding = ContentCoding.preferred(head.acceptEncoding());
    if (coding == ContentCoding.NONE) {
      send(Status.OK, buffer, binary);
    } else {
      PieceBuffer compressed = coding.compress(buffer, binary);
      field(coding.field());
      send(Status.OK, compressed, List.of());
    }
  }

  /**
   * Begins a reply in parts; the first of them is to follow at once. For HEAD none may follow: the
   * reply, whose length nobody knows, ends with the connection.
   */
  void beginParts(Status answer) throws IOException {
    if (head.isHeadMethod()) {
      close();
    }
    beginReply(answer);
    if (connection.isOld() || head.isHeadMethod()) {
      replying(answer.code());
      connection.writer().reply(answer.http(), fields);
      parts = new Whole(connection.writer());
    } else {
      parts = begin();
    }
  }

  /** Sends the buffer as a part of the reply, as soon as it can go. */
  void sendPart(PieceBuffer buffer) throws IOException {
    bodyBytes += buffer.size();
    buffer.writeTo(parts);
    parts.flush();
  }

  /** The parts of a reply without chunks, which clients of HTTP/1.0 do not know. */
  private static final class Whole extends OutputStream {
    private final ClientWriter writer;

    Whole(ClientWriter writer) {
      this.writer = writer;
    }

    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) {
      writer.writeNow(BufferData.create(bytes, offset, count));
    }
  }

  /** Sets the status of the reply. */
  void replying(int code) {
    status = code;
  }

  /** The status of the reply; 0: there is none so far. */
  int status() {
    return status;
  }

  /** The bytes of the reply's body. */
  long replyBytes() {
    return bodyBytes;
  }
}
