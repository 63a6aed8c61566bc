package io.nereid.cli;

import io.nereid.model.RepositoryOptions;
import io.nereid.recording.ShadowOptions;
import io.nereid.recording.compare.Tolerance;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags for shadows of models, and for their verdicts. */
final class ShadowArguments extends Arguments {

  private static final Pattern FORM = Pattern.compile("(.+):([1-9][0-9]{0,17})=([1-9][0-9]{0,17})");

  @Option(
      names = "--shadow",
      paramLabel = "MODEL:3=2",
      description = {
        "Version 3 gets copies of the requests to version 2, in time that nobody else",
        "wants; its answers are compared and thrown away. Repeatable. 'nereid promote'",
        "makes it the one that serves."
      })
  private List<String> shadows = new ArrayList<>();

  @Option(
      names = "--shadow-share",
      paramLabel = "PART",
      description = "So many of the requests are copied; ${DEFAULT-VALUE} by default.")
  private double share = ShadowOptions.DEFAULT.share();

  @Option(
      names = "--shadow-tolerances",
      paramLabel = "FILE",
      description = "Lines MODEL/OUTPUT = ABSOLUTE,RELATIVE, as 'bench compare' reads them.")
  private Path tolerances;

  /** Sets the models to load as shadows. */
  void apply(RepositoryOptions.Builder models) {
    for (String text : shadows) {
      Matcher form = FORM.matcher(text);
      if (!form.matches() || form.group(2).equals(form.group(3))) {
        throw wrong("--shadow MODEL:3=2, of two versions", "'" + text + "'");
      }
      models.shadow(form.group(1), Long.parseLong(form.group(2)), Long.parseLong(form.group(3)));
    }
  }

  /** The options for comparing shadows. */
  ShadowOptions options() {
    try {
      return new ShadowOptions(
          share,
          ShadowOptions.DEFAULT.memoryBytes(),
          tolerances == null ? Map.of() : Tolerance.read(tolerances));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command().commandLine(), "--shadow: " + e.getMessage(), e);
    } catch (IOException e) {
      throw wrong("a file for --shadow-tolerances", e.toString());
    }
  }
}
