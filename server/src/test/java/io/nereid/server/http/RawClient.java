package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that sends exactly the bytes it is told, right or wrong. */
public final class RawClient implements AutoCloseable {

  private final Socket socket;
  private final InputStream in;

  /** A response, with its fields by lower-case names. */
  public record Response(int status, Map<String, String> fields, byte[] body) {

    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    /** The JSON part in front of binary data, or all of it. */
    String json() {
      String length = fields.get("inference-header-content-length");
      return length == null
          ? text()
          : new String(body, 0, Integer.parseInt(length), StandardCharsets.UTF_8);
    }

    byte[] binary() {
      int from = Integer.parseInt(fields.get("inference-header-content-length"));
      return Arrays.copyOfRange(body, from, body.length);
    }

    public Response expect(int wanted) {
      assertEquals(wanted, status, this::text);
      return this;
    }
  }

  public RawClient(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  /** Takes over a socket, which may be one that encrypts. */
  public RawClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    socket.setSoTimeout((int) TestServer.PATIENCE.toMillis());
    in = new BufferedInputStream(socket.getInputStream());
  }

  public Socket socket() {
    return socket;
  }

  public RawClient send(String text) throws IOException {
    return send(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  public Response get(String path) throws IOException {
    return send("GET " + path + " HTTP/1.1\r\nHost: test\r\n\r\n").receive();
  }

  public Response post(String path, String body) throws IOException {
    return post(path, "", body.getBytes(StandardCharsets.UTF_8));
  }

  /** Posts with further header fields, each with its line end. */
  public Response post(String path, String fields, byte[] body) throws IOException {
    return send(request(path, fields, body)).receive();
  }

  /** An infer request with binary data behind the JSON. */
  Response infer(String model, String json, byte[] binary) throws IOException {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    return post(
        "/v2/models/" + model + "/infer",
        "Inference-Header-Content-Length: " + text.length + "\r\n",
        concat(text, binary));
  }

  public static byte[] request(String path, String fields, byte[] body) {
    String head =
        "POST "
            + path
            + " HTTP/1.1\r\nHost: test\r\n"
            + fields
            + "Content-Length: "
            + body.length
            + "\r\n\r\n";
    return concat(head.getBytes(StandardCharsets.ISO_8859_1), body);
  }

  public static byte[] concat(byte[] one, byte[] other) {
    byte[] both = Arrays.copyOf(one, one.length + other.length);
    System.arraycopy(other, 0, both, one.length, other.length);
    return both;
  }

  public Response receive() throws IOException {
    Response head = receiveHead();
    int length = Integer.parseInt(head.fields().getOrDefault("content-length", "0"));
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("the body ended after " + body.length + " of " + length);
    }
    return new Response(head.status(), head.fields(), body);
  }

  /** The head of a response whose body is read by other means. */
  public Response receiveHead() throws IOException {
    String line = line();
    int status = Integer.parseInt(line.split(" ")[1]);
    Map<String, String> fields = new TreeMap<>();
    for (line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      fields.put(
          line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
    }
    return new Response(status, fields, new byte[0]);
  }

  /** The next chunk of a chunked body; null behind the last. */
  public String chunk() throws IOException {
    int length = Integer.parseInt(line(), 16);
    byte[] chunk = in.readNBytes(length);
    assertEquals(length, chunk.length, "the chunk ended early");
    assertEquals("", line());
    return length == 0 ? null : new String(chunk, StandardCharsets.UTF_8);
  }

  /** Everything until the server closes the connection. */
  String rest() throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8);
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the server closed the connection");
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  /** The next byte of a reply. */
  int read() throws IOException {
    return in.read();
  }

  /** Whether the server has closed the connection; waits for it. */
  public boolean isClosedByServer() throws IOException {
    return in.read() < 0;
  }

  /** Goes away in the middle of a test. */
  void hangUp() throws IOException {
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
