package io.nereid.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.SequenceId;
import io.nereid.server.NereidServer;
import io.nereid.server.ServerOptions;
import io.nereid.server.grpc.GrpcOptions;
import io.nereid.server.http.TestServer;
import io.nereid.statistics.SequenceStatistics;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bundled model "voice", and examples/voice as it stands there. */
class VoiceTest {

  private static final Path EXAMPLE = Path.of("..", "examples", "voice");
  private static final RepositoryOptions REPOSITORY =
      RepositoryOptions.builder()
          .repository(Path.of("..", "examples", "models"))
          .explicit("voice")
          .build();
  private static final int FRAME = 320;
  private static final int STREAMS = 5;

  /** What other streams of a batch may change: the order of a sum, if anything. */
  private static final float TOLERANCE = 1e-5f;

  @TempDir static Path directory;

  private static URLClassLoader example;
  private static float[] sample;

  /** Sends a frame of a sequence, and returns how sure the model is that there is speech. */
  private interface Listener {
    float hear(long sequence, float[] frame, boolean isFirst, boolean isLast);
  }

  @BeforeAll
  static void compile() throws Exception {
    var compiler = ToolProvider.getSystemJavaCompiler();
    var messages = new StringWriter();
    var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
    String classPath = System.getProperty("java.class.path");
    var options =
        List.of(
            "-Xlint:all,-path",
            "-Werror",
            "-proc:none",
            "-cp",
            classPath,
            "-d",
            directory.toString());
    var sources =
        files.getJavaFileObjects(EXAMPLE.resolve("Voice.java"), EXAMPLE.resolve("Sound.java"));
    assertTrue(
        compiler.getTask(messages, files, null, options, null, sources).call(), messages::toString);
    URL[] path = {directory.toUri().toURL()};
    example = new URLClassLoader(path, VoiceTest.class.getClassLoader());
    Class<?> sound = example.loadClass("Sound");
    sample =
        (float[])
            sound
                .getMethod("read", byte[].class)
                .invoke(null, sound.getMethod("sample").invoke(null));
  }

  @AfterAll
  static void close() throws Exception {
    example.close();
  }

  private static NereidServer serve() {
    return NereidServer.start(
        ServerOptions.DEFAULT.withRepository(REPOSITORY).withGrpc(GrpcOptions.DEFAULT));
  }

  private static List<String> addresses(NereidServer server) {
    return List.of(
        "http://localhost:" + server.httpPort(),
        "grpc://localhost:" + server.grpcPort().orElseThrow());
  }

  // ---- The example -----------------------------------------------------------------------------

  @Test
  void theExamplePrintsWhatItsReadmeSays() throws Exception {
    String readme = Files.readString(EXAMPLE.resolve("README.md"));
    Path wav = directory.resolve("sample.wav");
    run("Sound", wav.toString());
    try (NereidServer server = serve()) {
      for (String address : addresses(server)) {
        String printed = run("Voice", address);
        assertTrue(readme.contains("\n" + printed), printed);
        assertEquals(printed, run("Voice", address, wav.toString()));
      }
      awaitEnded(server, 4);
    }
  }

  @Test
  void theExampleSaysWhichFilesItTakes() throws Exception {
    Path wav = directory.resolve("stereo.wav");
    run("Sound", wav.toString());
    byte[] bytes = Files.readAllBytes(wav);
    bytes[22] = 2;
    Files.write(wav, bytes);
    var failure =
        assertThrows(
            InvocationTargetException.class,
            () -> run("Voice", "http://localhost:1", wav.toString()));
    assertEquals(
        "expected PCM (1) of 16 bits, 1 channel, 16000 Hz,"
            + " got format 1 of 16 bits, 2 channels, 16000 Hz",
        failure.getCause().getMessage());
  }

  /** Runs a program of the example in this JVM; returns what it prints. */
  private static String run(String name, String... arguments) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    try {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      example.loadClass(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
    } finally {
      System.setOut(out);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  // ---- The model -------------------------------------------------------------------------------

  @Test
  void itIsSureWhereSpeechIsAndWhereItIsNot() {
    try (Nereid nereid = Nereid.open(REPOSITORY)) {
      float[] speech = alone(embedded(nereid));
      for (int i = 0; i < speech.length; i++) {
        double second = i * 0.02;
        float heard = speech[i];
        if (within(second, 0.6, 2) || within(second, 4.6, 5.5)) {
          assertTrue(heard > 0.7, () -> heard + " at " + second + " s, where somebody speaks");
        } else if (!within(second, 0.5, 2.4) && !within(second, 4.5, 5.9)) {
          assertTrue(heard < 0.1, () -> heard + " at " + second + " s, where nobody speaks");
        }
      }
    }
  }

  private static boolean within(double second, double from, double to) {
    return second >= from && second < to;
  }

  @Test
  void streamsThatShareBatchesHearWhatTheyHearAlone() {
    try (NereidServer server = serve()) {
      float[] alone = alone(embedded(server.nereid()));
      assertInterleavedAsAlone(alone, embedded(server.nereid()));
      for (String address : addresses(server)) {
        try (InferenceClient client = InferenceClient.connect(address)) {
          assertInterleavedAsAlone(alone, remote(client));
        }
      }
      awaitEnded(server, 1 + 3 * STREAMS);
    }
  }

  /** The last answer may be there before its sequence has ended. */
  private static void awaitEnded(NereidServer server, long count) {
    Model model = server.nereid().model("voice");
    TestServer.await(
        () -> {
          SequenceStatistics now = model.statistics().sequences().orElseThrow();
          return now.ended() == count && now.active() == 0 && now.stateBytes() == 0;
        },
        "not all sequences have ended");
  }

  private static Listener embedded(Nereid nereid) {
    return (sequence, frame, isFirst, isLast) -> {
      try (var request =
              nereid
                  .model("voice")
                  .newRequest()
                  .input("AUDIO", io.nereid.tensor.Tensor.ofFloats(frame, 1, FRAME))
                  .sequence(SequenceId.of(sequence))
                  .sequenceStart(isFirst)
                  .sequenceEnd(isLast);
          var response = request.infer()) {
        return response.output("SPEECH").floatAt(0);
      }
    };
  }

  private static Listener remote(InferenceClient client) {
    return (sequence, frame, isFirst, isLast) -> {
      InferRequest request =
          InferRequest.builder("voice")
              .input("AUDIO", Tensor.ofFloats(frame, 1, FRAME))
              .sequence(sequence, isFirst, isLast)
              .build();
      try (InferResponse response = client.infer(request)) {
        return response.output("SPEECH").toFloatArray()[0];
      }
    };
  }

  private static float[] alone(Listener listener) {
    float[] heard = new float[sample.length / FRAME];
    listen(listener, 1, heard);
    return heard;
  }

  /** Several streams at a time, from threads of their own. */
  private static void assertInterleavedAsAlone(float[] alone, Listener listener) {
    float[][] heard = new float[STREAMS][alone.length];
    Thread[] threads = new Thread[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
      int stream = i;
      threads[i] = Thread.startVirtualThread(() -> listen(listener, 2 + stream, heard[stream]));
    }
    for (int i = 0; i < STREAMS; i++) {
      join(threads[i]);
      assertArrayEquals(alone, heard[i], TOLERANCE, "stream " + i);
    }
  }

  private static void listen(Listener listener, long sequence, float[] heard) {
    for (int i = 0; i < heard.length; i++) {
      float[] frame = Arrays.copyOfRange(sample, i * FRAME, (i + 1) * FRAME);
      heard[i] = listener.hear(sequence, frame, i == 0, i == heard.length - 1);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
