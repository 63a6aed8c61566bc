package io.nereid.flink;

import io.nereid.client.ClientOptions;
import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferenceClient;
import io.nereid.client.ModelMetadata;
import io.nereid.client.RetryPolicy;
import io.nereid.client.Tensor;
import io.nereid.client.TlsOptions;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Sends requests to a server, over gRPC or HTTP. */
final class ServerScorer implements Scorer {

  private final ProviderOptions options;
  private final InferenceClient client;
  private final ModelMetadata metadata;

  ServerScorer(ProviderOptions options) {
    this.options = options;
    client = InferenceClient.connect(options.url(), clientOptions(options));
    try {
      metadata =
          options.isLatest()
              ? client.modelMetadata(options.model())
              : client.modelMetadata(options.model(), options.version());
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private static ClientOptions clientOptions(ProviderOptions options) {
    RetryPolicy usual = RetryPolicy.DEFAULT;
    ClientOptions.Builder builder =
        ClientOptions.builder()
            .deadline(options.timeout())
            .retry(
                new RetryPolicy(
                    1 + options.retries(), usual.initialBackoff(), usual.maxBackoff(), true));
    options.headers().forEach(builder::header);
    if (options.token() != null) {
      builder.header("authorization", "Bearer " + options.token());
    }
    if (options.tlsCa() != null) {
      builder.tls(TlsOptions.DEFAULT.trusting(Path.of(options.tlsCa())));
    }
    return builder.build();
  }

  @Override
  public List<TensorInfo> inputs() {
    return metadata.inputs().stream().map(ServerScorer::info).toList();
  }

  @Override
  public List<TensorInfo> outputs() {
    return metadata.outputs().stream().map(ServerScorer::info).toList();
  }

  private static TensorInfo info(ModelMetadata.TensorMetadata tensor) {
    return new TensorInfo(tensor.name(), DataType.ofName(tensor.datatype()), tensor.shape());
  }

  @Override
  public <T> CompletableFuture<T> score(
      List<TensorValue> inputs, List<String> outputs, Function<List<TensorValue>, T> reader) {
    InferRequest.Builder request = InferRequest.builder(options.model());
    if (!options.isLatest()) {
      request.version(options.version());
    }
    for (TensorValue input : inputs) {
      request.input(input.name(), Tensor.of(input.dataType(), input.bytes(), input.shape()));
    }
    outputs.forEach(request::output);
    return client
        .inferAsync(request.build())
        .thenApply(response -> read(response, outputs, reader));
  }

  private static <T> T read(
      InferResponse response, List<String> outputs, Function<List<TensorValue>, T> reader) {
    try (response) {
      return reader.apply(
          outputs.stream().map(name -> value(name, response.output(name))).toList());
    }
  }

  private static TensorValue value(String name, Tensor tensor) {
    return new TensorValue(name, tensor.dataType(), tensor.shape(), tensor.byteBuffer());
  }

  @Override
  public void close() {
    client.close();
  }
}
