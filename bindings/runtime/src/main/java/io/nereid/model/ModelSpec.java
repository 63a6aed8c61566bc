package io.nereid.model;

import io.nereid.internal.Checks;
import io.nereid.types.DataType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that is needed to load a version of a model; {@link #builder} and {@link #onnx} make one.
 *
 * @param name the model's name
 * @param version a positive number
 * @param backendName a backend of the core, such as {@code identity}, or the name of a Java one
 * @param backend a Java backend given as an object, in place of its name
 * @param inputs what requests bring
 * @param outputs what responses hold
 * @param maxBatchSize most rows per execution; 0: tensors have no batch dimension
 * @param instanceGroups how many executions may run at once, and where
 * @param dynamicBatching how requests are batched; empty: each request is its own batch
 * @param sequenceBatching how requests of sequences are batched, in place of dynamic batching
 * @param inline whether an idle model may run a request on the thread that sends it
 * @param inlineBudget longest execution that runs inline; zero: the core's default (1 ms)
 * @param responseCache whether equal requests may be answered from the response cache
 * @param decoupled whether a request can have any number of responses; an ensemble's steps decide
 * @param batcherName the name or class name of a {@link Batcher}; empty: none
 * @param batcher a batcher given as an object, in place of its name
 * @param warmUps requests that are executed while it loads
 * @param ensemble the graph of models to run, in place of a backend
 * @param parameters settings of the backend
 * @param batchInputs inputs of the backend that describe a batch's requests
 * @param batchOutputs outputs that are shared out by the shape of an input
 * @param objective the time in which the model is to answer, which decides how it batches
 */
public record ModelSpec(
    String name,
    long version,
    String backendName,
    Optional<Backend> backend,
    List<TensorSpec> inputs,
    List<TensorSpec> outputs,
    long maxBatchSize,
    List<InstanceGroup> instanceGroups,
    Optional<DynamicBatching> dynamicBatching,
    Optional<SequenceBatching> sequenceBatching,
    boolean inline,
    Duration inlineBudget,
    boolean responseCache,
    boolean decoupled,
    String batcherName,
    Optional<Batcher> batcher,
    List<WarmUp> warmUps,
    Optional<Ensemble> ensemble,
    Map<String, String> parameters,
    List<BatchInput> batchInputs,
    List<BatchOutput> batchOutputs,
    Optional<Objective> objective) {

  /** Checks the values and copies the collections. */
  public ModelSpec {
    Checks.notBlank(name, "name");
    Checks.positive(version, "version");
    Checks.notNull(backendName, "backendName");
    Checks.notNull(backend, "backend");
    inputs = List.copyOf(Checks.notNull(inputs, "inputs"));
    outputs = List.copyOf(Checks.notNull(outputs, "outputs"));
    Checks.notNegative(maxBatchSize, "maxBatchSize");
    instanceGroups = List.copyOf(Checks.notNull(instanceGroups, "instanceGroups"));
    Checks.notNull(dynamicBatching, "dynamicBatching");
    if (Checks.notNull(sequenceBatching, "sequenceBatching").isPresent()) {
      SequenceBatching.check(name, dynamicBatching.isPresent(), responseCache);
    }
    Checks.notNegative(inlineBudget, "inlineBudget");
    Checks.notNull(batcherName, "batcherName");
    Checks.notNull(batcher, "batcher");
    warmUps = List.copyOf(Checks.notNull(warmUps, "warmUps"));
    Checks.notNull(ensemble, "ensemble");
    parameters = Map.copyOf(Checks.notNull(parameters, "parameters"));
    if (backend.isEmpty() && backendName.isBlank() && ensemble.isEmpty()) {
      throw new IllegalArgumentException("model '" + name + "' names no backend");
    }
    batchInputs = List.copyOf(Checks.notNull(batchInputs, "batchInputs"));
    batchOutputs = List.copyOf(Checks.notNull(batchOutputs, "batchOutputs"));
    Checks.notNull(objective, "objective");
  }

  /** Returns this specification with other outputs. */
  public ModelSpec withOutputs(List<TensorSpec> outputs) {
    return with(inputs, outputs, decoupled, maxBatchSize, dynamicBatching, parameters);
  }

  /** Returns this specification for a model that is decoupled, or not. */
  public ModelSpec withDecoupled(boolean decoupled) {
    return with(inputs, outputs, decoupled, maxBatchSize, dynamicBatching, parameters);
  }

  /**
   * The inputs of the backend that the core makes and no request brings: batch inputs, controls and
   * states of sequences. The backend sees them behind the inputs that requests bring.
   */
  public List<TensorSpec> hiddenInputs() {
    List<TensorSpec> hidden = new ArrayList<>();
    batchInputs.forEach(input -> hidden.addAll(input.tensors(inputs, maxBatchSize > 0)));
    sequenceBatching.ifPresent(sequences -> hidden.addAll(sequences.hiddenInputs()));
    return hidden;
  }

  /** The backend's outputs that the core keeps and no client gets: states of sequences. */
  public List<TensorSpec> hiddenOutputs() {
    return sequenceBatching.map(one -> one.hiddenOutputs(outputs)).orElse(List.of());
  }

  /** True if the core gathers: for models with sequences, hidden or ragged inputs. */
  public boolean isGathered() {
    return sequenceBatching.isPresent()
        || !batchInputs.isEmpty()
        || inputs.stream().anyMatch(TensorSpec::ragged);
  }

  /** The model as its backend sees it, with {@link #hiddenInputs} and {@link #hiddenOutputs}. */
  public ModelSpec forBackend() {
    List<TensorSpec> all = new ArrayList<>(inputs);
    all.addAll(hiddenInputs());
    List<TensorSpec> made = new ArrayList<>(outputs);
    made.addAll(hiddenOutputs());
    return with(all, made, decoupled, maxBatchSize, dynamicBatching, parameters);
  }

  /** Returns this with tensors and batching of another, made from the model's file. */
  public ModelSpec completed(ModelSpec told) {
    return with(
        told.inputs, told.outputs, decoupled, told.maxBatchSize, told.dynamicBatching, parameters);
  }

  /** Returns this specification with other settings of the backend. */
  public ModelSpec withParameters(Map<String, String> parameters) {
    return with(inputs, outputs, decoupled, maxBatchSize, dynamicBatching, parameters);
  }

  private ModelSpec with(
      List<TensorSpec> inputs,
      List<TensorSpec> outputs,
      boolean decoupled,
      long maxBatchSize,
      Optional<DynamicBatching> dynamicBatching,
      Map<String, String> parameters) {
    return new ModelSpec(
        name,
        version,
        backendName,
        backend,
        inputs,
        outputs,
        maxBatchSize,
        instanceGroups,
        dynamicBatching,
        sequenceBatching,
        inline,
        inlineBudget,
        responseCache,
        decoupled,
        batcherName,
        batcher,
        warmUps,
        ensemble,
        parameters,
        batchInputs,
        batchOutputs,
        objective);
  }

  /** A model of an ONNX file, which tells its tensors; named as the file without its ending. */
  public static ModelSpec onnx(Path file) {
    return builder(ModelFile.nameAt(Checks.notNull(file, "file"))).onnx(file).build();
  }

  /** A builder for version 1 of a model without batching. */
  public static Builder builder(String name) {
    return new Builder(Checks.notNull(name, "name"));
  }

  /** Builds a {@link ModelSpec}. */
  public static final class Builder {
    private final String name;
    private final List<TensorSpec> inputs = new ArrayList<>();
    private final List<TensorSpec> outputs = new ArrayList<>();
    private final Map<String, String> parameters = new LinkedHashMap<>();
    private long version = 1;
    private String backendName = "";
    private Backend backend;
    private long maxBatchSize;
    private final List<InstanceGroup> instanceGroups = new ArrayList<>();
    private final List<WarmUp> warmUps = new ArrayList<>();
    private final List<BatchInput> batchInputs = new ArrayList<>();
    private final List<BatchOutput> batchOutputs = new ArrayList<>();
    private DynamicBatching dynamicBatching;
    private SequenceBatching sequenceBatching;
    private boolean inline = true;
    private Duration inlineBudget = Duration.ZERO;
    private boolean responseCache;
    private boolean decoupled;
    private String batcherName = "";
    private Batcher batcher;
    private Ensemble ensemble;
    private Objective objective;

    private Builder(String name) {
      this.name = name;
    }

    /** The model's version; 1 when it is not set. */
    public Builder version(long version) {
      this.version = version;
      return this;
    }

    /** A backend of the core, or a Java backend by its name or class name. */
    public Builder backend(String name) {
      backendName = Checks.notNull(name, "name");
      backend = null;
      return this;
    }

    /** Sets an ONNX file, from which inputs, outputs and batching are taken unless set. */
    public Builder onnx(Path file) {
      Checks.notNull(file, "file");
      return backend("onnxruntime").parameter("model_path", file.toAbsolutePath().toString());
    }

    /** A Java backend. */
    public Builder backend(Backend backend) {
      this.backend = Checks.notNull(backend, "backend");
      backendName = backend.name();
      return this;
    }

    /** Adds an input; {@code dims} are without the batch dimension, -1 means any size. */
    public Builder input(String name, DataType dataType, long... dims) {
      return input(TensorSpec.of(name, dataType, dims));
    }

    /** Adds an input. */
    public Builder input(TensorSpec input) {
      inputs.add(Checks.notNull(input, "input"));
      return this;
    }

    /** Adds an output; {@code dims} are without the batch dimension, -1 means any size. */
    public Builder output(String name, DataType dataType, long... dims) {
      return output(TensorSpec.of(name, dataType, dims));
    }

    /** Adds an output. */
    public Builder output(TensorSpec output) {
      outputs.add(Checks.notNull(output, "output"));
      return this;
    }

    /** Most rows per execution; 0, as when it is not set: no batch dimension. */
    public Builder maxBatchSize(long size) {
      maxBatchSize = size;
      return this;
    }

    /** Sets the number of executions that may run at once; 1 when it is not set. */
    public Builder instanceCount(int count) {
      instanceGroups.clear();
      return instances(InstanceGroup.of(count));
    }

    /** Adds instances. */
    public Builder instances(InstanceGroup group) {
      instanceGroups.add(Checks.notNull(group, "group"));
      return this;
    }

    /** Batches requests. */
    public Builder dynamicBatching(DynamicBatching batching) {
      dynamicBatching = Checks.notNull(batching, "batching");
      return this;
    }

    /** Batches requests of sequences. */
    public Builder sequenceBatching(SequenceBatching batching) {
      sequenceBatching = Checks.notNull(batching, "batching");
      return this;
    }

    /** True if an idle model may run a request on the thread that sends it; true by default. */
    public Builder inline(boolean inline) {
      this.inline = inline;
      return this;
    }

    /** Longest execution that runs inline. */
    public Builder inlineBudget(Duration budget) {
      inlineBudget = Checks.notNull(budget, "budget");
      return this;
    }

    /** True if equal requests may be answered from the response cache; false by default. */
    public Builder responseCache(boolean cached) {
      responseCache = cached;
      return this;
    }

    /** True if a request can have any number of responses; false by default. */
    public Builder decoupled(boolean decoupled) {
      this.decoupled = decoupled;
      return this;
    }

    /** Lets a batcher decide which requests go together; it is found by its name or class name. */
    public Builder batcher(String name) {
      batcherName = Checks.notNull(name, "name");
      batcher = null;
      return this;
    }

    /** Lets this batcher decide which requests go together. */
    public Builder batcher(Batcher batcher) {
      this.batcher = Checks.notNull(batcher, "batcher");
      batcherName = batcher.name();
      return this;
    }

    /** Adds a request that is executed while the model loads. */
    public Builder warmUp(WarmUp warmUp) {
      warmUps.add(Checks.notNull(warmUp, "warmUp"));
      return this;
    }

    /** A graph of models in place of a backend. */
    public Builder ensemble(Ensemble ensemble) {
      this.ensemble = Checks.notNull(ensemble, "ensemble");
      return this;
    }

    /** Adds a setting of the backend. */
    public Builder parameter(String key, String value) {
      parameters.put(Checks.notNull(key, "key"), Checks.notNull(value, "value"));
      return this;
    }

    /** Sets where its backend runs: {@code process}, one of its own, or {@code process:GROUP}. */
    public Builder isolation(String place) {
      return parameter("isolation", place);
    }

    /** Adds inputs that tell the backend of a batch's requests. */
    public Builder batchInput(BatchInput input) {
      batchInputs.add(Checks.notNull(input, "input"));
      return this;
    }

    /** Lets outputs be shared out by the shape of an input. */
    public Builder batchOutput(BatchOutput output) {
      batchOutputs.add(Checks.notNull(output, "output"));
      return this;
    }

    /** Sets the time to answer in, in place of preferred batch sizes and a delay. */
    public Builder objective(Objective objective) {
      this.objective = Checks.notNull(objective, "objective");
      return this;
    }

    /** The finished value. */
    public ModelSpec build() {
      return new ModelSpec(
          name,
          version,
          backendName,
          Optional.ofNullable(backend),
          inputs,
          outputs,
          maxBatchSize,
          instanceGroups.isEmpty() ? List.of(InstanceGroup.of(1)) : instanceGroups,
          Optional.ofNullable(dynamicBatching),
          Optional.ofNullable(sequenceBatching),
          inline,
          inlineBudget,
          responseCache,
          decoupled,
          batcherName,
          Optional.ofNullable(batcher),
          warmUps,
          Optional.ofNullable(ensemble),
          parameters,
          batchInputs,
          batchOutputs,
          Optional.ofNullable(objective));
    }
  }
}
