package io.nereid.internal.backend;

import io.nereid.internal.ffi.BackendRecord;
import io.nereid.internal.ffi.BackendUpcalls;
import io.nereid.internal.ffi.BatchRecord;
import io.nereid.internal.ffi.CoreLog;
import io.nereid.internal.request.Signature;
import io.nereid.internal.request.SlotTable;
import io.nereid.model.Backend;
import io.nereid.model.BackendInstance;
import io.nereid.model.InstancePlacement;
import io.nereid.model.ModelContext;
import io.nereid.statistics.MemoryUsage;
import io.nereid.tensor.DeviceMemory;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Backends written in Java, one for each load of a model, which the core calls by number. */
public final class JavaBackends {

  private JavaBackends() {}

  /** Registers a backend for one load of a model and returns its number, valid until removed. */
  public static long add(
      Backend backend, Signature signature, SlotTable slots, List<InstancePlacement> placements) {
    return BackendUpcalls.add(new Load(backend, signature, slots, placements));
  }

  /** The exception that opening an instance threw in the load with this number; null: nothing. */
  public static Throwable failure(long number) {
    return BackendUpcalls.find(number) instanceof Load load ? load.failure : null;
  }

  /** The load has ended; 0 stands for no backend and does nothing. */
  public static void remove(long number) {
    BackendUpcalls.remove(number);
  }

  /** The record by which the core knows the backend with this number, in memory of the arena. */
  public static BackendRecord record(Arena arena, long number, Backend backend) {
    return BackendRecord.ofJava(
        arena,
        number,
        backend.ownThread(),
        backend.gathers(),
        backend.takesDeviceTensors(),
        backend.keepsStates());
  }

  /** A load of a model. Instances are opened and closed each on a thread of its own. */
  private static final class Load implements BackendUpcalls.Load {
    private final Backend backend;
    private final Signature signature;
    private final SlotTable slots;
    private final List<InstancePlacement> placements;
    private final Set<Instance> instances = ConcurrentHashMap.newKeySet();
    private volatile Throwable failure;

    Load(
        Backend backend, Signature signature, SlotTable slots, List<InstancePlacement> placements) {
      this.backend = backend;
      this.signature = signature.forBackend();
      this.slots = slots;
      this.placements = placements;
    }

    @Override
    public BackendUpcalls.Instance open(int index) throws Exception {
      try {
        ModelContext model = new ModelContext(signature.spec(), index, placements.get(index));
        BackendInstance opened = backend.open(model);
        if (opened == null) {
          throw new NereidException(StatusCode.INTERNAL, "open returned null");
        }
        Instance instance = new Instance(this, opened);
        instances.add(instance);
        return instance;
      } catch (Throwable t) {
        failure = t;
        throw t;
      }
    }

    @Override
    public MemoryUsage memoryUsage() {
      long weights = 0;
      long working = 0;
      try {
        for (Instance instance : instances) {
          MemoryUsage usage = instance.backend.memoryUsage();
          weights += usage.weights();
          working += usage.working();
        }
      } catch (Throwable t) {
        CoreLog.logQuietly("a backend failed to tell what memory it uses", t);
      }
      return new MemoryUsage(weights, working, 0);
    }

    @Override
    public void releaseState(DeviceMemory state) {
      backend.releaseState(state);
    }
  }

  private static final class Instance implements BackendUpcalls.Instance {
    private final Load load;
    private final BackendInstance backend;

    Instance(Load load, BackendInstance backend) {
      this.load = load;
      this.backend = backend;
    }

    @Override
    public void execute(BatchRecord record) throws Exception {
      JavaBatch batch = new JavaBatch(record, load.signature, load.slots);
      try {
        backend.execute(batch);
      } catch (Throwable t) {
        batch.failed(t);
        throw t;
      } finally {
        batch.end();
      }
    }

    @Override
    public void close() {
      load.instances.remove(this);
      backend.close();
    }
  }
}
