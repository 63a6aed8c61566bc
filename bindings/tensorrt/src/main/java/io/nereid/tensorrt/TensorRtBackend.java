package io.nereid.tensorrt;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import io.nereid.backend.Backend;
import io.nereid.backend.BackendInstance;
import io.nereid.backend.ModelContext;
import java.util.List;

/** The backend {@code tensorrt}: executes plans on GPUs. */
public final class TensorRtBackend implements Backend {

  /** What models call it. */
  public static final String NAME = "tensorrt";

  /** For {@link java.util.ServiceLoader}; nothing is loaded here. */
  public TensorRtBackend() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<Integer> devices() {
    return TensorRtLibrary.load().cuda().devices().stream().map(CudaDevice::number).toList();
  }

  @Override
  public BackendInstance open(ModelContext context) {
    throw new NereidException(
        StatusCode.UNIMPLEMENTED, "this build loads TensorRT but does not execute plans yet");
  }
}
