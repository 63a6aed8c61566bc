package io.nereid.server.wire;

import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A thread that serves streams of one HTTP/2 connection, one after the other, and what it keeps for
 * that: buffers, the exchange with its handler, what the last request was. What other threads touch
 * of a stream is in {@link StreamChannel} and its guard, which are made for each stream.
 */
final class Http2Seat implements Runnable, HttpExchange.HeadSource {

  private static final Logger LOGGER = System.getLogger(Http2Seat.class.getName());

  private static final int INPUT_BYTES = 4096;

  private final Http2Connection connection;
  private final Thread thread = Thread.ofVirtual().name("nrd-http-stream").unstarted(this);
  private final ConnectionInput input = new ConnectionInput(null, INPUT_BYTES);
  private final HttpExchange exchange;

  // Guarded by the connection's lock, and read by the seat's thread from begin to free.
  private byte[] kept = StreamChannel.NOTHING; // for what comes of a stream while nobody reads
  private ConnectionGuard guard; // of the stream
  private Iterable<Map.Entry<CharSequence, CharSequence>> fields; // of the stream's request
  private boolean bodiless; // whether the request ends with them

  // Written with the lock; the seat's thread waits for them without, which all seats would wait
  // for.
  private volatile StreamChannel stream; // to be served; null: none is
  private volatile boolean dismissed;

  // Of this thread alone.
  private String lastTarget = "";
  private byte[] scratch = new byte[256];

  Http2Seat(WireContext context, Http2Connection connection) {
    this.connection = connection;
    WireLimits limits = context.limits();
    RequestBody body = new RequestBody(input, limits, this::sendContinue).untilEnd();
    exchange = new HttpExchange(context, this, body, new Http2Reply());
  }

  /** Has its thread wait for the first stream. */
  void start() {
    thread.start();
  }

  /** Has its thread see what {@link #begin} or {@link #dismiss} said. */
  void call() {
    LockSupport.unpark(thread);
  }

  // ---- With the connection's lock --------------------------------------------------------------

  /** Takes a stream, which has just begun; the seat is to be called then. */
  void begin(
      StreamChannel begun,
      ConnectionGuard itsGuard,
      Iterable<Map.Entry<CharSequence, CharSequence>> itsFields,
      boolean last) {
    guard = itsGuard;
    fields = itsFields;
    bodiless = last;
    stream = begun;
  }

  /** The stream has ended, and another one may come. */
  void free(StreamChannel ended) {
    kept = ended.kept();
    stream = null;
    guard = null;
    fields = null;
  }

  /** Room for what comes of the next stream. */
  byte[] kept() {
    return kept;
  }

  /** No stream comes any more. */
  void dismiss() {
    stream = null;
    dismissed = true;
    call();
  }

  // ---- By the seat's thread --------------------------------------------------------------------

  @Override
  public void run() {
    try {
      while (awaitStream()) {
        serve();
      }
    } finally {
      connection.left();
    }
  }

  private boolean awaitStream() {
    while (stream == null && !dismissed) {
      LockSupport.park(this);
      Thread.interrupted(); // was meant for the last request, if it came late
    }
    return !dismissed;
  }

