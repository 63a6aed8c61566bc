package io.nereid.internal.request;

import io.nereid.internal.ffi.PoolMemory;
import io.nereid.internal.ffi.RequestRecord;
import io.nereid.internal.ffi.TensorRecord;
import io.nereid.model.ModelSpec;
import io.nereid.model.SentRequest;
import io.nereid.model.SequenceId;
import java.util.Map;

/**
 * Shows the request of a slot to an observer. The slot's memory stays the slot's: the observer may
 * read it from {@code begin} to {@code end}.
 */
record ObservedRequest(
    ModelSpec model, PoolMemory memory, RequestRecord record, RequestContent content)
    implements SentRequest {

  @Override
  public String id() {
    return content.id() == null ? "" : content.id();
  }

  @Override
  public Map<String, Object> parameters() {
    return content.parameters();
  }

  @Override
  public long deadlineNs() {
    return content.deadlineNs();
  }

  @Override
  public long timeoutNs() {
    return record.timeoutNs();
  }

  @Override
  public int priority() {
    return record.priority();
  }

  @Override
  public SequenceId sequence() {
    return content.isOfSequence() ? content.sequence().id() : SequenceId.NONE;
  }

  @Override
  public boolean startsSequence() {
    return record.isMarked(RequestRecord.SEQUENCE_START);
  }

  @Override
  public boolean endsSequence() {
    return record.isMarked(RequestRecord.SEQUENCE_END);
  }

  @Override
  public Content input(int index) {
    TensorRecord input = record.input(index);
    return input.isSelected() ? shown(input) : null;
  }

  @Override
  public Content output(int index) {
    TensorRecord output = record.output(index);
    return output.isThere() ? shown(output) : null;
  }

  @Override
  public boolean wantsOutput(int index) {
    return record.output(index).isSelected();
  }

  private Content shown(TensorRecord tensor) {
    return new Content(
        tensor.dataType(),
        tensor.shape(),
        tensor.isOnDevice() ? null : memory.readOnly().asSlice(tensor.data(), tensor.byteSize()));
  }
}
