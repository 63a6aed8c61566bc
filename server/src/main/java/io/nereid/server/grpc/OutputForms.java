package io.nereid.server.grpc;

import io.nereid.InferRequest;
import io.nereid.model.ModelSpec;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.memory.SharedMemoryRegions;
import io.nereid.server.shared.Classification;
import java.util.HashMap;
import java.util.Map;

/** In which form a request wants its outputs, and the shared memory that it uses. */
final class OutputForms implements AutoCloseable {

  private static final String CLASSIFICATION = "classification";

  private final RequestSlices slices;

  /** By the output's name; there is mostly none. */
  private Map<String, Form> forms = Map.of();

  /**
   * One output.
   *
   * @param classification what it is replaced by; null: it is not
   * @param slice where it is to be written; null: it goes into the reply
   */
  record Form(Classification classification, RegionSlice slice) {
    static final Form PLAIN = new Form(null, null);
  }

  OutputForms(SharedMemoryRegions regions) {
    slices = new RequestSlices(regions);
  }

  /** The part of a region that parameters name; it stays open as long as this. */
  RegionSlice slice(InferParameters said) {
    return slices.open(
        said.string(IncomingInput.SHARED_MEMORY_REGION), offset(said), byteSize(said));
  }

  private static long offset(InferParameters said) {
    return said.unsigned("shared_memory_offset", 0);
  }

  private static long byteSize(InferParameters said) {
    long byteSize = said.unsigned("shared_memory_byte_size", -1);
    if (byteSize < 0) {
      throw GrpcStatus.invalidArgument(
          "'shared_memory_byte_size' must be specified along with 'shared_memory_region'");
    }
    return byteSize;
  }

  /** Notes what is said of an output that the model has. */
  void add(ModelSpec model, InferRequest request, InferMessage.RequestedOutput output) {
    InferParameters said = output.parameters();
    if (said == null) {
      return;
    }
    long classCount = said.unsigned(CLASSIFICATION, 0);
    boolean shared = said.has(IncomingInput.SHARED_MEMORY_REGION);
    if (shared && classCount != 0) {
      throw GrpcStatus.invalidArgument(
          "Output can't set both 'shared_memory_region' and 'classification'");
    }
    if (shared) {
      RegionSlice slice = slice(said);
      slice.lend(request, output.name());
      put(output.name(), new Form(null, slice));
    } else if (classCount != 0) {
      put(output.name(), new Form(Classification.of(model, output.name(), classCount), null));
    }
  }

  private void put(String output, Form form) {
    if (forms.isEmpty()) {
      forms = new HashMap<>();
    }
    forms.put(output, form);
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
