package io.nereid.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The reader of {@code examples/recording}, on a recording with all that the format has. */
@SuppressWarnings("try") // recorders are opened to be closed
class PythonReaderTest {

  private static final Path PYTHON = Path.of("/usr/bin/python3");
  private static final Path READER =
      Path.of("../../examples/recording/read_recording.py").toAbsolutePath().normalize();

  @TempDir Path directory;

  @Test
  void readsWhatTheRecorderWrote() throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(PYTHON), "no python3");
    record();
    Path bad = directory.resolve("nereid-0.nrec");
    try (RecordingFile file =
        RecordingFile.create(bad, 0, 1, 1, new LongAdder(), new LongAdder())) {
      file.append(ByteBuffer.wrap(new byte[] {Format.REQUEST}), ByteBuffer.allocate(0));
    }
    assertEquals(
        """
        nereid-0.nrec: a record of another form
        a OK 0 [('count', -7), ('ratio', 0.5), ('text', 'täxt'), ('yes', True)] IN FP32 [1, 3] 1.0 OUT
        b OK 1 [] IN FP32 [1, 20000] 0.0 OUT
        c OK 1 [] IN FP32 [1, 3] 1.0 OUT
        """,
        python(
            """
            import struct, sys
            sys.path.insert(0, sys.argv[1])
            from read_recording import calls
            for call in calls(sys.argv[2]):
                tensor = call["inputs"][0]
                first = struct.unpack("<f", tensor["content"][:4])[0]
                assert len(tensor["content"]) == tensor["byte_size"]
                assert call["duration_ns"] > 0 and call["version"] == 1
                assert call["outputs"][0]["presence"] == "redacted"
                print(call["id"], "OK" if call["status"] == 0 else call["status"],
                      call["priority"], sorted(call["parameters"].items()), tensor["name"], tensor["datatype"],
                      tensor["shape"], first, call["outputs"][0]["name"])
            """));
  }

  private void record() {
    RecordingOptions options =
        RecordingOptions.to(directory).withOutputs(true).withRedacted(Set.of("OUT"));
    try (Nereid nereid = Nereid.create();
        Recorder recorder = Recorder.start(nereid, options)) {
      Model model =
          nereid.load(
              ModelSpec.builder("identity")
                  .backend("identity")
                  .maxBatchSize(8)
                  .input("IN", DataType.FP32, -1)
                  .output("OUT", DataType.FP32, -1)
                  .build());
      try (var request = model.newRequest().id("a").input("IN", floats(1, 2, 3))) {
        request.parameter("yes", true).parameter("count", -7);
        request.parameter("ratio", 0.5).parameter("text", "täxt");
        request.infer().close();
      }
      try (var request = model.newRequest().id("b").priority(1);
          var same = model.newRequest().id("c").priority(1)) {
        request.input("IN", floats(new float[20_000])).infer().close();
        same.input("IN", floats(1, 2, 3)).infer().close();
      }
    }
  }

  private static Tensor floats(float... values) {
    return Tensor.ofFloats(values, 1, values.length);
  }

  private String python(String script) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                PYTHON.toString(),
                "-c",
                script,
                READER.getParent().toString(),
                directory.toString())
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes());
    assertTrue(process.waitFor() == 0, printed);
    return printed;
  }
}
