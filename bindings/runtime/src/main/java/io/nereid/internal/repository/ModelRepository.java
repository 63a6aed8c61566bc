package io.nereid.internal.repository;

import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Finds the models in directories of Triton's layout. */
public final class ModelRepository {

  private ModelRepository() {}

  /**
   * Every model's directory by name; more than one where repositories have the same name.
   *
   * @throws NereidException when a repository cannot be listed
   */
  public static SortedMap<String, List<Path>> find(List<Path> repositories) {
    SortedMap<String, List<Path>> models = new TreeMap<>();
    for (Path repository : repositories) {
      for (Path directory : modelDirectories(repository)) {
        String name = directory.getFileName().toString();
        models.computeIfAbsent(name, key -> new ArrayList<>()).add(directory);
      }
    }
    return models;
  }

  /** The directories of one model; none when no repository has it. */
  public static List<Path> find(List<Path> repositories, String name) {
    checkName(name);
    return repositories.stream()
        .map(repository -> repository.toAbsolutePath().resolve(name))
        .filter(Files::isDirectory)
        .toList();
  }

  /** Refuses names that no model can have, and those that lead out of the repository. */
  public static void checkName(String name) {
    ModelFiles.checkName(name);
  }

  private static List<Path> modelDirectories(Path repository) {
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
