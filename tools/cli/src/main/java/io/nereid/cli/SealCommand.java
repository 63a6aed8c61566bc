package io.nereid.cli;

import io.nereid.stores.Seal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nereid seal}: encrypts models, and makes the key for that. */
@Command(
    name = "seal",
    description = "Copy a model with the files of its versions encrypted.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A server with the key opens them in memory; their content is never on its disk.",
      "",
      "Examples:",
      "  nereid seal --new-key model.key",
      "  nereid seal --key model.key models/digits sealed/digits",
      "  nereid serve sealed --model-key model.key"
    })
final class SealCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(arity = "0..1", index = "0", paramLabel = "MODEL", description = "Its directory.")
  private Path model;

  @Parameters(arity = "0..1", index = "1", paramLabel = "COPY", description = "A new directory.")
  private Path copy;

  @Option(names = "--key", paramLabel = "FILE", description = "The key.")
  private Path key;

  @Option(names = "--key-command", paramLabel = "COMMAND", description = "Prints the key.")
  private String keyCommand;

  @Option(names = "--new-key", paramLabel = "FILE", description = "Make a key.")
  private Path newKey;

  @Override
  public Integer call() throws IOException {
    if (newKey != null) {
      Seal.makeKey(newKey);
      key = key == null ? newKey : key;
    }
    if (copy == null && (newKey == null || model != null)) {
      throw Arguments.wrong(command, "MODEL and COPY, or --new-key FILE", "less");
    }
    if (copy != null) {
      if ((key == null) == (keyCommand == null)) {
        throw Arguments.wrong(command, "one of --key and --key-command", "both or none");
      }
      (key == null ? Seal.ofCommand(keyCommand) : Seal.ofFile(key)).seal(model, copy);
    }
    return 0;
  }
}
