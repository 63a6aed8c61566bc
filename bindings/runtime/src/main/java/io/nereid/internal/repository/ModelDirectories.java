package io.nereid.internal.repository;

import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelTable;
import io.nereid.types.Names;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where models are, in repositories of Triton's layout, and what they are known by: their names,
 * which repositories have in common, or their directories, where each repository is a name space of
 * its own. From any thread; every call looks at the disk.
 */
public final class ModelDirectories {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  private final List<Path> repositories;
  private final boolean namespaces;

  /** The directories of these repositories. */
  public ModelDirectories(List<Path> repositories, boolean namespaces) {
    this.repositories = repositories;
    this.namespaces = namespaces;
  }

  // ---- Keys ------------------------------------------------------------------------------------

  /** Every model's directories by its key; several only where repositories have the same name. */
  public SortedMap<String, List<Path>> find() {
    return keyed(find(repositories));
  }

  /** As {@link #find()}, of the models with this name: none or, without name spaces, one. */
  public SortedMap<String, List<Path>> find(String name) {
    List<Path> directories = find(repositories, name);
    return keyed(directories.isEmpty() ? Map.of() : Map.of(name, directories));
  }

  private SortedMap<String, List<Path>> keyed(Map<String, List<Path>> named) {
    if (!namespaces) {
      return new TreeMap<>(named);
    }
    SortedMap<String, List<Path>> keyed = new TreeMap<>();
    named
        .values()
        .forEach(
            directories -> directories.forEach(one -> keyed.put(one.toString(), List.of(one))));
    return keyed;
  }

  /** What belongs to a key. */
  public ModelId id(String key) {
    for (Path repository : repositories) {
      String namespace = repository.toAbsolutePath().toString();
      if (namespaces && key.startsWith(namespace + "/")) {
        return new ModelId(key, ModelId.shown(key), namespace);
      }
    }
    return ModelId.of(key);
  }

  /** Where a model is; nowhere for what no model can be known by. */
  List<Path> of(String key) {
    ModelId id = id(key);
    if (!id.namespace().isEmpty()) {
      Path directory = Path.of(key);
      return Files.isDirectory(directory) ? List.of(directory) : List.of();
    }
    if (namespaces) {
      return List.of(); // of no repository
    }
    try {
      return find(repositories, key);
    } catch (NereidException e) {
      return List.of();
    }
  }

  /**
   * The key of an ensemble's step: in the repository that it names, or else in the ensemble's own,
   * or else in the only one that has it.
   *
   * @param ensemble the ensemble's directory
   */
  String step(Path ensemble, String namespace, String name) {
    if (!namespaces) {
      return name;
    }
    ModelFiles.checkName(name);
    if (!namespace.isEmpty()) {
      return repository(namespace).resolve(name).toString();
    }
    Path own = ensemble.resolveSibling(name);
    if (Files.isDirectory(own)) {
      return own.toString();
    }
    List<Path> others = find(repositories, name);
    if (others.size() > 1) {
      throw ModelTable.ambiguous(name, others.size());
    }
    return others.isEmpty() ? name : others.getFirst().toString();
  }

  private Path repository(String namespace) {
    Path wanted = Path.of(namespace).toAbsolutePath().normalize();
    return repositories.stream()
        .map(Path::toAbsolutePath)
        .filter(repository -> repository.normalize().equals(wanted))
        .findFirst()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.INVALID_ARGUMENT,
                "expected model_namespace to be the path of a model repository, got '"
                    + namespace
                    + "'"));
  }

  /** Says which of the models that have an objective are not there. */
  public void warnOfUnknown(SortedMap<String, List<Path>> found, Set<String> objectives) {
    Set<String> known = new TreeSet<>();
    found.keySet().forEach(key -> known.add(id(key).name()));
    for (String name : new TreeSet<>(objectives)) {
      if (!known.contains(name)) {
        LOGGER.log(
            Level.WARNING,
            "there is an objective for model ''{0}'', which is in no repository{1}",
            name,
            Names.hint("there is", name, known));
      }
    }
  }

  // ---- Directories -----------------------------------------------------------------------------

  /**
   * Every model's directory by name; more than one where repositories have the same name.
   *
   * @throws NereidException when a repository cannot be listed
   */
  public static SortedMap<String, List<Path>> find(List<Path> repositories) {
    SortedMap<String, List<Path>> models = new TreeMap<>();
    for (Path repository : repositories) {
      for (Path directory : list(repository)) {
        String name = directory.getFileName().toString();
        models.computeIfAbsent(name, key -> new ArrayList<>()).add(directory);
      }
    }
    return models;
  }

  /** The directories of one model; none when no repository has it. */
  public static List<Path> find(List<Path> repositories, String name) {
    ModelFiles.checkName(name);
    return repositories.stream()
        .map(repository -> repository.toAbsolutePath().resolve(name))
        .filter(Files::isDirectory)
        .toList();
  }

  private static List<Path> list(Path repository) {
    checkRepository(repository);
    List<Path> directories = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(repository.toAbsolutePath())) {
      for (Path path : paths) {
        if (!isHidden(path.getFileName().toString()) && Files.isDirectory(path)) {
          directories.add(path);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw unreadable(repository, e.getCause());
    } catch (IOException e) {
      throw unreadable(repository, e);
    }
    return directories;
  }

  /**
   * What belongs to tools: .git, and ..data where Kubernetes mounts a volume; dots alone do not.
   */
  private static boolean isHidden(String name) {
    return name.startsWith(".") && !name.matches("\\.+");
  }

  private static void checkRepository(Path repository) {
    if (Files.isDirectory(repository)) {
      return;
    }
    boolean there = Files.exists(repository);
    throw new NereidException(
        there ? StatusCode.INVALID_ARGUMENT : StatusCode.NOT_FOUND,
        "expected a model repository at "
            + repository
            + (there ? ", but it is no directory" : ", but nothing is there"));
  }

  private static NereidException unreadable(Path repository, IOException cause) {
    return ModelFiles.failure("the model repository " + repository, cause);
  }
}
