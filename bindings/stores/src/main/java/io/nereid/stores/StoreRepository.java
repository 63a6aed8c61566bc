package io.nereid.stores;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.internal.loader.OwnedDirectory;
import io.nereid.model.ModelFile;
import io.nereid.model.ModelStore;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A repository in a store, and the directory in which it appears: there, each model is a link to a
 * tree of hard links into the cache. A model's link is put in place of the old one at once, when
 * all of its files are there. Files that did not change are the same ones in both trees. Threads
 * that load models call it at the same time; one at a time asks for the list.
 */
final class StoreRepository {

  private static final Logger LOGGER = System.getLogger("io.nereid.load");

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  /** The age from which on the first list is asked for anew. */
  private static final Duration FRESH = Duration.ofSeconds(10);

  /** The beginning of the reason of a model that a list lacks files of. */
  private static final String LAGGING = "the list of ";

  private final String url;
  private final HttpStore store;
  private final FileCache cache;
  private final Path models;
  private final Path trees;
  private final ExecutorService executor;

  private final Map<String, CompletableFuture<Void>> fetches = new ConcurrentHashMap<>();
  private final Map<String, List<StoredObject>> built = new ConcurrentHashMap<>();
  private final Map<String, Path> replaced = new ConcurrentHashMap<>();
  private final Map<String, String> waiting = new ConcurrentHashMap<>();

  @GuardedBy("pending")
  private final Map<String, Pending> pending = new HashMap<>();

  @GuardedBy("pending")
  private long fetchedBytes; // of fetches that have ended

  private final AtomicLong treeCount = new AtomicLong();

  /** The trees of models that the last list lacked. */
  @GuardedBy("this")
  private final List<Path> left = new ArrayList<>();

  /** The objects by model; null: the store was never asked. One thread at a time writes it. */
  private volatile Map<String, List<StoredObject>> listed;

  private volatile int failedLooks;

  /** Counts the times at which the list was asked for. One thread at a time writes it. */
  private volatile long looks;

  @GuardedBy("this")
  private long nextLookNs;

  /** The first list, asked for while the rest of a program starts; null: it was used. */
  @GuardedBy("this")
  private Future<List<StoredObject>> first;

  private final long madeNs = System.nanoTime();

  /**
   * A model that is being fetched.
   *
   * @param bytes that it lacked at first
   * @param came of these
   */
  private record Pending(long bytes, AtomicLong came) {}

  /**
   * A repository that appears below a directory.
   *
   * @param executor runs fetches, each on a thread that may wait
   */
  StoreRepository(
      String url, HttpStore store, FileCache cache, Path place, ExecutorService executor)
      throws IOException {
    this.url = url;
    this.store = store;
    this.cache = cache;
    this.executor = executor;
    models = Files.createDirectories(place.resolve("models"));
    trees = Files.createDirectories(place.resolve("trees"));
    Files.createDirectory(trees.resolve("empty"));
    Files.createFile(trees.resolve("empty-file"));
    first = executor.submit(this::list);
  }

  Path directory() {
    return models;
  }

  ModelStore.Status status() {
    long done;
    long left = 0;
    synchronized (pending) {
      done = fetchedBytes;
      for (Pending one : pending.values()) {
        done += one.came.get();
        left += Math.max(0, one.bytes - one.came.get());
      }
    }
    return new ModelStore.Status(
        url, failedLooks == 0, done, left, store.faults(), Map.copyOf(waiting));
  }

  // ---- The list --------------------------------------------------------------------------------

  /** Asks for the list, once for all who waited meanwhile, and begins to fetch all if wanted. */
  void look(boolean all) {
    long before = looks;
    synchronized (this) {
      if (all && failedLooks > 0 && System.nanoTime() - nextLookNs < 0) {
        return;
      }
      if (listed == null || looks == before) {
        askForList();
      }
      if (all) {
        listed.keySet().forEach(this::start);
      }
    }
  }

  @GuardedBy("this")
  private void askForList() {
    looks = looks + 1;
    try {
      Future<List<StoredObject>> asked = first;
      first = null;
      boolean isNew = System.nanoTime() - madeNs < FRESH.toNanos();
      List<StoredObject> objects = asked != null && isNew ? Parallel.await(asked) : list();
      cache.saveList(url, objects);
      cache.trim();
      take(objects);
      if (failedLooks > 0) {
        LOGGER.log(Level.INFO, "{0} can be reached again", url);
      }
      failedLooks = 0;
    } catch (IOException e) {
      cannotList(e);
    }
  }

