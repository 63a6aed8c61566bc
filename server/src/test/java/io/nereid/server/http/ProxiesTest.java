package io.nereid.server.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Nereid;
import io.nereid.server.log.AccessLog;
import io.nereid.server.log.LogSettings;
import io.nereid.server.log.LogValues;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The server behind proxies that keep connections to it: both must agree where each request ends,
 * or a client could hide a request in another one's body and have its reply sent to somebody else.
 */
@Tag("slow")
class ProxiesTest {

  private static final int REQUESTS = 1_000;
  private static final int AT_ONCE = 64;

  private static final Pattern NUMBERED = Pattern.compile("/v2/models/((?:odd|hidden|last)-\\d+)");
  private static final Pattern MENTIONED = Pattern.compile("(?:odd|hidden|last)-(\\d+)");

  /** PORT is the server's, DIRECTORY has the proxy's files, its socket "in" among them. */
  private enum Proxy {
    HAPROXY(
        "/usr/sbin/haproxy",
        """
        global
          maxconn 500
          log stdout format raw local0
        defaults
          mode http
          retries 0
          timeout connect 60s
          timeout client 2s
          timeout server 60s
          timeout http-request 2s
          http-reuse always
        frontend clients
          bind unix@DIRECTORY/in
          log global
          log-format "FORWARDED %ST %s %HU"
          default_backend server
        backend server
          server nereid 127.0.0.1:PORT
        """,
        List.of("-db", "-f", "DIRECTORY/configuration"),
        List.of()),
    NGINX(
        "/usr/sbin/nginx",
        """
        daemon off;
        master_process off;
        pid DIRECTORY/pid;
        error_log DIRECTORY/errors;
        events { worker_connections 1024; }
        http {
          log_format forwarded 'FORWARDED $upstream_status - $request_uri';
          access_log /dev/stdout forwarded;
          client_body_temp_path DIRECTORY/bodies;
          proxy_temp_path DIRECTORY/replies;
          fastcgi_temp_path DIRECTORY/fastcgi;
          uwsgi_temp_path DIRECTORY/uwsgi;
          scgi_temp_path DIRECTORY/scgi;
          client_header_timeout 2s;
          client_body_timeout 2s;
          keepalive_timeout 2s;
          upstream server { server 127.0.0.1:PORT; keepalive 16; }
          server {
            listen unix:DIRECTORY/in;
            location / {
              proxy_pass http://server;
              proxy_http_version 1.1;
              proxy_set_header Connection "";
              proxy_request_buffering off;
              proxy_next_upstream off;
            }
          }
        }
        """,
        List.of("-p", "DIRECTORY", "-c", "DIRECTORY/configuration"),
        List.of()),
    VARNISH(
        "/usr/sbin/varnishd",
        """
        vcl 4.1;
        backend default { .host = "127.0.0.1"; .port = "PORT"; }
        sub vcl_recv { return (pass); }
        """,
        List.of(
            "-F",
            "-j",
            "none",
            "-n",
            "DIRECTORY/work",
            "-f",
            "DIRECTORY/configuration",
            "-a",
            "DIRECTORY/in",
            "-p",
            "timeout_idle=2",
            "-s",
            "malloc,32m"),
        List.of(
            "/usr/bin/varnishncsa",
            "-n",
            "DIRECTORY/work",
            "-t",
            "60",
            "-d",
            "-b",
            "-F",
            "FORWARDED %s - %U"));

    private final String program;
    private final String configuration;
    private final List<String> arguments;
    private final List<String> logger; // prints the log so far, where the program does not

    Proxy(String program, String configuration, List<String> arguments, List<String> logger) {
      this.program = program;
      this.configuration = configuration;
      this.arguments = arguments;
      this.logger = logger;
    }
  }

  @ParameterizedTest
  @EnumSource
  void agreeWithTheServerWhereRequestsEnd(Proxy proxy, @TempDir Path directory) throws Exception {
    assumeTrue(Files.isExecutable(Path.of(proxy.program)), proxy.program + " is not there");
    Path accesses = directory.resolve("accesses");
    LogSettings log = LogSettings.install(LogValues.DEFAULT, Optional.of(directory.resolve("log")));
    Process process = null;
    try {
      try (AccessLog access = AccessLog.toFile(accesses, log);
          TestServer server =
              new TestServer(
                  Nereid.create(),
                  HttpLimits.DEFAULT,
                  state -> state.accessLog(Optional.of(access)))) {
        process = start(proxy, directory, server.port());
        await(directory, process);
        sendAll(directory.resolve("in"));
      }
      awaitLog(proxy, directory, counts(accesses, ".*"));
    } finally {
      if (process != null) {
        process.destroy();
        process.waitFor();
      }
      log.close();
    }
  }

