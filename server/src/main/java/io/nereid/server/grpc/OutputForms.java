package io.nereid.server.grpc;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.model.ModelSpec;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.memory.SharedMemoryRegions;
import io.nereid.server.shared.Classification;
import io.nereid.server.shared.ExecutionPace;
import io.nereid.tensor.Tensor;
import java.util.HashMap;
import java.util.Map;

/**
 * The wanted forms of a request's outputs: plain, as classes, or written to shared memory. It owns
 * the slices of shared memory that the request uses, also for inputs, until it is closed.
 */
final class OutputForms implements AutoCloseable {

  private static final String CLASSIFICATION = "classification";

  private final RequestSlices slices;

  /** The outputs that are not plain, by name; mostly empty. */
  private Map<String, Form> forms = Map.of();

  /** The inputs that are yet to be filled, by their slices. */
  private Map<RegionSlice, Tensor> unread = Map.of();

  /**
   * One output.
   *
   * @param classification replaces the tensor; null: none
   * @param slice the place to write it to; null: into the reply
   */
  record Form(Classification classification, RegionSlice slice) {
    static final Form PLAIN = new Form(null, null);
  }

  OutputForms(SharedMemoryRegions regions) {
    slices = new RequestSlices(regions);
  }

  /** The part of a region that parameters name; it stays open as long as this object. */
  RegionSlice slice(MessageParameters said) {
    return slices.open(
        said.string(MessageParameters.SHARED_MEMORY_REGION), offset(said), byteSize(said));
  }

  private static long offset(MessageParameters said) {
    return said.unsigned("shared_memory_offset", 0);
  }

  private static long byteSize(MessageParameters said) {
    long byteSize = said.unsigned("shared_memory_byte_size", -1);
    if (byteSize < 0) {
      throw GrpcStatus.invalidArgument(
          "'shared_memory_byte_size' must be specified along with 'shared_memory_region'");
    }
    return byteSize;
  }

  /** Fills an input from its slice: now, or in {@link #readInputs} if that takes long. */
  void read(RegionSlice slice, Tensor input) {
    if (!slice.isLong()) {
      slice.read(input.segment());
      return;
    }
    if (unread.isEmpty()) {
      unread = new HashMap<>();
    }
    unread.put(slice, input);
  }

  boolean hasUnread() {
    return !unread.isEmpty();
  }

  /** Fills the inputs that take long. */
  void readInputs() {
    unread.forEach((slice, input) -> slice.read(input.segment()));
  }

  /** Adds an output of the model with its parameters; null: none. */
  void add(ModelSpec model, InferRequest request, String output, MessageParameters said) {
    if (said == null) {
      return;
    }
    long classCount = said.unsigned(CLASSIFICATION, 0);
    boolean shared = said.nameSharedMemory();
    if (shared && classCount != 0) {
      throw GrpcStatus.invalidArgument(
          "Output can't set both 'shared_memory_region' and 'classification'");
    }
    if (shared) {
      RegionSlice slice = slice(said);
      slice.lend(request, output);
      put(output, new Form(null, slice));
    } else if (classCount != 0) {
      put(output, new Form(Classification.of(model, output, classCount), null));
    }
  }

  private void put(String output, Form form) {
    if (forms.isEmpty()) {
      forms = new HashMap<>();
    }
    forms.put(output, form);
  }

  /** True if an event loop may bring the outputs of a response into their forms. */
  boolean areShort(InferResponse response) {
    if (forms.isEmpty()) {
      return true;
    }
    long ns = 0;
    for (String name : response.outputNames()) {
      Form form = of(name);
      if (form.slice() != null && form.slice().isLong()) {
        return false;
      }
      Classification wanted = form.classification();
      ns += wanted == null ? 0 : wanted.workNs(response.output(name));
    }
    return ns <= ExecutionPace.INLINE_NS;
  }

  Form of(String output) {
    return forms.getOrDefault(output, Form.PLAIN);
  }

  /** Lets go of the regions. Closing twice does nothing. */
  @Override
  public void close() {
    slices.close();
  }
}