  private List<StoredObject> list() throws IOException {
    boolean isKnown = listed != null || cache.savedList(url) != null;
    return store.list(isKnown ? 2 : HttpStore.TRIES);
  }

  @GuardedBy("this")
  private void cannotList(IOException cause) {
    try {
      List<StoredObject> saved = listed == null ? cache.savedList(url) : List.of();
      if (saved == null) {
        throw cause;
      }
      if (failedLooks++ == 0) {
        String what =
            "{0} cannot be listed, its models stay as they are"
                + (listed == null ? " in the cache" : "")
                + ": {1}";
        LOGGER.log(Level.WARNING, what, url, cause.getMessage());
      }
      if (listed == null) {
        take(saved);
      }
    } catch (IOException e) {
      String why = "the repository " + url + " cannot be listed";
      throw new NereidException(StatusCode.UNAVAILABLE, why, e);
    }
    long pauseNs =
        Math.min(
            LONGEST_PAUSE.toNanos(), Duration.ofSeconds(1L << Math.min(failedLooks, 9)).toNanos());
    nextLookNs = System.nanoTime() + pauseNs / 2 + ThreadLocalRandom.current().nextLong(pauseNs);
  }

  @GuardedBy("this")
  private void take(List<StoredObject> objects) throws IOException {
    Map<String, List<StoredObject>> now = new TreeMap<>();
    for (StoredObject one : objects) {
      boolean alone = one.key().indexOf('/') < 0;
      if (!one.isSafe()) {
        if (!one.key().isEmpty()) {
          LOGGER.log(Level.DEBUG, "{0}: {1} cannot be a file", url, one.key());
        }
      } else if (!one.key().startsWith(".") && (!alone || ModelFile.isNamed(one.key()))) {
        now.computeIfAbsent(one.model(), key -> new ArrayList<>()).add(one);
      }
    }
    for (String model : built.keySet()) {
      if (isLagging(built.get(model), now.getOrDefault(model, List.of()))) {
        waiting.put(model, LAGGING + url + " lacks files that are there");
        now.put(model, built.get(model));
      } else {
        waiting.computeIfPresent(model, (key, why) -> why.startsWith(LAGGING) ? null : why);
      }
    }
    listed = now;
    for (String model : now.keySet()) {
      if (!Files.exists(models.resolve(model), LinkOption.NOFOLLOW_LINKS)) {
        boolean isFile = now.get(model).getFirst().key().equals(model);
        Files.createSymbolicLink(
            models.resolve(model), trees.resolve(isFile ? "empty-file" : "empty"));
      }
    }
    Set<String> gone = new TreeSet<>();
    try (var links = Files.newDirectoryStream(models)) {
      links.forEach(link -> gone.add(link.getFileName().toString()));
    }
    gone.removeAll(now.keySet());
    left.forEach(StoreRepository::deleteTree); // a load that reads one had time since the last list
    left.clear();
    for (String model : gone) {
      left.add(tree(model));
      Files.deleteIfExists(models.resolve(model));
      Optional.ofNullable(replaced.remove(model)).ifPresent(left::add);
      built.remove(model);
      waiting.remove(model);
    }
  }

  /** True if files that a list lacks are there all the same: it is older than they are. */
  private boolean isLagging(List<StoredObject> before, List<StoredObject> now) {
    Set<String> names = new TreeSet<>();
    now.forEach(one -> names.add(one.key()));
    for (StoredObject one : before) {
      if (!names.contains(one.key())) {
        try {
          return store.exists(one);
        } catch (IOException e) {
          return true; // nobody knows
        }
      }
    }
    return false;
  }

  // ---- Models ----------------------------------------------------------------------------------

  /** Waits until a model's place holds what the last list says. */
  void fetch(String model) {
    try {
      start(model).join();
    } catch (CompletionException e) {
      throw new NereidException(StatusCode.UNAVAILABLE, e.getCause().getMessage());
    }
  }

