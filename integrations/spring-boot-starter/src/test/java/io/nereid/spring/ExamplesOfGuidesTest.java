package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The Java of docs/spring.md compiles and runs as it stands there, and that of docs/text.md
 * compiles, all of which is on the class path here.
 */
class ExamplesOfGuidesTest {

  private static final Pattern EXAMPLE = Pattern.compile("```java\\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path directory;

  @Test
  void everyExampleOfTheStarterCompiles() throws Exception {
    compileAll("spring.md", 2, "", "");
  }

  /** The application of the page: its controller's bean is called as the model is. */
  @Test
  void theApplicationOfThePageRuns() throws Exception {
    compile(examples("spring.md").getFirst());
    try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()});
        ConfigurableApplicationContext context =
            new SpringApplication(Empty.class, loader.loadClass("Digits"))
                .run(
                    "--server.port=0",
                    "--spring.main.banner-mode=off",
                    "--nereid.models.digits=file:../../examples/models/digits/1/model.onnx")) {
      String url =
          "http://localhost:"
              + context.getEnvironment().getProperty("local.server.port")
              + "/digit";
      String row = "[" + String.join(",", Collections.nCopies(8, "0")) + "]";
      String image = "[[" + String.join(",", Collections.nCopies(8, row)) + "]]";
      HttpResponse<String> scores = post(url, image);
      assertEquals(200, scores.statusCode(), scores::body);
      assertEquals(10, scores.body().split(",").length, scores::body);
      HttpResponse<String> wrong = post(url, "[[[1,2]]]");
      assertEquals(400, wrong.statusCode(), wrong::body);
      assertTrue(wrong.body().contains("image"), wrong::body);
    }
  }

  private static HttpResponse<String> post(String url, String body) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(url))
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString(body))
              .build();
      return client.send(request, BodyHandlers.ofString());
    }
  }

  @EnableAutoConfiguration
  static class Empty {}

  @Test
  void everyExampleOfTextsCompiles() throws Exception {
    String front =
        """
        import io.nereid.Model;
        import io.nereid.text.TextEmbedder;
        import io.nereid.text.TextTokenizer;
        import java.nio.file.Path;
        Path file = Path.of("model.onnx");
        TextEmbedder embedder;
        Model model;
        TextTokenizer tokenizer;
        void main() throws Exception {
        """;
    compileAll("text.md", 4, front, "}\n");
  }

  /**
   * Compiles the examples of a document, their imports in front of what they leave out.
   *
   * @param fewest how many there are at least
   */
  private void compileAll(String document, int fewest, String front, String end) throws Exception {
    List<String> examples = examples(document);
    assertTrue(examples.size() >= fewest, "only " + examples.size());
    for (String example : examples) {
      int body = end.isEmpty() ? 0 : example.indexOf("\n\n"); // what is no class needs one around
      compile(example.substring(0, body) + "\n" + front + example.substring(body) + end);
    }
  }

  private static List<String> examples(String document) throws IOException {
    return EXAMPLE
        .matcher(Files.readString(Path.of("..", "..", "docs", document)))
        .results()
        .map(example -> example.group(1))
        .toList();
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
