package io.nereid.cli;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.ResponseStream;
import io.nereid.cli.RepositoryArguments.ModelArguments;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code nereid infer}: loads a model, runs one request in this process, prints the outputs. */
@Command(
    name = "infer",
    description = "Run one request in this process and print the outputs.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  nereid infer identity_fp32 --input INPUT0=1.5,2,3",
      "  nereid infer identity_fp32 --input 'INPUT0=[1.5, 2, 3]' --shape INPUT0=3",
      "  nereid infer MODEL --repository DIR --input NAME=@tensor.raw --shape NAME=2x3"
    })
final class InferCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Mixin private ModelArguments loaded;

  @Option(
      names = "--input",
      paramLabel = "NAME=VALUE",
      converter = InputArgument.Converter.class,
      description =
          "An input: values with commas between them, a JSON array, @FILE.json, or @FILE with the"
              + " tensor's bytes.")
  private List<InputArgument> inputs = List.of();

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
    try (Nereid nereid = loaded.open()) {
      Model model = loaded.model(nereid);
      Map<String, Tensor> tensors = tensors(model);
      long[] elapsedNs = new long[repeat];
      for (int i = 0; i < repeat; i++) {
        try (InferRequest request = request(model, tensors)) {
          elapsedNs[i] = send(model, request, i == repeat - 1);
        }
      }
      if (repeat > 1) {
        printTimes(elapsedNs);
      }
      return 0;
    }
  }

  /** Returns how long it took, printing left aside where there is one response. */
  private long send(Model model, InferRequest request, boolean print) throws IOException {
    ResponsePrinter printer = new ResponsePrinter(command.commandLine().getOut());
    long startNs = System.nanoTime();
    if (model.spec().decoupled()) {
      try (ResponseStream stream = request.inferStream()) {
        if (print) {
          printer.print(model, stream, json);
        } else {
          skip(stream);
        }
        return System.nanoTime() - startNs;
      }
    }
    try (InferResponse response = request.infer()) {
      long elapsedNs = System.nanoTime() - startNs;
      if (print) {
        printer.print(model, response, json);
      }
      return elapsedNs;
    }
  }

  private static void skip(ResponseStream stream) {
    InferResponse response;
    while ((response = stream.next()) != null) {
      response.close();
    }
  }

  private Map<String, Tensor> tensors(Model model) throws IOException {
    try {
      return readTensors(model);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
  }

  private Map<String, Tensor> readTensors(Model model) throws IOException {
    for (String name : outputs) {
      if (model.spec().outputs().stream().noneMatch(output -> output.name().equals(name))) {
        throw new IllegalArgumentException(
            "expected --output to name one of "
                + model.spec().outputs().stream().map(TensorSpec::name).toList()
                + ", got '"
                + name
                + "'");
      }
    }
    for (String name : shapes.keySet()) {
      if (inputs.stream().noneMatch(input -> input.name().equals(name))) {
        throw new IllegalArgumentException("--shape names '" + name + "', but no --input does");
      }
    }
    Map<String, Tensor> tensors = new LinkedHashMap<>();
    for (InputArgument input : inputs) {
      Tensor tensor = input.tensor(model.spec(), shape(input.name()));
      if (tensors.put(input.name(), tensor) != null) {
        throw new IllegalArgumentException("--input " + input.name() + " is given twice");
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
