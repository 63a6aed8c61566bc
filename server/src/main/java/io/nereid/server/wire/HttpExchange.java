package io.nereid.server.wire;

import io.nereid.server.shared.HeapShare;
import io.nereid.server.shared.PieceBuffer;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Supplier;

/**
 * Requests and their answers, one after the other, by whatever version of HTTP they travel: reads a
 * head, has the handler answer, and turns what goes wrong into an answer as long as none has begun.
 * It is what the handler knows of the wire. A connection of HTTP/1.1 has one; a connection of
 * HTTP/2 has as many as it has streams at a time, each for one stream after the other. Used by one
 * thread.
 */
public final class HttpExchange {

  /** Most bytes of a refused body that are read over to keep the connection. */
  private static final long MAX_SKIPPED_BYTES = 1 << 20;

  /** Where the heads of requests come from. */
  interface HeadSource {

    /** The next request's head, an empty one filled in; fails with what is wrong with it. */
    RequestHead read(Supplier<RequestHead> empty) throws IOException;

    /** The last request's protocol and version, such as HTTP/1.1. */
    String protocol();
  }

  /**
   * How a version of HTTP writes replies, one after the other: fields first, then all of it at once
   * or in parts.
   */
  interface ReplyForm {

    /** A new reply is to be made, of which there are no fields so far. */
    void begin();

    /** Adds a field that always has the same value. */
    void field(ReplyField field);

    /** Adds a field. */
    void field(ReplyField field, String value);

    /** Adds a field. */
    void field(ReplyField field, long value);

    /**
     * Sends a reply, whose body begins with what is in the buffer.
     *
     * @param close whether the connection ends with it
     * @param headOnly as HEAD asks for it
     */
    void send(
        Status status,
        PieceBuffer buffer,
        List<MemorySegment> binary,
        boolean close,
        boolean headOnly)
        throws IOException;

    /**
     * Begins a reply in parts, with the first of them or before it.
     *
     * @param chunked whether parts of HTTP/1.1 say how long they are; else the connection's end
     *     does
     */
    void beginParts(Status status, boolean chunked, boolean close) throws IOException;

    /** Sends what is in the buffer as a part. */
    void sendPart(PieceBuffer buffer) throws IOException;

    /** No parts follow; the buffer is empty. */
    void endParts(PieceBuffer empty) throws IOException;
  }

  private final WireContext context;
  private final HeadSource heads;
  private final RequestBody body;
  private final ReplyForm reply;
  private final HeapShare heap;
  private final HttpHandler handler;
  private final Supplier<RequestHead> newHead;

  private ClientChannel channel;
  private ConnectionGuard guard;
  private RequestHead head; // of the present request; null: it could not be read
  private boolean closing;

  // Of the present reply.
  private Status status = Status.OK;
  private long bodyBytes;
  private boolean begun; // something of it may have been sent

  HttpExchange(WireContext context, HeadSource heads, RequestBody body, ReplyForm reply) {
    this.context = context;
    this.heads = heads;
    this.body = body;
    this.reply = reply;
    heap = new HeapShare(context.heap());
    body.heap(heap);
    handler = context.handlers().apply(this);
    newHead = handler::newHead;
  }

  /** The next requests come through this channel, and are looked after by this guard. */
  HttpExchange on(ClientChannel another, ConnectionGuard itsGuard) {
    channel = another;
    guard = itsGuard;
    return this;
  }

  /** Reads a request and answers it; whether the connection stays. */
  boolean serve() throws IOException {
    begin();
    try {
      return answer();
    } finally {
      end();
    }
  }

  /** Answers a client's first request with that it came in vain, without having read it. */
  void refuse(String message) throws IOException {
    begin();
    try {
      fail(HttpFailure.closing(Status.UNAVAILABLE, message));
    } finally {
      end();
    }
  }

  private void begin() {
    head = null;
    closing = true;
    clearReply();
    handler.begin();
  }

  private void clearReply() {
    begun = false;
    reply.begin();
  }

  private void end() {
    try {
      handler.end();
    } finally {
      heap.giveBack();
    }
  }

  private boolean answer() throws IOException {
    try {
      head = heads.read(newHead);
      closing = head.wantsClose();
      body.start(head);
      if (body.isLong()) {
        stepAside();
      }
      handler.answer();
    } catch (ClientGoneException e) {
      if (!guard.timedOut()) {
        throw e;
      }
      fail(HttpFailure.closing(Status.REQUEST_TIMEOUT, timeoutMessage()));
    } catch (OutOfMemoryError e) {
      // One allocation was too much, and its memory is free again: others may go on.
      if (begun) {
        throw e;
      }
      fail(HttpFailure.closing(Status.UNAVAILABLE, "not enough heap memory for the request"));
    } catch (RuntimeException e) {
      if (e instanceof NereidException && guard.clientGone()) {
        throw new ClientGoneException();
      }
      if (begun) {
        throw e; // what the client has of a reply cannot be taken back
      }
      fail(e instanceof HttpFailure failure ? failure : handler.explain(e));
    } finally {
      body.endInflating();
    }
    return !closing && skipBody();
  }

  private void fail(HttpFailure failure) throws IOException {
    closing |= failure.closing();
    clearReply();
    handler.fail(failure);
  }

