package io.nereid.perf;

import java.io.IOException;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that say which model of which server is measured. */
final class TargetArguments {

  static final class ModelName {
    @Option(
        names = {"-m", "--model"},
        paramLabel = "MODEL",
        description = "The model; also as the argument.")
    private String option;

    @Parameters(arity = "0..1", paramLabel = "MODEL", description = "The model.")
    private String argument;
  }

  @ArgGroup(multiplicity = "1")
  private ModelName model;

  @Option(
      names = {"-x", "--model-version"},
      paramLabel = "N",
      defaultValue = "",
      description = "Its version; what the server chooses by default.")
  private String version;

  @Mixin private ServerArguments server;

  /** Throws what is wrong with it as an {@link IllegalArgumentException}. */
  Target target() throws IOException {
    String name = model.option == null ? model.argument : model.option;
    if (name.isEmpty()) {
      throw new IllegalArgumentException("expected the name of a model, got an empty one");
    }
    return server.target(name, version);
  }
}
