package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server as a process. */
class ServeCommandTest {

  private static final Pattern ADDRESS = Pattern.compile("Serving HTTP at (http://[0-9.:]+)");

  @Test
  void servesTheBundledModelsUntilItIsToldToStop() throws Exception {
    Process process = ServeProcess.start(Main.class.getName(), ServeProcess.arguments());
    try (BufferedReader printed = process.inputReader();
        HttpClient client = HttpClient.newHttpClient()) {
      StringBuilder screen = new StringBuilder();
      String address = null;
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        screen.append(line).append('\n');
        Matcher matcher = ADDRESS.matcher(line);
        if (matcher.find()) {
          address = matcher.group(1);
        }
        if (line.startsWith("Ready ")) {
          break;
        }
      }
      assertTrue(screen.toString().contains("identity_fp32  1        READY"), screen.toString());
      assertTrue(
          Pattern.compile("models \\d+ ms, HTTP \\d+ ms, gRPC \\d+ ms").matcher(screen).find());
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
  void aBrokenModelEndsItUnlessToldOtherwise(@TempDir Path repository) throws Exception {
    Files.createDirectories(repository.resolve("broken/1"));
    Files.writeString(repository.resolve("broken/config.pbtxt"), "backend: \"none\"");
    CommandLineRun run = new CommandLineRun();
    assertEquals(
        1, run.run("serve", repository.toString(), "--http-port", "0", "--grpc-port", "0"));
    assertTrue(run.err().contains("not all models could be loaded"), run.err());
    assertTrue(run.err().contains("'broken' version 1: unknown backend 'none'"), run.err());
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            ServeProcess.arguments(repository.toString(), "--exit-on-error", "false"));
    try (BufferedReader printed = process.inputReader()) {
      String all = "";
      for (String line = printed.readLine(); line != null; line = printed.readLine()) {
        all += line + "\n";
        if (line.startsWith("Ready ")) {
          break;
        }
      }
      assertTrue(all.contains("UNAVAILABLE"), all);
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
    "--grpc-port, 70000, expected --grpc-port from 0 to 65535",
    "--grpc-max-input-size, 0, expected --grpc-max-input-size of 1 or more",
    "--grpc-max-metadata-size, 0, expected --grpc-max-metadata-size of 1 or more",
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
}
