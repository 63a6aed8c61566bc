package io.nereid.spring;

import io.nereid.Nereid;
import io.nereid.text.SpringAiEmbeddingModel;
import io.nereid.text.TextEmbedder;
import io.nereid.text.TextTokenizer;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Makes an embedding model of Spring AI, if the application has {@code nereid-text} and Spring AI,
 * and {@link NereidEmbeddingProperties} name a model and its tokenizer.
 */
@AutoConfiguration(after = NereidAutoConfiguration.class)
@ConditionalOnClass({EmbeddingModel.class, TextEmbedder.class})
@ConditionalOnBean(Nereid.class)
@ConditionalOnProperty({"nereid.embedding.model", "nereid.embedding.tokenizer"})
@EnableConfigurationProperties(NereidEmbeddingProperties.class)
final class NereidEmbeddingAutoConfiguration {

  /** Called by Spring. */
  public NereidEmbeddingAutoConfiguration() {}

  /** The tokenizer, which is closed when the application ends. */
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  TextTokenizer textTokenizer(NereidEmbeddingProperties properties) throws IOException {
    try (InputStream json = properties.tokenizer().getInputStream()) {
      return TextTokenizer.read(json, properties.maxTokens());
    }
  }

  /** The embedder, for applications that do not use Spring AI's types. */
  @Bean
  @ConditionalOnMissingBean
  TextEmbedder textEmbedder(
      Nereid nereid, TextTokenizer tokenizer, NereidEmbeddingProperties properties) {
    return new TextEmbedder(
        nereid.model(properties.model()), tokenizer, properties.pooling(), properties.normalize());
  }

  /** The embedding model for Spring AI's vector stores. */
  @Bean
  @ConditionalOnMissingBean(EmbeddingModel.class)
  SpringAiEmbeddingModel embeddingModel(TextEmbedder embedder) {
    return new SpringAiEmbeddingModel(embedder);
  }
}
