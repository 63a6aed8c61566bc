package io.nereid.cli;

import io.nereid.model.ModelStore;
import io.nereid.model.RepositoryOptions;
import io.nereid.model.StoreOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import picocli.CommandLine.Option;

/** The flags for repositories in object stores, and for models that are signed or sealed. */
final class StoreArguments extends Arguments {

  @Option(
      names = "--model-cache-directory",
      paramLabel = "DIR",
      description = "Keeps files from object stores; nereid/models in ~/.cache by default.")
  private Path cacheDirectory;

  @Option(
      names = "--model-cache-byte-size",
      paramLabel = "BYTES",
      description = "The most that it keeps beside what is in use; ${DEFAULT-VALUE} by default.")
  private long cacheByteLimit = StoreOptions.DEFAULT_CACHE_BYTE_LIMIT;

  @Option(
      names = "--model-store-ca",
      paramLabel = "FILE",
      description = "Trust object stores whose certificates one of this PEM file has signed.")
  private Path authority;

  @Option(
      names = "--require-signature",
      paramLabel = "FILE",
      description =
          "Refuse models that none of the public keys in this PEM file has signed; repeatable.")
  private List<Path> signatureKeys = new ArrayList<>();

  @Option(
      names = "--model-key",
      paramLabel = "FILE",
      description = "The key of sealed models; see 'nereid seal'.")
  private Path keyFile;

  @Option(
      names = "--model-key-command",
      paramLabel = "COMMAND",
      description = "Prints the key of sealed models.")
  private String keyCommand;

  /** Adds repositories, those in object stores and directories. */
  void addTo(RepositoryOptions.Builder options, List<String> all, Consumer<String> progress) {
    StoreOptions.Builder store = StoreOptions.builder().progress(progress);
    for (String place : all) {
      if (isUrl(place)) {
        store.repository(place);
      } else {
        options.repository(Path.of(place));
      }
    }
    signatureKeys.forEach(store::requireSignature);
    if (keyFile != null && keyCommand != null) {
      throw wrong("--model-key or --model-key-command", "both");
    }
    store
        .cacheDirectory(cacheDirectory)
        .cacheByteLimit(atLeast(0, "--model-cache-byte-size", cacheByteLimit))
        .authority(authority)
        .sealKeyFile(keyFile)
        .sealKeyCommand(keyCommand);
    StoreOptions wanted = store.build();
    if (!wanted.isPlain()) {
      options.store(ModelStore.open(wanted));
    }
  }

  /** True for a URL of an object store. */
  static boolean isUrl(String place) {
    return place.matches("(s3|gs|as)://.*");
  }
}
