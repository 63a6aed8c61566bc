package io.nereid.jmh;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.Shapes;
import java.lang.foreign.Arena;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Gives benchmarks of models in this process a runtime for each trial, and says how long they run.
 * JMH inherits these settings, and a subclass may say otherwise.
 *
 * {@snippet class="io.nereid.jmh.EchoBenchmark" region="benchmark"}
 */
@State(Scope.Benchmark)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public abstract class RuntimeBenchmark {

  /** The runtime of the trial. */
  protected Nereid nereid;

  /** Made by JMH. */
  protected RuntimeBenchmark() {}

  /** Makes the runtime: without a repository unless a subclass opens one. */
  protected Nereid create() {
    return Nereid.create();
  }

  /** Loads what the benchmark needs into {@link #nereid}, and prepares its inputs. */
  protected abstract void open() throws Exception;

  /** Called by JMH before a trial. */
  @Setup
  public final void start() throws Exception {
    nereid = create();
    open();
  }

  /** Called by JMH after a trial. */
  @TearDown
  public final void stop() {
    nereid.close();
  }

  /** A tensor of FP32 in native memory, which requests use in place. */
  protected static Tensor nativeInput(long... shape) {
    return Tensor.of(
        DataType.FP32, Arena.ofAuto().allocate(JAVA_FLOAT, Shapes.elementCount(shape)), shape);
  }

  /** Sends a request with one input and waits; reads a value of the output, which is FP32. */
  protected static float infer(Model model, String inputName, Tensor input, String outputName) {
    try (var request = model.newRequest().input(inputName, input);
        var response = request.infer()) {
      return response.output(outputName).floatAt(0);
    }
  }
}