  private CompletableFuture<Void> start(String model) {
    return fetches.compute(
        model,
        (key, running) -> {
          CompletableFuture<Void> none = CompletableFuture.completedFuture(null);
          boolean isBusy = running != null && !running.isDone();
          return !isBusy && isBuilt(key)
              ? none
              : (isBusy ? running.handle((done, failure) -> done) : none)
                  .thenComposeAsync(done -> bring(key), executor);
        });
  }

  private boolean isBuilt(String model) {
    List<StoredObject> wanted = listed.get(model);
    return wanted == null || wanted.equals(built.get(model)) && !waiting.containsKey(model);
  }

  private CompletableFuture<Void> bring(String model) {
    List<StoredObject> wanted = listed.get(model);
    if (wanted == null || wanted.equals(built.get(model))) {
      waiting.computeIfPresent(model, (key, why) -> why.startsWith(LAGGING) ? why : null);
      return CompletableFuture.completedFuture(null);
    }
    try {
      waiting.putIfAbsent(model, "is being fetched from " + url);
      build(model, wanted);
      waiting.remove(model);
      return CompletableFuture.completedFuture(null);
    } catch (IOException e) {
      String why = "waits for " + url + ": " + e.getMessage();
      if (!why.equals(waiting.put(model, why))) {
        LOGGER.log(Level.WARNING, "model ''{0}'' {1}", model, why);
      }
      return CompletableFuture.failedFuture(new IOException("the model " + why, e));
    }
  }

  private void build(String model, List<StoredObject> wanted) throws IOException {
    Path tree = trees.resolve(model + "-" + treeCount.incrementAndGet());
    Path old;
    try {
      fill(tree, model, wanted);
      old = tree(model);
      link(model, tree);
    } catch (IOException | RuntimeException e) {
      OwnedDirectory.delete(tree);
      throw e;
    }
    built.put(model, wanted);
    // A load that reads the old tree has time until the next one comes.
    Optional.ofNullable(replaced.put(model, old)).ifPresent(StoreRepository::deleteTree);
  }

  /** The tree that a model's link leads to. */
  private Path tree(String model) throws IOException {
    return models.resolve(Files.readSymbolicLink(models.resolve(model))).normalize();
  }

  private static void deleteTree(Path tree) {
    if (!tree.getFileName().toString().matches("empty(-file)?")) {
      OwnedDirectory.delete(tree);
    }
  }

  /** Makes a tree of a model's files, each as soon as it is there. */
  private void fill(Path tree, String model, List<StoredObject> wanted) throws IOException {
    Map<String, String> digests = Map.of();
    for (StoredObject one : wanted) {
      Path place = one.place(tree);
      Files.createDirectories(one.isDirectory() ? place : place.getParent());
      if (one.isManifest()) {
        cache.fetch(store, url, one, "", new AtomicLong(), place);
        digests = Manifest.digests(place);
      }
    }
    List<StoredObject> missing = new ArrayList<>();
    for (StoredObject one : wanted) {
      if (!one.isDirectory()
          && !one.isManifest()
          && !cache.link(url, one, digests.getOrDefault(one.path(), ""), one.place(tree))) {
        missing.add(one);
      }
    }
    if (!missing.isEmpty()) {
      fetchMissing(tree, model, missing, digests);
    }
  }

  private void fetchMissing(
      Path tree, String model, List<StoredObject> missing, Map<String, String> digests)
      throws IOException {
    long bytes = missing.stream().mapToLong(StoredObject::size).sum();
    Pending mine = new Pending(bytes, new AtomicLong());
    synchronized (pending) {
      pending.put(model, mine);
    }
    try {
      Parallel.each(
          missing.size(),
          i -> {
            StoredObject one = missing.get(i);
            cache.fetch(
                store, url, one, digests.getOrDefault(one.path(), ""), mine.came, one.place(tree));
          });
    } finally {
      synchronized (pending) {
        pending.remove(model);
        fetchedBytes += mine.came.get();
      }
    }
  }

  /** Has a model appear as another tree, from one moment to the next. */
  private void link(String model, Path tree) throws IOException {
    Path fresh = trees.resolve("link-" + treeCount.incrementAndGet());
    Files.createSymbolicLink(fresh, tree);
    Files.move(fresh, models.resolve(model), StandardCopyOption.ATOMIC_MOVE);
  }
}
