package io.nereid.tensorrt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** The example of docs/tensorrt.md is compiled, and run with a plan, as it stands there. */
class TensorRtDocumentGpuTest extends GpuTest {

  private static final Path DOCUMENT = Path.of("../../docs/tensorrt.md");
  private static final Pattern JAVA = Pattern.compile("(?ms)^```java\n(.*?class (\\w+) .*?)^```$");

  @Test
  void theExampleRuns() throws Exception {
    Path plan =
        plan(builder -> {
          doubler(builder);
          rows(builder, 1, 2, 8);
        });
    Matcher example = JAVA.matcher(Files.readString(DOCUMENT));
    assertTrue(example.find(), "an example in " + DOCUMENT);
    Path source =
        Files.writeString(directory.resolve(example.group(2) + ".java"), example.group(1));
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                directory.toString(),
                source.toString());
    assertEquals(0, compiled);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream out = System.out;
    try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
      loader
          .loadClass(example.group(2))
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[] {plan.toString()});
    } finally {
      System.setOut(out);
    }
    assertEquals("[2.0, 4.0, 6.0, 8.0]\n", printed.toString(StandardCharsets.UTF_8));
  }
}