  private void serve() {
    StreamChannel served = stream;
    ConnectionGuard itsGuard = guard;
    boolean reusable = false;
    try {
      input.begin(served);
      itsGuard.input(input);
      exchange.on(served, itsGuard).serve();
      reusable = true;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "stream ended", e);
      reusable = true;
    } catch (RuntimeException | Error e) {
      LOGGER.log(Level.ERROR, "stream failed", e);
    } finally {
      itsGuard.close();
      connection.ended(this, served, itsGuard, reusable);
    }
  }

  private void sendContinue() throws IOException {
    stream.writeContinue();
  }

  // ---- The request's head ----------------------------------------------------------------------

  @Override
  public String protocol() {
    return "HTTP/2";
  }

  @Override
  public RequestHead read(Supplier<RequestHead> empty) {
    String method = null;
    String path = null;
    for (Map.Entry<CharSequence, CharSequence> field : fields) {
      String name = field.getKey().toString(); // is kept where names and values repeat
      if (name.equals(":method")) {
        method = field.getValue().toString();
      } else if (name.equals(":path")) {
        path = field.getValue().toString();
      }
    }
    if (method == null || path == null) {
      throw HeadReader.malformed("expected the fields :method and :path");
    }
    if (!lastTarget.equals(path)) {
      HeadReader.checkTarget(path);
      lastTarget = path;
    }
    RequestHead head = empty.get();
    head.begin(method, lastTarget, false);
    for (Map.Entry<CharSequence, CharSequence> field : fields) {
      String name = field.getKey().toString();
      if (name.equals(":authority")) {
        add(head, "host", field.getValue().toString()); // what HTTP/1.1 calls it
      } else if (name.isEmpty() || name.charAt(0) != ':') {
        add(head, name, field.getValue().toString());
      }
    }
    if (head.chunked()) {
      throw HeadReader.malformed("Transfer-Encoding means nothing in HTTP/2");
    }
    if (bodiless) {
      head.endsHere();
    }
    return head;
  }

  @SuppressWarnings("deprecation") // drops the upper halves, which are empty: the fastest way
  private void add(RequestHead head, String name, String value) {
    int nameLength = name.length();
    int end = nameLength + value.length();
    if (scratch.length < end) {
      scratch = new byte[Math.max(end, 2 * scratch.length)];
    }
    name.getBytes(0, nameLength, scratch, 0);
    value.getBytes(0, value.length(), scratch, nameLength);
    HeadReader.field(head, scratch, 0, nameLength, nameLength, end);
  }

  // ---- The reply -------------------------------------------------------------------------------

  /** Replies into the present stream. */
  private final class Http2Reply implements HttpExchange.ReplyForm {

    private static final byte[] NO_HEAD = {};

    private final List<String> fields = new ArrayList<>(); // names and values in turns

    @Override
    public void begin() {
      fields.clear();
    }

    @Override
    public void field(ReplyField field) {
      field(field, field.value);
    }

    @Override
    public void field(ReplyField field, String value) {
      fields.add(field.name);
      fields.add(value);
    }

    @Override
    public void field(ReplyField field, long value) {
      field(field, Long.toString(value));
    }

    @Override
    public void send(
        Status status,
        PieceBuffer buffer,
        List<MemorySegment> binary,
        boolean close,
        boolean headOnly)
        throws IOException {
      if (headOnly) {
        sendHead(status, true);
        return;
      }
      List<ByteBuffer> pieces = buffer.seal(NO_HEAD, 0, 0, binary);
      ByteBuffer first = pieces.getFirst();
      if (pieces.size() == 1 && !first.isDirect()) {
        field(ReplyField.date());
        stream.writeShort(status.code(), fields, first);
        fields.clear();
      } else {
        sendHead(status, false);
        write(pieces, true);
      }
    }

    private void sendHead(Status status, boolean last) throws IOException {
      field(ReplyField.date());
      stream.writeHead(status.code(), fields, last);
      fields.clear();
    }

    /** Frames say how long the parts are, and the connection goes on. */
    @Override
    public void beginParts(Status status, boolean chunked, boolean close) throws IOException {
      sendHead(status, false);
    }

    @Override
    public void sendPart(PieceBuffer buffer) throws IOException {
      write(buffer.seal(NO_HEAD, 0, 0, List.of()), false);
    }

    @Override
    public void endParts(PieceBuffer empty) throws IOException {
      write(empty.seal(NO_HEAD, 0, 0, List.of()), true);
    }

    /** Tensors are lent to the connection, and everything else is copied. */
    private void write(List<ByteBuffer> pieces, boolean last) throws IOException {
      boolean lent = false;
      try {
        for (int i = 0; i < pieces.size(); i++) {
          ByteBuffer piece = pieces.get(i);
          boolean end = last && i == pieces.size() - 1;
          if (piece.isDirect()) {
            lent = true;
            stream.lend(piece, end);
          } else {
            stream.write(piece, end);
          }
        }
      } finally {
        if (lent) {
          stream.awaitWritten();
        } else {
          stream.writeOut();
        }
      }
    }
  }
}
