package io.nereid.spring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingResponse;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** MiniLM as an embedding model of Spring AI, in an application that configures nothing else. */
class SpringAiTest {

  @Configuration
  @EnableAutoConfiguration
  static class Application {}

  private static final String MODEL = "--nereid.models.minilm=classpath:all-minilm-l6-v2-q.onnx";

  private static ConfigurableApplicationContext start(String... more) {
    String[] all = new String[more.length + 2];
    all[0] = "--spring.main.web-application-type=none";
    all[1] = MODEL;
    System.arraycopy(more, 0, all, 2, more.length);
    return SpringApplication.run(Application.class, all);
  }

  @Test
  void anEmbeddingModelIsABean() {
    try (ConfigurableApplicationContext context =
        start(
            "--nereid.embedding.model=minilm",
            "--nereid.embedding.tokenizer=classpath:all-minilm-l6-v2-q-tokenizer.json")) {
      EmbeddingModel model = context.getBean(EmbeddingModel.class);
      assertEquals(384, model.dimensions());
      EmbeddingResponse response = model.embedForResponse(List.of("a dog", "a puppy", "revenue"));
      assertEquals(3, response.getResults().size());
      assertEquals(1, response.getResults().get(1).getIndex());
      assertEquals("minilm", response.getMetadata().getModel());
      assertEquals(11, response.getMetadata().getUsage().getPromptTokens());
      float[] dog = response.getResults().getFirst().getOutput();
      double near = dot(dog, response.getResults().get(1).getOutput());
      double far = dot(dog, response.getResults().get(2).getOutput());
      assertTrue(near > far + 0.2, near + " and " + far);
      assertArrayEquals(dog, model.embed(new Document("a dog")), 0.05f);
    }
  }

  private static double dot(float[] a, float[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += (double) a[i] * b[i];
    }
    return sum;
  }

  @Test
  void withoutATokenizerThereIsNone() {
    try (ConfigurableApplicationContext context = start()) {
      assertEquals(0, context.getBeanNamesForType(EmbeddingModel.class).length);
    }
  }
}
