package io.nereid.server.grpc;

import static io.nereid.server.grpc.InferFixture.floats;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.model.Batch;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.StackWalker.StackFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * ARCHITECTURE.md lists the files that a gRPC inference passes, in their order. A model that runs
 * on the event loop shows which files really are on the way to it.
 */
class GrpcWalkTest {

  private static final int MOST_FILES = 20;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** A step of the list begins with its file. Files beside the list are named in the text. */
  private static final Pattern STEP = Pattern.compile("(?m)^\\d+\\. `(\\w+)`");

  private static final Pattern NAME = Pattern.compile("`(\\w+)`");

  private volatile Set<String> seen;

  private void look(Batch batch) {
    if (Thread.currentThread().getName().startsWith("nrd-grpc-")) {
      seen =
          StackWalker.getInstance()
              .walk(frames ->
                  frames
                      .map(StackFrame::getClassName)
                      .filter(name -> name.startsWith("io.nereid."))
                      .map(name -> name.replaceAll(".*\\.|\\$.*", ""))
                      .collect(Collectors.toCollection(TreeSet::new)));
      seen.remove(getClass().getSimpleName());
    }
    batch.output("OUT", batch.input("IN"));
  }

  private static List<String> named(Pattern pattern) throws IOException {
    String text = Files.readString(Path.of("..", "ARCHITECTURE.md"));
    String section = text.split("\n## The life of a gRPC inference\n", 2)[1].split("\n## ", 2)[0];
    return pattern.matcher(section).results().map((MatchResult name) -> name.group(1)).toList();
  }

  @Test
  void allFilesOnTheWayAreInTheList() throws IOException {
    ModelSpec.Builder model =
        ModelSpec.builder("m")
            .backend(context -> (Batch batch) -> look(batch))
            .input("IN", DataType.FP32, -1, -1)
            .output("OUT", DataType.FP32, -1, -1);
    try (InferFixture server = new InferFixture().load(model)) {
      // A machine that is busy may take long until it executes quickly a hundred times in a row.
      long startNs = System.nanoTime();
      while (seen == null && System.nanoTime() - startNs < PATIENCE.toNanos()) {
        server.infer(floats("m", 1, 2));
      }
    }
    assertNotNull(seen, "no request was executed on an event loop");
    assertTrue(seen.contains("InferCall"), seen::toString);
    Set<String> missing = new TreeSet<>(seen);
    missing.removeAll(named(NAME));
    assertEquals(Set.of(), missing, "these are not in ARCHITECTURE.md's walk of a gRPC inference");
  }

  @Test
  void theListIsShortAndNamesFiles() throws IOException {
    List<String> walk = named(STEP);
    assertTrue(walk.size() <= MOST_FILES, walk::toString);
    Set<String> sources = new TreeSet<>();
    for (String module : List.of("server", "bindings/runtime")) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
        files.forEach(file -> sources.add(file.getFileName().toString().replace(".java", "")));
      }
    }
    Set<String> unknown = new TreeSet<>(walk);
    unknown.removeAll(sources);
    assertEquals(Set.of(), unknown, "these are in the walk of a gRPC inference, but are no files");
  }
}
