package io.nereid.server.http;

import io.grpc.netty.shaded.io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.grpc.netty.shaded.io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Writes replies into a stream of HTTP/2: the same heads, with fields in place of lines. */
final class StreamOutput extends ConnectionOutput {

  private static final String LINE_END = "\r\n";

  private final StreamChannel stream;

  StreamOutput(StreamChannel stream, ConnectionGuard guard) {
    super(stream, guard);
    this.stream = stream;
  }

  @Override
  void writeHead() throws IOException {
    beginWriting();
    stream.writeHead(fields(), true);
  }

  @Override
  void writeReply(JsonBuffer json, List<MemorySegment> binary) throws IOException {
    beginWriting();
    List<ByteBuffer> pieces = json.seal(head().bytes(), 0);
    addAll(binary, pieces);
    stream.writeHead(fields(), false);
    writeAll(pieces, true);
  }

  /** Frames do. */
  @Override
  boolean marksParts() {
    return false;
  }

  @Override
  void beginPieces() throws IOException {
    beginWriting();
    stream.writeHead(fields(), false);
    head().clear();
  }

  @Override
  void sendPieces(List<ByteBuffer> pieces) throws IOException {
    beginWriting();
    writeAll(pieces, false);
  }

  @Override
  void sendLastPieces(List<ByteBuffer> pieces) throws IOException {
    beginWriting();
    writeAll(pieces, true);
  }

  private void writeAll(List<ByteBuffer> pieces, boolean last) throws IOException {
    for (int i = 0; i < pieces.size(); i++) {
      stream.write(pieces.get(i), last && i == pieces.size() - 1);
    }
  }

  /** The head that was written as lines, but for what only connections of HTTP/1.1 know. */
  private Http2Headers fields() {
    ResponseHead head = head();
    Http2Headers fields = new DefaultHttp2Headers(false, 8);
    fields.status(Integer.toString(head.status().code()));
    String lines = new String(head.bytes(), 0, head.length(), StandardCharsets.ISO_8859_1);
    int from = lines.indexOf(LINE_END) + LINE_END.length();
    for (int to; (to = lines.indexOf(LINE_END, from)) > from; from = to + LINE_END.length()) {
      int colon = lines.indexOf(": ", from);
      String name = lines.substring(from, colon).toLowerCase(Locale.ROOT);
      if (!name.equals("connection")) {
        fields.add(name, lines.substring(colon + 2, to));
      }
    }
    return fields;
  }
}
