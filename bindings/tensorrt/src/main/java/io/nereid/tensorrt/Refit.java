package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.tensorrt.global.nvinfer;
import org.bytedeco.tensorrt.global.nvinfer.DataType;
import org.bytedeco.tensorrt.global.nvonnxparser;
import org.bytedeco.tensorrt.nvinfer.ICudaEngine;
import org.bytedeco.tensorrt.nvinfer.IRefitter;
import org.bytedeco.tensorrt.nvinfer.Weights;
import org.bytedeco.tensorrt.nvonnxparser.IParserRefitter;

/**
 * Gives an engine the weights of the file beside its plan, before it has contexts. The file must
 * contain all weights that can be changed in the plan, since a mixture of old and new ones is no
 * model. Runs on the thread that loads the plan.
 */
record Refit(String model, TensorRtOptions options, ICudaEngine engine) {

  /** The place of the deleting destructor of ONNX refitters, in TensorRT 10 and 11. */
  private static final int REFITTER_DESTRUCTOR = 6;

  private static final int SHOWN_NAMES = 3;

  /** Refits the engine if there is such a file; throws if the plan and the file do not fit. */
  void apply() {
    boolean isRefittable = engine.isRefittable();
    if (options.weights().isEmpty()) {
      if (isRefittable) {
        requireOwnWeights();
      }
      return;
    }
    PlanWeights weights = options.weights().get();
    if (isRefittable) {
      apply(weights);
    } else if (weights.wanted()) {
      throw failure(
          ("it was not built to take the weights of %s: rebuild it with --refit or --strip: %s"
                  + " --refit")
              .formatted(
                  weights.file().getFileName(),
                  PlanFailure.buildCommand(TensorRtMajor.HERE, options.plan())));
    } else {
      TensorRtLog.LOGGER.log(
          Level.DEBUG, "{0}: not used, the plan cannot be refitted", weights.file());
    }
  }

  private void apply(PlanWeights weights) {
    IRefitter refitter = refitter();
    try (PointerScope _ = new PointerScope()) {
      if (weights.isOnnx()) {
        applyOnnx(weights, refitter);
      } else {
        try (SafeTensors file = new SafeTensors(weights.file())) {
          set(file, refitter);
          finish(weights, refitter);
        }
      }
    } finally {
      NativeObjects.delete(refitter);
    }
  }

  private IRefitter refitter() {
    return TensorRtLog.made(
        () -> nvinfer.createInferRefitter(engine, TensorRtLog.instance()), "a refitter");
  }

  /** Refuses a plan that was stripped of its weights: no file supplies them. */
  private void requireOwnWeights() {
    long missing = TensorRtMajor.strippedBytes(engine);
    String what = missing + " bytes of weights";
    if (missing <= 0) {
      IRefitter refitter = refitter();
      try (PointerScope _ = new PointerScope()) {
        List<String> names = names(refitter, true);
        missing = names.size();
        what = shown(names);
      } finally {
        NativeObjects.delete(refitter);
      }
    }
    if (missing > 0) {
      throw failure(
          ("the plan was stripped of its weights: expected model.safetensors or"
                  + " model.onnx beside it, which has %s")
              .formatted(what));
    }
  }

  // ---- From a file of ONNX ---------------------------------------------------------------------

  private void applyOnnx(PlanWeights weights, IRefitter refitter) {
    TensorRtLibrary.load().loadParser();
    IParserRefitter parser =
        TensorRtLog.made(
            () -> nvonnxparser.createParserRefitter(refitter, TensorRtLog.instance()),
            "a refitter of ONNX files");
    try {
      String path = weights.file().toString();
      if (!parser.refitFromFile(path)) {
        throw failure(
            "TensorRT cannot take the weights of %s: %s"
                .formatted(path, NativeObjects.errors(parser.getNbErrors(), parser::getError)));
      }
      finish(weights, refitter);
    } finally {
      NativeObjects.delete(parser, REFITTER_DESTRUCTOR);
    }
  }

  // ---- From a file of safetensors --------------------------------------------------------------

  private void set(SafeTensors file, IRefitter refitter) {
    List<String> wanted = names(refitter, false);
    List<String> missing =
        wanted.stream().filter(name -> !file.tensors().containsKey(name)).toList();
    TreeSet<String> others = new TreeSet<>(file.tensors().keySet());
    wanted.forEach(others::remove);
    String unused = shown(List.copyOf(others));
    if (!missing.isEmpty()) {
      throw failure(
          ("expected in %s the weights %s%s: their names are those of the network, as in its ONNX"
                  + " file")
              .formatted(
                  file.name(),
                  shown(missing),
                  others.isEmpty() ? "" : ", which has " + unused + " instead"));
    }
    wanted.forEach(name -> set(name, file, refitter));
    if (!others.isEmpty()) {
      TensorRtLog.LOGGER.log(Level.INFO, "{0}: the plan has no use for {1}", file.name(), unused);
    }
  }

  private void set(String name, SafeTensors file, IRefitter refitter) {
    SafeTensors.Stored stored = file.tensors().get(name);
    Weights prototype = refitter.getWeightsPrototype(name);
    DataType type = prototype.type();
    EngineType expected = EngineType.ofNumber(type.value);
    if (stored.type().engineType() != expected || stored.count() != prototype.count()) {
      throw failure(
          "expected %s values of %s as '%s' in %s, got %s of %s (shape %s)"
              .formatted(
                  prototype.count(),
                  expected == null ? type : expected,
                  name,
                  file.name(),
                  stored.count(),
                  stored.type(),
                  stored.shape()));
    }
    Weights given =
        new Weights().type(type).values(NativePointer.of(file.read(stored))).count(stored.count());
    TensorRtLog.require(
        () -> refitter.setNamedWeights(name, given), "take the weights '" + name + "'");
  }

  // ---- Both ------------------------------------------------------------------------------------

  /** Completes the refit, while the weights are still in memory. */
  private void finish(PlanWeights weights, IRefitter refitter) {
    List<String> missing = names(refitter, true);
    if (!missing.isEmpty()) {
      throw failure(weights.file().getFileName() + " lacks weights of the plan: " + shown(missing));
    }
    TensorRtLog.require(
        refitter::refitCudaEngine, "give the engine the weights of " + weights.file());
  }

  /** The names of weights that can be changed; {@code missing}: only those still missing. */
  private static List<String> names(IRefitter refitter, boolean missing) {
    int count = count(refitter, missing, 0, new PointerPointer<>());
    PointerPointer<BytePointer> names = new PointerPointer<>(Math.max(1, count));
    count(refitter, missing, count, names);
    List<String> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      BytePointer name = names.get(BytePointer.class, i);
      all.add(name == null || name.isNull() ? "(without a name)" : name.getString());
    }
    return all;
  }

  private static int count(
      IRefitter refitter, boolean missing, int size, PointerPointer<BytePointer> names) {
    return missing ? refitter.getMissingWeights(size, names) : refitter.getAllWeights(size, names);
  }

  private static String shown(List<String> names) {
    return names.stream()
            .limit(SHOWN_NAMES)
            .map(name -> "'" + name + "'")
            .collect(Collectors.joining(", "))
        + (names.size() > SHOWN_NAMES ? " and " + (names.size() - SHOWN_NAMES) + " more" : "");
  }

  private NereidException failure(String what) {
    return PlanFailure.unusableWeights(model, options.plan(), what);
  }
}
