package io.nereid.server.http;

import io.nereid.cli.ServeProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.jr.ob.JSON;

/**
 * Throughput and CPU per request of the server beside those of {@link BareEcho}, in turns on one
 * machine. To be started by hand, with the class path of the tests: {@code HttpLoad [ELEMENTS
 * [CONNECTIONS [ROUNDS [SECONDS [json|ids]]]]]}; with {@code ids} each request has an id of its
 * own.
 */
final class HttpLoad {

  private static final String ID = "{\"id\":\"";
  private static final int ID_DIGITS = 16;

  private HttpLoad() {}

  private record Figure(double requestsPerSecond, double cpuUs) {}

  /** A server process and the request that it gets. */
  private record Peer(String name, Process process, int port, List<Figure> figures) {}

  public static void main(String[] args) throws Exception {
    int elements = number(args, 0, 16);
    int connections = number(args, 1, 8);
    int rounds = number(args, 2, 5);
    int seconds = number(args, 3, 3);
    String kind = args.length > 4 ? args[4] : "";
    byte[] request = kind.equals("json") ? jsonRequest(elements) : request(elements, kind);
    List<Peer> peers =
        List.of(
            start("nereid", "io.nereid.cli.Main", ServeProcess.arguments()),
            start("bare echo", BareEcho.class.getName(), List.of()));
    try {
      for (Peer peer : peers) {
        measure(peer, request, connections, Math.max(5, seconds)); // warms up
      }
      for (int i = 0; i < rounds; i++) {
        for (Peer peer : peers) {
          peer.figures().add(measure(peer, request, connections, seconds));
        }
      }
      System.out.printf(
          Locale.ROOT, "%d FP32, %d connections, %d rounds%n", elements, connections, rounds);
      peers.forEach(HttpLoad::print);
      System.out.printf(
          Locale.ROOT,
          "in the model itself: %.1f us a request%n",
          modelUs(peers.getFirst().port()));
    } finally {
      peers.forEach(peer -> peer.process().destroy());
    }
  }

  private static int number(String[] args, int index, int otherwise) {
    return index < args.length ? Integer.parseInt(args[index]) : otherwise;
  }

  private static byte[] request(int elements, String kind) {
    String json =
        (kind.equals("ids") ? ID + "0".repeat(ID_DIGITS) + "\"," : "{")
            + "\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1,"
            + elements
            + "],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":"
            + elements * Float.BYTES
            + "}}],\"parameters\":{\"binary_data_output\":true}}";
    return RawClient.request(
        "/v2/models/identity_fp32/infer",
        "Inference-Header-Content-Length: " + json.length() + "\r\n",
        RawClient.concat(
            json.getBytes(StandardCharsets.US_ASCII), new byte[elements * Float.BYTES]));
  }

  /** The same with everything in JSON. */
  private static byte[] jsonRequest(int elements) {
    String data =
        IntStream.range(0, elements)
            .mapToObj(i -> Float.toString(i * 0.37f))
            .collect(Collectors.joining(","));
    String json =
        "{\"inputs\":[{\"name\":\"INPUT0\",\"shape\":[1,"
            + elements
            + "],\"datatype\":\"FP32\",\"data\":["
            + data
            + "]}]}";
    return RawClient.request(
        "/v2/models/identity_fp32/infer", "", json.getBytes(StandardCharsets.US_ASCII));
  }

  private static Peer start(String name, String main, List<String> arguments) throws IOException {
    Process process = ServeProcess.start(main, arguments);
    BufferedReader printed = process.inputReader();
    int port = 0;
    for (String line = printed.readLine(); line != null; line = printed.readLine()) {
      int colon = line.lastIndexOf(':');
      if (line.startsWith("Serving HTTP at ")) {
        port = Integer.parseInt(line.substring(colon + 1));
      }
      if (line.startsWith("Ready")) {
        return new Peer(name, process, port, new ArrayList<>());
      }
    }
    throw new IOException(name + " did not start");
  }

