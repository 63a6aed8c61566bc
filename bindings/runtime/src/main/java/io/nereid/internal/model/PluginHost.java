package io.nereid.internal.model;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.ffi.PluginUpcalls;
import io.nereid.internal.ffi.Registry;
import io.nereid.internal.request.SlotTable;
import io.nereid.model.ModelOverride;
import io.nereid.model.SequenceId;
import io.nereid.model.TracedActivity;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** Answers what Triton's plug-ins ask of the server, on whatever threads they have. */
public final class PluginHost implements PluginUpcalls.Host {

  private static final System.Logger LOGGER = System.getLogger("io.nereid.plugin");

  /** Settings of a load: a configuration, and files by this prefix. */
  private static final String CONFIG = "config";

  private static final String FILE_PREFIX = "file:";

  private final ModelLifecycle lifecycle;
  private final ModelTable models;
  private final SlotTable slots;
  private final PluginDocuments documents;
  private final BiConsumer<String, Optional<ModelOverride>> load;
  private final BiConsumer<String, Boolean> unload;

  /** Models that plug-ins use, by the number that they know them by. */
  private final Registry<LoadedModel> used = new Registry<>();

  /**
   * Answers for these models.
   *
   * @param slots the requests of the runtime
   * @param documents what plug-ins read of the models
   * @param load loads a model by name
   * @param unload unloads a model by name, with those that only it uses where that is true
   */
  public PluginHost(
      ModelLifecycle lifecycle,
      ModelTable models,
      SlotTable slots,
      PluginDocuments documents,
      BiConsumer<String, Optional<ModelOverride>> load,
      BiConsumer<String, Boolean> unload) {
    this.lifecycle = lifecycle;
    this.models = models;
    this.slots = slots;
    this.documents = documents;
    this.load = load;
    this.unload = unload;
  }

  @Override
  public void log(Level level, String file, int line, String message) {
    LOGGER.log(level, message + (file.isEmpty() ? "" : " (" + file + ":" + line + ")"));
  }

  @Override
  public PluginUpcalls.Found acquire(
      String name, long version, SequenceId sequence, boolean starts) {
    ModelEntry entry = find(name, version);
    LoadedModel found = entry.use(sequence, starts);
    if (found == null) {
      throw entry.notReady();
    }
    return new PluginUpcalls.Found(
        found.handle(), used.add(found), entry.version(), found.spec().decoupled());
  }

  private ModelEntry find(String name, long version) {
    return version < 0 ? models.ready(name) : models.ready(name, version);
  }

  @Override
  public void release(long pin) {
    lifecycle.giveBack(used.remove(pin));
  }

  @Override
  public boolean isReady(String name, long version) {
    try {
      return find(name, version).isReady();
    } catch (NereidException e) {
      return false; // there is no such model, or it takes no requests
    }
  }

  @Override
  public void load(String name, Map<String, byte[]> settings) {
    if (settings.isEmpty()) {
      load.accept(name, Optional.empty());
      return;
    }
    String config = "";
    Map<String, byte[]> files = new HashMap<>();
    for (Map.Entry<String, byte[]> setting : settings.entrySet()) {
      String key = setting.getKey();
      if (key.equals(CONFIG)) {
        config = new String(setting.getValue(), StandardCharsets.UTF_8);
      } else if (key.startsWith(FILE_PREFIX)) {
        files.put(key.substring(FILE_PREFIX.length()), setting.getValue());
      } else {
        throw new NereidException(
            StatusCode.INVALID_ARGUMENT,
            "expected the parameters 'config' and 'file:<path>' of a load, got '" + key + "'");
      }
    }
    if (config.isEmpty()) {
      throw new NereidException(
          StatusCode.INVALID_ARGUMENT,
          "model '"
              + name
              + "' is to be loaded from files, but without a configuration: expected"
              + " the parameter 'config'");
    }
    load.accept(name, Optional.of(new ModelOverride(config, files)));
  }

  @Override
  public void unload(String name, boolean withDependents) {
    unload.accept(name, withDependents);
  }

  @Override
  public String document(int kind, String name, long version) {
    return documents.document(kind, name, version);
  }

  @Override
  public boolean isServerReady() {
    lifecycle.checkOpen();
    return true;
  }

  @Override
  public void traced(long tag, TracedActivity activity) {
    slots.traced(tag, activity);
  }

  @Override
  public long allocate(int device, long byteSize) {
    return CudaDriver.instance().device(device).allocate(byteSize);
  }

  @Override
  public void free(int device, long memory) {
    CudaDriver.instance().device(device).free(memory);
  }
}
