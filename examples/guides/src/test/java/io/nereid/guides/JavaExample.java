package io.nereid.guides;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A fenced block of Java in a document: it is compiled into a directory and run in this JVM. Tests
 * call it from one thread at a time, since what it prints is taken from {@code System.out}.
 *
 * @param document the document's path, from the top of the tree
 * @param number the place among the document's blocks of Java, from 0
 * @param code its source
 */
record JavaExample(String document, int number, String code) {

  static final Path ROOT = Path.of("").toAbsolutePath();

  private static final Pattern BLOCK = Pattern.compile("(?ms)^```java\n(.*?)^```");
  private static final Pattern TYPE = Pattern.compile("(?m)^(?:public )?class (\\w+)");
  private static final Pattern IMPORTS = Pattern.compile("(?m)^import [^\n]*\n");

  static List<JavaExample> allOf(String document) throws IOException {
    List<String> blocks =
        BLOCK
            .matcher(Files.readString(ROOT.resolve(document)))
            .results()
            .map(block -> block.group(1))
            .toList();
    return IntStream.range(0, blocks.size())
        .mapToObj(number -> new JavaExample(document, number, blocks.get(number)))
        .toList();
  }

  static JavaExample of(String document, int number) throws IOException {
    return allOf(document).get(number);
  }

  /** Puts statements in the place of a remark or of a call that the document leaves open. */
  JavaExample with(String open, String statements) {
    assertTrue(code.contains(open), () -> "no '" + open + "' in " + this);
    return new JavaExample(document, number, code.replace(open, statements));
  }

  /** Makes a program of statements: those before and after the block are the test's. */
  JavaExample between(String before, String after) {
    String imports =
        IMPORTS.matcher(code).results().map(MatchResult::group).collect(Collectors.joining());
    String own =
        IMPORTS.matcher(before).results().map(MatchResult::group).collect(Collectors.joining());
    String program =
        "%s%svoid main() throws Exception {\n%s%s%s}\n"
            .formatted(
                imports,
                own,
                IMPORTS.matcher(before).replaceAll(""),
                IMPORTS.matcher(code).replaceAll(""),
                after);
    return new JavaExample(document, number, program);
  }

  private String typeName() {
    Matcher type = TYPE.matcher(code);
    return type.find() ? type.group(1) : "Example";
  }

  /** Compiles the example with all that this module has on its class path. */
  void compileInto(Path directory, String... options) {
    var file =
        new SimpleJavaFileObject(
            URI.create("string:///" + typeName() + ".java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignored) {
            return code;
          }
        };
    var all =
        new ArrayList<>(
            List.of("-cp", System.getProperty("java.class.path"), "-d", directory.toString()));
    all.addAll(List.of(options.length == 0 ? new String[] {"-proc:none"} : options));
    var messages = new StringWriter();
    boolean compiled =
        ToolProvider.getSystemJavaCompiler()
            .getTask(messages, null, null, all, null, List.of(file))
            .call();
    assertTrue(compiled, () -> this + "\n" + messages);
  }

  /** Compiles the example, runs its main method, and returns the lines that it prints. */
  List<String> run(Path directory, String... arguments) throws Exception {
    compileInto(directory);
    var printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    try (var loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      callMain(loader.loadClass(typeName()), arguments);
    } finally {
      System.setOut(out);
    }
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static void callMain(Class<?> type, String[] arguments) throws Exception {
    for (Method method : type.getDeclaredMethods()) {
      if (method.getName().equals("main")) {
        method.setAccessible(true);
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object[] passed =
            method.getParameterCount() == 0 ? new Object[0] : new Object[] {arguments};
        method.invoke(constructor.newInstance(), passed);
        return;
      }
    }
    throw new AssertionError(type + " has no method main");
  }

  @Override
  public String toString() {
    return document + ", example " + number + ":\n" + code;
  }
}
