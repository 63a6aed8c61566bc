package com.example.modular;

import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.RepositoryOptions;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.util.Arrays;

/** Runs a model of a repository, and one that it describes itself. */
public final class Modular {
  private static final Tensor ROW = Tensor.ofFloats(new float[] {1, 2, 3, 4}, 1, 4);

  private Modular() {}

  /** Takes the directory of a model repository that has the bundled model {@code identity_fp32}. */
  public static void main(String[] args) {
    RepositoryOptions options =
        RepositoryOptions.builder().repository(Path.of(args[0])).explicit("identity_fp32").build();
    try (var nereid = Nereid.open(options)) {
      var doubles =
          nereid.load(
              ModelSpec.builder("doubles")
                  .input("IN", DataType.FP32, 4)
                  .output("OUT", DataType.FP32, 4)
                  .maxBatchSize(8)
                  .backend(context ->
                      batch -> {
                        float[] values = batch.input("IN").toFloatArray();
                        for (int i = 0; i < values.length; i++) {
                          values[i] *= 2;
                        }
                        batch.output("OUT", Tensor.ofFloats(values, batch.input("IN").shape()));
                      })
                  .build());
      try (var request = doubles.newRequest().input("IN", ROW);
          var response = request.infer()) {
        float[] twice = response.output("OUT").toFloatArray();
        System.out.println(nereid.model("identity_fp32").name() + " is ready");
        System.out.println("doubles: " + Arrays.toString(twice));
      }
    }
  }
}