  /** Reads over what the handler left of the body; whether the next request follows it. */
  private boolean skipBody() throws IOException {
    try {
      return body.skipRest(MAX_SKIPPED_BYTES);
    } catch (HttpFailure e) {
      return false; // the request has its answer
    }
  }

  private String timeoutMessage() {
    return "expected the whole request within "
        + context.limits().requestTime().toSeconds()
        + " s; --http-request-timeout-secs sets the limit";
  }

  // ---- The request, for the handler ------------------------------------------------------------

  /** The head of the present request; null: it could not be read. */
  public RequestHead head() {
    return head;
  }

  /** The present request's protocol and version, such as HTTP/1.1. */
  public String protocol() {
    return heads.protocol();
  }

  /** The body, decompressed if it came compressed; to be asked for once. */
  public RequestBody content() {
    if (ContentCoding.ofRequest(head.contentEncoding()) != ContentCoding.NONE) {
      stepAside();
      body.inflate();
    }
    return body;
  }

  /** Bytes of the body that came so far. */
  public long receivedBytes() {
    return body.received();
  }

  /** What the present request holds of the heap. */
  public HeapShare heap() {
    return heap;
  }

  /** The client's socket, for its addresses. */
  public SocketChannel socket() {
    return channel.socket();
  }

  /** Whether nobody else can read what the client sends. */
  public boolean isEncrypted() {
    return channel.isEncrypted();
  }

  /** Since when the present request is read, by the clock of System.nanoTime. */
  public long readingSinceNs() {
    return guard.readingSinceNs();
  }

  /**
   * The handler waits for the answer to a request, and does not touch the body until {@link
   * #answered}. Meanwhile the client is looked after: {@code cancel} is run, by another thread,
   * when it went away.
   */
  public void running(Runnable cancel) {
    guard.running(cancel);
  }

  /**
   * As {@link #running}, between the parts of a reply: the handler waits for what the next one is
   * made of, for a few seconds at most.
   */
  public void resting(Runnable cancel) {
    guard.resting(cancel);
  }

  /** The handler has an answer, or a failure. */
  public void answered() {
    guard.answered();
  }

  /** Whether the client went away while its request ran. */
  public boolean clientGone() {
    return guard.clientGone();
  }

  /** The handler is about to wait, or to take its time: nobody else is to wait for that. */
  public void stepAside() {
    channel.stepAside();
  }

  // ---- The reply, by the handler ---------------------------------------------------------------

  /** Adds a field to the reply, which is to be sent next. */
  public void field(ReplyField field) {
    reply.field(field);
  }

  /** Adds a field with this value. */
  public void field(ReplyField field, String value) {
    reply.field(field, value);
  }

  /** Adds a field with this value. */
  public void field(ReplyField field, long value) {
    reply.field(field, value);
  }

  /** Sends the reply. Its body is what is in the buffer, and the binary data behind that. */
  public void send(Status answer, PieceBuffer buffer, List<MemorySegment> binary)
      throws IOException {
    beginReply(answer, buffer.size() + PieceBuffer.byteSize(binary));
    boolean headOnly = answer == Status.NOT_MODIFIED || (head != null && head.isHeadMethod());
    reply.field(ReplyField.LENGTH, bodyBytes);
    reply.send(answer, buffer, binary, closing, headOnly);
  }

  private void beginReply(Status answer, long bytes) {
    closing |= isEnding();
    status = answer;
    bodyBytes = bytes;
    begun = true;
    guard.writing();
    if (answer == Status.UNAVAILABLE) {
      reply.field(ReplyField.RETRY_AFTER);
    }
  }

  /** Whether the client would rather have the reply's body in gzip. */
  public boolean takesGzip() {
    return ContentCoding.preferred(head.acceptEncoding()) == ContentCoding.GZIP;
  }

  /** Sends the reply, in the coding that the client prefers. */
  public void sendCompressed(PieceBuffer buffer, List<MemorySegment> binary) throws IOException {
    ContentCoding coding = ContentCoding.preferred(head.acceptEncoding());
    if (coding == ContentCoding.NONE) {
      send(Status.OK, buffer, binary);
    } else {
      stepAside();
      PieceBuffer compressed = coding.compress(buffer, binary);
      field(coding.field());
      send(Status.OK, compressed, List.of());
    }
  }

  /** Begins a reply in parts; the first of them is to follow at once. */
  public void beginParts(Status answer) throws IOException {
    beginReply(answer, 0);
    reply.beginParts(answer, !head.isHttp10(), closing);
  }

  /** Sends what is in the buffer as a part of the reply, as soon as it can go. */
  public void sendPart(PieceBuffer buffer) throws IOException {
    bodyBytes += buffer.size();
    guard.writing();
    reply.sendPart(buffer);
  }

  /** No parts follow; the buffer is empty. */
  public void endParts(PieceBuffer empty) throws IOException {
    guard.writing();
    reply.endParts(empty);
  }

  /** Whether the next request would not be read from here. */
  private boolean isEnding() {
    return !body.isSkippable(MAX_SKIPPED_BYTES) || context.stopping().getAsBoolean();
  }

  /** Whether something of the reply may have been sent. */
  public boolean hasBegun() {
    return begun;
  }

  /** The status of the reply that has begun. */
  public Status status() {
    return status;
  }

  /** Bytes of its body. */
  public long replyBytes() {
    return head != null && head.isHeadMethod() ? 0 : bodyBytes;
  }
}
