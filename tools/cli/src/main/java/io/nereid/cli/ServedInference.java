package io.nereid.cli;

import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.model.ModelSpec;
import io.nereid.perf.ServerConnection;
import io.nereid.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Sends one request to a running server, as often as it is asked to. For one thread. */
final class ServedInference {

  private final ServerConnection server;
  private final ModelSpec model;
  private final InferRequest request;

  ServedInference(
      ServerConnection server,
      ModelSpec model,
      String version,
      Map<String, Tensor> inputs,
      List<String> outputs,
      Optional<Duration> timeout) {
    this.server = server;
    this.model = model;
    InferRequest.Builder builder = InferRequest.builder(model.name());
    if (!version.isEmpty()) {
      builder.version(version);
    }
    inputs.forEach((name, tensor) -> builder.input(name, sent(tensor)));
    outputs.forEach(builder::output);
    timeout.ifPresent(builder::deadline);
    request = builder.build();
  }

  private static io.nereid.client.Tensor sent(Tensor tensor) {
    ByteBuffer bytes = ByteBuffer.wrap(tensor.segment().toArray(ValueLayout.JAVA_BYTE));
    return io.nereid.client.Tensor.of(tensor.dataType(), bytes, tensor.shape());
  }

  /** Sends the request; returns the time it took, without printing if there is one response. */
  long send(Optional<ResponsePrinter> printer) {
    String expected = "expected an answer of model '" + model.name() + "'";
    return server.ask(
        expected, client -> model.decoupled() ? stream(client, printer) : once(client, printer));
  }

  private long once(InferenceClient client, Optional<ResponsePrinter> printer) {
    long startNs = System.nanoTime();
    try (InferResponse response = client.infer(request)) {
      long elapsedNs = System.nanoTime() - startNs;
      if (printer.isPresent()) {
        printer.get().printOnly(outputs(response));
      }
      return elapsedNs;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long stream(InferenceClient client, Optional<ResponsePrinter> printer) {
    if (!server.isGrpc()) {
      throw new IllegalArgumentException(
          "model '"
              + model.name()
              + "' answers any number of times, which only gRPC carries: expected -i grpc");
    }
    long startNs = System.nanoTime();
    try (InferStream stream = client.openStream()) {
      stream.send(request);
      stream.finish();
      InferResponse next;
      while ((next = stream.next()) != null) {
        try (InferResponse response = next) {
          if (printer.isPresent() && !response.outputNames().isEmpty()) {
            printer.get().printNext(outputs(response));
          }
        }
      }
      if (printer.isPresent()) {
        printer.get().end();
      }
      return System.nanoTime() - startNs;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Tensor> outputs(InferResponse response) {
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    for (String name : response.outputNames()) {
      io.nereid.client.Tensor tensor = response.output(name);
      MemorySegment memory = MemorySegment.ofBuffer(tensor.byteBuffer());
      outputs.put(name, Tensor.of(tensor.dataType(), memory, tensor.shape()));
    }
    return outputs;
  }
}
