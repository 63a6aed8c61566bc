package io.nereid.perf;

import io.nereid.client.ServerMetadata;
import io.nereid.perf.InputData.Step;
import io.nereid.perf.ModelInfo.TensorInfo;
import io.nereid.perf.RequestPlan.TensorForm;
import io.nereid.perf.Target.Protocol;
import io.nereid.types.Shapes;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One use of the load generator, from asking the server about the model to the last report. */
final class PerfRun {

  private final Target target;
  private final DataArguments dataArguments;
  private final LoadArguments load;
  private final MeasureArguments measure;
  private final InputShapes shapes;
  private final InputData.Options data;
  private final Map<String, Object> parameters;
  private final Requests.Sequences sequences;
  private final LoadRange range;
  private final SloSearch.Goal slo;
  private final LevelRunner.Options options;
  private final int threads;

  /** Checks all arguments; wrong ones are an {@link IllegalArgumentException}. */
  PerfRun(Target target, DataArguments data, LoadArguments load, MeasureArguments measure) {
    this.target = target;
    this.dataArguments = data;
    this.load = load;
    this.measure = measure;
    shapes = data.shapes();
    this.data = data.data();
    parameters = data.parameters();
    sequences = load.sequences(data.seed());
    range = load.range();
    slo = load.slo();
    options = measure.options(data.seed());
    threads = load.threads();
    load.connections();
    boolean grpc = target.protocol() == Protocol.GRPC;
    if (load.streaming() && !grpc) {
      throw new IllegalArgumentException("expected --streaming with -i grpc, got it with http");
    }
    if (grpc && (data.inputForm() == TensorForm.JSON || data.outputForm() == TensorForm.JSON)) {
      throw new IllegalArgumentException(
          "expected binary or shm as form of tensors over gRPC, got json");
    }
  }

  /** Returns the exit code. */
  int run(PrintWriter out, Progress progress) throws IOException {
    Instant started = Instant.now();
    try (ServerControl control = new ServerControl(target)) {
      ServerMetadata server = control.server();
      ModelInfo model = model(control);
      InputData inputs = InputData.read(model, shapes, data);
      try (Area area = area(control, model, inputs)) {
        TensorForm outputForm = area.outputForm();
        RequestPlan plan =
            new RequestPlan(
                target,
                model,
                dataArguments.inputForm(),
                outputForm,
                parameters,
                "",
                dataArguments.requestIds(),
                sequences != null,
                load.streaming());
        Requests requests = Requests.of(plan, inputs, area.shared(), sequences);
        ServerProcess process = measure.process(target);
        PerfReport empty =
            new PerfReport(
                started,
                server,
                plan,
                requests.first().byteSize(),
                requests.first().rows(),
                process,
                threads,
                options,
                List.of(),
                slo,
                null,
                null);
        LevelRunner runner =
            new LevelRunner(
                level -> senders(plan, requests, level),
                requests,
                control,
                process,
                options,
                threads,
                progress);
        return measure(empty, runner, new TextReport(out, empty));
      }
    }
  }

  private LoadRun.Senders senders(RequestPlan plan, Requests requests, LoadLevel level)
      throws IOException {
    boolean shared = plan.outputForm() == TensorForm.SHM;
    ReplyCheck check = dataArguments.checksReplies() ? new ReplyCheck(plan.model(), shared) : null;
    return target.protocol() == Protocol.HTTP
        ? new HttpSenders(target, requests::position, check, Math.min(threads, level.mostSenders()))
        : new GrpcSenders(
            plan,
            requests::position,
            check,
            threads,
            Math.min(load.connections(), level.mostSenders()));
  }

  private ModelInfo model(ServerControl control) {
    boolean ready = control.modelReady();
    ModelInfo model = control.model(); // asked first, as its failure says more than "not ready"
    if (!ready) {
      throw new PerfException(
          "model '" + target.model() + "' is not ready; the server's log may say why");
    }
    if (model.decoupled() && !load.streaming()) {
      throw new PerfException(
          "model '" + model.name() + "' is decoupled: measure it with -i grpc --streaming");
    }
    return model;
  }

