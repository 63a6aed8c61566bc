package io.nereid.model;

import io.nereid.types.DataType;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/**
 * A request as an observer sees it, from when it is sent until {@link
 * RequestObserver.Observation#end} has returned, after which its memory is reused. Only the threads
 * that call the observer may read it.
 */
public interface SentRequest {

  /** The model that it is sent to. */
  ModelSpec model();

  /** The id that the sender gave; empty: none. */
  String id();

  /** The sender's parameters. */
  Map<String, Object> parameters();

  /** The request's deadline by {@link System#nanoTime}; 0: none. */
  long deadlineNs();

  /** The time that the request may wait for its turn; 0: as long as the model lets it. */
  long timeoutNs();

  /** The priority: 1 is the most urgent; 0: the model's default. */
  int priority();

  /** The sequence that the request is part of, or {@link SequenceId#NONE}. */
  SequenceId sequence();

  /** True if it is the first of its sequence. */
  boolean startsSequence();

  /** True if it is the last of its sequence. */
  boolean endsSequence();

  /** An input by its position in the model's specification; null: it was not given. */
  Content input(int index);

  /**
   * An output by its position in the model's specification; null: the request is not answered yet
   * or failed, or its model is decoupled.
   */
  Content output(int index);

  /** True if the sender named this output among those that it wants. */
  boolean wantsOutput(int index);

  /**
   * The content of a tensor.
   *
   * @param dataType the type of its elements
   * @param shape its dimensions
   * @param memory its elements, to be read; null: they lie on a GPU
   */
  record Content(DataType dataType, long[] shape, MemorySegment memory) {}
}
