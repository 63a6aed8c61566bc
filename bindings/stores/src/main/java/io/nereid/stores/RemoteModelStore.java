package io.nereid.stores;

import io.nereid.internal.loader.OwnedDirectory;
import io.nereid.model.ModelStore;
import io.nereid.model.StoreOptions;
import io.nereid.tls.PemFile;
import io.nereid.tls.TlsManagers;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * Repositories in object stores, and models that are signed or sealed wherever they lie. Threads
 * that load models and the one that polls call it at the same time.
 */
final class RemoteModelStore implements ModelStore {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration CONNECT_PATIENCE = Duration.ofSeconds(5);
  private static final long TICK_MS = 1_000;
  private static final int TICKS_A_LINE = 5;

  /** Opens stores for {@link ModelStore#open}. */
  public static final class Opener implements Provider {

    /** For the service loader. */
    public Opener() {}

    @Override
    public ModelStore open(StoreOptions options) {
      return RemoteModelStore.open(options, PATIENCE);
    }
  }

  private final StoreOptions options;
  private final Signatures signatures;
  private final Seal seal; // null: there is no key
  private final ExecutorService executor =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("nrd-store-", 0).factory());
  private final List<StoreRepository> repositories = new ArrayList<>();
  private CompletableFuture<HttpClient> client; // null: no repository is in a store
  private OwnedDirectory view; // likewise, as the cache
  private FileCache cache;
  private volatile String progress = "";
  private volatile boolean closed;

  private RemoteModelStore(StoreOptions options) throws IOException {
    this.options = options;
    signatures = Signatures.read(options.signatureKeys());
    seal = Seal.of(options);
  }

  static ModelStore open(StoreOptions options, Duration patience) {
    try {
      RemoteModelStore made = new RemoteModelStore(options);
      if (!options.repositories().isEmpty()) {
        made.connect(patience);
      }
      return made;
    } catch (IOException e) {
      throw new NereidException(StatusCode.INVALID_ARGUMENT, e.getMessage());
    }
  }

  private void connect(Duration patience) throws IOException {
    HttpClient.Builder http =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(patience.compareTo(CONNECT_PATIENCE) < 0 ? patience : CONNECT_PATIENCE);
    Optional<Path> authority =
        options
            .authority()
            .or(() ->
                Optional.ofNullable(options.environment().get("AWS_CA_BUNDLE")).map(Path::of));
    if (authority.isPresent()) {
      http.sslContext(trusting(authority.get()));
    }
    client = CompletableFuture.supplyAsync(http::build, executor); // half a second of a start
    cache = new FileCache(directory(), options.cacheByteLimit());
    view = OwnedDirectory.create(cache.views(), "nereid-view-");
    for (String text : options.repositories()) {
      StoreUrl url = StoreUrl.parse(text);
      Dialect dialect = Dialects.of(url, options.environment(), new SmallHttp(client));
      Path place = Files.createDirectory(view.content().resolve("" + repositories.size()));
      HttpStore store = new HttpStore(url, dialect, client, patience);
      repositories.add(new StoreRepository(url.toString(), store, cache, place, executor));
    }
    Thread.ofVirtual().name("nrd-store-progress").start(this::tellProgress);
  }

  private static SSLContext trusting(Path pem) throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      TrustManager[] managers = {TlsManagers.trusting(PemFile.read(pem).certificates())};
      context.init(null, managers, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(pem + ": expected certificates", e);
    }
  }

  private Path directory() {
    String home = options.environment().getOrDefault("HOME", System.getProperty("user.home"));
    String caches = options.environment().getOrDefault("XDG_CACHE_HOME", home + "/.cache");
    return options.cacheDirectory().orElse(Path.of(caches, "nereid", "models")).toAbsolutePath();
  }

  private void tellProgress() {
    try {
      long before = 0;
      long speed = 0;
      for (int tick = 0; !closed; tick++) {
        Thread.sleep(TICK_MS);
        List<Status> all = status();
        long done = all.stream().mapToLong(Status::fetchedBytes).sum();
        long left = all.stream().mapToLong(Status::waitingBytes).sum();
        speed = speed == 0 ? done - before : (3 * speed + done - before) / 4;
        progress =
            left == 0
                ? ""
                : "fetched %d of %d MB, about %d s left"
                    .formatted(
                        done / 1_000_000, (done + left) / 1_000_000, left / Math.max(1, speed) + 1);
        before = done;
        if (left > 0) {
          options.progress().accept(progress);
          if (tick % TICKS_A_LINE == TICKS_A_LINE - 1) {
            System.getLogger("io.nereid.load").log(Level.INFO, "models: " + progress);
          }
        }
      }
    } catch (InterruptedException e) {
      // It is over.
    }
  }

  @Override
  public List<Path> repositories() {
    return repositories.stream().map(StoreRepository::directory).toList();
  }

  @Override
  public void look(boolean all) {
    repositories.forEach(one -> one.look(all));
  }

  @Override
  public void fetch(Path place) {
    for (StoreRepository one : repositories) {
      if (place.startsWith(one.directory())) {
        one.fetch(one.directory().relativize(place).getName(0).toString());
      }
    }
  }

  @Override
  public Content open(Path place) {
    try {
      if (requiresSignature()) {
        signatures.check(place);
      }
      return Seal.open(place, seal);
    } catch (IOException e) {
      String name = place.getFileName().toString();
      throw new NereidException(StatusCode.PERMISSION_DENIED, "model '" + name + "'", e);
    }
  }

  @Override
  public boolean requiresSignature() {
    return !options.signatureKeys().isEmpty();
  }

  @Override
  public String progress() {
    return progress;
  }

  @Override
  public List<Status> status() {
    return repositories.stream().map(StoreRepository::status).toList();
  }

  @Override
  public void close() {
    closed = true;
    executor.shutdownNow();
    if (view != null) {
      client.thenAccept(HttpClient::shutdownNow);
      view.close();
      try {
        cache.trim();
      } catch (IOException e) {
        // Another process will.
      }
    }
  }
}
