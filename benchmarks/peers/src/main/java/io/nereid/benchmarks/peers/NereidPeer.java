package io.nereid.benchmarks.peers;

import io.nereid.InferRequest;
import io.nereid.InferResponse;
import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.ResponseListener;
import io.nereid.benchmarks.peers.Plan.Workload;
import io.nereid.model.DynamicBatching;
import io.nereid.model.ModelSpec;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Nereid with the identity model of a repository that Triton reads as well, or with an ONNX file
 * and dynamic batching.
 */
final class NereidPeer implements Peer {

  private static final int MAX_BATCH_SIZE = 64;

  private final Nereid nereid;
  private final Model model;
  private final Workload workload;

  NereidPeer(Workload workload, Places places) {
    this.workload = workload;
    switch (workload) {
      case IDENTITY_SMALL, IDENTITY_LARGE -> {
        nereid = Nereid.open(places.repository());
        model = nereid.model("identity");
      }
      case DIGITS, MINILM -> {
        nereid = Nereid.create();
        model = nereid.load(onnx(Question.of(workload), places));
      }
      default -> throw new IllegalArgumentException(workload.label);
    }
  }

  private static ModelSpec onnx(Question question, Places places) {
    ModelSpec.Builder spec =
        ModelSpec.builder("onnx")
            .backend("onnxruntime")
            .parameter("model_path", places.onnx(question.workload()).toString())
            .maxBatchSize(MAX_BATCH_SIZE)
            .dynamicBatching(DynamicBatching.create())
            .output(question.output(), DataType.FP32, withoutBatch(question.outputShape()));
    question
        .inputs()
        .forEach(input -> spec.input(input.name(), input.type(), withoutBatch(input.shape())));
    return spec.build();
  }

  private static long[] withoutBatch(long[] shape) {
    return Arrays.copyOfRange(shape, 1, shape.length);
  }

  @Override
  public Caller waiting() {
    Asked asked = new Asked();
    return () -> {
      try (InferRequest request = asked.next();
          InferResponse response = request.infer()) {
        asked.check(response);
      }
    };
  }

  @Override
  public Caller calling(Consumer<Throwable> answered) {
    Asked asked = new Asked();
    ResponseListener listener =
        new ResponseListener() {
          @Override
          public void onResponse(InferResponse response) {
            try (response) {
              asked.check(response);
            } catch (RuntimeException e) {
              answered.accept(e);
              return;
            }
            answered.accept(null);
          }

          @Override
          public void onFailure(NereidException failure) {
            answered.accept(failure);
          }
        };
    return () -> {
      try (InferRequest request = asked.next()) {
        // Inline, each answer would send the next request from within the sending of its own.
        request.submit(listener, false);
      }
    };
  }

  @Override
  public void close() {
    nereid.close();
  }

  /** A question with its inputs as tensors. */
  private final class Asked {

    private final Question question = Question.of(workload);
    private final List<Tensor> tensors =
        question.inputs().stream()
            .map(input -> Tensor.of(input.type(), input.data(), input.shape()))
            .toList();

    InferRequest next() {
      question.next();
      InferRequest request = model.newRequest();
      for (int i = 0; i < tensors.size(); i++) {
        request.input(question.inputs().get(i).name(), tensors.get(i));
      }
      return request;
    }

    void check(InferResponse response) {
      question.check(response.output(question.output()).segment());
    }
  }
}