  // ---- Shared memory ---------------------------------------------------------------------------

  /** The shared memory of a run, if any, and the form of outputs. */
  private record Area(SharedArea shared, TensorForm outputForm) implements AutoCloseable {
    @Override
    public void close() {
      if (shared != null) {
        shared.close();
      }
    }
  }

  private Area area(ServerControl control, ModelInfo model, InputData inputs) {
    boolean outputsThere = dataArguments.outputForm() == TensorForm.SHM;
    Map<String, Long> sizes = outputsThere ? outputSizes(model, inputs) : Map.of();
    TensorForm outputForm =
        outputsThere && sizes.isEmpty() ? TensorForm.BINARY : dataArguments.outputForm();
    if (dataArguments.inputForm() != TensorForm.SHM && sizes.isEmpty()) {
      return new Area(null, outputForm);
    }
    int places = Math.min(32, load.level(range.last()).mostSenders());
    List<Step> steps =
        dataArguments.inputForm() == TensorForm.SHM
            ? inputs.steps()
            : inputs.steps().stream().map(step -> new Step(List.of())).toList();
    return new Area(SharedArea.create(control, steps, sizes, places), outputForm);
  }

  /** The sizes of outputs; empty: unknown, and not required. */
  private Map<String, Long> outputSizes(ModelInfo model, InputData inputs) {
    Map<String, Long> sizes = new LinkedHashMap<>();
    for (TensorInfo output : model.outputs()) {
      long size = dataArguments.outputSize();
      long[] shape = output.shape().stream().mapToLong(Long::longValue).toArray();
      if (model.batched() && shape.length > 0) {
        shape[0] = shapes.batchSize();
      }
      boolean known = Arrays.stream(shape).allMatch(dim -> dim >= 0);
      if (size == 0 && known) {
        size = Shapes.elementCount(shape) * output.type().byteSize();
      }
      if (size == 0 && dataArguments.wantsOutputs(TensorForm.SHM)) {
        throw new PerfException(
            "the size of output '%s' is not known: say it with --output-shared-memory-size"
                .formatted(output.name()));
      }
      if (size == 0) {
        return Map.of();
      }
      sizes.put(output.name(), size);
    }
    return sizes;
  }

  // ---- Measuring -------------------------------------------------------------------------------

  private int measure(PerfReport empty, LevelRunner runner, TextReport text) throws IOException {
    List<LevelResult> results = new ArrayList<>();
    SloSearch.Outcome outcome = null;
    PerfException failure = null;
    text.begin();
    try {
      if (slo == null) {
        for (double value : range.values()) {
          LevelResult result = runner.measure(load.level(value));
          results.add(result);
          text.level(result);
          if (latencyUs(result) > load.latencyThresholdUs()) {
            break;
          }
        }
      } else {
        SloSearch search =
            new SloSearch(
                slo,
                range,
                load::level,
                level -> {
                  LevelResult result = runner.measure(level);
                  results.add(result);
                  text.level(result);
                  return result;
                });
        outcome = search.run();
      }
    } catch (PerfException e) {
      failure = e;
    }
    PerfReport report =
        new PerfReport(
            empty.started(),
            empty.server(),
            empty.plan(),
            empty.requestBytes(),
            empty.rows(),
            empty.process(),
            empty.clientThreads(),
            empty.options(),
            results,
            slo,
            outcome,
            failure == null ? null : failure.getMessage());
    text.end(report);
    write(report);
    if (failure != null) {
      throw failure;
    }
    return outcome != null && outcome.best() == null ? 1 : 0;
  }

  private double latencyUs(LevelResult result) {
    return options.percentile() == 0
        ? result.meanLatencyUs()
        : result.latencyUs(options.percentile());
  }

  private void write(PerfReport report) throws IOException {
    if (measure.csv() != null) {
      Files.writeString(measure.csv(), DataReport.csv(report));
    }
    if (measure.json() != null) {
      Files.writeString(measure.json(), DataReport.json(report));
    }
    if (measure.html() != null) {
      Files.writeString(measure.html(), LoadPage.of(report));
    }
  }
}
