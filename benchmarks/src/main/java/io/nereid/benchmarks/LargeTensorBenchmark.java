package io.nereid.benchmarks;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.nereid.Model;
import io.nereid.benchmarks.fixtures.BenchmarkModels;
import io.nereid.jmh.RuntimeBenchmark;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;

/**
 * An image-sized FP32 tensor of 3×224×224 (602 112 bytes) through identity, which copies it once;
 * {@link #copyAlone} is that copy for comparison.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class LargeTensorBenchmark extends RuntimeBenchmark {

  private static final int ELEMENTS = 3 * 224 * 224;

  private Model model;
  private MemorySegment source;
  private MemorySegment target;
  private Tensor nativeInput;
  private float[] array;

  /** Made by JMH. */
  public LargeTensorBenchmark() {}

  @Override
  protected void open() {
    model = nereid.load(BenchmarkModels.identity(8, 3, 224, 224).build());
    array = new float[ELEMENTS];
    source = Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS);
    target = Arena.ofAuto().allocate(JAVA_FLOAT, ELEMENTS);
    nativeInput = Tensor.of(DataType.FP32, source, 1, 3, 224, 224);
  }

  @Benchmark
  public float borrowedInput() {
    return infer(nativeInput);
  }

  @Benchmark
  public float arrayInput() {
    return infer(Tensor.ofFloats(array, 1, 3, 224, 224));
  }

  @Benchmark
  public MemorySegment copyAlone() {
    return target.copyFrom(source);
  }

  private float infer(Tensor input) {
    try (var request = model.newRequest().input(BenchmarkModels.INPUT, input);
        var response = request.infer()) {
      return response.output(BenchmarkModels.OUTPUT).floatAt(ELEMENTS - 1);
    }
  }
}
