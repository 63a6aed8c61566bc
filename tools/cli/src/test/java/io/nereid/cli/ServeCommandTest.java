package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.jr.ob.JSON;

/** The server as a process. */
class ServeCommandTest {

  private static final Pattern ADDRESS = Pattern.compile("Serving HTTP at (http://[0-9.:]+)");

  @Test
  void servesTheBundledModelsUntilItIsToldToStop() throws Exception {
    Process process = ServeProcess.start(Main.class.getName(), ServeProcess.arguments());
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      StringBuilder screen = new StringBuilder();
      String address = await(printed, screen);
      assertTrue(screen.toString().contains("identity_fp32  1        READY"), screen.toString());
      assertTrue(screen.toString().contains("Serving metrics at http://127"), screen.toString());
      assertTrue(
          Pattern.compile(
                  "JVM \\d+ ms, command line \\d+ ms, .*HTTP \\d+ ms.*, models \\d+ ms, gRPC")
              .matcher(screen)
              .find());
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(address + "/v2/models/identity_fp32/infer"))
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[1,1],"
                          + "\"data\":[7]}]}"))
              .build();
      String body = client.send(request, BodyHandlers.ofString()).body();
      assertTrue(body.contains("\"data\":[7.0]"), body);
      process.destroy(); // SIGTERM
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, process.exitValue());
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aServerWithoutTheTextModuleNamesItWhereItsPathsAreAskedFor() throws Exception {
    Process process =
        ServeProcess.startWithout(
            List.of("nereid-text", "integrations/text"),
            Main.class.getName(),
            ServeProcess.arguments());
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      String address = await(printed, new StringBuilder());
      for (String path : List.of("/v1/embeddings", "/v1/rerank")) {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create(address + path))
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        HttpResponse<String> reply = client.send(request, BodyHandlers.ofString());
        assertEquals(404, reply.statusCode());
        assertTrue(reply.body().contains("nereid-text serves /v1/embeddings"), reply.body());
      }
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void anInterruptStopsWhatAScriptStartedInTheBackground() throws Exception {
    // Such a shell has no control of jobs, and starts the process with SIGINT ignored.
    Process shell =
        ServeProcess.startFromShell(
            "\"$@\" & echo PID $!; wait $!",
            List.of(),
            Main.class.getName(),
            ServeProcess.arguments());
    ProcessHandle server = null;
    try (BufferedReader printed = shell.inputReader()) {
      server = ProcessHandle.of(Long.parseLong(printed.readLine().substring(4))).orElseThrow();
      await(printed, new StringBuilder());
      String pid = Long.toString(server.pid());
      assertEquals(0, new ProcessBuilder("/bin/kill", "-INT", pid).start().waitFor());
      assertTrue(shell.waitFor(20, TimeUnit.SECONDS), "it goes on");
      assertEquals(0, shell.exitValue());
    } finally {
      shell.destroyForcibly();
      if (server != null) {
        server.destroyForcibly();
      }
    }
  }

  @Test
  void itCanBeStoppedWhileItStarts(@TempDir Path repository) throws Exception {
    // The configuration is a pipe: reading it takes until somebody writes into it.
    Path model = Files.createDirectories(repository.resolve("slow/1")).getParent();
    Path pipe = model.resolve("config.pbtxt");
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/mkfifo")), "mkfifo is not here");
    assertEquals(0, new ProcessBuilder("/usr/bin/mkfifo", pipe.toString()).start().waitFor());
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            List.of(
                "serve",
                "--http-address=127.0.0.1",
                "--http-port=" + port,
                "--metrics-port=0",
                repository.toString()));
    try {
      while (!accepts(port)) {
        assertTrue(process.isAlive(), () -> screen(process));
        Thread.onSpinWait();
      }
      process.toHandle().destroy(); // SIGTERM; the process's own method also closes its streams
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      String screen = screen(process);
      assertEquals(0, process.exitValue(), screen);
      assertTrue(screen.contains("Stopped before it was ready"), screen);
    } finally {
      process.destroyForcibly();
    }
  }

  private static boolean accepts(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }

  private static String screen(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aLogThatCannotBeWrittenIsNamedOnce(@TempDir Path directory) {
    CommandLineRun run = new CommandLineRun();
    String file = directory.resolve("none/log").toString();
    assertEquals(1, run.run("serve", "--log-file", file));
    assertEquals(1, run.err().split(Pattern.quote(file), -1).length - 1, run.err());
  }

  @Test
  void messagesCannotActOnATerminal() {
    CommandLineRun run = new CommandLineRun();
    assertEquals(2, run.run("serve", "--log-format", "x\u001b[31m"));
    assertEquals(1, run.run("serve", "/none\u001b[31m"));
    assertFalse(run.err().contains("\u001b"), run.err());
  }

  @Test
  void logsGoWhereTheyAreWanted(@TempDir Path directory) throws Exception {
    Path log = directory.resolve("log");
    Path access = directory.resolve("access");
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            ServeProcess.arguments(
                "--log-format", "json", "--log-file", log.toString(), "--access-log=" + access));
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      StringBuilder screen = new StringBuilder();
      String address = await(printed, screen);
      assertFalse(screen.toString().contains("is ready after"), screen.toString());
      HttpRequest request = HttpRequest.newBuilder(URI.create(address + "/v2/logging")).build();
      String settings = client.send(request, BodyHandlers.ofString()).body();
      assertTrue(settings.startsWith("{\"log_file\":\"" + log), settings);
      process.destroy(); // SIGTERM
      assertTrue(process.waitFor(20, TimeUnit.SECONDS));
      assertEquals(0, process.exitValue());
    } finally {
      process.destroyForcibly();
    }
    for (String line : Files.readAllLines(log)) {
      assertTrue(JSON.std.mapFrom(line).get("logger").toString().startsWith("io.nereid."), line);
    }
    Map<String, Object> line = JSON.std.mapFrom(Files.readString(access));
    assertEquals("/v2/logging", line.get("path"));
  }

  @Test
  void theErrorStreamHasTheLogInText() throws Exception {
    Process process =
        ServeProcess.start(Main.class.getName(), ServeProcess.arguments("--log-format", "ISO8601"));
    try (BufferedReader printed = process.inputReader()) {
      StringBuilder screen = new StringBuilder();
      await(printed, screen);
      Pattern line =
          Pattern.compile(
              "(?m)^\\S+Z INFO \\[nrd-load-\\d] io.nereid.load: model 'digits' version 1 is ready");
      assertTrue(line.matcher(screen).find(), screen.toString());
    } finally {
      process.destroyForcibly();
    }
  }

  /** Reads what is printed until the server is ready; its address. */
  private static String await(BufferedReader printed, StringBuilder screen) throws IOException {
    String address = null;
    for (String line = printed.readLine(); line != null; line = printed.readLine()) {
      screen.append(line).append('\n');
      Matcher matcher = ADDRESS.matcher(line);
      if (matcher.find()) {
        address = matcher.group(1);
      }
      if (line.startsWith("Ready ") || line.startsWith("Not ready")) {
        break;
      }
    }
    return address;
  }

  @Test
  void aBrokenModelEndsItUnlessToldOtherwise(@TempDir Path repository) throws Exception {
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    CommandLineRun run = new CommandLineRun();
    assertEquals(
        1,
        run.run(
            "serve",
            repository.toString(),
            "--http-port",
            "0",
            "--grpc-port",
            "0",
            "--metrics-port",
            "0"));
    assertTrue(run.err().contains("1 of 1 model versions could not be loaded"), run.err());
    assertTrue(run.err().contains("--exit-on-error=false serves the others"), run.err());
    assertTrue(run.err().contains("'broken' version 1: unknown backend 'none'"), run.err());
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            ServeProcess.arguments(repository.toString(), "--exit-on-error", "false"));
    try (BufferedReader printed = process.inputReader()) {
      StringBuilder screen = new StringBuilder();
      await(printed, screen);
      String all = screen.toString();
      assertTrue(all.contains("UNAVAILABLE"), all);
      assertTrue(all.contains("unknown backend 'none'"), all);
      assertTrue(all.contains("Not ready, 1 of 1 model versions failed; "), all);
      assertTrue(all.contains("Console at http://localhost:"), all);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void sharedMemoryOfClientsIsTurnedOnByAFlag(@TempDir Path repository) throws Exception {
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            ServeProcess.arguments(repository.toString(), "--allow-client-shm"));
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      Matcher address = ADDRESS.matcher("");
      for (String line = printed.readLine(); line != null && !address.find(); ) {
        address.reset(line);
        line = printed.readLine();
      }
      address.reset();
      assertTrue(address.find(), "the server did not start");
      HttpRequest request = HttpRequest.newBuilder(URI.create(address.group(1) + "/v2")).build();
      String body = client.send(request, BodyHandlers.ofString()).body();
      assertTrue(body.contains("\"system_shared_memory\""), body);
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void itIsSetByAFileAndByVariables(@TempDir Path directory) throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("nereid.yaml"),
            """
            # all but one are overridden
            http-address: 127.0.0.1
            http-port: 1
            grpc-port: 0
            metrics-port: 0
            model-control-mode: explicit
            load-model: [identity_fp32, simple]
            reuse-http-port: true
            """);
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            List.of("serve", "--config", file.toString()),
            Map.of("NEREID_HTTP_PORT", "0", "NEREID_HTTP_POTR", "1"));
    try (BufferedReader printed = process.inputReader()) {
      StringBuilder screen = new StringBuilder();
      String line = printed.readLine();
      while (line != null && !line.startsWith("Ready ")) {
        screen.append(line).append('\n');
        line = printed.readLine();
      }
      String all = screen.toString();
      assertTrue(ADDRESS.matcher(all).find(), all);
      assertTrue(all.contains("http://127.0.0.1:"), all);
      assertTrue(all.contains("identity_fp32"), all);
      assertTrue(all.contains(file + ":8: --reuse-http-port has no effect"), all);
      assertTrue(all.contains("NEREID_HTTP_POTR is not a setting; did you mean"), all);
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--http-port, 70000, expected --http-port from 0 to 65535",
    "--http-max-input-size, 0, expected --http-max-input-size of 1 or more",
    "--http-max-header-size, 10, expected --http-max-header-size of 256 or more",
    "--http-max-chunks, 0, expected --http-max-chunks of 1 or more",
    "--http-max-json-depth, 0, expected --http-max-json-depth of 1 or more",
    "--http-max-connections, 0, expected --http-max-connections of 1 or more",
    "--http-request-timeout-secs, 0, expected --http-request-timeout-secs of 1 or more",
    "--http-idle-timeout-secs, 0, expected --http-idle-timeout-secs of 1 or more",
    "--tls-cert, a.pem, expected --tls-cert and --tls-key together",
    "--tls-client-ca, a.pem, expected --tls-client-ca with --tls-cert",
    "--tls-client-auth, optional, expected --tls-client-auth with --tls-client-ca",
    "--http-allowed-origin, https://a.b/, expected --http-allowed-origin as SCHEME://HOST[:PORT]",
    "--http-restricted-api, none:a=b, --http-restricted-api: expected groups of endpoints out of",
    "--trace-config, level, 'expected SETTING=VALUE or MODE,SETTING=VALUE for --trace-config'",
    "--trace-config, level=LOUD, 'expected level OFF, TIMESTAMPS or TENSORS for --trace-config'",
    "--trace-level, LOUD, 'expected level OFF, TIMESTAMPS or TENSORS for --trace-config'",
    "--trace-config, level=TENSORS, trace file name is not given",
    "--trace-config, level=TIMESTAMPS, trace file name is not given",
    "--trace-config, rate=often, expected a number",
    "--trace-config, rate=-1, trace rate must be 0 to 4294967295",
    "--trace-config, count=-2, trace count must be -1 to 2147483647",
    "--trace-config, mode=loud, expected mode triton or opentelemetry",
    "--trace-config, 'opentelemetry,url=collector:4318', url must be http://HOST",
    "--trace-config, 'opentelemetry,resource=x', 'expected opentelemetry,resource=KEY=VALUE'",
    "--trace-config, 'opentelemetry,bsp_max_queue_size=0', batchSize must be 1 to queueSize",
    "--trace-config, 'speed=1', expected a setting of those that --help lists",
    "--metrics-port, 70000, expected --metrics-port from 0 to 65535",
    "--metrics-interval-ms, -1, expected --metrics-interval-ms of 0 or more",
    "--log-verbose, -1, expected --log-verbose of 0 or more",
    "--log-format, xml, 'expected --log-format text, json, default or ISO8601'",
    "--id, '', 'expected a name for --id, got none'",
    "--model-config-name, a/b, expected --model-config-name to be a file's name without blanks",
    "--model-config-name, '', expected --model-config-name to be a file's name without blanks",
    "--model-load-retry-count, -1, expected --model-load-retry-count of 0 or more",
    "--load-model, simple, --load-model needs --model-control-mode explicit",
    "--grpc-port, 70000, expected --grpc-port from 0 to 65535",
    "--grpc-max-input-size, 0, expected --grpc-max-input-size of 1 or more",
    "--grpc-max-metadata-size, 0, expected --grpc-max-metadata-size of 1 or more",
    "--grpc-max-total-input-size, -1, expected --grpc-max-total-input-size of 0 or more",
    "--grpc-request-timeout-secs, 0, expected --grpc-request-timeout-secs of 1 or more",
    "--grpc-max-connections, 0, expected --grpc-max-connections of 1 or more",
    "--grpc-max-concurrent-calls, 0, expected --grpc-max-concurrent-calls of 1 or more",
    "--grpc-keepalive-time, 0, expected --grpc-keepalive-time of 1 or more",
    "--grpc-keepalive-timeout, 0, expected --grpc-keepalive-timeout of 1 or more",
    "--grpc-max-connection-age, -1, expected --grpc-max-connection-age of 0 or more",
    "--grpc-infer-response-compression-level, most, expected one of [NONE, LOW, MEDIUM, HIGH]",
    "--exit-timeout-secs, -1, expected --exit-timeout-secs of 0 or more"
  })
  void aWrongFlagIsNamed(String flag, String value, String message) {
    CommandLineRun run = new CommandLineRun();
    assertEquals(2, run.run("serve", flag, value));
    assertTrue(run.err().contains(message), run.err());
  }

  @Test
  void filesThatCannotBeUsedEndTheStart(@TempDir Path directory) throws Exception {
    Path tokens = Files.writeString(directory.resolve("tokens"), "hunter2 everything\n");
    CommandLineRun run = new CommandLineRun();
    assertEquals(1, run.run("serve", "--http-port", "0", "--auth-token-file", tokens.toString()));
    assertTrue(run.err().contains("tokens line 1: expected groups of endpoints"), run.err());
    assertFalse(run.err().contains("hunter2"), run.err());
    String missing = directory.resolve("missing.pem").toString();
    run = new CommandLineRun();
    assertEquals(
        1, run.run("serve", "--http-port", "0", "--tls-cert", missing, "--tls-key", missing));
    assertTrue(run.err().contains("missing.pem"), run.err());
  }
}
