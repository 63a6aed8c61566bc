package io.nereid.internal.repository;

import io.nereid.internal.config.ModelFiles;
import io.nereid.internal.model.ModelId;
import io.nereid.internal.model.ModelTable;
import io.nereid.model.ModelFile;
import io.nereid.model.RepositoryOptions;
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
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The directories of models in repositories of Triton's layout, and the keys of the models: their
 * names, which repositories have in common, or their directories, if each repository is a name
 * space of its own. A model can be a file as well, {@code NAME.onnx} in place of a directory {@code
 * NAME}, and such a file is also a repository of one model. Any thread may call; every call looks
 * at the disk.
 */
public final class ModelDirectories {

  private static final Logger LOGGER = System.getLogger("io.nereid");

  /** The places that were warned of, each once. */
  private static final Set<Path> UNNAMEABLE = ConcurrentHashMap.newKeySet();

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

  /**
   * Does the same as {@link #find()} for the models with this name: none or, without name spaces,
   * one.
   */
  public SortedMap<String, List<Path>> find(String name) {
    List<Path> directories = find(repositories, name);
    return keyed(directories.isEmpty() ? Map.of() : Map.of(name, directories));
  }

  private SortedMap<String, List<Path>> keyed(Map<String, List<Path>> named) {
    if (!namespaces) {
      return new TreeMap<>(named);
    }
    SortedMap<String, List<Path>> keyed = new TreeMap<>();
    named.values().forEach(places -> places.forEach(one -> keyed.put(key(one), List.of(one))));
    return keyed;
  }

  private static String key(Path place) {
    return place.resolveSibling(ModelFile.nameAt(place)).toString();
  }

  /** Returns the names that belong to a key. */
  public ModelId id(String key) {
    for (Path repository : repositories) {
      String namespace = namespace(repository).toString();
      if (namespaces && key.startsWith(namespace + "/")) {
        return new ModelId(key, ModelId.shown(key), namespace);
      }
    }
    return ModelId.of(key);
  }

  /** Returns the directories of a model; none for a key that no model can have. */
  List<Path> of(String key) {
    ModelId id = id(key);
    if (!ModelFiles.isFileName(key)) {
      return List.of();
    }
    if (!id.namespace().isEmpty()) {
      Path directory = Path.of(key);
      return place(directory.getParent(), directory.getFileName().toString()).stream().toList();
    }
    if (namespaces) {
      return List.of(); // the key is in no repository
    }
    try {
      return find(repositories, key);
    } catch (NereidException e) {
      return List.of();
    }
  }

  /**
   * The key of an ensemble's step: the model is in the repository that the step names, else in the
   * ensemble's own, else in the only one that has the name.
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
    Optional<Path> own = place(ensemble.toAbsolutePath().getParent(), name);
    if (own.isPresent()) {
      return key(own.get());
    }
    List<Path> others = find(repositories, name);
    if (others.size() > 1) {
      throw ModelTable.ambiguous(name, others.size());
    }
    return others.isEmpty() ? name : key(others.getFirst());
  }

  private Path repository(String namespace) {
    Path wanted = Path.of(namespace).toAbsolutePath().normalize();
    return repositories.stream()
        .map(ModelDirectories::namespace)
        .filter(repository -> repository.normalize().equals(wanted))
        .findFirst()
        .orElseThrow(() ->
            new NereidException(
                StatusCode.INVALID_ARGUMENT,
                "expected model_namespace to be the path of a model repository, got '"
                    + namespace
                    + "'"));
  }

  /** Warns of models that options name and no repository has. */
  public void warnOfUnknown(
      String option, SortedMap<String, List<Path>> found, Set<String> models) {
    Set<String> known = new TreeSet<>();
    found.keySet().forEach(key -> known.add(id(key).name()));
    for (String name : new TreeSet<>(models)) {
      if (!known.contains(name) && !name.equals(RepositoryOptions.ALL_MODELS)) {
        LOGGER.log(
            Level.WARNING,
            "there is an {2} for model ''{0}'', which is in no repository{1}",
            name,
            Names.hint("there is", name, known),
            option);
      }
    }
  }

  private static Path namespace(Path repository) {
    Path absolute = repository.toAbsolutePath();
    return ModelFile.isAt(absolute) ? absolute.getParent() : absolute;
  }

  // ---- Directories and files -------------------------------------------------------------------

  /**
   * Every model's directory or file by name; more than one where repositories have the same name.
   *
   * @throws NereidException when a repository cannot be listed
   */
  public static SortedMap<String, List<Path>> find(List<Path> repositories) {
    SortedMap<String, List<Path>> models = new TreeMap<>();
    for (Path repository : repositories) {
      for (String name : list(repository)) {
        place(repository, name)
            .ifPresent(place -> models.computeIfAbsent(name, key -> new ArrayList<>()).add(place));
      }
    }
    return models;
  }

  /** The places of one model; none when no repository has it. */
  public static List<Path> find(List<Path> repositories, String name) {
    ModelFiles.checkName(name);
    return repositories.stream().flatMap(repository -> place(repository, name).stream()).toList();
  }

  /** Returns the place of a model in a repository: its directory, or else its file. */
  private static Optional<Path> place(Path repository, String name) {
    Path whole = repository.toAbsolutePath();
    if (ModelFile.isAt(whole)) {
      return Optional.of(whole).filter(file -> ModelFile.nameAt(file).equals(name));
    }
    Path directory = whole.resolve(name);
    return Files.isDirectory(directory)
        ? Optional.of(directory)
        : ModelFile.ENDINGS.stream()
            .map(ending -> whole.resolve(name + ending))
            .filter(ModelFile::isAt)
            .findFirst();
  }

  /** The names of a repository's models. */
  private static SortedSet<String> list(Path repository) {
    if (ModelFile.isAt(repository)) {
      return new TreeSet<>(Set.of(ModelFile.nameAt(repository)));
    }
    checkRepository(repository);
    SortedSet<String> names = new TreeSet<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(repository.toAbsolutePath())) {
      for (Path path : paths) {
        boolean model = Files.isDirectory(path) || ModelFile.isAt(path);
        String name = path.getFileName().toString();
        if (model && !isHidden(name) && isNameable(path, name)) {
          names.add(ModelFile.nameAt(path));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw unreadable(repository, e.getCause());
    } catch (IOException e) {
      throw unreadable(repository, e);
    }
    return names;
  }

  /** True if the name that Java made of a place's bytes leads back to a place. */
  private static boolean isNameable(Path path, String name) {
    boolean nameable = ModelFiles.isFileName(name);
    if (!nameable && UNNAMEABLE.add(path)) {
      String why =
          "{0} is passed over: its name has letters that the locale lacks (LC_ALL=C.UTF-8)";
      LOGGER.log(Level.WARNING, why, path);
    }
    return nameable;
  }

  /**
   * True for directories of tools: .git, and ..data where Kubernetes mounts a volume; dots alone do
   * not count.
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
            + (there
                ? ", but it is no directory, and no file *"
                    + String.join(" or *", ModelFile.ENDINGS)
                : ", but nothing is there"));
  }

  private static NereidException unreadable(Path repository, IOException cause) {
    return ModelFiles.failure("the model repository " + repository, cause);
  }
}
