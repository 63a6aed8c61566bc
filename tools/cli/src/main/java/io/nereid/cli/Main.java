package io.nereid.cli;

import io.nereid.perf.PerfCommand;
import io.nereid.server.log.KeptLogManager;
import io.nereid.types.Names;
import io.nereid.types.NereidException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The {@code nereid} command: parses the command line and runs the subcommand, all listed here. */
@Command(
    name = "nereid",
    description = "Serves machine-learning models: Java control plane, C++ data plane.",
    versionProvider = Main.Version.class,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    optionListHeading = "%nOptions:%n",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:done", "1:it failed", "2:the command line is wrong"})
public final class Main implements Runnable {
  /** The time when the JVM loaded this class. */
  static final long ENTERED_MS = System.currentTimeMillis();

  private static final List<Class<?>> COMMANDS =
      List.of(
          ServeCommand.class,
          ModelsCommand.class,
          InferCommand.class,
          ConfigCommand.class,
          StatsCommand.class,
          TopCommand.class,
          LoadCommand.class,
          UnloadCommand.class,
          PromoteCommand.class,
          TraceCommand.class,
          RecordCommand.class,
          LogsCommand.class,
          CheckCommand.class,
          BuildCommand.class,
          SignCommand.class,
          SealCommand.class,
          PerfCommand.class,
          ReplayCommand.class,
          BenchCommand.class,
          TuneCommand.class,
          HealthCommand.class,
          CompletionCommand.class,
          VersionCommand.class,
          HelpCommand.class);

  /** Commands that need all others. */
  private static final List<Class<?>> OF_ALL = List.of(CompletionCommand.class, HelpCommand.class);

  private static final String HELP_OF = "--help=";

  @Spec private CommandSpec spec;

  @Option(
      names = "--stacktrace",
      scope = ScopeType.INHERIT,
      description = "Print the stack trace of an error, not just its message.")
  private boolean stacktrace;

  private Main() {}

  /** Runs the command line and ends the process with its exit code. */
  public static void main(String[] args) {
    // Warnings of the runtime take one line, unless the user sets another format.
    System.getProperties()
        .putIfAbsent("java.util.logging.SimpleFormatter.format", "%4$s: %5$s%6$s%n");
    System.getProperties().putIfAbsent("java.util.logging.manager", KeptLogManager.class.getName());
    // No option has such a type, and looking for their converters loads a hundred classes.
    System.getProperties().putIfAbsent("picocli.converters.excludes", "java\\.(sql|time)\\..*");
    // The command never uses Java's serialization, so the JVM may refuse all of it.
    System.getProperties().putIfAbsent("helidon.serialFilter.missing.action", "configure");
    PrintWriter out = new PrintWriter(System.out, true);
    System.exit(run(args, System.getenv(), out, new PrintWriter(System.err, true)));
  }

  /** Runs a command line without an environment. */
  static int run(String[] args, PrintWriter out, PrintWriter err) {
    return run(args, Map.of(), out, err);
  }

  /**
   * Runs a command line without ending the process: prints to the given writers and returns the
   * exit code.
   */
  static int run(String[] args, Map<String, String> environment, PrintWriter out, PrintWriter err) {
    Main main = new Main();
    Settings settings = new Settings(environment, new RunLast());
    Errors errors = new Errors(() -> main.stacktrace, settings::located);
    CommandLine command =
        commandLine(main, named(args))
            .setOut(out)
            .setErr(err)
            .setParameterExceptionHandler(errors)
            .setExecutionExceptionHandler(errors)
            .setExecutionStrategy(settings);
    if (args.length == 2 && args[0].equals("serve") && args[1].startsWith(HELP_OF)) {
      return help(command.getSubcommands().get("serve"), args[1].substring(HELP_OF.length()));
    }
    try (ServedFile served = ServedFile.of(args)) {
      return command.execute(served.arguments());
    } catch (NereidException
        // picocli catches exceptions only, and threads would keep the process alive
        | Error error) {
      return errors.report(error, command);
    }
  }

  /** Prints the options of a command under one heading. */
  private static int help(CommandLine command, String topic) {
    Optional<String> section = GroupedHelp.topic(command, topic);
    if (section.isPresent()) {
      command.getOut().print(section.get());
      command.getOut().flush();
      return CommandLine.ExitCode.OK;
    }
    List<String> topics = GroupedHelp.topics(command.getCommandSpec());
    command
        .getErr()
        .println("nereid: no such topic: " + topic + Names.hint("there is", topic, topics));
    return CommandLine.ExitCode.USAGE;
  }

  /** The command line with the command that the arguments begin with, or with all commands. */
  static CommandLine commandLine(String... args) {
    return commandLine(new Main(), named(args));
  }

  /**
   * The command that the arguments begin with, or all: reading the options of all took a fifth of a
   * server's start.
   */
  private static List<Class<?>> named(String[] args) {
    return COMMANDS.stream()
        .filter(type -> !OF_ALL.contains(type))
        .filter(
            type -> args.length > 0 && type.getSimpleName().equalsIgnoreCase(args[0] + "Command"))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElse(COMMANDS);
  }

  private static CommandLine commandLine(Main main, List<Class<?>> commands) {
    CommandLine command = new CommandLine(main);
    commands.forEach(command::addSubcommand);
    command
        .setCaseInsensitiveEnumValuesAllowed(true)
        // the last one wins, as for scripts that append options
        .setOverwrittenOptionsAllowed(true);
    CommandLine serve = command.getSubcommands().get("serve");
    if (serve != null) {
      TritonFlags.addTo(serve.getCommandSpec());
      serve
          .getHelpSectionMap()
          .put(CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST, GroupedHelp::options);
    }
    return command;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  /** The text that {@code nereid --version} prints. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      // Absent if the classes do not come from the jar, as in an IDE.
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {
        "nereid " + (version == null ? "(unpackaged)" : version),
        "Java " + Runtime.version() + " on " + System.getProperty("os.arch")
      };
    }
  }
}
