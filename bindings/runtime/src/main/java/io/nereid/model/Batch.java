package io.nereid.model;

import io.nereid.tensor.Tensor;
import io.nereid.types.StatusCode;

/**
 * Requests that are executed together. It and its tensors may be used until {@link
 * BackendInstance#execute} returns, from any thread.
 */
public interface Batch {

  /** The number of requests in the batch. */
  int requestCount();

  /**
   * Rows of the batch's tensors: those of all requests together, and the empty ones between them
   * ({@link SequenceBatching.Direct}); 0 for models without a batch dimension.
   */
  long size();

  /** A request by its index, from 0. */
  BatchRequest request(int index);

  /** True if the requests bring this input; only optional ones can be absent. */
  boolean hasInput(String name);

  /**
   * An input of the whole batch: the rows of all requests one after another; for a ragged input,
   * all elements in one dimension. The model's {@link ModelSpec#hiddenInputs} are here, too.
   * Read-only.
   */
  Tensor input(String name);

  /**
   * Does the same as {@link #input(String)}, by position in the {@link ModelContext}'s
   * specification.
   */
  Tensor input(int index);

  /** The shape of an input of the whole batch, wherever its memory lies. */
  long[] inputShape(String name);

  /** True if any request wants this output; one that nobody wants may be left out. */
  boolean wantsOutput(String name);

  /** Memory for an output of the whole batch, to be filled in. Called once per output. */
  Tensor output(String name, long... shape);

  /**
   * Does the same as {@link #output(String, long...)}, by position in the {@link ModelContext}'s
   * specification.
   */
  Tensor output(int index, long... shape);

  /** Memory for a BYTES output, whose encoded size is given. */
  Tensor bytesOutput(String name, long byteSize, long... shape);

  /** Copies {@code values} into an output of the whole batch. */
  default Tensor output(String name, Tensor values) {
    Tensor output =
        values.dataType().isFixedSize()
            ? output(name, values.shape())
            : bytesOutput(name, values.byteSize(), values.shape());
    return output.copyFrom(values);
  }

  /** Fails one request; the others are answered as usual. */
  void fail(int requestIndex, StatusCode code, String message);
}
