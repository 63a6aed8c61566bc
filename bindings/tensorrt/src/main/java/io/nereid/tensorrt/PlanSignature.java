package io.nereid.tensorrt;

import io.nereid.model.ModelSignature;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import org.bytedeco.tensorrt.global.nvinfer.ExecutionContextAllocationStrategy;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IExecutionContext;

/**
 * Reads from an engine the inputs, outputs and largest batch that a model has by itself if it
 * serves that engine.
 */
public final class PlanSignature {

  private PlanSignature() {}

  /**
   * The signature with which the backend completes the configuration of a model.
   *
   * @param model for messages
   * @throws NereidException when no request can carry one of the tensors
   */
  public static ModelSignature of(String model, ICudaEngine engine) {
    return new EngineSignature(model, EngineReader.read(engine, () -> context(engine))).signature();
  }

  private static IExecutionContext context(ICudaEngine engine) {
    IExecutionContext context =
        engine.createExecutionContext(ExecutionContextAllocationStrategy.kUSER_MANAGED);
    if (context == null || context.isNull()) {
      throw new NereidException(
          StatusCode.INTERNAL, "TensorRT cannot make an execution context: its log says why");
    }
    return context;
  }
}
