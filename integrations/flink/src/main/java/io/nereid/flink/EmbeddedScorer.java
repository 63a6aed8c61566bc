package io.nereid.flink;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.ResponseListener;
import io.nereid.model.ModelSpec;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Executes requests in this process, by a runtime that all tasks of the process share: the model
 * makes batches of the rows of all of them. Needs Java 25.
 */
final class EmbeddedScorer implements Scorer {

  private final ProviderOptions options;
  private final SharedRuntime runtime;

  EmbeddedScorer(ProviderOptions options) {
    this.options = options;
    runtime = SharedRuntime.enter(options.repository());
    try {
      runtime.load(options.model());
      model();
    } catch (RuntimeException e) {
      runtime.leave();
      throw e;
    }
  }

  private Model model() {
    return options.isLatest()
        ? runtime.nereid().model(options.model())
        : runtime.nereid().model(options.model(), Long.parseLong(options.version()));
  }

  @Override
  public List<TensorInfo> inputs() {
    ModelSpec spec = model().spec();
    return spec.inputs().stream().map(input -> info(spec, input)).toList();
  }

  @Override
  public List<TensorInfo> outputs() {
    ModelSpec spec = model().spec();
    return spec.outputs().stream().map(output -> info(spec, output)).toList();
  }

  private static TensorInfo info(ModelSpec spec, TensorSpec tensor) {
    Stream<Long> batch = spec.maxBatchSize() > 0 ? Stream.of(-1L) : Stream.empty();
    return new TensorInfo(
        tensor.name(), tensor.dataType(), Stream.concat(batch, tensor.dims().stream()).toList());
  }

  @Override
  public <T> CompletableFuture<T> score(
      List<TensorValue> inputs, List<String> outputs, Function<List<TensorValue>, T> reader) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try (InferRequest request = model().newRequest().deadline(options.timeout())) {
      for (TensorValue input : inputs) {
        fill(request, input);
      }
      outputs.forEach(request::output);
      request.submit(
          new ResponseListener() {
            @Override
            public void onResponse(InferResponse response) {
              try (response) {
                result.complete(reader.apply(values(response, outputs)));
              } catch (RuntimeException e) {
                result.completeExceptionally(e);
              }
            }

            @Override
            public void onFailure(NereidException failure) {
              result.completeExceptionally(failure);
            }
          },
          true);
    }
    return result;
  }

  private static void fill(InferRequest request, TensorValue input) {
    Tensor tensor =
        input.dataType() == DataType.BYTES
            ? request.allocateBytesInput(input.name(), input.bytes().remaining(), input.shape())
            : request.allocateInput(input.name(), input.shape());
    tensor.byteBuffer().put(input.bytes());
  }

  private static List<TensorValue> values(InferResponse response, List<String> outputs) {
    return outputs.stream().map(name -> value(name, response.output(name))).toList();
  }

  private static TensorValue value(String name, Tensor tensor) {
    return new TensorValue(name, tensor.dataType(), tensor.shape(), tensor.byteBuffer());
  }

  @Override
  public void close() {
    runtime.leave();
  }
}
