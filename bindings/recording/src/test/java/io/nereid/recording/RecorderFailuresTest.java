package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recorders whose disk or whose memory fails. */
@Tag("slow")
@SuppressWarnings({"try", "restricted"}) // recorders are opened to be closed; limits are set
class RecorderFailuresTest {

  /** {@code RLIMIT_FSIZE} of Linux. */
  private static final int FILE_SIZE = 1;

  @TempDir Path directory;

  private static Model load(Nereid nereid) {
    return nereid.load(
        ModelSpec.builder("identity")
            .backend("identity")
            .input("IN", DataType.FP32, -1)
            .output("OUT", DataType.FP32, -1)
            .build());
  }

  private static void send(Model model) {
    try (var request = model.newRequest().input("IN", Tensor.ofFloats(new float[1], 1))) {
      request.infer().close();
    }
  }

  /** Bounds the size of files that this process writes; returns the bound before. */
  private static long limitFiles(long byteSize) throws Throwable {
    Linker linker = Linker.nativeLinker();
    FunctionDescriptor form =
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    var get = linker.downcallHandle(linker.defaultLookup().findOrThrow("getrlimit"), form);
    var set = linker.downcallHandle(linker.defaultLookup().findOrThrow("setrlimit"), form);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limits = arena.allocate(ValueLayout.JAVA_LONG, 2); // the second one stays
      assertEquals(0, (int) get.invokeExact(FILE_SIZE, limits));
      long before = limits.getAtIndex(ValueLayout.JAVA_LONG, 0);
      limits.setAtIndex(ValueLayout.JAVA_LONG, 0, byteSize);
      assertEquals(0, (int) set.invokeExact(FILE_SIZE, limits));
      return before;
    }
  }

  @Test
  void whatAFullDiskDidNotTakeIsCountedAsDropped() throws Throwable {
    try (Nereid nereid = Nereid.create();
        Recorder recorder = Recorder.start(nereid, RecordingOptions.to(directory))) {
      Model model = load(nereid);
      long sent = 0;
      for (; recorder.statistics().recorded() == 0; sent++) {
        send(model);
      }
      long before = limitFiles(0);
      try {
        for (int i = 0; i < 30; i++, sent++) { // through two attempts of the recorder
          send(model);
          Thread.sleep(100);
        }
      } finally {
        limitFiles(before);
      }
      long recorded = recorder.statistics().recorded();
      for (; recorder.statistics().recorded() == recorded; sent++) {
        send(model);
        Thread.sleep(1);
      }
      recorder.close();
      Recorder.Statistics figures = recorder.statistics();
      assertEquals(sent, figures.recorded() + figures.dropped());
      assertEquals(figures.recorded(), read(figures.dropped()), "recorded, and read again");
      assertEquals(2, Retention.segments(directory).size(), "none is empty");
    }
  }

  private long read(long dropped) throws IOException {
    try (Recording recording = Recording.open(directory)) {
      long count = 0;
      while (recording.next() != null) {
        count++;
      }
      assertEquals(dropped, recording.dropped());
      return count;
    }
  }

  /** The writer deflates into an array that is larger than the program's heap. */
  @Test
  void aRecorderOutlivesAnError() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:MaxDirectMemorySize=1g",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                SmallHeap.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertEquals("recorded 1, dropped 1\n", new String(process.getInputStream().readAllBytes()));
    assertEquals(0, process.waitFor());
  }

  /** Records a small request and a large one. */
  static final class SmallHeap {

    private static final int FLOATS = 20 << 20;

    private SmallHeap() {}

    /** Prints the figures at the end. */
    public static void main(String[] arguments) {
      RecordingOptions options = RecordingOptions.to(Path.of(arguments[0])).withMemory(384L << 20);
      try (Nereid nereid = Nereid.create();
          Arena arena = Arena.ofConfined();
          Recorder recorder = Recorder.start(nereid, options)) {
        Model model = load(nereid);
        send(model);
        MemorySegment large = arena.allocate((long) FLOATS * Float.BYTES);
        try (var request =
            model.newRequest().input("IN", Tensor.of(DataType.FP32, large, FLOATS))) {
          request.infer().close();
        }
        recorder.close();
        Recorder.Statistics figures = recorder.statistics();
        System.out.println("recorded " + figures.recorded() + ", dropped " + figures.dropped());
      }
    }
  }
}
