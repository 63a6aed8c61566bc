package io.nereid.tensorrt;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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
 * Gives an engine the weights of the file beside its plan, before it has contexts. All weights that
 * the plan lets be changed must be in the file: a mixture of old and new ones is no model. Runs on
 * the thread that loads the plan.
 */
final class Refit {

  /** The place of the deleting destructor of ONNX refitters, in TensorRT 10 and 11. */
  private static final int REFITTER_DESTRUCTOR = 6;

  private static final int SHOWN_NAMES = 3;

  private final String model;
  private final TensorRtOptions options;
  private final ICudaEngine engine;
  private final List<String> log;

  private Refit(String model, TensorRtOptions options, ICudaEngine engine, List<String> log) {
    this.model = model;
    this.options = options;
    this.engine = engine;
    this.log = log;
  }

  /**
   * Does it, where there is such a file.
   *
   * @param log gets what TensorRT logs as errors
   * @throws NereidException when the file and the plan do not go together, or the plan has no
   *     weights and there is no file
   */
  static void apply(String model, TensorRtOptions options, ICudaEngine engine, List<String> log) {
    new Refit(model, options, engine, log).apply();
  }

  private void apply() {
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
      throw PlanFailure.unusable(
          model,
          options.plan(),
          TensorRtMajor.HERE,
          "it was not built to take the weights of "
              + weights.file().getFileName()
              + ": rebuild it with --refit or --strip",
          " --refit");
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
        try (SafeTensors file = new SafeTensors(weights.file());
            Arena arena = Arena.ofConfined()) {
          set(weights, file.tensors(), refitter, arena);
          finish(weights, refitter);
        }
      }
    } finally {
      NativeObjects.delete(refitter);
    }
  }

  private IRefitter refitter() {
    IRefitter refitter =
        TensorRtLog.errorsOf(
            log, () -> nvinfer.createInferRefitter(engine, TensorRtLog.instance()));
    if (refitter == null || refitter.isNull()) {
      throw failed("TensorRT cannot make a refitter");
    }
    return refitter;
  }

  /** Refuses a plan that was stripped of its weights: nothing gives them back. */
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
          "the plan was stripped of its weights: expected model.safetensors or model.onnx beside"
              + " it, which has "
              + what);
    }
  }

  // ---- From a file of ONNX ---------------------------------------------------------------------

  private void applyOnnx(PlanWeights weights, IRefitter refitter) {
    TensorRtLibrary.load().loadParser();
    IParserRefitter parser =
        TensorRtLog.errorsOf(
            log, () -> nvonnxparser.createParserRefitter(refitter, TensorRtLog.instance()));
    if (parser == null || parser.isNull()) {
      throw failed("TensorRT cannot make a refitter of ONNX files");
    }
    try {
      String path = weights.file().toString();
      if (!TensorRtLog.errorsOf(log, () -> parser.refitFromFile(path))) {
        throw failure(
            "TensorRT cannot take the weights of "
                + path
                + ": "
                + NativeObjects.errors(parser.getNbErrors(), parser::getError));
      }
      finish(weights, refitter);
    } finally {
      NativeObjects.delete(parser, REFITTER_DESTRUCTOR);
    }
  }

  // ---- From a file of safetensors --------------------------------------------------------------

  private void set(
      PlanWeights weights,
      Map<String, SafeTensors.Stored> stored,
      IRefitter refitter,
      Arena arena) {
    List<String> wanted = names(refitter, false);
    List<String> missing = wanted.stream().filter(name -> !stored.containsKey(name)).toList();
    TreeSet<String> others = new TreeSet<>(stored.keySet());
    wanted.forEach(others::remove);
    if (!missing.isEmpty()) {
      throw failure(
          "expected in "
              + weights.file().getFileName()
              + " the weights "
              + shown(missing)
              + (others.isEmpty() ? "" : ", which has " + shown(List.copyOf(others)) + " instead")
              + ": their names are those of the network, as in its ONNX file");
    }
    for (String name : wanted) {
      set(name, weights, stored.get(name), refitter, arena);
    }
    if (!others.isEmpty()) {
      TensorRtLog.LOGGER.log(
          Level.INFO,
          "{0}: the plan has no use for {1}",
          weights.file(),
          shown(List.copyOf(others)));
    }
  }

  private void set(
      String name,
      PlanWeights weights,
      SafeTensors.Stored stored,
      IRefitter refitter,
      Arena arena) {
    Weights prototype = refitter.getWeightsPrototype(name);
    DataType type = prototype.type();
    EngineType expected = EngineType.ofNumber(type.value);
    if (stored.engineType() != expected || stored.count() != prototype.count()) {
      throw failure(
          "expected "
              + prototype.count()
              + " values of "
              + (expected == null ? type : expected)
              + " as '"
              + name
              + "' in "
              + weights.file().getFileName()
              + ", got "
              + stored.count()
              + " of "
              + stored.type()
              + " (shape "
              + stored.shape()
              + ")");
    }
    Weights given =
        new Weights()
            .type(type)
            .values(NativePointer.of(aligned(stored, expected, arena)))
            .count(stored.count());
    if (!TensorRtLog.errorsOf(log, () -> refitter.setNamedWeights(name, given))) {
      throw failed("TensorRT does not take the weights '" + name + "'");
    }
  }

  /** The file's own memory, unless a header of an odd size has moved what follows. */
  private static MemorySegment aligned(SafeTensors.Stored stored, EngineType type, Arena arena) {
    MemorySegment bytes = stored.bytes();
    return bytes.address() % type.byteSize() == 0
        ? bytes
        : arena.allocate(bytes.byteSize(), type.byteSize()).copyFrom(bytes);
  }

  // ---- Both ------------------------------------------------------------------------------------

  /** While the weights are where the refitter was told. */
  private void finish(PlanWeights weights, IRefitter refitter) {
    List<String> missing = names(refitter, true);
    if (!missing.isEmpty()) {
      throw failure(weights.file().getFileName() + " lacks weights of the plan: " + shown(missing));
    }
    if (!TensorRtLog.errorsOf(log, refitter::refitCudaEngine)) {
      throw failed("TensorRT cannot give the engine the weights of " + weights.file());
    }
  }

  /** The names of weights that can be changed, or of those of them that are missing. */
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

  private NereidException failed(String what) {
    String said = String.join("; ", log);
    return new NereidException(
        PlanFailure.isOutOfMemory(said) ? StatusCode.RESOURCE_EXHAUSTED : StatusCode.INTERNAL,
        "model '" + model + "' (" + options.plan() + "): " + what + ": " + said);
  }
}
