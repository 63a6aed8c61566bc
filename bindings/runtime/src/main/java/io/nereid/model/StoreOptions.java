package io.nereid.model;

import io.nereid.internal.Checks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The repositories of a {@link ModelStore}, and how it reaches, keeps and checks them. Build one
 * with {@link #builder()}.
 *
 * @param repositories URLs such as {@code s3://bucket/models}
 * @param cacheDirectory keeps fetched files between starts; empty: {@code nereid/models} in the
 *     user's directory for caches
 * @param cacheByteLimit the most that the cache keeps besides files in use
 * @param authority a PEM file with certificates of authorities for the store's; empty: the JDK's
 * @param signatureKeys PEM files with public keys; if there are any, models must be signed
 * @param sealKeyFile a file with the key of sealed models
 * @param sealKeyCommand a command that prints the key of sealed models
 * @param environment the variables that have the credentials
 * @param progress gets the progress of fetching, in words
 */
public record StoreOptions(
    List<String> repositories,
    Optional<Path> cacheDirectory,
    long cacheByteLimit,
    Optional<Path> authority,
    List<Path> signatureKeys,
    Optional<Path> sealKeyFile,
    Optional<String> sealKeyCommand,
    Map<String, String> environment,
    Consumer<String> progress) {

  /** The limit of a cache for which none is set: 100 GB. */
  public static final long DEFAULT_CACHE_BYTE_LIMIT = 100_000_000_000L;

  /** Checks the values and copies the lists. */
  public StoreOptions {
    repositories = List.copyOf(Checks.notNull(repositories, "repositories"));
    Checks.notNull(cacheDirectory, "cacheDirectory");
    Checks.notNegative(cacheByteLimit, "cacheByteLimit");
    Checks.notNull(authority, "authority");
    signatureKeys = List.copyOf(Checks.notNull(signatureKeys, "signatureKeys"));
    Checks.notNull(sealKeyFile, "sealKeyFile");
    if (Checks.notNull(sealKeyCommand, "sealKeyCommand").isPresent() && sealKeyFile.isPresent()) {
      throw new IllegalArgumentException("expected a file or a command for the key, got both");
    }
    environment = Map.copyOf(Checks.notNull(environment, "environment"));
    Checks.notNull(progress, "progress");
  }

  /** True if the options need nothing but plain directories. */
  public boolean isPlain() {
    return repositories.isEmpty()
        && signatureKeys.isEmpty()
        && sealKeyFile.isEmpty()
        && sealKeyCommand.isEmpty();
  }

  /** A builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link StoreOptions}. */
  public static final class Builder {
    private final List<String> repositories = new ArrayList<>();
    private final List<Path> signatureKeys = new ArrayList<>();
    private Path cacheDirectory;
    private long cacheByteLimit = DEFAULT_CACHE_BYTE_LIMIT;
    private Path authority;
    private Path sealKeyFile;
    private String sealKeyCommand;
    private Map<String, String> environment = System.getenv();
    private Consumer<String> progress = text -> {};

    private Builder() {}

    /** Adds a repository by its URL. */
    public Builder repository(String url) {
      repositories.add(Checks.notNull(url, "url"));
      return this;
    }

    /** Sets the directory that keeps fetched files; null: the user's own. */
    public Builder cacheDirectory(Path directory) {
      cacheDirectory = directory;
      return this;
    }

    /** Sets the most bytes that the cache keeps besides files in use. */
    public Builder cacheByteLimit(long bytes) {
      cacheByteLimit = bytes;
      return this;
    }

    /** Trusts stores with certificates from the authorities in this PEM file; null: the JDK's. */
    public Builder authority(Path pem) {
      authority = pem;
      return this;
    }

    /** Refuses models that none of the keys in PEM files has signed. */
    public Builder requireSignature(Path publicKeys) {
      signatureKeys.add(Checks.notNull(publicKeys, "publicKeys"));
      return this;
    }

    /** Sets the file with the key of sealed models; null: none. */
    public Builder sealKeyFile(Path file) {
      sealKeyFile = file;
      return this;
    }

    /** Sets the command that prints the key of sealed models; null: none. */
    public Builder sealKeyCommand(String command) {
      sealKeyCommand = command;
      return this;
    }

    /** Takes credentials from these variables in place of the process's own. */
    public Builder environment(Map<String, String> variables) {
      environment = Checks.notNull(variables, "variables");
      return this;
    }

    /** Sets a listener that gets the progress of fetching, in words, about once a second. */
    public Builder progress(Consumer<String> listener) {
      progress = Checks.notNull(listener, "listener");
      return this;
    }

    /** The finished value. */
    public StoreOptions build() {
      return new StoreOptions(
          repositories,
          Optional.ofNullable(cacheDirectory),
          cacheByteLimit,
          Optional.ofNullable(authority),
          signatureKeys,
          Optional.ofNullable(sealKeyFile),
          Optional.ofNullable(sealKeyCommand),
          environment,
          progress);
    }
  }
}
