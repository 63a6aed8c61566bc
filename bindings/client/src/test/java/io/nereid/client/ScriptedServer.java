package io.nereid.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that answers with exactly the bytes it is told, right or wrong. */
final class ScriptedServer implements AutoCloseable {

  /** What came, with field names in lower case. */
  record Request(String line, Map<String, String> fields, byte[] body) {

    String text() {
      return new String(body, StandardCharsets.ISO_8859_1);
    }
  }

  /** What a request is answered with; null: the connection is closed, and so it is after bytes. */
  interface Script {
    byte[] reply(Request request) throws Exception;
  }

  private final ServerSocket listener;
  private final Script script;
  final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
  final AtomicInteger connections = new AtomicInteger();

  ScriptedServer(Script script) throws IOException {
    this.script = script;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start(this::accept);
  }

  /** Runs a task on a thread that no test need end. */
  static Thread start(Runnable task) {
    Thread thread = new Thread(task);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Answers everything with this text. */
  static ScriptedServer of(String reply) throws IOException {
    return new ScriptedServer(request -> reply.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** A response with a body and its length. */
  static byte[] response(String head, byte[] body) {
    byte[] start =
        ("HTTP/1.1 " + head + "\r\nContent-Length: " + body.length + "\r\n\r\n")
            .getBytes(StandardCharsets.ISO_8859_1);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(start);
    all.writeBytes(body);
    return all.toByteArray();
  }

  static byte[] json(String head, String body) {
    return response(
        head + "\r\nContent-Type: application/json; charset=utf-8",
        body.getBytes(StandardCharsets.UTF_8));
  }

  int port() {
    return listener.getLocalPort();
  }

  InferenceClient connect() {
    return connect(ClientOptions.DEFAULT);
  }

  InferenceClient connect(ClientOptions options) {
    return InferenceClient.connect("http://127.0.0.1:" + port(), options);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        connections.incrementAndGet();
        start(() -> serve(socket));
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      for (Request request = read(in); request != null; request = read(in)) {
        requests.add(request);
        byte[] reply = script.reply(request);
        if (reply == null) {
          return;
        }
        socket.getOutputStream().write(reply);
        if (!new String(reply, StandardCharsets.ISO_8859_1).contains("\r\nContent-Length: ")) {
          return;
        }
      }
    } catch (Exception e) {
      // The client has left, or the test has ended.
    }
  }

  private static Request read(InputStream in) throws IOException {
    String line = line(in);
    if (line == null) {
      return null;
    }
    Map<String, String> fields = new TreeMap<>();
    for (String field = line(in); field != null && !field.isEmpty(); field = line(in)) {
      int colon = field.indexOf(':');
      fields.put(
          field.substring(0, colon).toLowerCase(Locale.ROOT), field.substring(colon + 1).strip());
    }
    int length = Integer.parseInt(fields.getOrDefault("content-length", "0"));
    return new Request(line, fields, in.readNBytes(length));
  }

  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        return null;
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
