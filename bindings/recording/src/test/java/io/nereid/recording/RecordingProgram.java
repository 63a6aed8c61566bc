package io.nereid.recording;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.nio.file.Path;

/** Records requests into the directory that it is given until it is killed. */
final class RecordingProgram {

  private static final int LENGTH = 500;

  private RecordingProgram() {}

  /** The input of a request, which its number says; every fourth is the same. */
  static float[] input(int number) {
    float[] values = new float[LENGTH + number % 3];
    for (int i = 0; i < values.length; i++) {
      values[i] = number % 4 == 0 ? i : number + i * 0.5f;
    }
    return values;
  }

  /** Says on standard output when the first request was answered. */
  public static void main(String[] arguments) {
    Nereid nereid = Nereid.create();
    Model model =
        nereid.load(
            ModelSpec.builder("identity")
                .backend("identity")
                .maxBatchSize(8)
                .input("IN", DataType.FP32, -1)
                .output("OUT", DataType.FP32, -1)
                .build());
    Recorder recorder =
        Recorder.start(nereid, RecordingOptions.to(Path.of(arguments[0])).withOutputs(true));
    for (int number = 0; true; number++) {
      float[] input = input(number);
      try (var request =
              model
                  .newRequest()
                  .id(Integer.toString(number))
                  .input("IN", Tensor.ofFloats(input, 1, input.length));
          var response = request.infer()) {
        response.output("OUT");
      }
      if (number == 0) {
        System.out.println("recording " + recorder.options().directory());
      }
    }
  }
}
