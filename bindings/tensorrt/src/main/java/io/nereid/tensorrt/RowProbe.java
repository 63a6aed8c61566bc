package io.nereid.tensorrt;

import io.nereid.tensorrt.EngineDescription.EngineTensor;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.bytedeco.tensorrt.nvinfer.Dims64;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/**
 * Finds the outputs whose first dimension is free without being the batch's. An engine alone tells
 * nothing but -1 for both; a context with shapes tells how many rows come out of how many.
 */
final class RowProbe {

  private final IExecutionContext context;
  private final EngineDescription engine;

  private RowProbe(IExecutionContext context, EngineDescription engine) {
    this.context = context;
    this.engine = engine;
  }

  /**
   * The names of those outputs, looked for in a new context, at the largest shapes of the first
   * profile, which is the one that a context begins with. All, where it allows no shapes whose
   * first dimensions are the same, as of ragged inputs.
   */
  static Set<String> ownRows(IExecutionContext context, EngineDescription engine) {
    return new RowProbe(context, engine).ownRows();
  }

  private Set<String> ownRows() {
    long rows = engine.maxBatchSize(engine.profiles().getFirst());
    for (EngineTensor input : engine.inputs()) {
      if (engine.profiles().getFirst().shapes().get(input.name()).min().getFirst() > rows) {
        return engine.outputs().stream().map(EngineTensor::name).collect(Collectors.toSet());
      }
      setShape(input, rows);
    }
    Set<String> own = new HashSet<>();
    for (EngineTensor output : engine.outputs()) {
      try (Dims64 dims = context.getTensorShape(output.name())) {
        if (dims.nbDims() <= 0 || dims.d(0) != rows) {
          own.add(output.name());
        }
      }
    }
    return own;
  }

  private void setShape(EngineTensor input, long rows) {
    List<Long> most = engine.profiles().getFirst().shapes().get(input.name()).max();
    try (Dims64 dims = new Dims64()) {
      dims.nbDims(most.size());
      for (int i = 0; i < most.size(); i++) {
        dims.d(i, i == 0 ? rows : most.get(i));
      }
      if (!context.setInputShape(input.name(), dims)) {
        throw new NereidException(
            StatusCode.INTERNAL,
            "TensorRT does not take " + input.title() + " with the largest shape of profile 0");
      }
    }
  }
}
