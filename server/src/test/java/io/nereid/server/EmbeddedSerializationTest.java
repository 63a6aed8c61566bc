package io.nereid.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.server.http.HttpOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server leaves Java's serialization to the program that it is part of, in a JVM of its own. */
class EmbeddedSerializationTest {

  /** Starts a server, and reads an object that it wrote. */
  public static final class Program {
    private Program() {}

    public static void main(String[] args) throws Exception {
      try (NereidServer server =
          NereidServer.start(ServerOptions.DEFAULT.withHttp(HttpOptions.DEFAULT))) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
          out.writeObject(new ArrayList<>(List.of(server.httpPort() > 0)));
        }
        try (ObjectInputStream in =
            new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
          System.out.println(in.readObject());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "java.base/*;java.util.*"})
  void programReadsItsObjects(String filter) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path")));
    if (!filter.isEmpty()) {
      command.add("-Djdk.serialFilter=" + filter);
    }
    command.add(Program.class.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals("[true]", said.strip());
    assertEquals(0, process.waitFor());
  }
}
