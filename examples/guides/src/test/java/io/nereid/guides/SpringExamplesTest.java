package io.nereid.guides;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/** The applications of docs/spring.md start and answer. */
class SpringExamplesTest {

  @EnableAutoConfiguration
  static class Empty {}

  private interface Use {
    void of(ConfigurableApplicationContext context, Class<?> type) throws Exception;
  }

  @TempDir private Path directory;

  private void start(int number, String type, Use use, String... settings) throws Exception {
    JavaExample.of("docs/spring.md", number).compileInto(directory);
    try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
      Class<?> component = loader.loadClass(type);
      try (ConfigurableApplicationContext context =
          new SpringApplication(Empty.class, component).run(settings)) {
        use.of(context, component);
      }
    }
  }

  /** The controller's bean has the name of the model, as on the page. */
  @Test
  void theControllerOfDigitsAnswers() throws Exception {
    start(
        0,
        "Digits",
        (context, type) -> {
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
        },
        "--server.port=0",
        "--spring.main.banner-mode=off",
        "--nereid.models.digits=file:examples/models/digits/1/model.onnx");
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

  @Test
  void theSearchOfSpringAiFindsVectors() throws Exception {
    start(
        1,
        "Search",
        (context, type) -> {
          Method vector = type.getDeclaredMethod("vector", String.class);
          vector.setAccessible(true);
          float[] found = (float[]) vector.invoke(context.getBean(type), "which animals swim?");
          assertEquals(384, found.length);
        },
        "--spring.main.web-application-type=none",
        "--spring.main.banner-mode=off",
        "--nereid.models.minilm=classpath:all-minilm-l6-v2-q.onnx",
        "--nereid.embedding.model=minilm",
        "--nereid.embedding.tokenizer=classpath:all-minilm-l6-v2-q-tokenizer.json");
  }
}
