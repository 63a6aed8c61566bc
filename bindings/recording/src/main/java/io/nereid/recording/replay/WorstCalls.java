package io.nereid.recording.replay;

import io.nereid.recording.RecordedCall;
import io.nereid.recording.RecordedTensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Keeps the requests whose answers are furthest apart. For one thread. */
public final class WorstCalls {

  private record Kept(double by, RecordedCall call) {}

  private final int most;
  private final List<Kept> kept = new ArrayList<>(); // the worst first

  /** Keeps none yet, and {@code most} at most. */
  public WorstCalls(int most) {
    this.most = most;
  }

  void add(double by, RecordedCall call) {
    if (by > 1) {
      kept.add(new Kept(by, call));
      kept.sort(Comparator.comparingDouble(one -> -one.by()));
      if (kept.size() > most) {
        kept.removeLast();
      }
    }
  }

  void clear() {
    kept.clear();
  }

  /**
   * Writes each into a directory of its own, {@code 1} for the worst: the inputs, and a file {@code
   * request} of arguments, as {@code nereid infer @request} reads them. The recording is open
   * still.
   */
  public void write(Path directory) throws IOException {
    for (int i = 0; i < kept.size(); i++) {
      RecordedCall call = kept.get(i).call();
      Path into = Files.createDirectories(directory.resolve(Integer.toString(i + 1)));
      List<String> lines = new ArrayList<>();
      lines.add("# " + ReplayedAnswers.name(call).replaceAll("\\R", " "));
      lines.add(quoted(call.model()));
      for (RecordedTensor input : call.inputs()) {
        Path file = into.resolve("input" + (lines.size() - 2) + ".raw");
        Files.write(file, input.bytes());
        String shape = input.shape().stream().map(String::valueOf).collect(Collectors.joining("x"));
        lines.add(
            "--input "
                + quoted(input.name() + "=@" + file)
                + (shape.isEmpty() ? "" : " --shape " + quoted(input.name() + "=" + shape)));
      }
      call.wantedOutputs().forEach(output -> lines.add("--output " + quoted(output)));
      Files.write(into.resolve("request"), lines);
    }
  }

  private static String quoted(String argument) {
    return '"' + argument.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
