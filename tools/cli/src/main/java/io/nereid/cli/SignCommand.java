package io.nereid.cli;

import io.nereid.stores.Signatures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid sign}: signs models, and makes the keys for that. */
@Command(
    name = "sign",
    description = "Sign models, so that a server with --require-signature takes them.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The file nereid.manifest in a model's directory has the SHA-256 of each file and a",
      "signature by Ed25519. Sign again when a file changes.",
      "",
      "Examples:",
      "  nereid sign --new-key release     makes release.pem and release.pub.pem",
      "  nereid sign --key release.pem models/digits",
      "  nereid serve models --require-signature release.pub.pem"
    })
final class SignCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(arity = "0..*", paramLabel = "MODEL", description = "Directories of models.")
  private List<Path> models = List.of();

  @Option(names = "--key", paramLabel = "FILE", description = "The private key, as PEM.")
  private Path key;

  @Option(
      names = "--new-key",
      paramLabel = "NAME",
      description = "Make a pair of keys: NAME.pem, which stays secret, and NAME.pub.pem.")
  private String newKey;

  @Override
  public Integer call() throws IOException {
    if (newKey != null) {
      Signatures.makeKeys(Path.of(newKey + ".pem"), Path.of(newKey + ".pub.pem"));
      key = key == null ? Path.of(newKey + ".pem") : key;
    }
    if (key == null || models.isEmpty() && newKey == null) {
      throw Arguments.wrong(command, "--key FILE and models, or --new-key NAME", "less");
    }
    for (Path model : models) {
      Signatures.sign(model, key);
    }
    return 0;
  }
}
