package com.example.spark;

import io.nereid.Nereid;
import io.nereid.PoolStatistics;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Gives each executor one Nereid runtime for its whole life: Spark opens it when the executor starts,
 * which fails at once if a model cannot be loaded, and closes it when no task runs any more. All
 * tasks of the executor share it.
 *
 * <p>{@value #REPOSITORY} is the model repository: a path that all machines have, or the name of an
 * archive of {@code spark.archives}.
 */
public final class NereidPlugin implements SparkPlugin {

  /** Spark hands settings to the plugin that begin with this; the driver sets them. */
  static final String REPOSITORY = "spark.nereid.repository";

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
      @Override
      public void init(PluginContext context, Map<String, String> extra) {
        running = Nereid.open(repository(context.conf().get(REPOSITORY)));
        System.err.println("nereid opened by process " + ProcessHandle.current().pid());
      }

      @Override
      public void shutdown() {
        Nereid closing = running;
        running = null;
        PoolStatistics pool = closing.poolStatistics();
        closing.close();
        System.err.println(
            "nereid closed by process "
                + ProcessHandle.current().pid()
                + ", buffers in use: "
                + pool.liveBuffers());
      }
    };
  }

  private static Path repository(String name) {
    Path shared = Path.of(name);
    return shared.isAbsolute() && Files.isDirectory(shared) ? shared : Path.of(SparkFiles.get(name));
  }
}
