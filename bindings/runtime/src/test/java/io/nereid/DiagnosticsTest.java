package io.nereid;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.statistics.OpenHandle;
import io.nereid.types.NereidException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The system properties for finding mistakes, each in a process of its own. */
class DiagnosticsTest {

  /** What the programs below share. */
  private static Nereid open() {
    return Nereid.create(NereidOptions.builder().drainTimeout(Duration.ofSeconds(2)).build());
  }

  static final class Leaking {

    private Leaking() {}

    public static void main(String[] args) {
      Nereid nereid = open();
      Model model = nereid.load(RuntimeTest.identity("m").build());
      for (int i = 0; i < 3; i++) {
        model.newRequest().input("IN", RuntimeTest.row(1)); // here
      }
      InferResponse response;
      try (var request = model.newRequest().input("IN", RuntimeTest.row(1))) {
        response = request.infer();
      }
      System.out.println("open " + nereid.openHandles().size());
      nereid.openHandles().stream().map(OpenHandle::kind).sorted().forEach(System.out::println);
      try {
        nereid.close();
      } catch (NereidException e) {
        System.out.println(e.getMessage());
        System.out.println("places " + e.getSuppressed().length);
        e.printStackTrace(System.out);
      }
      response.close();
    }
  }

  static final class Stale {

    private Stale() {}

    public static void main(String[] args) {
      MemorySegment[] ofBatch = new MemorySegment[1];
      try (Nereid nereid = open()) {
        Model model =
            nereid.load(
                RuntimeTest.identity("m")
                    .backend(context ->
                        batch -> {
                          ofBatch[0] = batch.input("IN").segment();
                          batch.output("OUT", batch.input("IN"));
                        })
                    .build());
        for (int i = 0; i < 2; i++) {
          MemorySegment in;
          MemorySegment out;
          try (var request = model.newRequest()) {
            in = request.allocateInput("IN", 1, 4).segment();
            in.set(JAVA_FLOAT, 0, 7);
            try (var response = request.infer()) {
              out = response.output("OUT").segment();
              System.out.println(out.get(JAVA_FLOAT, 0) + " " + in.get(JAVA_FLOAT, 0));
              read("batch", ofBatch[0]);
            }
            read("response", out);
            System.out.println(in.get(JAVA_FLOAT, 0));
          }
          read("request", in);
          read("response", out);
        }
        System.out.println("live " + nereid.poolStatistics().liveBuffers());
      }
    }

    private static void read(String what, MemorySegment segment) {
      try {
        System.out.println(what + " " + segment.get(JAVA_FLOAT, 0));
      } catch (IllegalStateException e) {
        System.out.println(what + " is closed");
      }
    }
  }

  @Test
  void aLeakIsNamedWithThePlaceWhereItWasMade() throws Exception {
    List<String> lines = run("-Dnereid.leaks=record", Leaking.class);
    assertEquals(
        List.of("open 4", "REQUEST", "REQUEST", "REQUEST", "RESPONSE"), lines.subList(0, 5));
    String message = lines.get(5);
    assertTrue(message.contains("4 of model 'm' version 1"), message);
    assertTrue(message.contains("made at: io.nereid.DiagnosticsTest$Leaking.main("), message);
    assertTrue(message.contains("(DiagnosticsTest.java:"), message);
    assertEquals("places 2", lines.get(6));
    String trace = String.join("\n", lines);
    assertTrue(trace.contains("Suppressed: a request to model 'm' version 1, made at "), trace);
    assertTrue(trace.contains("by thread 'main'"), trace);
  }

  @Test
  void withoutThePropertyTheMessageNamesIt() throws Exception {
    List<String> lines = run("-Dx=y", Leaking.class);
    assertEquals("open 0", lines.getFirst());
    assertTrue(lines.get(1).endsWith("-Dnereid.leaks=record tells where they were made"));
    assertEquals("places 0", lines.get(2));
  }

  @Test
  void inTheCheckedModeASegmentFailsOnceItsOwnerIsClosed() throws Exception {
    List<String> once =
        List.of(
            "7.0 7.0",
            "batch is closed",
            "response is closed",
            "7.0",
            "request is closed",
            "response is closed");
    List<String> expected = new ArrayList<>(once);
    expected.addAll(once);
    expected.add("live 0");
    assertEquals(expected, run("-Dnereid.checked=true", Stale.class));
  }

  /** What the program prints. */
  private static List<String> run(String property, Class<?> program) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                property,
                "-cp",
                System.getProperty("java.class.path")));
    String nativePath = System.getProperty("nereid.native.path");
    if (nativePath != null) {
      command.add("-Dnereid.native.path=" + nativePath);
    }
    command.add(program.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    return new String(process.getInputStream().readAllBytes()).lines().toList();
  }
}
