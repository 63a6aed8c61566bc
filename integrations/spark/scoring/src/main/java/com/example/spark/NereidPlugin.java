package com.example.spark;

import io.nereid.Nereid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Gives each executor one Nereid runtime for its whole life: Spark opens it when the executor
 * starts, which fails at once if a model cannot be loaded, and closes it when no task runs any
 * more. All tasks of the executor share it.
 *
 * <p>{@value #REPOSITORY} is the model repository: a path that all machines have, or the name of an
 * archive of {@code spark.archives}. {@value #REPORTS}, if it is set, is a directory in which each
 * executor reports on its runtime, since Spark keeps no output of an executor that ends.
 */
public final class NereidPlugin implements SparkPlugin {

  /** The driver sets these settings; Spark passes settings with this prefix to the plugin. */
  static final String REPOSITORY = "spark.nereid.repository";

  static final String REPORTS = "spark.nereid.reports";

  private static volatile Nereid running;

  /** The runtime of this executor. */
  static Nereid nereid() {
    Nereid nereid = running;
    if (nereid == null) {
      throw new IllegalStateException(
          "expected spark.plugins to name " + NereidPlugin.class.getName() + ", and it does not");
    }
    return nereid;
  }

  @Override
  public DriverPlugin driverPlugin() {
    return null; // nothing runs there
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorPlugin() {
      private String reports;

      @Override
      public void init(PluginContext context, Map<String, String> extra) {
        reports = context.conf().get(REPORTS, "");
        running = Nereid.open(repository(context.conf().get(REPOSITORY)));
        report(reports, "opened");
      }

      @Override
      public void shutdown() {
        Nereid closing = running;
        running = null;
        if (closing != null) {
          long buffers = closing.poolStatistics().liveBuffers();
          closing.close();
          report(reports, "closed, buffers in use: " + buffers);
        }
      }
    };
  }

  /** Writes a line into this process' own file. */
  private static void report(String directory, String line) {
    if (!directory.isEmpty()) {
      Path file = Path.of(directory, Long.toString(ProcessHandle.current().pid()));
      try {
        Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Path repository(String name) {
    Path shared = Path.of(name);
    return shared.isAbsolute() && Files.isDirectory(shared)
        ? shared
        : Path.of(SparkFiles.get(name));
  }
}
