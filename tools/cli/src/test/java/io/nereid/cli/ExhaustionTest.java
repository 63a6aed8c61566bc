package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.nereid.proto.ModelInferRequest;
import io.nereid.server.grpc.GrpcFrames;
import io.nereid.server.http.FrameClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server whose descriptors or whose heap run out: what it can go on from, it does. */
@Tag("slow")
class ExhaustionTest {

  private static final int PATIENCE_MS = 30_000;
  private static final int BODY_BYTES = 2 << 20;

  private static final byte[] GET_LIVE = ascii("GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n");
  private static final byte[] GET_METRICS = ascii("GET /metrics HTTP/1.1\r\nHost: t\r\n\r\n");

  /** What a client of HTTP/2 begins with, and settings that change nothing. */
  private static final byte[] HTTP_2 = ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0");

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** The server's process. */
  private static final class Server implements AutoCloseable {
    private final Process process;
    private final BufferedReader printed;
    private final StringBuilder screen = new StringBuilder();
    private final int http;
    private final int grpc;
    private final int metrics;

    Server(String script, String... jvmOptions) throws IOException {
      process =
          ServeProcess.startFromShell(
              script, List.of(jvmOptions), ExhaustionRun.class.getName(), List.of());
      printed = process.inputReader();
      String[] ports = await("PORTS").split(" ");
      http = Integer.parseInt(ports[1]);
      grpc = Integer.parseInt(ports[2]);
      metrics = Integer.parseInt(ports[3]);
    }

    String await(String start) throws IOException {
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        screen.append(line).append('\n');
        if (line.startsWith(start)) {
          return line;
        }
      }
      throw new IOException("the server ended: " + screen);
    }

    void tell(String command) throws IOException {
      process.getOutputStream().write(ascii(command + "\n"));
      process.getOutputStream().flush();
      await("done");
    }

    int descriptors() throws IOException {
      try (Stream<Path> open = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
        return (int) open.count();
      }
    }

    /** Waits until every port answers, and as many descriptors are open as there were. */
    void awaitRecovery(int descriptors) throws IOException {
      long endMs = System.currentTimeMillis() + 2 * PATIENCE_MS;
      while (!(answers(http, GET_LIVE, "HTTP/1.1 200")
          && answers(metrics, GET_METRICS, "HTTP/1.1 200")
          && answers(grpc, HTTP_2, "\0")
          && descriptors() <= descriptors)) {
        assertTrue(process.isAlive(), screen::toString);
        assertTrue(System.currentTimeMillis() < endMs, "it did not recover: " + descriptors());
        LockSupport.parkNanos(50_000_000);
      }
    }

