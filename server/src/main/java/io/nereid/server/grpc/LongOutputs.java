package io.nereid.server.grpc;

import io.nereid.InferResponse;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.HeapShare;
import io.nereid.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * The outputs of a response that take so long that they would hold up an event loop: classes, and
 * those that go to shared memory. One of the connection's tasks makes them, and the loop reads and
 * closes them afterwards. Classes count as heap memory until then.
 */
final class LongOutputs implements AutoCloseable {

  /** Keeps a carrier of virtual threads free, since a million classes take most of a second. */
  private static final Semaphore TURNS =
      new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() - 1), true);

  private final HeapShare heap = new HeapShare(HeapBudget.ofThisProcess());
  private final Map<String, Tensor> tensors = new HashMap<>();
  private Throwable failure; // null: there is a tensor for each output that wants classes

  /** Makes the outputs, when there is a turn for that; a failure is kept. */
  LongOutputs(InferResponse response, OutputForms forms) {
    TURNS.acquireUninterruptibly();
    try {
      for (String name : response.outputNames()) {
        OutputForms.Form form = forms.of(name);
        if (form.classification() != null) {
          tensors.put(name, form.classification().classify(response.output(name), heap));
        } else if (form.slice() != null) {
          form.slice().write(name, response.output(name));
        }
      }
    } catch (RuntimeException | Error e) { // the client is told
      failure = e;
    } finally {
      TURNS.release();
    }
  }

  /** The classes of an output; null if it has none. Throws the failure to make the outputs. */
  Tensor of(String output) {
    return switch (failure) {
      case null -> tensors.get(output);
      case RuntimeException e -> throw e;
      case Throwable e -> throw (Error) e;
    };
  }

  /** Gives the heap memory back. Closing twice does nothing. */
  @Override
  public void close() {
    heap.giveBack();
  }
}
