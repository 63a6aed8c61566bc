package io.nereid.internal.model;

import io.nereid.internal.backend.JavaBackends;
import io.nereid.internal.ffi.BackendUpcalls;
import io.nereid.internal.ffi.BatchRecord;
import io.nereid.internal.ffi.ChildUpcalls;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.SlotTable;
import io.nereid.model.Backend;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelSignature;
import io.nereid.model.ModelSpec;
import io.nereid.statistics.MemoryUsage;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An isolated model of a backend in Java, in the child process: does what {@link ModelLoader} does
 * for models that are not isolated. The program {@code nereid-child} calls {@link #start} first.
 * One thread opens, configures and closes a model; the instances' threads call the rest.
 */
final class ChildModel implements ChildUpcalls.Model {

  private final ModelSpec opening;
  private final Backend backend;
  private final Optional<ModelSignature> signature;
  private final Arena memory = Arena.ofShared();
  private boolean ended; // the backend was told that the load ended
  private int unopened; // instances that are still to be opened
  private long number; // the number of the backend's load, once configured

  private ChildModel(ModelSpec opening, Backend backend) throws Exception {
    this.opening = opening;
    this.backend = backend;
    // A configuration with all tensors is not compared with the model's own here.
    ended = !(opening.inputs().isEmpty() && opening.outputs().isEmpty());
    signature = ended ? Optional.empty() : backend.describe(opening);
  }

  /**
   * Called by the program, by name, when it has started this JVM.
   *
   * @return the address of the table of all backends in Java
   */
  private static long start(long find) {
    return ChildUpcalls.table(find, ChildModel::open);
  }

  private static ChildModel open(Map<String, String> parameters) throws Exception {
    ModelSpec spec = SpecText.read(parameters.get(SpecText.PARAMETER));
    return new ChildModel(spec, BackendFinder.inJava(spec).forModel(spec));
  }

  @Override
  public Optional<ModelSignature> signature() {
    return signature;
  }

  @Override
  public Arena memory() {
    return memory;
  }

  @Override
  public String facts() {
    long most = signature.map(ModelSignature::maxBatchSize).orElse(0L);
    return new ChildFacts(backend.devices(), backend.batchesInFlight(opening), most).text();
  }

  @Override
  public void configure(Map<String, String> parameters) {
    ModelSpec spec = SpecText.read(parameters.get(SpecText.PARAMETER));
    if (backend.keepsStates()
        && spec.sequenceBatching().stream().anyMatch(it -> !it.states().isEmpty())) {
      throw new NereidException(
          StatusCode.UNIMPLEMENTED,
          ("model '%s' cannot have isolation \"process\": its backend '%s' keeps states of sequences"
                  + " in memory of its own, which the server has no part of")
              .formatted(spec.name(), spec.backendName()));
    }
    List<InstancePlacement> placements =
        Placements.of(
            spec.instanceGroups(), false, backend.devices(), backend.batchesInFlight(spec));
    unopened = placements.size();
    number = JavaBackends.add(backend, new Signature(spec), new SlotTable(), placements);
  }

  @Override
  public BackendUpcalls.Instance open(int index) throws Throwable {
    BackendUpcalls.Instance instance = BackendUpcalls.find(number).open(index);
    if (--unopened == 0) {
      endLoad();
    }
    return new Instance(instance);
  }

  /** An instance whose failure may end the process. */
  private final class Instance implements BackendUpcalls.Instance {
    private final BackendUpcalls.Instance opened;

    Instance(BackendUpcalls.Instance opened) {
      this.opened = opened;
    }

    @Override
    public void execute(BatchRecord batch) throws Throwable {
      try {
        opened.execute(batch);
      } catch (Throwable t) {
        if (backend.isBroken()) {
          ChildUpcalls.giveUp(String.valueOf(t.getMessage()));
        }
        throw t;
      }
    }

    @Override
    public void close() {
      opened.close();
    }
  }

  private void endLoad() {
    if (!ended) {
      ended = true;
      backend.loadEnded(opening);
    }
  }

  @Override
  public MemoryUsage memoryUsage() {
    return BackendUpcalls.find(number).memoryUsage();
  }

  @Override
  public void releaseState(DeviceMemory state) {
    BackendUpcalls.find(number).releaseState(state);
  }

  @Override
  public void close() {
    JavaBackends.remove(number);
    memory.close();
    endLoad();
  }
}
