package io.nereid.server;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.Batch;
import io.nereid.model.ModelContext;
import io.nereid.model.ModelSpec;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.StackWalker.StackFrame;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The way of a request through the project's files: as its backend sees it, where that executes on
 * the thread that serves the request, and as ARCHITECTURE.md tells it.
 */
public final class WalkFixture implements Backend {

  private static final Pattern FILE = Pattern.compile("`(?:\\w+/)?(\\w+)`");

  private final ConcurrentLinkedQueue<List<StackFrame>> stacks = new ConcurrentLinkedQueue<>();
  private final Set<Thread> walked = ConcurrentHashMap.newKeySet();

  /** A model "walk" that executes here, and answers OUT with its input IN. */
  public ModelSpec.Builder model() {
    return ModelSpec.builder("walk")
        .backend(this)
        .input("IN", DataType.FP32, -1, -1)
        .output("OUT", DataType.FP32, -1, -1);
  }

  @Override
  public BackendInstance open(ModelContext context) {
    return this::execute;
  }

  private void execute(Batch batch) {
    // Once a thread: a model that is slow is kept away from event loops.
    if (walked.add(Thread.currentThread())) {
      stacks.add(StackWalker.getInstance().walk(frames -> frames.toList()));
    }
    batch.output("OUT", batch.input("IN"));
  }

  /**
   * The project's files on the stack of the last request that was executed on a thread on which a
   * class of that name serves; empty when none was.
   */
  public Set<String> files(String server) {
    for (List<StackFrame> stack : List.copyOf(stacks).reversed()) {
      if (stack.stream().anyMatch(frame -> frame.getClassName().startsWith(server))) {
        return stack.stream()
            .filter(frame -> frame.getClassName().startsWith("io.nereid."))
            .map(StackFrame::getFileName)
            .filter(file -> !file.equals("WalkFixture.java"))
            .collect(Collectors.toCollection(TreeSet::new));
      }
    }
    return Set.of();
  }

  /** The files of main lines of ARCHITECTURE.md, and those that call a backend in Java. */
  public static Set<String> told(String... lines) throws IOException {
    String text = Files.readString(Path.of("..", "ARCHITECTURE.md"));
    Set<String> files = new TreeSet<>(Set.of("BackendUpcalls.java", "JavaBackends.java"));
    for (String line : lines) {
      String title = "**Main line: " + line + "**\n\n";
      int from = text.indexOf(title);
      if (from < 0) {
        throw new AssertionError("ARCHITECTURE.md has no main line '" + line + "'");
      }
      String list = text.substring(from + title.length()).split("\n\n", 2)[0];
      for (String step : list.split("\n")) {
        Matcher matcher = FILE.matcher(step.split(": ", 2)[0]);
        while (matcher.find()) {
          files.add(matcher.group(1) + ".java");
        }
      }
    }
    return files;
  }
}
