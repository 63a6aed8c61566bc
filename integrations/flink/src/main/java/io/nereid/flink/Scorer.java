package io.nereid.flink;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Executes requests of one model, on a server or in this process. Any thread may call it. */
interface Scorer extends AutoCloseable {

  List<TensorInfo> inputs();

  List<TensorInfo> outputs();

  /**
   * Sends a request.
   *
   * @param outputs the names of the wanted outputs
   * @param reader makes the result from the outputs, in the same order, whose memory it must not
   *     keep. The response's thread calls it.
   */
  <T> CompletableFuture<T> score(
      List<TensorValue> inputs, List<String> outputs, Function<List<TensorValue>, T> reader);

  /** Closes connections and models, when no request is under way. */
  @Override
  void close();
}
