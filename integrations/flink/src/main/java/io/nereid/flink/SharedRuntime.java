package io.nereid.flink;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The runtime of a repository in this process. The first task opens it, and the last one that
 * leaves closes it. Any thread may call it; loads wait for each other.
 */
final class SharedRuntime {

  @GuardedBy("BY_REPOSITORY")
  private static final Map<String, SharedRuntime> BY_REPOSITORY = new HashMap<>();

  private final String repository;
  private final Nereid nereid;

  @GuardedBy("this")
  private final Set<String> loaded = new HashSet<>();

  @GuardedBy("BY_REPOSITORY")
  private int tasks;

  private SharedRuntime(String repository) {
    this.repository = repository;
    RepositoryOptions.Builder options = RepositoryOptions.builder().explicit();
    nereid =
        Nereid.open(
            (repository.contains("://")
                    ? options.repository(URI.create(repository))
                    : options.repository(Path.of(repository)))
                .build());
  }

  /** Returns the runtime of a repository, for one more task. */
  static SharedRuntime enter(String repository) {
    synchronized (BY_REPOSITORY) {
      SharedRuntime runtime = BY_REPOSITORY.computeIfAbsent(repository, SharedRuntime::new);
      runtime.tasks++;
      return runtime;
    }
  }

  /** Ends a task's use; closes the runtime after the last one. */
  void leave() {
    synchronized (BY_REPOSITORY) {
      if (--tasks == 0) {
        BY_REPOSITORY.remove(repository);
        nereid.close();
      }
    }
  }

  Nereid nereid() {
    return nereid;
  }

  /** Loads a model, unless another task has. */
  synchronized void load(String model) {
    if (!loaded.contains(model)) {
      nereid.repository().load(model);
      loaded.add(model);
    }
  }
}
