package io.nereid;

import static io.nereid.internal.ffi.RequestLayout.TENSOR_DATA;
import static io.nereid.internal.ffi.RequestLayout.TENSOR_SIZE;

import io.nereid.backend.Batch;
import io.nereid.backend.BatchRequest;
import io.nereid.internal.ffi.Memory;
import io.nereid.internal.ffi.RequestCalls;
import io.nereid.internal.ffi.RequestLayout;
import io.nereid.internal.request.Diagnostics;
import io.nereid.internal.request.LentMemory;
import io.nereid.internal.request.Slot;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.tensor.TensorOwner;
import io.nereid.types.DataType;
import io.nereid.types.StatusCode;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** An {@code nrd_batch} during one call of execute. */
final class JavaBatch extends TensorOwner implements Batch {

  private final JavaBackends.Instance instance;
  private final long batch;
  private final int requestCount;

  /** What the requests' next responses consist of, each made when needed; null: not decoupled. */
  private final ResponseDraft[] drafts;

  /** What the batch's segments are parts of; null: not in the checked mode. */
  private final LentMemory lent = Diagnostics.CHECKED ? new LentMemory() : null;

  private volatile boolean ended;

  JavaBatch(JavaBackends.Instance instance, long batch) {
    this.instance = instance;
    this.batch = batch;
    requestCount = Memory.readInt(batch + RequestLayout.BATCH_REQUEST_COUNT);
    drafts = signature().spec().decoupled() ? new ResponseDraft[requestCount] : null;
  }

  /** From now on nothing can be done with it. */
  void end() {
    ended = true;
    if (Diagnostics.CHECKED) {
      takeBack();
    }
  }

  /** Called by the core, through which nothing may be thrown. */
  private void takeBack() {
    try {
      lent.takeBack();
    } catch (IllegalStateException e) {
      RuntimeUpcalls.logQuietly("a segment of a batch is still used", e);
    }
  }