    /** What it printed until its end, which this brings. */
    String end() throws IOException, InterruptedException {
      process.getOutputStream().close();
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        screen.append(line).append('\n');
      }
      assertEquals(0, process.waitFor(), screen::toString);
      return screen.toString();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  private static Socket connect(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MS);
    return socket;
  }

  private static boolean answers(int port, byte[] request, String start) {
    try (Socket socket = connect(port)) {
      socket.getOutputStream().write(request);
      byte[] answer = socket.getInputStream().readNBytes(start.length());
      return new String(answer, StandardCharsets.US_ASCII).equals(start);
    } catch (IOException e) {
      return false;
    }
  }

  /** Many clients at a time, each with what it sends; then all are gone. */
  private static void flood(int port, int count, byte[] sent, Runnable meanwhile)
      throws IOException {
    List<Socket> clients = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        Socket client = connect(port);
        clients.add(client);
        try {
          client.getOutputStream().write(sent);
        } catch (SocketException e) {
          // It was sent away.
        }
      }
      meanwhile.run();
    } finally {
      for (Socket client : clients) {
        client.close();
      }
    }
  }

  /** Whether a client is answered, where there was a descriptor after all, or sent away. */
  private static boolean hearsSomething(int port) throws IOException {
    try (Socket socket = connect(port)) {
      socket.getOutputStream().write(HTTP_2);
      socket.getInputStream().read();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (SocketException e) {
      return true; // sent away with a reset
    }
  }

  @Test
  void descriptors() throws Exception {
    try (Server server = new Server("ulimit -n 200; exec \"$@\"")) {
      server.awaitRecovery(Integer.MAX_VALUE); // jars are opened with their first class
      int open = server.descriptors() + 10;
      for (int port : new int[] {server.http, server.grpc, server.metrics}) {
        flood(port, 300, new byte[0], () -> {});
        server.awaitRecovery(open);
      }
      for (int port : new int[] {server.http, server.grpc, server.metrics}) {
        server.tell("take"); // what has become free meanwhile, too
        for (int i = 0; i < 3; i++) {
          assertTrue(hearsSomething(port), "a client waits for a descriptor");
        }
      }
      server.tell("free");
      server.awaitRecovery(open);
      String screen = server.end();
      assertTrue(screen.contains("HTTP takes ") && screen.contains("(ulimit -n)"), screen);
      assertTrue(screen.contains("could not accept a connection"), screen);
    }
  }

  /** The start of an infer request whose body goes on. */
  private static byte[] halfSent(String model, String start, String more) {
    String head =
        "POST /v2/models/" + model + "/infer HTTP/1.1\r\nHost: t\r\nContent-Length: " + BODY_BYTES;
    return ascii(head + "\r\n\r\n" + start + more.repeat(BODY_BYTES / 2 / more.length()));
  }

  @Test
  void heap() throws Exception {
    try (Server server = new Server("exec \"$@\"", "-Xmx64m", "-XX:+UseG1GC")) {
      int open = server.descriptors() + 10;
      server.awaitRecovery(open);
      Runnable metricsAnswer =
          () -> assertTrue(answers(server.metrics, GET_METRICS, "HTTP/1.1 200"), "no metrics");
      flood(server.http, 900, new byte[0], metricsAnswer);
      server.awaitRecovery(open);
      flood(server.http, 900, GET_LIVE, metricsAnswer);
      server.awaitRecovery(open);
      flood(server.grpc, 900, HTTP_2, metricsAnswer);
      server.awaitRecovery(open);
      Runnable allAnswer =
          () -> {
            metricsAnswer.run();
            assertTrue(answers(server.http, GET_LIVE, "HTTP/1.1 200"), "no HTTP");
          };
      String inFront = "{\"inputs\":[{\"data\":[";
      flood(server.http, 120, halfSent("identity_fp32", inFront, "1.5,"), allAnswer);
      server.awaitRecovery(open);
      String strings =
          "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"BYTES\",\"shape\":[1,16],\"data\":[\"";
      flood(server.http, 120, halfSent("simple_string", strings, "text"), allAnswer);
      server.awaitRecovery(open);
      flood(server.http, 120, halfSent("simple_string", strings, "t\",\""), allAnswer);
      server.awaitRecovery(open);
      String screen = server.end();
      assertFalse(screen.contains("OutOfMemoryError"), screen);
    }
  }

  private static byte[] inference(int bytes) {
    ModelInferRequest request =
        ModelInferRequest.newBuilder()
            .setModelName("identity_fp32")
            .addInputs(
                ModelInferRequest.InferInputTensor.newBuilder()
                    .setName("INPUT0")
                    .setDatatype("FP32")
                    .addShape(1)
                    .addShape(bytes / Float.BYTES))
            .addRawInputContents(ByteString.copyFrom(new byte[bytes]))
            .build();
    return request.toByteArray();
  }

  /** Asks until a call is refused, without making room for any reply. */
  private static void askWithoutTaking(FrameClient client) throws IOException {
    byte[] request = GrpcFrames.message(inference(BODY_BYTES));
    String status = null;
    for (int stream = 1; status == null; stream += 2) {
      client.head(stream, false, "POST", GrpcFrames.path("ModelInfer"), GrpcFrames.FIELDS);
      client.data(stream, request, true);
      while (!client.reply(stream).fields.containsKey(":status")) {
        client.next();
      }
      status = client.reply(stream).fields.get("grpc-status");
    }
    assertEquals("8", status, "expected RESOURCE_EXHAUSTED");
  }

  private static void expectServed(FrameClient client, int stream, int bytes) throws IOException {
    Map<String, String> fields =
        GrpcFrames.call(client, stream, "ModelInfer", inference(bytes)).fields;
    assertEquals("0", fields.get("grpc-status"), fields::toString);
  }

  /** Clients whose windows stay closed: their calls are executed, and no reply can leave. */
  @Test
  void repliesThatNobodyTakes() throws Exception {
    List<FrameClient> attackers = new ArrayList<>();
    try (Server server = new Server("exec \"$@\"", "-Xmx128m");
        FrameClient other = new FrameClient(server.grpc).begin()) {
      for (int i = 0; i < 10; i++) {
        FrameClient attacker = new FrameClient(server.grpc).begin(0);
        attackers.add(attacker);
        askWithoutTaking(attacker);
        expectServed(other, 2 * i + 1, Float.BYTES);
      }
      for (FrameClient attacker : attackers) {
        attacker.hangUp();
      }
      server.awaitRecovery(server.descriptors());
      expectServed(other, 101, BODY_BYTES);
      String screen = server.end();
      assertFalse(screen.contains("OutOf"), screen);
    } finally {
      for (FrameClient attacker : attackers) {
        attacker.close();
      }
    }
  }
}
