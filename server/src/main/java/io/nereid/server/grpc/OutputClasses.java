package io.nereid.server.grpc;

import io.nereid.InferResponse;
import io.nereid.server.shared.Classification;
import io.nereid.server.shared.HeapBudget;
import io.nereid.server.shared.HeapShare;
import io.nereid.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * The classes that replace outputs of a response, when there are so many that they hold up an event
 * loop: one of the connection's tasks makes them, and the loop reads and closes them afterwards.
 * They count as heap memory until they are closed.
 */
final class OutputClasses implements AutoCloseable {

  /** Keeps a carrier of virtual threads free, since a million classes take most of a second. */
  private static final Semaphore TURNS =
      new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() - 1), true);

  private final HeapShare heap = new HeapShare(HeapBudget.ofThisProcess());
  private final Map<String, Tensor> tensors = new HashMap<>();
  private Throwable failure; // null: there is a tensor for each output that wants classes

  /** Makes the classes, when there is a turn for that; a failure is kept. */
  OutputClasses(InferResponse response, OutputForms forms) {
    TURNS.acquireUninterruptibly();
    try {
      for (String name : response.outputNames()) {
        Classification wanted = forms.of(name).classification();
        if (wanted != null) {
          tensors.put(name, wanted.classify(response.output(name), heap));
        }
      }
    } catch (RuntimeException | Error e) { // the client is told
      failure = e;
    } finally {
      TURNS.release();
    }
  }

  /** The classes of an output that wants some; throws the failure to make them. */
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
