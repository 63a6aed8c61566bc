package io.nereid.cli;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.ResponseStream;
import io.nereid.cli.RepositoryArguments.ModelArguments;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.perf.ServerArguments;
import io.nereid.perf.ServerConnection;
import io.nereid.tensor.Tensor;
import io.nereid.types.Names;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code nereid infer}: runs one request in this process, with a model that it loads, or at a
 * running server, and prints the outputs.
 */
@Command(
    name = "infer",
    description = "Run one request in this process, or at a running server, and print the outputs.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  nereid infer identity_fp32 --input INPUT0=1.5,2,3",
      "  nereid infer identity_fp32 --input 'INPUT0=[1.5, 2, 3]' --shape INPUT0=3",
      "  nereid infer MODEL DIR --input NAME=@tensor.raw --shape NAME=2x3",
      "  nereid infer digits --random",
      "  nereid infer simple -u localhost:8000 --input INPUT0=@in.json --input INPUT1=@in.json"
    })
final class InferCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Mixin private ModelArguments loaded;

  @Mixin private ServerArguments server;

  @Option(
      names = "--input",
      paramLabel = "NAME=VALUE",
      converter = InputArgument.Converter.class,
      description =
          "An input: values with commas between them, a JSON array, @FILE.json, or @FILE with the"
              + " tensor's bytes.")
  private List<InputArgument> inputs = List.of();

  @Option(
      names = "--random",
      description =
          "Random values for inputs that --input does not name; a dimension of any size is 1 unless"
              + " --shape says another.")
  private boolean random;

  @Option(
      names = "--shape",
      paramLabel = "NAME=DxD",
      description =
          "An input's shape, such as INPUT0=1x16, where the values do not tell it; the batch"
              + " dimension may be left out.")
  private Map<String, String> shapes = Map.of();

  @Option(names = "--output", paramLabel = "NAME", description = "Only this output; repeatable.")
  private List<String> outputs = List.of();

  @Option(names = "--timeout-ms", paramLabel = "MS", description = "Give up after this time.")
  private Long timeoutMs;

  @Option(
      names = "--repeat",
      paramLabel = "N",
      description = "Send the request N times and print how long it took.")
  private int repeat = 1;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    if (repeat < 1) {
      throw Arguments.wrong(command, "--repeat of 1 or more", Integer.toString(repeat));
    }
    if (timeoutMs != null && timeoutMs < 1) {
      throw Arguments.wrong(command, "--timeout-ms of 1 or more", timeoutMs.toString());
    }
    long[] elapsedNs = new long[repeat];
    if (server.isGiven()) {
      inferThere(elapsedNs);
    } else {
      inferHere(elapsedNs);
    }
    if (repeat > 1) {
      printTimes(elapsedNs);
    }
    return 0;
  }

  private void inferThere(long[] elapsedNs) throws IOException {
    loaded.checkServed(command);
    try (ServerConnection connection = RemoteCommand.connect(command, server)) {
      ModelSpec spec = ServedModels.spec(connection, loaded.name(), loaded.version());
      Optional<Duration> timeout = Optional.ofNullable(timeoutMs).map(Duration::ofMillis);
      ServedInference inference =
          new ServedInference(connection, spec, loaded.version(), tensors(spec), outputs, timeout);
      for (int i = 0; i < repeat; i++) {
        ResponsePrinter printer = printer(spec, loaded.version());
        elapsedNs[i] = inference.send(i == repeat - 1 ? Optional.of(printer) : Optional.empty());
      }
    }
  }

  private ResponsePrinter printer(ModelSpec spec, String version) {
    return new ResponsePrinter(command.commandLine().getOut(), spec, version, json);
  }

  private void inferHere(long[] elapsedNs) throws IOException {
    try (Nereid nereid = loaded.open()) {
      Model model = loaded.model(nereid);
      Map<String, Tensor> tensors = tensors(model.spec());
      for (int i = 0; i < repeat; i++) {
        try (InferRequest request = request(model, tensors)) {
          elapsedNs[i] = send(model, request, i == repeat - 1);
        }
      }
    }
  }

  /** Sends the request; returns the time it took, without printing if there is one response. */
  private long send(Model model, InferRequest request, boolean print) throws IOException {
    ResponsePrinter printer = printer(model.spec(), Long.toString(model.version()));
    long startNs = System.nanoTime();
    if (model.spec().decoupled()) {
      try (ResponseStream stream = request.inferStream()) {
        if (print) {
          printAll(printer, stream);
        } else {
          skip(stream);
        }
        return System.nanoTime() - startNs;
      }
    }
    try (InferResponse response = request.infer()) {
      long elapsedNs = System.nanoTime() - startNs;
      if (print) {
        printer.printOnly(outputs(response));
      }
      return elapsedNs;
    }
  }

  private static void printAll(ResponsePrinter printer, ResponseStream stream) throws IOException {
    InferResponse next;
    while ((next = stream.next()) != null) {
      try (InferResponse response = next) {
        if (response.failure().isPresent()) {
          throw response.failure().get();
        }
        printer.printNext(outputs(response));
      }
    }
    printer.end();
  }

  private static Map<String, Tensor> outputs(InferResponse response) {
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    response.outputNames().forEach(name -> outputs.put(name, response.output(name)));
    return outputs;
  }

  private static void skip(ResponseStream stream) {
    InferResponse response;
    while ((response = stream.next()) != null) {
      response.close();
    }
  }

  private Map<String, Tensor> tensors(ModelSpec model) throws IOException {
    try {
      return readTensors(model);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  private Map<String, Tensor> readTensors(ModelSpec model) throws IOException {
    for (String name : outputs) {
      if (model.outputs().stream().noneMatch(output -> output.name().equals(name))) {
        throw new IllegalArgumentException(
            "model '"
                + model.name()
                + "' has no output '"
                + name
                + "'"
                + Names.hint(
                    "it has", name, model.outputs().stream().map(TensorSpec::name).toList()));
      }
    }
    for (String name : shapes.keySet()) {
      if (!random && inputs.stream().noneMatch(input -> input.name().equals(name))) {
        throw new IllegalArgumentException("--shape names '" + name + "', but no --input does");
      }
    }
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    for (InputArgument input : inputs) {
      Tensor tensor = input.tensor(model, shape(input.name()));
      if (tensors.put(input.name(), tensor) != null) {
        throw new IllegalArgumentException("--input " + input.name() + " is given twice");
      }
    }
    for (TensorSpec input : model.inputs()) {
      boolean wanted = shapes.containsKey(input.name()) || !input.optional();
      if (random && wanted && !tensors.containsKey(input.name())) {
        tensors.put(input.name(), InputArgument.random(model, input, shape(input.name())));
      }
    }
    return tensors;
  }

  private long[] shape(String name) {
    String text = shapes.get(name);
    return text == null ? null : InputArgument.shape(name, text);
  }

  private InferRequest request(Model model, Map<String, Tensor> tensors) {
    InferRequest request = model.newRequest();
    try {
      if (timeoutMs != null) {
        request.deadline(Duration.ofMillis(timeoutMs));
      }
      tensors.forEach(request::input);
      outputs.forEach(request::output);
      return request;
    } catch (RuntimeException e) {
      request.close();
      throw e;
    }
  }

  private void printTimes(long[] elapsedNs) {
    long totalNs = Arrays.stream(elapsedNs).sum();
    Arrays.sort(elapsedNs);
    command
        .commandLine()
        .getErr()
        .println(
            String.format(
                Locale.ROOT,
                "%d requests, one after another: p50 %.1f us, p99 %.1f us, %.0f requests/s",
                elapsedNs.length,
                elapsedNs[elapsedNs.length / 2] / 1e3,
                elapsedNs[(int) (elapsedNs.length * 0.99)] / 1e3,
                elapsedNs.length * 1e9 / totalNs));
  }
}
