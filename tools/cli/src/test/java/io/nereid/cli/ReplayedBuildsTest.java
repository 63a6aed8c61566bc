package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.SequenceId;
import io.nereid.recording.Recorder;
import io.nereid.recording.RecordingOptions;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Answers of two builds to the same recorded requests, each by a server of its own. */
@Tag("slow")
@SuppressWarnings("try") // recorders are opened to be closed
class ReplayedBuildsTest {

  private static final Path VOICE =
      Path.of("..", "..", "examples", "models", "voice").toAbsolutePath();
  private static final int REQUESTS = 20;
  private static final int FRAMES = 5;

  @TempDir private Path directory;

  private CommandLineRun last;

  /** A build that answers from the models beside those that it is to serve. */
  static final class OtherBuild {

    private OtherBuild() {}

    /** Starts the command line with another repository. */
    public static void main(String[] arguments) throws Exception {
      List<String> other = new ArrayList<>(List.of(arguments));
      int models = other.indexOf("--model-repository") + 1;
      other.set(models, Path.of(other.get(models)).resolveSibling("planted").toString());
      Main.main(other.toArray(String[]::new));
    }
  }

  /** A repository whose identity_fp32 is the file. */
  private Path models(String name, String file) throws IOException {
    Path models = directory.resolve(name);
    Path version = Files.createDirectories(models.resolve("identity_fp32/1"));
    Path source = Path.of("..", "..", "native", "test", "models", file + ".onnx");
    Files.copy(source, version.resolve("model.onnx"));
    Files.createSymbolicLink(models.resolve("voice"), VOICE);
    return models;
  }

  /** A directory that is started as a distribution is, with the classes of this tree and a Java. */
  private Path build(String name, Class<?> main) throws IOException {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, main.getName());
    attributes.put(
        Attributes.Name.CLASS_PATH,
        Arrays.stream(System.getProperty("java.class.path").split(":"))
            .map(part -> Path.of(part).toUri().toString())
            .collect(Collectors.joining(" ")));
    Path build = Files.createDirectories(directory.resolve(name));
    try (OutputStream jar = Files.newOutputStream(build.resolve("nereid-server.jar"))) {
      new JarOutputStream(jar, manifest).close();
    }
    Path java = Files.createDirectories(build.resolve("runtime/bin")).resolve("java");
    String here = System.getProperty("java.home");
    Files.writeString(
        java, "#!/bin/sh\nexec '%s/bin/java' -XX:TieredStopAtLevel=1 \"$@\"\n".formatted(here));
    assertTrue(java.toFile().setExecutable(true));
    return build;
  }

  /** Requests that the planted model answers wrongly at one place, and a sequence. */
  @BeforeEach
  void record() throws IOException {
    models("planted", "planted");
    try (Nereid nereid = Nereid.open(models("models", "identity_fp32"));
        Recorder recorder =
            Recorder.start(nereid, RecordingOptions.to(directory.resolve("recorded")))) {
      Model identity = nereid.model("identity_fp32");
      for (int i = 0; i < REQUESTS; i++) {
        Tensor tensor = Tensor.ofFloats(new float[] {610 + i, 0.5f}, 1, 2);
        try (var request = identity.newRequest().id("r" + (610 + i)).parameter("number", i);
            var response = request.priority(i % 2).input("INPUT0", tensor).infer()) {
          assertEquals(610 + i, response.output("OUTPUT0").floatAt(0));
        }
      }
      for (int i = 0; i < FRAMES; i++) {
        float[] frame = new float[320];
        Arrays.fill(frame, i * 0.1f);
        try (var request = nereid.model("voice").newRequest().sequence(new SequenceId(0, "one"));
            var response =
                request
                    .sequenceStart(i == 0)
                    .sequenceEnd(i == FRAMES - 1)
                    .input("AUDIO", Tensor.ofFloats(frame, 1, 320))
                    .infer()) {
          assertEquals(List.of("SPEECH"), response.outputNames());
        }
      }
      recorder.close();
      assertEquals(REQUESTS + FRAMES, recorder.statistics().recorded());
    }
  }

  private int compare(Path before, Path after, String... more) {
    List<String> arguments = new ArrayList<>(List.of("bench", "compare"));
    arguments.addAll(List.of(before.toString(), after.toString(), "--answers-only"));
    arguments.addAll(List.of("--replay", directory.resolve("recorded").toString()));
    arguments.addAll(List.of("--out", directory.resolve("out").toString()));
    arguments.addAll(List.of(more));
    last = new CommandLineRun();
    return last.run(arguments.toArray(String[]::new));
  }

  /** The other side is served by this build, from a repository of its own. */
  @Test
  void theSameAnswersAreNoDifference() throws IOException {
    String models = directory.resolve("models").toString();
    Path build = build("build", Main.class);
    assertEquals(0, compare(build, Path.of(models), "--models", models), () -> last.err());
    assertTrue(last.out().startsWith("answers to 25 requests"), last.out());
    assertTrue(last.out().contains("identity_fp32/OUTPUT0: 0 of 20 answers differ"), last.out());
    assertTrue(last.out().contains("voice/SPEECH: 0 of 5 answers differ"), last.out());
    assertTrue(last.out().contains("No answer differs."), last.out());
  }

  @Test
  void aBuildThatAnswersOtherwiseIsFound() throws IOException {
    String models = directory.resolve("models").toString();
    Path worst = directory.resolve("worst");
    assertEquals(
        6,
        compare(
            build("build", Main.class),
            build("other", OtherBuild.class),
            "--models",
            models,
            "--worst-dir",
            worst.toString()),
        () -> last.out() + last.err());
    assertTrue(last.out().contains("identity_fp32/OUTPUT0: 1 of 20 answers differ"), last.out());
    assertTrue(last.out().contains("worst r617"), last.out());
    last = new CommandLineRun();
    assertEquals(0, last.run("infer", "@" + worst.resolve("1/request"), models), () -> last.err());
    assertTrue(last.out().contains("617"), last.out());
  }
}
