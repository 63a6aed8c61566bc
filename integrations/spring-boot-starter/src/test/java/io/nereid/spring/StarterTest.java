package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nereid.Model;
import io.nereid.Nereid;
import io.nereid.model.ModelSpec;
import io.nereid.model.ModelState;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import io.nereid.types.NereidException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A real application on the class path, asked over HTTP. */
class StarterTest {

  private static final Path SHIPPED = Path.of("..", "..", "native", "test", "models");

  @TempDir private Path directory;
  private Path repository;

  @BeforeEach
  void makeRepository() throws Exception {
    repository = Files.createDirectory(directory.resolve("models"));
    Files.copy(SHIPPED.resolve("identity_fp32.onnx"), repository.resolve("other.onnx"));
  }

  private ConfigurableApplicationContext start(String... more) {
    String[] ours = {
      "--server.port=0",
      "--spring.main.banner-mode=off",
      "--management.endpoints.web.exposure.include=*",
      "--management.endpoint.health.show-details=always",
      "--nereid.repository=" + repository,
      "--nereid.models.echo=file:" + SHIPPED.resolve("identity_fp32.onnx")
    };
    String[] all = Arrays.copyOf(ours, ours.length + more.length);
    System.arraycopy(more, 0, all, ours.length, more.length);
    return SpringApplication.run(EchoApplication.class, all);
  }

  private static HttpResponse<String> get(ConfigurableApplicationContext context, String path)
      throws Exception {
    String port = context.getEnvironment().getProperty("local.server.port");
    try (HttpClient client = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://localhost:" + port + path);
      return client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
  }

  @Test
  void modelsAreBeansAndTheActuatorKnowsThem() throws Exception {
    try (ConfigurableApplicationContext context = start()) {
      assertEquals("1.5", get(context, "/echo/1.5").body());
      Nereid nereid = context.getBean(Nereid.class);
      assertSame(nereid.model("echo"), context.getBean("echo", Model.class));
      assertEquals(64, context.getBean("other", Model.class).spec().maxBatchSize());

      String health = get(context, "/actuator/health").body();
      assertTrue(health.contains("\"echo 1\":\"READY\""), health);
      String all = get(context, "/actuator/nereid").body();
      assertTrue(all.contains("\"name\":\"other\""), all);
      String one = get(context, "/actuator/nereid/echo").body();
      assertTrue(one.contains("\"success\":1"), one);
      assertEquals(404, get(context, "/actuator/nereid/nobody").statusCode());
      String metric = get(context, "/actuator/metrics/nereid.model.rows?tag=model:echo").body();
      assertTrue(metric.contains("\"value\":1.0"), metric);
    }
  }

  @Test
  void aModelThatFailsStopsTheStartUnlessToldOtherwise() throws Exception {
    Files.write(repository.resolve("broken.onnx"), new byte[] {1, 2, 3});
    Exception e = assertThrows(Exception.class, () -> start().close());
    Throwable root = e;
    while (root.getCause() != null && !(root instanceof NereidException)) {
      root = root.getCause();
    }
    assertTrue(root.getMessage().contains("'broken'"), root.getMessage());
    try (ConfigurableApplicationContext context = start("--nereid.fail-fast=false")) {
      HttpResponse<String> health = get(context, "/actuator/health");
      assertEquals(503, health.statusCode());
      assertTrue(health.body().contains("broken 1\":\"FAILED: "), health.body());
      assertEquals("7.0", get(context, "/echo/7").body());
    }
  }

  @Test
  void requestsUnderWayAreAnsweredWhenTheApplicationEnds() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    ConfigurableApplicationContext context = start();
    Nereid nereid = context.getBean(Nereid.class);
    Model slow =
        nereid.load(
            ModelSpec.builder("slow")
                .inline(false)
                .input("IN", DataType.FP32, 1)
                .output("OUT", DataType.FP32, 1)
                .backend(model ->
                    batch -> {
                      begun.countDown();
                      go.await();
                      batch.output("OUT", Tensor.ofFloats(new float[] {3}, 1));
                    })
                .build());
    var request = slow.newRequest().input("IN", Tensor.ofFloats(new float[] {1}, 1));
    var answer = request.inferAsync();
    begun.await();
    Thread closing = Thread.ofPlatform().start(context::close);
    while (slow.state() == ModelState.READY) {
      Thread.onSpinWait();
    }
    assertTrue(closing.isAlive(), "it waits for the request");
    assertFalse(answer.isDone());
    go.countDown();
    try (var response = answer.get()) {
      assertEquals(3, response.output("OUT").floatAt(0));
    }
    request.close();
    closing.join();
    assertEquals(ModelState.UNLOADED, slow.state());
  }
}
