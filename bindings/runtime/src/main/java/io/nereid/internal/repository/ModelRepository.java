package io.nereid.internal.repository;

import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * A directory of models in Triton's layout: {@code <model>/config.pbtxt} and {@code
 * <model>/<version>/}. What is wrong with one model is that model's reason and nobody else's.
 */
public final class ModelRepository {

  private ModelRepository() {}

  /** All versions that the models' configurations select, by name and version. */
  public static List<RepositoryModel> read(Path repository, Consumer<String> warnings) {
    List<RepositoryModel> models = new ArrayList<>();
    for (Path directory : modelDirectories(repository)) {
      models.addAll(ModelReader.read(directory, ReadOptions.DEFAULT, warnings).versions());
    }
    return models;
  }

  /** The versions of one model that its configuration selects; never empty. */
  public static List<RepositoryModel> read(
      Path repository, String model, Consumer<String> warnings) {
    checkRepository(repository);
    ModelFiles.checkName(model);
    Path directory = repository.toAbsolutePath().resolve(model);
    if (!Files.isDirectory(directory)) {
      throw new NereidException(
          StatusCode.NOT_FOUND, "there is no model '" + model + "' in " + repository);
    }
    return ModelReader.read(directory, ReadOptions.DEFAULT, warnings).versions();
  }

  private static List<Path> modelDirectories(Path repository) {
    checkRepository(repository);
    List<Path> directories = new ArrayList<>();
    try (DirectoryStream<Path> paths = Files.newDirectoryStream(repository.toAbsolutePath())) {
      for (Path path : paths) {
        // Hidden ones belong to tools: .git, and ..data where Kubernetes mounts a volume.
        if (!path.getFileName().toString().startsWith(".") && Files.isDirectory(path)) {
          directories.add(path);
        }
      }
    } catch (DirectoryIteratorException e) {
      throw unreadable(repository, e.getCause());
    } catch (IOException e) {
      throw unreadable(repository, e);
    }
    directories.sort(Comparator.comparing(path -> path.getFileName().toString()));
    return directories;
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
