package io.nereid.junit;

import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.ModelContext;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A backend made from a function of tensors, so that a test needs no model file: {@code
 * ModelSpec.builder("name")…backend(FakeModel.of(inputs -> …))}. The function gets the inputs of a
 * batch by name, which can be read while it runs, and returns all outputs. An exception that it
 * throws fails the requests, as with any backend. Several threads may call the function.
 */
public final class FakeModel implements Backend {

  private final Function<Map<String, Tensor>, Map<String, Tensor>> function;
  private final List<Integer> batches = new CopyOnWriteArrayList<>();
  private final AtomicInteger requests = new AtomicInteger();

  private FakeModel(Function<Map<String, Tensor>, Map<String, Tensor>> function) {
    this.function = function;
  }

  /** Makes a backend that computes this function. */
  public static FakeModel of(Function<Map<String, Tensor>, Map<String, Tensor>> function) {
    return new FakeModel(function);
  }

  /** Returns the number of requests that the model executed. */
  public int requestCount() {
    return requests.get();
  }

  /** Returns the number of requests in each batch, in the order in which the batches began. */
  public List<Integer> batches() {
    return List.copyOf(batches);
  }

  @Override
  public BackendInstance open(ModelContext context) {
    List<String> names = context.spec().inputs().stream().map(TensorSpec::name).toList();
    return batch -> {
      batches.add(batch.requestCount());
      requests.addAndGet(batch.requestCount());
      Map<String, Tensor> inputs = new LinkedHashMap<>();
      for (String name : names) {
        if (batch.hasInput(name)) {
          inputs.put(name, batch.input(name));
        }
      }
      function.apply(inputs).forEach(batch::output);
    };
  }
}