  /** Lets those who wait for the requests know what the backend threw. */
  void failed(Throwable failure) {
    for (int i = 0; i < requestCount; i++) {
      Slot slot = slot(i);
      if (slot != null) {
        slot.failure(failure);
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
    return lend(instance.runtime().memory());
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
    return Memory.readLong(batch + RequestLayout.BATCH_BATCH_SIZE);
  }

  @Override
  public BatchRequest request(int index) {
    checkOpen();
    return new Request(Objects.checkIndex(index, requestCount));
  }

  @Override
  public boolean hasInput(String name) {
    return isSelected(inputAddress(signature().inputIndex(name)));
  }

  @Override
  public Tensor input(String name) {
    return input(signature().inputIndex(name));
  }

  @Override
  public Tensor input(int index) {
    Objects.checkIndex(index, signature().spec().inputs().size());
    long address = inputAddress(index);
    // One request that is the whole batch is not copied: its input may be memory of its sender's.
    Slot sender = requestCount == 1 ? slot(0) : null;
    return inputTensor(index, address, sender);
  }

  private long inputAddress(int index) {
    checkOpen();
    long inputs = Memory.readLong(batch + RequestLayout.BATCH_INPUTS);
    if (inputs == 0) {
      throw new IllegalStateException(
          "the backend gathers inputs itself: it has those of each request, not of the batch");
    }
    return inputs + index * TENSOR_SIZE;
  }

  private Tensor inputTensor(int index, long address, Slot sender) {
    if (!isSelected(address)) {
      throw Signature.invalid(
          "input '" + signature().input(index).name() + "' is not in the batch");
    }
    if (isOnDevice(address)) {
      throw new IllegalStateException(
          "input '" + signature().input(index).name() + "' is on a GPU: see deviceInput");
    }
    long data = Memory.readLong(address + TENSOR_DATA);
    DataType type = DataType.ofCode(Memory.readInt(address + RequestLayout.TENSOR_DATATYPE));
    long byteSize = Memory.readLong(address + RequestLayout.TENSOR_BYTE_SIZE);
    long[] shape = RequestLayout.shape(address);
    MemorySegment borrowed = sender == null ? null : sender.borrowed(index);
    // The sender's own segment keeps that memory alive even when a backend keeps it too long.
    MemorySegment segment =
        borrowed != null && borrowed.address() == data
            ? borrowed.asReadOnly()
            : lend(instance.runtime().readOnlyMemory()).asSlice(data, byteSize);
    return tensor(type, shape, segment);
  }

  @Override
  public boolean wantsOutput(String name) {
    checkOpen();
    long outputs = Memory.readLong(batch + RequestLayout.BATCH_OUTPUTS);
    long address = outputs + signature().outputIndex(name) * TENSOR_SIZE;
    return isSelected(address);
  }

  private static boolean isOnDevice(long address) {
    int flags = Memory.readInt(address + RequestLayout.TENSOR_FLAGS);
    return (flags & RequestLayout.TENSOR_DEVICE) != 0;
  }

  /** Whether the input is given, or the output wanted, that lies at {@code address}. */
  private static boolean isSelected(long address) {
    int flags = Memory.readInt(address + RequestLayout.TENSOR_FLAGS);
    return (flags & RequestLayout.TENSOR_SELECTED) != 0;
  }

  @Override
  public Tensor output(String name, long... shape) {
    return output(signature().outputIndex(name), shape);
  }

  @Override
  public Tensor output(int index, long... shape) {
    return allocate(this, BatchScratch.WHOLE_BATCH, index, fixedByteSize(index, shape), shape);
  }

  @Override
  public Tensor bytesOutput(String name, long byteSize, long... shape) {
    int index = signature().outputIndex(name);
    return allocate(this, BatchScratch.WHOLE_BATCH, index, byteSize, shape);
  }

  private long fixedByteSize(int index, long[] shape) {
    TensorSpec output = signature().output(index);
    if (!output.dataType().isFixedSize()) {
      throw new IllegalStateException(
          "output '" + output.name() + "' is of BYTES: use bytesOutput, or give the values");
    }
    return Signature.byteSize("output '" + output.name() + "'", output.dataType(), shape);
  }

  private Tensor allocate(TensorOwner owner, int request, int index, long byteSize, long[] shape) {
    checkOpen();
    TensorSpec output = signature().output(index);
    Signature.checkRank("output '" + output.name() + "'", shape);
    DataType type = output.dataType();
    long data = instance.scratch().output(batch, request, index, type, shape, byteSize);
    return owner == this
        ? tensor(type, shape, data, byteSize)
        : ((ResponseDraft) owner).output(type, shape, data, byteSize);
  }

  @Override
  public void fail(int requestIndex, StatusCode code, String message) {
    checkOpen();
    Objects.checkIndex(requestIndex, requestCount);
    if (code == StatusCode.OK) {
      throw new IllegalArgumentException("OK is not a failure");
    }
    BatchScratch.fail(batch, requestIndex, code, message);
  }

  private Signature signature() {
    return instance.signature();
  }

  /** The {@code nrd_request} of one request. */
  private long record(int request) {
    checkOpen();
    long records = Memory.readLong(batch + RequestLayout.BATCH_REQUESTS);
    return Memory.readLong(records + (long) request * Long.BYTES);
  }

  private Slot slot(int request) {
    return instance
        .runtime()
        .slots()
        .slot((int) Memory.readLong(record(request) + RequestLayout.REQUEST_TAG));
  }

  private long rowsOf(int request) {
    if (signature().spec().maxBatchSize() == 0) {
      return 0;
    }
    long record = record(request);
    for (int i = 0; i < signature().spec().inputs().size(); i++) {
      long input = RequestLayout.input(record, i);
      if (isSelected(input)) {
        return Memory.readLong(input + RequestLayout.TENSOR_SHAPE);
      }
    }
    return 0;
  }

  @Override
  public String toString() {
    return "Batch[requests=" + requestCount + "]";
  }

  private final class Request implements BatchRequest {

    private final int index;

    Request(int index) {
      this.index = index;
    }

    @Override
    public Optional<String> id() {
      return Optional.ofNullable(slot(index).requestId());
    }

    @Override
    public Map<String, Object> parameters() {
      Map<String, Object> parameters = slot(index).parameters();
      return parameters == null ? Map.of() : Map.copyOf(parameters);
    }

    @Override
    public long firstRow() {
      long row = 0;
      for (int i = 0; i < index; i++) {
        row += rowsOf(i);
      }
      return row;
    }

    @Override
    public long rows() {
      return rowsOf(index);
    }

    @Override
    public boolean isCancelled() {
      return RequestCalls.isCancelled(record(index)) != 0;
    }

    @Override
    public boolean hasInput(String name) {
      return isSelected(address(name));
    }

    @Override
    public Tensor input(String name) {
      return inputTensor(signature().inputIndex(name), address(name), slot(index));
    }

    @Override
    public long[] inputShape(String name) {
      long address = address(name);
      if (!isSelected(address)) {
        throw Signature.invalid("input '" + name + "' is not in the request");
      }
      return RequestLayout.shape(address);
    }

    @Override
    public Optional<DeviceMemory> deviceInput(String name) {
      long address = address(name);
      return isSelected(address) && isOnDevice(address)
          ? Optional.of(
              new DeviceMemory(
                  Memory.readInt(address + RequestLayout.TENSOR_DEVICE_NUMBER),
                  Memory.readLong(address + TENSOR_DATA),
                  Memory.readLong(address + RequestLayout.TENSOR_BYTE_SIZE)))
          : Optional.empty();
    }

    @Override
    public boolean wantsOutput(String name) {
      return isSelected(outputAddress(name));
    }

    @Override
    public boolean wantsOnDevice(String name) {
      long address = outputAddress(name);
      return isSelected(address) && isOnDevice(address);
    }

    @Override
    public DeviceMemory deviceOutput(String name, long... shape) {
      if (!wantsOnDevice(name)) {
        throw new IllegalStateException("output '" + name + "' is not wanted on a GPU: see output");
      }
      int index = signature().outputIndex(name);
      Tensor described = allocate(owner(), this.index, index, fixedByteSize(index, shape), shape);
      int device = Memory.readInt(outputAddress(name) + RequestLayout.TENSOR_DEVICE_NUMBER);
      return new DeviceMemory(device, addressOf(described), described.byteSize());
    }

    private long outputAddress(String name) {
      return RequestLayout.output(record(index), signature().outputIndex(name));
    }

    private long address(String name) {
      return RequestLayout.input(record(index), signature().inputIndex(name));
    }

    @Override
    public Tensor output(String name, long... shape) {
      int output = signature().outputIndex(name);
      if (isOnDevice(RequestLayout.output(record(index), output))) {
        throw new IllegalStateException(
            "output '" + name + "' is wanted on a GPU: see deviceOutput");
      }
      return allocate(owner(), index, output, fixedByteSize(output, shape), shape);
    }

    @Override
    public Tensor bytesOutput(String name, long byteSize, long... shape) {
      return allocate(owner(), index, signature().outputIndex(name), byteSize, shape);
    }

    private TensorOwner owner() {
      if (drafts == null) {
        return JavaBatch.this;
      }
      if (drafts[index] == null) {
        drafts[index] = new ResponseDraft(JavaBatch.this);
      }
      return drafts[index];
    }

    @Override
    public void respond() {
      checkOpen();
      if (drafts != null && drafts[index] != null) {
        drafts[index].send();
        drafts[index] = null;
      }
      BatchScratch.respond(batch, index);
    }

    @Override
    public String toString() {
      return "BatchRequest[" + index + ", rows=" + rows() + "]";
    }
  }
}
