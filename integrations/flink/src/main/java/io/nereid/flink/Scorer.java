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
   * @param outputs the names of those that are wanted
   * @param reader makes the result of them, in the same order, whose memory it must not keep. It is
   *     called by the thread that has the response.
   */
  <T> CompletableFuture<T> score(
      List<TensorValue> inputs, List<String> outputs, Function<List<TensorValue>, T> reader);

  /** Gives connections and models back. No request is on its way. */
  @Override
  void close();
}
