package io.nereid.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    return Main.run(args, new PrintWriter(out, true), new PrintWriter(err, true));
  }

  @Test
  void versionNamesTheProductAndTheJvm() {
    assertEquals(0, run("--version"));
    List<String> lines = out.toString().lines().toList();
    assertTrue(lines.getFirst().startsWith("nereid "), lines.getFirst());
    assertTrue(lines.getLast().contains(Runtime.version().toString()), lines.getLast());
  }

  @Test
  void versionIsACommandToo() {
    run("--version");
    String asked = out.toString();
    out.getBuffer().setLength(0);
    assertEquals(0, run("version"));
    assertEquals(asked, out.toString());
  }

  @Test
  void helpGoesToStdout() {
    assertEquals(0, run("help"));
    assertTrue(out.toString().startsWith("Usage: nereid"), out.toString());
    assertEquals("", err.toString());
  }

  @Test
  void aMissingCommandIsAUsageError() {
    assertEquals(2, run());
    assertEquals("nereid: which command?\nTry 'nereid --help'.\n", err.toString());
    assertEquals("", out.toString());
  }

  @Test
  void aCommandThatIsNearlyOneIsGuessed() {
    assertEquals(2, run("modles"));
    assertTrue(err.toString().contains("help; did you mean models?"), err::toString);
  }

  @Test
  void anUnknownCommandIsNamedWithThoseThereAre() {
    assertEquals(2, run("halp"));
    String line = err.toString().lines().findFirst().orElseThrow();
    assertTrue(
        line.startsWith(
            "nereid: no such command: halp; there is serve, models, infer, config, stats, top,"
                + " load, unload, promote, trace, record, logs, check, build, sign, seal, perf, replay,"
                + " bench, tune, health, completion, version, help"),
        line);
  }

  @Test
  void anUnknownOptionIsNamed() {
    assertEquals(2, run("--verison"));
    String line = err.toString().lines().findFirst().orElseThrow();
    assertEquals("nereid: Unknown option: '--verison'", line);
    assertEquals(2, run("serve", "--http-prot", "1"));
    assertTrue(
        err.toString().contains("'--http-prot', '1'; did you mean --http-port?")
            || err.toString().contains("'--http-prot'; did you mean --http-port?"),
        err.toString());
  }

  @Command(name = "broken", mixinStandardHelpOptions = true)
  private record Broken(Exception error) implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
      throw error;
    }
  }

  private int runBroken(boolean stacktrace, Exception error) {
    Errors errors = new Errors(() -> stacktrace);
    return new CommandLine(new Broken(error))
        .setErr(new PrintWriter(err, true))
        .setExecutionExceptionHandler(errors)
        .execute();
  }

  @Test
  void aLibraryThatCannotBeLinkedIsOneLineToo() {
    Errors errors = new Errors(() -> false);
    CommandLine command = new CommandLine(new Broken(null)).setErr(new PrintWriter(err, true));
    Throwable cause = new IllegalStateException("no native library for this platform");
    assertEquals(1, errors.report(new ExceptionInInitializerError(cause), command));
    assertEquals("nereid: no native library for this platform\n", err.toString());
  }

  @Test
  void aFailureIsOneLine() {
    assertEquals(1, runBroken(false, new IllegalStateException("no such model:\n  digits")));
    assertEquals("nereid: no such model:; digits\n", err.toString());
  }

  @Test
  void aFailureWithoutAMessageNamesItsType() {
    assertEquals(1, runBroken(false, new UnsupportedOperationException()));
    assertEquals("nereid: UnsupportedOperationException\n", err.toString());
  }

  @Test
  void aFileErrorSaysWhatIsWrongWithTheFile() {
    assertEquals(1, runBroken(false, new NoSuchFileException("models")));
    assertEquals("nereid: no such file: models\n", err.toString());
  }

  @Test
  void stacktraceShowsWhereItFailed() {
    assertEquals(1, runBroken(true, new IllegalStateException("no such model")));
    assertTrue(err.toString().contains("at io.nereid.cli.MainTest"), err.toString());
  }
}
