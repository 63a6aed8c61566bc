package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.RepositoryOptions;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/client.md are compiled, and run, as they stand there. */
class ClientDocumentTest {

  private static final Path DOCUMENT = Path.of("..", "docs", "client.md");
  private static final Pattern EXAMPLE =
      Pattern.compile("```java\\n(.*?public class (\\w+) .*?)```", Pattern.DOTALL);

  @TempDir Path directory;

  @Test
  void examplesDoWhatTheDocumentSays() throws Exception {
    compile();
    RepositoryOptions repository =
        RepositoryOptions.builder().repository(Path.of("..", "examples", "models")).build();
    ServerOptions options =
        ServerOptions.DEFAULT
            .withRepository(repository)
            .withAllowClientShm(true)
            .withGrpc(GrpcOptions.DEFAULT);
    try (NereidServer server = NereidServer.start(options)) {
      String http = "http://localhost:" + server.httpPort();
      String grpc = "grpc://localhost:" + server.grpcPort().orElseThrow();
      int served = 0;
      for (String address : new String[] {http, grpc}) {
        assertEquals(
            "[2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]\n",
            run("First", address));
        served++;
        assertEquals(
            """
            true false
            nereid
            [TensorMetadata[name=INPUT0, datatype=FP32, shape=[-1, -1]]]
            1.5
            %d
            NOT_FOUND Request for unknown model: 'none' is not found
            """
                .formatted(served),
            run("Second", address));
      }
      assertEquals("1.5\n", run("Shared", http));
      assertEquals("1.5\n", run("Shared", grpc));
      assertEquals("4\n5\n6\n", run("Repeat", grpc));
    }
  }

  private void compile() throws Exception {
    Matcher matcher = EXAMPLE.matcher(Files.readString(DOCUMENT));
    List<Path> sources = new ArrayList<>();
    while (matcher.find()) {
      Path source = directory.resolve(matcher.group(2) + ".java");
      sources.add(Files.writeString(source, matcher.group(1)));
    }
    assertEquals(4, sources.size(), "examples in " + DOCUMENT);
    var compiler = ToolProvider.getSystemJavaCompiler();
    var messages = new StringWriter();
    var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    var options =
        List.of(
            "-Xlint:all,-path",
            "-Werror",
            "-proc:none",
            "-cp",
            System.getProperty("java.class.path"),
            "-d",
            directory.toString());
    boolean compiled =
        compiler
            .getTask(
                messages, files, null, options, null, files.getJavaFileObjectsFromPaths(sources))
            .call();
    assertTrue(compiled, messages::toString);
  }

  /** Runs an example in this JVM; returns what it prints. */
  private String run(String name, String address) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    URL[] path = {directory.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, getClass().getClassLoader())) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      String[] arguments = {address};
      loader.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
    } finally {
      System.setOut(out);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }
}