  /** The numbered paths in the lines that match, and how often each is there. */
  private static Map<String, Integer> counts(Path file, String lines) throws IOException {
    Map<String, Integer> counts = new HashMap<>();
    for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
      Matcher path = NUMBERED.matcher(line);
      if (line.matches(lines) && !line.contains("<NOSRV>") && path.find()) {
        counts.merge(path.group(1), 1, Integer::sum);
      }
    }
    return counts;
  }

  private static Process start(Proxy proxy, Path directory, int port) throws Exception {
    Path configuration = directory.resolve("configuration");
    Files.writeString(
        configuration,
        proxy
            .configuration
            .replace("DIRECTORY", directory.toString())
            .replace("PORT", Integer.toString(port)));
    List<String> command = new ArrayList<>(List.of(proxy.program));
    command.addAll(proxy.arguments);
    return run(command, directory, proxy.logger.isEmpty() ? "forwarded" : "printed");
  }

  private static Process run(List<String> command, Path directory, String output)
      throws IOException {
    return new ProcessBuilder(
            command.stream().map(word -> word.replace("DIRECTORY", directory.toString())).toList())
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve(output).toFile())
        .start();
  }

  /** Waits until the proxy answers: one listens before it serves. */
  private static void await(Path directory, Process proxy) throws Exception {
    long deadline = System.nanoTime() + TestServer.PATIENCE.toNanos();
    Path socket = directory.resolve("in");
    while (!exchange(socket, honest(REQUESTS)).contains("HTTP/1.1 404")) {
      assertTrue(
          proxy.isAlive() && System.nanoTime() < deadline,
          () -> "the proxy does not serve; its output is in " + directory);
      Thread.sleep(20);
    }
  }

  /** Waits until the proxy has told of all requests that the server saw; it does so afterwards. */
  private static void awaitLog(Proxy proxy, Path directory, Map<String, Integer> served)
      throws Exception {
    assertTrue(served.size() > REQUESTS / 4, () -> "only " + served.size() + " came through");
    long deadline = System.nanoTime() + TestServer.PATIENCE.toNanos();
    while (true) {
      if (!proxy.logger.isEmpty()) {
        run(proxy.logger, directory, "forwarded").waitFor();
      }
      Map<String, Integer> left = new HashMap<>(served);
      counts(directory.resolve("forwarded"), "FORWARDED (?!-).*")
          .forEach((path, times) ->
              left.computeIfPresent(path, (same, seen) -> seen > times ? seen : null));
      if (left.isEmpty()) {
        return;
      }
      assertTrue(
          System.nanoTime() < deadline,
          () -> "the server saw " + left + ", and the proxy sent no such requests");
      Thread.sleep(20);
    }
  }

  private static byte[] honest(int number) {
    return ("GET /v2/models/last-"
            + number
            + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  private static void sendAll(Path socket) throws Exception {
    long seed = new Random().nextLong();
    Random chance = new Random(seed);
    try (ExecutorService clients = Executors.newFixedThreadPool(AT_ONCE)) {
      List<Future<?>> sent = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        int number = i;
        byte[] request = OddRequests.of(number, chance);
        sent.add(clients.submit(() -> send(socket, number, request, seed)));
      }
      for (Future<?> one : sent) {
        one.get(10 * TestServer.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      }
    }
  }

  /** Sends it, and checks that all replies until the proxy closes are for this client. */
  private static Void send(Path socket, int number, byte[] request, long seed) {
    String replies = exchange(socket, request);
    Matcher mentioned = MENTIONED.matcher(replies);
    while (mentioned.find()) {
      assertEquals(
          Integer.toString(number),
          mentioned.group(1),
          () -> "seed " + seed + ": a reply for another client came:\n" + replies);
    }
    return null;
  }

  /** All that comes until the proxy closes the connection. */
  private static String exchange(Path socket, byte[] request) {
    StringBuilder replies = new StringBuilder();
    try (SocketChannel connection = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      ByteBuffer bytes = ByteBuffer.wrap(request);
      while (bytes.hasRemaining()) {
        connection.write(bytes);
      }
      ByteBuffer reply = ByteBuffer.allocate(8192);
      while (connection.read(reply) >= 0) {
        replies.append(StandardCharsets.ISO_8859_1.decode(reply.flip()));
        reply.clear();
      }
    } catch (IOException e) {
      // The proxy has closed before it read all, or is not there yet.
    }
    return replies.toString();
  }
}
