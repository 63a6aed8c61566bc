package io.nereid.gpu;

import io.nereid.Nereid;
import io.nereid.model.ModelSignature;
import io.nereid.model.RepositoryOptions;
import io.nereid.tensorrt.TensorRtLibrary;
import io.nereid.tensorrt.builder.BuildOptions;
import io.nereid.tensorrt.builder.BuildProgress;
import io.nereid.tensorrt.builder.BuiltEngine;
import io.nereid.tensorrt.builder.ConfigText;
import io.nereid.tensorrt.builder.EngineBuilder;
import io.nereid.tensorrt.builder.NetworkSource;
import io.nereid.tensorrt.builder.ShapeRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A model repository that the checks fill, and what they built so far: an engine is built once.
 *
 * @param directory where everything is written
 * @param seconds how long each measurement takes
 * @param inFlight how many requests are under way in measurements of throughput
 */
record Workbench(Path directory, double seconds, int inFlight, Map<String, BuiltEngine> built) {

  Workbench(Path directory, double seconds, int inFlight) {
    this(directory, seconds, inFlight, new HashMap<>());
  }

  /** The name, network, shapes and options with which a model is built and served. */
  record Plan(
      String name, NetworkSource source, List<ShapeRange> shapes, BuildOptions.Builder options) {

    /** Builds the plan of a graph, for 1 to {@code batch} rows. */
    static Plan of(
        String name, Graph graph, NetworkSource source, int batch, BuildOptions.Builder options) {
      return new Plan(name, source, List.of(rows(graph, batch)), options);
    }

    private static ShapeRange rows(Graph graph, int batch) {
      return new ShapeRange(Graph.INPUT, shape(graph, 1), shape(graph, batch), shape(graph, batch));
    }

    private static List<Long> shape(Graph graph, long rows) {
      List<Long> shape = new ArrayList<>(List.of(rows));
      graph.input().forEach(dim -> shape.add((long) dim));
      return shape;
    }
  }

  /** The name of the devices of test-doubles/rehearsal. */
  private static final String REHEARSAL = "Nereid's rehearsal, no GPU";

  /** True if libraries that compute on the processor stand in for NVIDIA's. */
  static boolean isRehearsal() {
    return TensorRtLibrary.missing().isEmpty()
        && TensorRtLibrary.load().cuda().devices().getFirst().name().equals(REHEARSAL);
  }

  Path repository() {
    return directory.resolve("models");
  }

  Path planFile(String name) {
    return repository().resolve(name).resolve("1").resolve("model.plan");
  }

  /** Builds a plan into the repository, unless that was done, with more lines of configuration. */
  BuiltEngine build(Plan plan, String moreConfig) throws IOException {
    BuiltEngine done = built.get(plan.name());
    if (done == null) {
      BuildOptions options =
          plan.options()
              .profiles(ShapeRange.profiles(plan.shapes()))
              .timingCache(directory.resolve("timing.cache"))
              .build();
      done = EngineBuilder.build(plan.source(), options, planFile(plan.name()), BuildProgress.NONE);
      built.put(plan.name(), done);
    }
    configure(plan.name(), done.signature(), moreConfig);
    return done;
  }

  /** Writes a model's configuration. */
  void configure(String name, ModelSignature signature, String more) throws IOException {
    String text = ConfigText.of(name, signature);
    if (more.contains("dynamic_batching")) {
      text = text.replace("dynamic_batching { }\n", "");
    }
    Files.writeString(repository().resolve(name).resolve("config.pbtxt"), text + more);
  }

  /** A second model with the plan of another, so that it can be served in another way. */
  void alias(String name, String of, String moreConfig) throws IOException {
    Path plan = planFile(name);
    Files.createDirectories(plan.getParent());
    Files.deleteIfExists(plan); // of an earlier run: that of the other was written anew since
    Files.createLink(plan, planFile(of));
    configure(name, built.get(of).signature(), moreConfig);
  }

  /** A runtime that serves the named models and no others. */
  Nereid serve(String... models) {
    return Nereid.open(
        RepositoryOptions.builder().repository(repository()).explicit(models).build());
  }
}