  private static Figure measure(Peer peer, byte[] request, int connections, int seconds)
      throws InterruptedException {
    LongAdder done = new LongAdder();
    long deadlineNs = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    Duration before = cpu(peer);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < connections; i++) {
      threads.add(Thread.ofPlatform().start(() -> send(peer.port(), request, deadlineNs, done)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    double cpuNs = cpu(peer).minus(before).toNanos();
    return new Figure(done.sum() / (double) seconds, cpuNs / done.sum() / 1000);
  }

  private static Duration cpu(Peer peer) {
    return peer.process().info().totalCpuDuration().orElseThrow();
  }

  private static void send(int port, byte[] request, long deadlineNs, LongAdder done) {
    ByteBuffer out = ByteBuffer.allocateDirect(request.length).put(request).flip();
    ByteBuffer in = ByteBuffer.allocateDirect(1 << 20);
    int id = new String(request, StandardCharsets.ISO_8859_1).indexOf(ID);
    try (SocketChannel channel =
        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      int length = 0; // of a response, heads included: all are alike
      while (System.nanoTime() < deadlineNs) {
        out.rewind();
        if (id >= 0) {
          nextId(out, id + ID.length());
        }
        while (out.hasRemaining()) {
          channel.write(out);
        }
        in.clear();
        while (length == 0 || in.position() < length) {
          if (channel.read(in) < 0) {
            throw new IOException("the server closed the connection");
          }
          if (length == 0) {
            length = responseLength(in);
          }
        }
        done.increment();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void nextId(ByteBuffer request, int position) {
    for (int i = position + ID_DIGITS - 1; i >= position; i--) {
      byte digit = request.get(i);
      request.put(i, digit == '9' ? (byte) '0' : (byte) (digit + 1));
      if (digit != '9') {
        return;
      }
    }
  }

  /** From the head, when it is there; else 0. */
  private static int responseLength(ByteBuffer in) {
    byte[] bytes = new byte[Math.min(in.position(), 4096)];
    in.get(0, bytes);
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    int end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      return 0;
    }
    if (!text.startsWith("HTTP/1.1 200")) {
      throw new IllegalStateException(text);
    }
    int at = text.indexOf("\r\nContent-Length: ") + "\r\nContent-Length: ".length();
    return end + 4 + Integer.parseInt(text.substring(at, text.indexOf('\r', at)));
  }

  /** Time in the core and its backend, copying included, by the server's own statistics. */
  private static double modelUs(int port) throws IOException {
    try (RawClient client = new RawClient(port)) {
      String text = client.get("/v2/models/identity_fp32/stats").text();
      Map<?, ?> model = (Map<?, ?>) ((List<?>) JSON.std.mapFrom(text).get("model_stats")).get(0);
      Map<?, ?> statistics = (Map<?, ?>) model.get("inference_stats");
      double totalNs = 0;
      for (String part : List.of("compute_input", "compute_infer", "compute_output")) {
        totalNs += number(statistics, part, "ns");
      }
      return totalNs / number(statistics, "success", "count") / 1000;
    }
  }

  private static double number(Map<?, ?> statistics, String name, String member) {
    return ((Number) ((Map<?, ?>) statistics.get(name)).get(member)).doubleValue();
  }

  private static void print(Peer peer) {
    double[] rates =
        peer.figures().stream().mapToDouble(Figure::requestsPerSecond).sorted().toArray();
    double[] cpus = peer.figures().stream().mapToDouble(Figure::cpuUs).sorted().toArray();
    System.out.printf(
        Locale.ROOT,
        "%-10s %8.0f requests/s (%.0f to %.0f), %6.1f us CPU (%.1f to %.1f)%n",
        peer.name(),
        rates[rates.length / 2],
        rates[0],
        Arrays.stream(rates).max().orElseThrow(),
        cpus[cpus.length / 2],
        cpus[0],
        Arrays.stream(cpus).max().orElseThrow());
  }
}
