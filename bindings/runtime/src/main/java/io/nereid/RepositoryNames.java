package io.nereid;

import io.nereid.internal.repository.ModelRepository;
import io.nereid.internal.request.Signature;
import io.nereid.types.NereidException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the models of the repositories are known by: their names, which they have in common, or
 * their directories, where each repository is a name space of its own. From any thread.
 */
final class RepositoryNames {

  private final List<Path> repositories;
  private final boolean namespaces;

  RepositoryNames(RepositoryOptions options) {
    repositories = options.repositories();
    namespaces = options.namespacing();
  }

  /** Every model's directories by its key; several only where repositories have the same name. */
  SortedMap<String, List<Path>> find() {
    return keyed(ModelRepository.find(repositories));
  }

  /** As {@link #find()}, of the models with this name: none or, without name spaces, one. */
  SortedMap<String, List<Path>> find(String name) {
    List<Path> directories = ModelRepository.find(repositories, name);
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
  ModelId id(String key) {
    for (Path repository : repositories) {
      String namespace = repository.toAbsolutePath().toString();
      if (namespaces && key.startsWith(namespace + "/")) {
        return new ModelId(key, ModelId.shown(key), namespace);
      }
    }
    return ModelId.of(key);
  }

  /** Where a model is; nowhere for what no model can be known by. */
  List<Path> directories(String key) {
    ModelId id = id(key);
    if (!id.namespace().isEmpty()) {
      Path directory = Path.of(key);
      return Files.isDirectory(directory) ? List.of(directory) : List.of();
    }
    if (namespaces) {
      return List.of(); // of no repository
    }
    try {
      return ModelRepository.find(repositories, key);
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
    ModelRepository.checkName(name);
    if (!namespace.isEmpty()) {
      return repository(namespace).resolve(name).toString();
    }
    Path own = ensemble.resolveSibling(name);
    if (Files.isDirectory(own)) {
      return own.toString();
    }
    List<Path> others = ModelRepository.find(repositories, name);
    if (others.size() > 1) {
      throw ambiguous(name, others.size());
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
            Signature.invalid(
                "expected model_namespace to be the path of a model repository, got '"
                    + namespace
                    + "'"));
  }

  /** Several models have a name, and nobody said which is meant. */
  static NereidException ambiguous(String name, int count) {
    return Signature.invalid(
        "there are "
            + count
            + " models '"
            + name
            + "' in different repositories: model namespace must be provided to resolve ambiguity,"
            + " as the step of an ensemble can");
  }
}
