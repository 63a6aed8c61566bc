package io.nereid.internal.backend;

import io.nereid.internal.Checks;
import io.nereid.internal.ffi.BatchRecord;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.internal.request.RequestContent;
import io.nereid.internal.request.Signature;
import io.nereid.model.BatchRequest;
import io.nereid.model.SequenceBatching.State;
import io.nereid.model.SequenceId;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** One request of a {@link JavaBatch}. */
final class JavaBatchRequest implements BatchRequest {

  private final JavaBatch batch;
  private final BatchRecord record;
  private final Signature signature;
  private final int index;

  JavaBatchRequest(JavaBatch batch, BatchRecord record, Signature signature, int index) {
    this.batch = batch;
    this.record = record;
    this.signature = signature;
    this.index = index;
  }

  @Override
  public Optional<String> id() {
    RequestContent sender = batch.sender(index);
    return sender == null
        ? Optional.of(record.id(index)).filter(id -> !id.isEmpty())
        : Optional.ofNullable(sender.id());
  }

  @Override
  public Map<String, Object> parameters() {
    RequestContent sender = batch.sender(index);
    return sender == null ? record.values(index) : sender.parameters();
  }

  @Override
  public long firstRow() {
    batch.checkOpen();
    return signature.spec().maxBatchSize() == 0 ? 0 : record.firstRow(index);
  }

  @Override
  public long rows() {
    return batch.rowsOf(index);
  }

  @Override
  public Optional<SequenceId> sequence() {
    batch.checkOpen();
    return record.sequence(index);
  }

  @Override
  public boolean isSequenceStart() {
    batch.checkOpen();
    return record.isMarked(index, RequestRecord.SEQUENCE_START);
  }

  @Override
  public boolean isSequenceEnd() {
    batch.checkOpen();
    return record.isMarked(index, RequestRecord.SEQUENCE_END);
  }

  @Override
  public boolean isCancelled() {
    batch.checkOpen();
    return record.isCancelled(index);
  }

  @Override
  public boolean hasInput(String name) {
    return ownInput(name).isSelected();
  }

  @Override
  public Tensor input(String name) {
    return batch.inputTensor(signature.inputIndex(name), ownInput(name), batch.sender(index));
  }

  @Override
  public long[] inputShape(String name) {
    TensorRecord input = ownInput(name);
    if (!input.isSelected()) {
      throw Signature.invalid("input '" + name + "' is not in the request");
    }
    return input.shape();
  }

  @Override
  public Optional<DeviceMemory> deviceInput(String name) {
    TensorRecord input = ownInput(name);
    return input.isSelected() && input.isOnDevice()
        ? Optional.of(input.deviceMemory())
        : Optional.empty();
  }

  private TensorRecord ownInput(String name) {
    batch.checkOpen();
    int input = signature.inputIndex(name);
    if (input >= record.requestInputCount(index)) {
      throw new IllegalStateException(
          "input '" + name + "' is made for the whole batch: no request brings it");
    }
    return record.input(index, input);
  }

  /** True if the output is a state of sequences, which no response contains. */
  private boolean isKept(int output) {
    batch.checkOpen();
    return output >= record.requestOutputCount(index);
  }

  private TensorRecord ownOutput(int output) {
    if (isKept(output)) {
      throw new IllegalStateException(
          "output '" + signature.output(output).name() + "' is kept: make it for the batch");
    }
    return record.output(index, output);
  }

  @Override
  public boolean wantsOutput(String name) {
    int output = signature.outputIndex(name);
    return !isKept(output) && ownOutput(output).isSelected();
  }

  @Override
  public boolean wantsOnDevice(String name) {
    int output = signature.outputIndex(name);
    return !isKept(output) && ownOutput(output).isSelected() && ownOutput(output).isOnDevice();
  }

  @Override
  public DeviceMemory deviceOutput(String name, long... shape) {
    if (!wantsOnDevice(name)) {
      throw new IllegalStateException("output '" + name + "' is not wanted on a GPU: see output");
    }
    int output = signature.outputIndex(name);
    long byteSize = batch.fixedByteSize(output, shape);
    long address = batch.place(index, output, byteSize, shape);
    return new DeviceMemory(ownOutput(output).deviceNumber(), address, byteSize);
  }

  @Override
  public Tensor output(String name, long... shape) {
    int output = signature.outputIndex(name);
    if (ownOutput(output).isOnDevice()) {
      throw new IllegalStateException("output '" + name + "' is wanted on a GPU: see deviceOutput");
    }
    return batch.allocate(index, output, batch.fixedByteSize(output, shape), shape);
  }

  @Override
  public Tensor bytesOutput(String name, long byteSize, long... shape) {
    return batch.allocate(index, signature.outputIndex(name), byteSize, shape);
  }

  @Override
  public Optional<DeviceMemory> keptState(int state) {
    batch.checkOpen();
    synchronized (record) {
      TensorRecord found = record.state(index, state);
      return found.isOnDevice() ? Optional.of(found.deviceMemory()) : Optional.empty();
    }
  }

  @Override
  public Tensor initialState(int state) {
    batch.checkOpen();
    synchronized (record) {
      TensorRecord found = record.state(index, state);
      if (found.isOnDevice()) {
        throw new IllegalStateException("the request is not the first of its sequence");
      }
      return batch.hostTensor(found);
    }
  }

  @Override
  public void keepState(int state, DeviceMemory memory, long... shape) {
    batch.checkOpen();
    List<State> states = signature.spec().sequenceBatching().orElseThrow().states();
    State kept = states.get(Objects.checkIndex(state, states.size()));
    Signature.checkRank("state '" + kept.output() + "'", shape);
    record.keep(index, state, kept.dataType(), shape, memory);
  }

  @Override
  public void reschedule() {
    batch.checkOpen();
    record.reschedule(index);
  }

  @Override
  public void respond() {
    batch.checkOpen();
    batch.sent(index);
    record.respond(index);
  }

  @Override
  public void respondError(StatusCode code, String message) {
    batch.checkOpen();
    JavaBatch.checkFailure(code);
    Checks.notNull(message, "message");
    batch.sent(index);
    record.respondError(index, code, message);
  }

  @Override
  public String toString() {
    return "BatchRequest[" + index + ", rows=" + rows() + "]";
  }
}
