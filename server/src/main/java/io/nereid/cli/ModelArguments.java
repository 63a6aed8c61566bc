package io.nereid.cli;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.RepositoryOptions;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One model, for commands that load it and nothing else. */
final class ModelArguments {

  @Parameters(paramLabel = "MODEL", description = "The model's name.")
  private String name;

  @Mixin private RepositoryArguments repositories = new RepositoryArguments();

  @Option(
      names = "--model-version",
      paramLabel = "N",
      description = "The version; the highest by default.")
  private Long version;

  /** A runtime with this model, and with those that it needs. */
  Nereid open() {
    RepositoryArguments.muteLoadLog(); // what goes wrong is thrown by model()
    RepositoryOptions.Builder options = RepositoryOptions.builder().explicit(name);
    repositories.directories(null).forEach(options::repository);
    return Nereid.open(options.build());
  }

  /** The model, which must have been loaded. */
  Model model(Nereid nereid) {
    return version == null ? nereid.model(name) : nereid.model(name, version);
  }

  /** The model, loaded or not; the highest version of those that were tried. */
  Optional<Model> tried(Nereid nereid) {
    return nereid.models().stream()
        .filter(model -> model.name().equals(name))
        .filter(model -> version == null || model.version() == version)
        .findFirst();
  }
}
