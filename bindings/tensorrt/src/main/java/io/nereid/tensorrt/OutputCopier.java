package io.nereid.tensorrt;

import io.nereid.model.Batch;
import io.nereid.model.BatchRequest;
import io.nereid.tensor.DeviceMemory;
import io.nereid.tensor.Tensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.List;

/**
 * Copies an execution's outputs to the requests: into one tensor of the batch in the runtime's
 * pool, or, if a request wants the output on the GPU, to each request separately.
 */
record OutputCopier(Bindings bindings, CudaStream stream) {

  /** Enqueues all copies but those of {@link #copyFromHost}. */
  void copy(Batch batch, long[][] outputShapes) {
    copy(batch, outputShapes, false);
  }

  /**
   * Copies outputs that TensorRT writes into the processor's memory, after the execution has
   * finished.
   */
  void copyFromHost(Batch batch, long[][] outputShapes) {
    copy(batch, outputShapes, true);
  }

  private void copy(Batch batch, long[][] outputShapes, boolean onHost) {
    List<Binding> outputs = bindings.outputs();
    for (int i = 0; i < outputs.size(); i++) {
      Binding output = outputs.get(i);
      if (output.tensor().onHost() != onHost || !isWanted(batch, output)) {
        continue;
      }
      long[] shape = shape(output, outputShapes[i]);
      boolean onDevice = isWantedOnDevice(batch, output);
      if (onDevice && onHost) {
        bringToDevice(batch, output, shape);
      } else if (onDevice) {
        copyParts(batch, output, shape);
      } else {
        Tensor answer = batch.output(output.specIndex(), shape);
        if (onHost) {
          answer.segment().copyFrom(output.host(answer.byteSize()).asSlice(0, answer.byteSize()));
        } else if (answer.byteSize() > 0) {
          stream.copyOut(answer.segment().address(), output.address(), answer.byteSize());
        }
      }
    }
  }

  /**
   * Copies each request's rows of an output to its place; the whole output if there are no rows.
   */
  private void copyParts(Batch batch, Binding output, long[] shape) {
    long address = output.address();
    for (int i = 0; i < batch.requestCount(); i++) {
      BatchRequest request = batch.request(i);
      long[] part = shape.clone();
      if (batch.size() > 0) {
        part[0] = request.rows();
      }
      if (request.wantsOutput(output.tensor().name())) {
        copyPart(batch, i, output, part, address);
      }
      address += output.byteSize(part);
    }
  }

  private void copyPart(Batch batch, int index, Binding output, long[] shape, long address) {
    BatchRequest request = batch.request(index);
    String name = output.tensor().name();
    if (!request.wantsOnDevice(name)) {
      Tensor answer = request.output(name, shape);
      if (answer.byteSize() > 0) {
        stream.copyOut(answer.segment().address(), address, answer.byteSize());
      }
      return;
    }
    try {
      DeviceMemory target = request.deviceOutput(name, shape);
      if (target.byteSize() > 0) {
        stream.copyWithin(target.address(), address, target.byteSize());
      }
    } catch (NereidException e) {
      if (e.code() != StatusCode.INVALID_ARGUMENT) {
        throw e;
      }
      batch.fail(index, e.code(), e.getMessage()); // the request's room is too small
    }
  }

  /** Models with such outputs take one request at a time. */
  private void bringToDevice(Batch batch, Binding output, long[] shape) {
    DeviceMemory target = batch.request(0).deviceOutput(output.tensor().name(), shape);
    if (target.byteSize() > 0) {
      stream.copyIn(target.address(), output.host(target.byteSize()).address(), target.byteSize());
      stream.finish();
    }
  }

  private static boolean isWantedOnDevice(Batch batch, Binding output) {
    for (int i = 0; i < batch.requestCount(); i++) {
      if (batch.request(i).wantsOnDevice(output.tensor().name())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isWanted(Batch batch, Binding output) {
    return output.isServed() && batch.wantsOutput(output.tensor().name());
  }

  /** The shape of an output, which TensorRT knows by now. */
  static long[] shape(Binding output, long[] known) {
    if (known != null) {
      return known;
    }
    long[] told = output.allocator().shape();
    if (told == null) {
      throw new NereidException(
          StatusCode.INTERNAL, "TensorRT did not tell the shape of " + output.tensor().title());
    }
    return told;
  }
}
