package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that take the URL of a bucket where they take a directory; S3Proxy has the bucket. */
@Tag("slow")
class StoreCommandsTest {

  private static final Path MODELS = Path.of("..", "..", "examples", "models");
  private static final Pattern STARTED = Pattern.compile("\\{127\\.0\\.0\\.1:(\\d+)}");

  @TempDir static Path directory;
  private static Process proxy;
  private static String bucket;

  private final CommandLineRun cli = new CommandLineRun();

  @BeforeAll
  static void start() throws Exception {
    Path log = Files.createFile(directory.resolve("log"));
    Path settings =
        Files.writeString(
            directory.resolve("s3proxy.properties"),
            """
            s3proxy.endpoint=http://127.0.0.1:0
            s3proxy.authorization=none
            jclouds.provider=transient-nio2
            jclouds.identity=any
            jclouds.credential=any
            """);
    proxy =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                "target/test-servers/s3proxy.jar",
                "--properties",
                settings.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    Matcher started = STARTED.matcher("");
    while (!started.find()) {
      assertTrue(proxy.isAlive(), () -> "it ended: " + log);
      Thread.sleep(50);
      started.reset(Files.readString(log));
    }
    bucket = "127.0.0.1:" + started.group(1) + "/bucket";
    put("", BodyPublishers.noBody());
    for (String model : List.of("digits", "simple")) {
      try (Stream<Path> files = Files.walk(MODELS.resolve(model))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          put("/models/" + MODELS.relativize(file), BodyPublishers.ofFile(file));
        }
      }
    }
    put("/models/alone.onnx", BodyPublishers.ofFile(MODELS.resolve("simple/1/model.onnx")));
  }

  private static void put(String key, BodyPublisher content)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + bucket + key)).PUT(content).build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertEquals(200, client.send(request, BodyHandlers.ofString()).statusCode(), key);
    }
  }

  @AfterAll
  static void stop() {
    proxy.destroy();
  }

  /** Runs a command with the bucket's models, and its own cache. */
  private int run(String... words) {
    String[] all = Arrays.copyOf(words, words.length + 1);
    all[words.length] = "--model-cache-directory=" + directory.resolve("cache");
    return cli.run(all);
  }

  private static String models() {
    return "s3://" + bucket + "/models";
  }

  @Test
  void modelsAreListed() {
    assertEquals(0, run("models", models()), cli.err());
    List<String> lines = cli.out().lines().toList();
    assertEquals(4, lines.size(), cli.out());
    assertTrue(lines.get(1).matches("alone +1 +READY +onnxruntime .*"), cli.out());
    assertTrue(lines.get(2).matches("digits +1 +READY +onnxruntime +64 +.*"), cli.out());
    assertEquals("", cli.err());
  }

  @Test
  void theirNamesAreTheListOfTheBucket() {
    assertEquals(0, run("models", "--names", "--model-repository", models()), cli.err());
    assertEquals(List.of("alone", "digits", "simple"), cli.out().lines().toList());
  }

  @Test
  void anEmptyBucketIsCalledByItsUrl() {
    assertEquals(0, run("models", models() + "/none"), cli.err());
    assertEquals("No models in " + models() + "/none\n", cli.out());
  }

  @Test
  void modelsAreCheckedAndLoaded() {
    assertEquals(0, run("check", "--load", models()), cli.err());
    assertTrue(cli.out().contains("\ndigits (onnxruntime): runs, loaded\n"), cli.out());
    assertTrue(cli.out().contains("3 models: 3 runs; 0 did not load"), cli.out());
  }

  @Test
  void aConfigurationIsPrintedByNameAndByAddress() {
    assertEquals(0, run("config", "digits", models()), cli.err());
    String byName = cli.out();
    assertTrue(byName.contains("max_batch_size: 64"), byName);
    for (String address : List.of("/digits", "/alone.onnx")) {
      CommandLineRun other = new CommandLineRun();
      String cache = "--model-cache-directory=" + directory.resolve("cache");
      assertEquals(0, other.run("config", models() + address, cache), other.err());
      assertTrue(other.out().contains("platform: \"onnxruntime_onnx\""), other.out());
      assertEquals(address.equals("/digits"), other.out().equals(byName), other.out());
    }
  }

  @Test
  void aModelAnswers() {
    assertEquals(0, run("infer", "simple", models(), "--random"), cli.err());
    assertTrue(cli.out().contains("OUTPUT0"), cli.out());
  }

  @Test
  void aModelThatIsNotThereIsMissedInTheRepositoryByItsUrl() throws Exception {
    List<String> arguments = List.of("config", "digit", models(), "--model-cache-directory");
    Process process =
        ServeProcess.start(
            Main.class.getName(),
            Stream.concat(arguments.stream(), Stream.of(directory.resolve("cache").toString()))
                .toList());
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(1, process.waitFor());
    assertTrue(said.contains("there is no model 'digit' in [" + models() + "]"), said);
    String known = "in the repositories, there is alone, digits, simple; did you mean digits?";
    assertTrue(said.contains(known), said);
  }

  @Test
  void aStoreThatIsAwayIsCalledByItsUrl() {
    assertEquals(1, run("models", "s3://127.0.0.1:1/bucket/models"));
    assertEquals(
        "nereid: the repository s3://127.0.0.1:1/bucket/models cannot be listed: the list: the"
            + " connection is refused, 7 times\n",
        cli.err());
  }

  @Test
  void aUrlWithoutBucketIsRefusedWithTheForms() {
    assertEquals(1, run("check", "s3://"));
    assertTrue(cli.err().contains("expected a repository s3://BUCKET/PREFIX"), cli.err());
  }
}
