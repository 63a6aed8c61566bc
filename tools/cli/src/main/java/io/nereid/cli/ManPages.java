package io.nereid.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Writes the manual page of each command, in roff with the macros of man(7); run when a
 * distribution is made. An object writes one page.
 */
final class ManPages {

  private final CommandSpec command;
  private final Help help;
  private final String name;
  private final StringBuilder roff = new StringBuilder();

  private ManPages(CommandSpec spec) {
    command = spec;
    help = new Help(spec, Help.defaultColorScheme(Ansi.OFF));
    name = fileName(spec);
  }

  /** Writes all pages into the directory of the argument, which is made if necessary. */
  public static void main(String[] args) throws IOException {
    if (args.length != 1) {
      throw new IllegalArgumentException(
          "expected the directory for the manual pages, got " + args.length + " arguments");
    }
    write(Main.commandLine(), Path.of(args[0]), new Main.Version().getVersion()[0]);
  }

  static void write(CommandLine top, Path directory, String product) throws IOException {
    Files.createDirectories(directory);
    writeOne(top, directory, product);
    for (CommandLine command : top.getSubcommands().values()) {
      if (!command.getCommandSpec().usageMessage().hidden()) {
        writeOne(command, directory, product);
      }
    }
  }

  private static void writeOne(CommandLine command, Path directory, String product)
      throws IOException {
    CommandSpec spec = command.getCommandSpec();
    Path file = directory.resolve(fileName(spec) + ".1");
    Files.writeString(file, of(spec, product));
  }

  /** The page's name without the section: {@code nereid-serve} for {@code nereid serve}. */
  static String fileName(CommandSpec command) {
    return command.qualifiedName("-");
  }

  /** The page's text; {@code product} is the product's name and version. */
  static String of(CommandSpec command, String product) {
    ManPages page = new ManPages(command);
    page.head(product);
    page.parameters();
    page.options();
    page.subcommands();
    page.exitCodes();
    page.footer();
    page.related();
    return page.roff.toString();
  }

  private void head(String product) {
    UsageMessageSpec usage = command.usageMessage();
    // No date, so that the same sources make the same page.
    line(
        ".TH \"%s\" \"1\" \"\" \"%s\" \"Nereid\""
            .formatted(name.toUpperCase(Locale.ROOT), product));
    // Neither justification nor hyphenation.
    line(".nh");
    line(".ad l");
    section("Name");
    line(escaped(name) + " \\- " + escaped(summary(command).replaceFirst("\\.$", "")));
    section("Synopsis");
    line(".nf");
    text(help.synopsis(0));
    line(".fi");
    section("Description");
    for (String paragraph : usage.description()) {
      line(".PP");
      text(formatted(paragraph));
    }
  }

  private void parameters() {
    List<PositionalParamSpec> shown =
        command.positionalParameters().stream().filter(parameter -> !parameter.hidden()).toList();
    if (shown.isEmpty()) {
      return;
    }
    section("Arguments");
    for (PositionalParamSpec parameter : shown) {
      item("\\fI" + escaped(parameter.paramLabel()) + "\\fR", parameter.description());
    }
  }

  private void options() {
    Map<String, List<OptionSpec>> groups =
        GroupedHelp.groups(
            command, command.options().stream().filter(option -> !option.hidden()).toList());
    groups.entrySet().removeIf(group -> group.getValue().isEmpty());
    if (groups.isEmpty()) {
      return;
    }
    section("Options");
    groups.forEach((heading, options) -> {
      if (groups.size() > 1) {
        line(".SS \"" + escaped(heading) + "\"");
      }
      options.forEach(this::option);
    });
  }

  private void option(OptionSpec option) {
    String value =
        help.parameterLabelRenderer()
            .renderParameterLabel(option, Ansi.OFF, List.of())
            .plainString();
    String names =
        List.of(option.names()).stream()
            .map(flag -> "\\fB" + escaped(flag) + "\\fR")
            .collect(Collectors.joining(", "));
    item(names + (value.isBlank() ? "" : "\\fI" + escaped(value) + "\\fR"), option.description());
  }

  private void subcommands() {
    if (command.subcommands().isEmpty()) {
      return;
    }
    section("Commands");
    command.subcommands().values().stream()
        .map(CommandLine::getCommandSpec)
        .filter(sub -> !sub.usageMessage().hidden())
        .forEach(sub -> item("\\fB" + escaped(sub.name()) + "\\fR", summary(sub)));
  }

  private void exitCodes() {
    Map<String, String> codes = command.usageMessage().exitCodeList();
    if (!codes.isEmpty()) {
      section("Exit status");
      codes.forEach((code, meaning) -> item("\\fB" + code.strip() + "\\fR", meaning));
    }
  }

  private void footer() {
    String[] footer = command.usageMessage().footer();
    if (footer.length == 0) {
      return;
    }
    section("Notes");
    line(".nf");
    for (String row : footer) {
      text(formatted(row));
    }
    line(".fi");
  }

  private void related() {
    List<CommandSpec> others =
        command.parent() != null
            ? List.of(command.parent())
            : command.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(sub -> !sub.usageMessage().hidden())
                .toList();
    if (others.isEmpty()) {
      return;
    }
    section("See also");
    line(
        others.stream()
            .map(other -> "\\fB" + escaped(fileName(other)) + "\\fR(1)")
            .collect(Collectors.joining(", ")));
  }

  private void section(String title) {
    line(".SH \"" + title.toUpperCase(Locale.ROOT) + "\"");
  }

  private void item(String tag, String... description) {
    line(".TP");
    line(tag);
    for (String row : description) {
      text(formatted(row));
    }
  }

  /** Returns text with picocli's markup and line breaks resolved. */
  private static String formatted(String text) {
    return Ansi.OFF.string(text.replace("%n", "\n").replace("%%", "%"));
  }

  /** The first line about a command. */
  private static String summary(CommandSpec command) {
    UsageMessageSpec usage = command.usageMessage();
    return Stream.of(usage.header(), usage.description())
        .flatMap(Stream::of)
        .map(ManPages::formatted)
        .findFirst()
        .orElse(command.name());
  }

  private void text(String rows) {
    rows.lines().forEach(row -> line(row.isBlank() ? ".sp" : escaped(row)));
  }

  private void line(String row) {
    roff.append(row).append('\n');
  }

  /** Escapes text so that dashes can be copied, and no line looks like a roff request. */
  private static String escaped(String text) {
    String plain = text.stripTrailing().replace("\\", "\\e").replace("-", "\\-");
    return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
  }
}
