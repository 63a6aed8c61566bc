package io.nereid.server.wire;

import io.nereid.server.shared.PieceBuffer;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A thread of one HTTP/2 connection: reads when it is its turn, serves streams, one after the
 * other, and keeps what it needs for that: buffers, the exchange with its handler, what the last
 * request was. What other threads touch of a stream is in {@link StreamChannel} and its guard,
 * which are made for each stream.
 */
final class Http2Seat extends ReadingTurns.Seat implements HttpExchange.HeadSource {

  private static final Logger LOGGER = System.getLogger(Http2Seat.class.getName());

  private static final int INPUT_BYTES = 4096;

  /**
   * A request that has begun.
   *
   * @param stream its own
   * @param guard the stream's
   * @param room for what comes of its body while nobody reads it
   * @param fields the head, names and values in turns, pseudo-fields first
   * @param bodiless whether the request ends with them
   */
  record Request(
      StreamChannel stream,
      ConnectionGuard guard,
      ArrivedBytes room,
      List<String> fields,
      boolean bodiless) {}

  private final WireContext context;
  private final Http2Connection connection;
  private final ConnectionInput input = new ConnectionInput(null, INPUT_BYTES);
  private volatile Request given; // written with the lock; null: none is

  // Of this thread alone.
  private HttpExchange exchange; // null: of the last one nobody knows what it left behind
  private Request request; // that is being served
  private String lastTarget = "";

  /** The fields of the last head; the same list means the same head. Null: there was none. */
  private List<String> lastFields;

  private RequestHead lastHead;
  private boolean lastIsBodiless;
  private byte[] scratch = new byte[256];

  Http2Seat(WireContext context, Http2Connection connection) {
    this.context = context;
    this.connection = connection;
    exchange = newExchange();
  }

  private HttpExchange newExchange() {
    RequestBody body = new RequestBody(input, context.limits(), this::sendContinue).untilEnd();
    return new HttpExchange(context, this, body, new Http2Reply());
  }

  // ---- With the connection's lock --------------------------------------------------------------

  /** Has its thread serve a request, while others read. */
  void give(Request begun) {
    given = begun;
    call();
  }

  /** What it was given, which is taken with that. */
  Request takeGiven() {
    Request taken = given;
    given = null;
    return taken;
  }

  // ---- By the seat's thread --------------------------------------------------------------------

  @Override
  boolean hasWork() {
    return given != null;
  }

  @Override
  public void run() {
    begin();
    try {
      while (awaitTurn(connection.turns())) {
        connection.work(this);
      }
    } finally {
      connection.left(this);
    }
  }

  /** Serves a stream to its end. */
  void serve(Request begun) {
    request = begun;
    try {
      input.begin(begun.stream());
      begun.guard().input(input);
      if (exchange == null) {
        exchange = newExchange();
      }
      exchange.on(begun.stream(), begun.guard()).serve();
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "stream ended", e);
    } catch (RuntimeException | Error e) {
      exchange = null;
      lastFields = null;
      LOGGER.log(Level.ERROR, "stream failed", e);
    } finally {
      begun.guard().close();
      request = null;
      Thread.interrupted(); // was meant for this request
    }
  }

  private void sendContinue() throws IOException {
    request.stream().writeContinue();
  }

  // ---- The request's head ----------------------------------------------------------------------

  @Override
  public String protocol() {
    return "HTTP/2";
  }

  @Override
  public RequestHead read(Supplier<RequestHead> empty) {
    if (request.fields() == lastFields && request.bodiless() == lastIsBodiless) {
      return lastHead;
    }
    List<String> fields = request.fields();
    String method = null;
    String path = null;
    for (int i = 0; i < fields.size(); i += 2) {
      if (fields.get(i).equals(":method")) {
        method = fields.get(i + 1);
      } else if (fields.get(i).equals(":path")) {
        path = fields.get(i + 1);
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
    for (int i = 0; i < fields.size(); i += 2) {
      String name = fields.get(i);
      if (name.equals(":authority")) {
        add(head, "host", fields.get(i + 1)); // what HTTP/1.1 calls it
      } else if (name.charAt(0) != ':') {
        add(head, name, fields.get(i + 1));
      }
    }
    if (request.bodiless()) {
      head.endsHere();
    }
    lastFields = fields;
    lastHead = head;
    lastIsBodiless = request.bodiless();
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
      add(field, field.value);
    }

    private void add(ReplyField field, String value) {
      fields.add(field.name);
      fields.add(value);
    }

    @Override
    public void field(ReplyField field, String value) {
      add(field, value);
    }

    @Override
    public void field(ReplyField field, long value) {
      add(field, Long.toString(value));
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
        request.stream().writeShort(status.code(), fields, first);
        fields.clear();
      } else {
        sendHead(status, false);
        write(pieces, true);
      }
    }

    private void sendHead(Status status, boolean last) throws IOException {
      field(ReplyField.date());
      request.stream().writeHead(status.code(), fields, last);
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
            request.stream().lend(piece, end);
          } else {
            request.stream().write(piece, end);
          }
        }
      } finally {
        if (lent) {
          request.stream().awaitWritten();
        } else {
          request.stream().writeOut();
        }
      }
    }
  }
}
