package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The Java of docs/spring.md compiles as it stands there, and that of docs/text.md, all of which is
 * on the class path here.
 */
class ExamplesOfGuidesTest {

  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path directory;

  @Test
  void everyExampleOfTheStarterCompiles() throws Exception {
    String front =
        """
        import io.nereid.*;
        import io.nereid.Model;
        import io.nereid.tensor.*;
        import org.springframework.ai.embedding.*;
        import org.springframework.beans.factory.annotation.*;
        import org.springframework.stereotype.*;
        import org.springframework.web.bind.annotation.*;
        """;
    compileAll("spring.md", 2, front, "");
  }

  @Test
  void everyExampleOfTextsCompiles() throws Exception {
    String front =
        """
        import io.nereid.*;
        import io.nereid.model.*;
        import io.nereid.text.*;
        import java.nio.file.*;
        import java.util.*;
        void main() throws Exception {
          Path file = Path.of("model.onnx");
          TextEmbedder embedder = null;
        """;
    compileAll("text.md", 3, front, "}\n");
  }

  /**
   * Compiles the examples of a document.
   *
   * @param fewest how many there are at least
   * @param front what they leave out in front
   */
  private void compileAll(String document, int fewest, String front, String end) throws Exception {
    List<String> examples =
        EXAMPLE
            .matcher(Files.readString(Path.of("..", "..", "docs", document)))
            .results()
            .map(example -> example.group(1))
            .toList();
    assertTrue(examples.size() >= fewest, "only " + examples.size());
    examples.forEach(example -> compile(front + example + end));
  }

  private void compile(String source) {
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
