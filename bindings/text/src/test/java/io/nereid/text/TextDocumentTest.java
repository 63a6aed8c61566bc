package io.nereid.text;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of docs/text.md compiles as it stands there. */
class TextDocumentTest {

  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  /** What the examples leave out. */
  private static final String IMPORTS =
      Stream.of("io.nereid", "io.nereid.model", "io.nereid.text", "java.nio.file", "java.util")
          .map(name -> "import " + name + ".*;\n")
          .collect(Collectors.joining());

  @TempDir private Path directory;

  @Test
  void everyExampleCompiles() throws Exception {
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(Path.of("..", "..", "docs", "text.md")))
            .results()
            .map(example -> example.group(1))
            .toList();
    assertTrue(examples.size() >= 3, "only " + examples.size());
    examples.forEach(this::compile);
  }

  private void compile(String example) {
    String source =
        IMPORTS
            + "void main() throws Exception {\n  Path file = Path.of(\"model.onnx\");\n"
            + "  TextEmbedder embedder = null;\n"
            + example
            + "}\n";
    var file =
        new SimpleJavaFileObject(URI.create("string:///Example.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignored) {
            return source;
          }
        };
    var messages = new StringWriter();
    String classPath = System.getProperty("java.class.path");
    List<String> options = List.of("-proc:none", "-cp", classPath, "-d", directory.toString());
    boolean compiled =
        ToolProvider.getSystemJavaCompiler()
            .getTask(messages, null, null, options, null, List.of(file))
            .call();
    assertTrue(compiled, () -> source + messages);
  }
}
