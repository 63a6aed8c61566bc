package io.nereid.internal.backend;

import io.nereid.internal.ffi.BatchRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.LentMemory;
import io.nereid.internal.request.RequestContent;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.SlotTable;
import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.model.TensorSpec;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** The batch that a backend sees during one call of execute, over the record of its instance. */
final class JavaBatch extends TensorOwner implements Batch {

  private final BatchRecord record;
  private final Signature signature;
  private final SlotTable slots;
  private final int requestCount;

  /**
   * The drafts of the requests' next responses, each made when needed; null: the model is not
   * decoupled.
   */
  private final ResponseDraft[] drafts;

  /** The memory whose segments the batch has lent; null: not in the checked mode. */
  private final LentMemory lent = Diagnostics.CHECKED ? new LentMemory() : null;

  private volatile boolean ended;

  JavaBatch(BatchRecord record, Signature signature, SlotTable slots) {
    this.record = record;
    this.signature = signature;
    this.slots = slots;
    requestCount = record.requestCount();
    drafts = signature.spec().decoupled() ? new ResponseDraft[requestCount] : null;
  }

  /** Makes every later use of the batch fail. */
  void end() {
    ended = true;
    if (Diagnostics.CHECKED) {
      takeBack();
    }
  }

  /** The core calls this, so nothing may be thrown. */
  private void takeBack() {
    try {
      lent.takeBack();
    } catch (IllegalStateException e) {
      CoreLog.logQuietly("a segment of a batch is still used", e);
    }
  }

  /** Fails the requests with the exception that the backend threw. */
  void failed(Throwable failure) {
    for (int i = 0; i < requestCount; i++) {
      RequestContent sender = sender(i);
      if (sender != null) {
        sender.thrown(failure);
      }
    }
  }

  @Override
  protected void checkOpen() {
    if (ended) {
      throw new IllegalStateException("the batch was executed; it can be used during execute only");
    }
  }

  @Override
  protected MemorySegment memory() {
    return lend(slots.memory().writable());
  }

  private MemorySegment lend(MemorySegment memory) {
    return Diagnostics.CHECKED ? lent.as(memory) : memory;
  }

  @Override
  public int requestCount() {
    return requestCount;
  }

  @Override
  public long size() {
    checkOpen();
    return record.size();
  }

  @Override
  public BatchRequest request(int index) {
    checkOpen();
    return new JavaBatchRequest(this, record, signature, Objects.checkIndex(index, requestCount));
  }

  @Override
  public boolean hasInput(String name) {
    return batchInput(signature.inputIndex(name)).isSelected();
  }

  @Override
  public Tensor input(String name) {
    return input(signature.inputIndex(name));
  }

  @Override
  public Tensor input(int index) {
    Objects.checkIndex(index, signature.spec().inputs().size());
    TensorRecord input = batchInput(index);
    // One request that is the whole batch is not copied: its input may be memory of its sender's.
    boolean own = requestCount == 1 && index < record.requestInputCount(0);
    return inputTensor(index, input, own ? sender(0) : null);
  }

  private TensorRecord batchInput(int index) {
    checkOpen();
    if (!record.hasInputs()) {
      throw new IllegalStateException(
          "the backend gathers inputs itself: it has those of each request, not of the batch");
    }
    return record.input(index);
  }

  Tensor inputTensor(int index, TensorRecord input, RequestContent sender) {
    if (!input.isSelected()) {
      throw Signature.invalid("input '" + signature.input(index).name() + "' is not in the batch");
    }
    if (input.isOnDevice()) {
      throw new IllegalStateException(
          "input '" + signature.input(index).name() + "' is on a GPU: see deviceInput");
    }
    MemorySegment borrowed = sender == null ? null : sender.borrowed(index);
    // The sender's segment keeps that memory alive for a backend that holds on to it too long.
    return borrowed != null && borrowed.address() == input.data()
        ? tensor(input.dataType(), input.shape(), borrowed.asReadOnly())
        : hostTensor(input);
  }

  /** The tensor of an input that lies in the processor's memory. */
  Tensor hostTensor(TensorRecord input) {
    MemorySegment memory = lend(slots.memory().readOnly());
    return tensor(input.dataType(), input.shape(), memory.asSlice(input.data(), input.byteSize()));
  }

  @Override
  public long[] inputShape(String name) {
    TensorRecord input = batchInput(signature.inputIndex(name));
    if (!input.isSelected()) {
      throw Signature.invalid("input '" + name + "' is not in the batch");
    }
    return input.shape();
  }

  @Override
  public boolean wantsOutput(String name) {
    checkOpen();
    return record.output(signature.outputIndex(name)).isSelected();
  }

  @Override
  public Tensor output(String name, long... shape) {
    return output(signature.outputIndex(name), shape);
  }

  @Override
  public Tensor output(int index, long... shape) {
    return allocate(BatchRecord.WHOLE_BATCH, index, fixedByteSize(index, shape), shape);
  }

  @Override
  public Tensor bytesOutput(String name, long byteSize, long... shape) {
    int index = signature.outputIndex(name);
    return allocate(BatchRecord.WHOLE_BATCH, index, byteSize, shape);
  }

  long fixedByteSize(int index, long[] shape) {
    TensorSpec output = signature.output(index);
    if (!output.dataType().isFixedSize()) {
      throw new IllegalStateException(
          "output '" + output.name() + "' is of BYTES: use bytesOutput, or give the values");
    }
    return Signature.byteSize("output '" + output.name() + "'", output.dataType(), shape);
  }

  Tensor allocate(int request, int index, long byteSize, long[] shape) {
    DataType type = signature.output(index).dataType();
    long data = place(request, index, byteSize, shape);
    if (drafts == null || request == BatchRecord.WHOLE_BATCH) {
      return tensor(type, shape, data, byteSize);
    }
    if (drafts[request] == null) {
      drafts[request] = new ResponseDraft(this);
    }
    return drafts[request].output(type, shape, data, byteSize);
  }

  /** Ends the backend's access to the outputs that were made for a request. */
  void sent(int request) {
    if (drafts != null && drafts[request] != null) {
      drafts[request].sent();
      drafts[request] = null;
    }
  }

  /** Makes memory for an output; returns where it is. */
  long place(int request, int index, long byteSize, long[] shape) {
    checkOpen();
    TensorSpec output = signature.output(index);
    Signature.checkRank("output '" + output.name() + "'", shape);
    return record.allocate(request, index, output.dataType(), shape, byteSize);
  }

  @Override
  public void fail(int requestIndex, StatusCode code, String message) {
    checkOpen();
    Objects.checkIndex(requestIndex, requestCount);
    checkFailure(code);
    record.fail(requestIndex, code, message);
  }

  static void checkFailure(StatusCode code) {
    if (code == StatusCode.OK) {
      throw new IllegalArgumentException("OK is not a failure");
    }
  }

  /** The inputs and settings that the sender of a request gave; null: they are not known. */
  RequestContent sender(int request) {
    checkOpen();
    return slots.sender(record.tag(request));
  }

  long rowsOf(int request) {
    checkOpen();
    return signature.spec().maxBatchSize() == 0 ? 0 : record.rows(request);
  }

  @Override
  public String toString() {
    return "Batch[requests=" + requestCount + "]";
  }
}
