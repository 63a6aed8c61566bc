package io.nereid.triton;

import io.nereid.internal.cuda.CudaDriver;
import io.nereid.internal.ffi.Registry;
import io.nereid.internal.model.LoadedModel;
import io.nereid.internal.model.ModelEntry;
import io.nereid.internal.model.PluginService;
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

/**
 * Implements the server's functions for Triton's plug-ins, on the plug-ins' threads. Exceptions of
 * its methods become errors for the plug-in.
 */
final class PluginHost {

  private static final System.Logger LOGGER = System.getLogger("io.nereid.plugin");

  /** The name of a load's setting with the configuration; files have the prefix below. */
  private static final String CONFIG = "config";

  private static final String FILE_PREFIX = "file:";

  /** A model that a plug-in uses, and the number by which the plug-in releases it. */
  record Found(LoadedModel model, long pin, long version) {}

  private final PluginService.Owner owner;
  private final PluginDocuments documents;

  /** The models that plug-ins use, by the number that was given to them. */
  private final Registry<LoadedModel> used = new Registry<>();

  PluginHost(PluginService.Owner owner) {
    this.owner = owner;
    documents = new PluginDocuments(owner);
  }

  /** Writes a line into the log. */
  void log(Level level, String file, int line, String message) {
    LOGGER.log(level, message + (file.isEmpty() ? "" : " (" + file + ":" + line + ")"));
  }

  /**
   * Finds a model that takes requests, and keeps it loaded until {@link #release}.
   *
   * @param version -1: the one that requests without a version get
   * @param sequence the request's, which decides between two loads of a model
   * @param starts whether the request starts that sequence
   */
  Found acquire(String name, long version, SequenceId sequence, boolean starts) {
    ModelEntry entry = documents.ready(name, version);
    LoadedModel found = entry.use(sequence, starts);
    if (found == null) {
      throw entry.notReady();
    }
    return new Found(found, used.add(found), entry.version());
  }

  /** Ends what {@link #acquire} began. */
  void release(long pin) {
    owner.lifecycle().giveBack(used.remove(pin));
  }

  /** True if a model takes requests, and its instances are ready. */
  boolean isReady(String name, long version) {
    try {
      return documents.ready(name, version).isReady();
    } catch (NereidException e) {
      return false; // no such model, or none that takes requests
    }
  }

  /** Loads a model; the settings are as for the load endpoint, each with its content. */
  void load(String name, Map<String, byte[]> settings) {
    if (settings.isEmpty()) {
      owner.load().accept(name, Optional.empty());
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
    owner.load().accept(name, Optional.of(new ModelOverride(config, files)));
  }

  /** Unloads a model. */
  void unload(String name, boolean withDependents) {
    owner.unload().accept(name, withDependents);
  }

  /** Returns a document in JSON; the kinds are {@code NRT_*_METADATA} and so on. */
  String document(int kind, String name, long version) {
    return documents.document(kind, name, version);
  }

  /** True if the server takes requests. */
  boolean isServerReady() {
    owner.lifecycle().checkOpen();
    return true;
  }

  /** Called when a backend reports an activity for the request with this tag. */
  void traced(long tag, TracedActivity activity) {
    owner.runtime().slots().traced(tag, activity);
  }

  /** Allocates memory of a GPU, and returns its address. */
  long allocate(int device, long byteSize) {
    return CudaDriver.instance().device(device).allocate(byteSize);
  }

  /** Gives the memory back. */
  void free(int device, long memory) {
    CudaDriver.instance().device(device).free(memory);
  }
}
